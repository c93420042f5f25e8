"""Runs other tools on problems with several objectives or constraints, for `wimble-lab compare objectives report` and
`wimble-lab compare constraints report`.

As in peers.py, points are evaluated by `wimble-lab compare evaluate`, and a run that has ended is never computed again.
An adapter has the same two calls, `tell(points, answers)` and `ask(count)`; an answer has `objectives`, to be minimised, and
`constraints`, met if at most 0. Called by ./run --set.
"""

import json
import math
import sys
import time
import traceback
import warnings
from importlib.metadata import version

from peers import Pipe, call, count_rounds, has_ended, parser_of, start_of
from tools import Mixed, Optuna, is_mixed

POPULATION = 20  # of the evolutionary tools: twice the batch, since there are 200 evaluations in all


class Oracle(Pipe):
    """A problem with several objectives or constraints."""

    loss = math.inf

    def observe(self, points):
        answers = []
        for x in points:
            answer = self.evaluate(x)
            self.loss = answer["loss"]
            answers.append(answer)
        return answers


class OptunaTasks(Optuna):
    """Batches are asked for in a row before the first is told; constraints go through the sampler's function."""

    mixed = "levels as integers"

    def start(self, points, answers):
        count = len(answers[0]["objectives"])
        self.study = self.library.create_study(
            directions=["minimize"] * count, sampler=self.sampler(bool(answers[0]["constraints"]))
        )
        for x, answer in zip(points, answers):
            self.study.add_trial(
                self.library.trial.create_trial(
                    params=self.coded(x),
                    distributions=self.distributions,
                    values=answer["objectives"],
                    user_attrs={"limits": answer["constraints"]},
                    system_attrs={"constraints": answer["constraints"]} if answer["constraints"] else {},
                )
            )

    def tell(self, points, answers):
        if self.study is None:
            return self.start(points, answers)
        for trial, answer in zip(self.open, answers):
            trial.set_user_attr("limits", answer["constraints"])
            self.study.tell(trial.number, answer["objectives"])

    def limits(self, constrained):
        return {"constraints_func": lambda trial: trial.user_attrs["limits"]} if constrained else {}


class OptunaTpe(OptunaTasks):
    settings = "TPESampler, its defaults (constant liar)"

    def sampler(self, constrained):
        return self.library.samplers.TPESampler(seed=self.seed, **self.limits(constrained))


class OptunaNsga2(OptunaTasks):
    settings = f"NSGAIISampler, population {POPULATION}"

    def sampler(self, constrained):
        return self.library.samplers.NSGAIISampler(
            seed=self.seed, population_size=POPULATION, **self.limits(constrained)
        )


class PymooNsga2:
    """Its generations are cut into batches; the initial points are a part of the first population."""

    package = "pymoo"
    settings = f"NSGA2, population {POPULATION}; steps by rounding"

    def __init__(self, domain, seed, batch_size, evaluations):
        self.space = Mixed(domain) if is_mixed(domain) else None
        sides = [(0, len(side["levels"]) - 1) if isinstance(side, dict) else side for side in domain]
        self.low, self.high = [side[0] for side in sides], [side[1] for side in sides]
        self.is_level = [isinstance(side, dict) for side in domain]
        self.seed, self.algorithm, self.queue, self.told = seed, None, [], []

    def encode(self, x):
        return self.space.encode(x) if self.space else list(x)

    def decode(self, codes):
        codes = [round(c) if level else c for c, level in zip(codes, self.is_level)]
        return self.space.decode(codes) if self.space else codes

    def start(self, points, answers):
        import numpy as np
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.population import Population
        from pymoo.core.problem import Problem
        from pymoo.operators.sampling.rnd import FloatRandomSampling

        self.numpy = np
        problem = Problem(
            n_var=len(self.low),
            n_obj=len(answers[0]["objectives"]),
            n_ieq_constr=len(answers[0]["constraints"]),
            xl=np.array(self.low, dtype=float),
            xu=np.array(self.high, dtype=float),
        )
        self.problem = problem
        rest = FloatRandomSampling()(problem, POPULATION - len(points), random_state=np.random.default_rng(self.seed))
        first = np.array([self.encode(x) for x in points], dtype=float)
        sampling = Population.new("X", np.vstack([first, rest.get("X")]))
        self.algorithm = NSGA2(pop_size=POPULATION, sampling=sampling)
        self.algorithm.setup(problem, seed=self.seed, termination=("n_eval", 10**9))
        self.begin_generation()
        # The initial points are the first of the population; they are evaluated already.
        for answer in answers:
            self.queue.pop(0)
            self.told.append(answer)

    def begin_generation(self):
        self.generation = self.algorithm.ask()
        self.queue, self.told = [list(x) for x in self.generation.get("X")], []

    def ask(self, count):
        if not self.queue:
            self.end_generation()
        self.open = self.queue[:count]
        self.queue = self.queue[count:]
        return [self.decode(x) for x in self.open]

    def end_generation(self):
        np = self.numpy
        self.generation.set("F", np.array([answer["objectives"] for answer in self.told], dtype=float))
        if self.problem.n_ieq_constr:
            self.generation.set("G", np.array([answer["constraints"] for answer in self.told], dtype=float))
        for individual in self.generation:
            individual.evaluated.update({"F", "G"})
        self.algorithm.tell(infills=self.generation)
        self.begin_generation()

    def tell(self, points, answers):
        if self.algorithm is None:
            return self.start(points, answers)
        self.told.extend(answers)


TOOLS = {"optuna-tpe": OptunaTpe, "optuna-nsga2": OptunaNsga2, "pymoo-nsga2": PymooNsga2}


def run(lab, out, settings, name, tool, problem, seed):
    """One run, round by round."""
    batch_size, limit = settings["batch_size"], settings["ask_seconds"]
    rounds = math.ceil((settings["evaluations"] - settings["initial"]) / batch_size)
    figure = f"{name}-{batch_size}"
    first = call(lab, "initial", problem, "--seed", str(seed), "--count", str(settings["initial"]))
    made = TOOLS[tool]
    words = f"{made.package} {version(made.package)} {made.settings}"
    words = f"{words}; batches of {batch_size}, {settings['initial']} initial; at most {limit} s"
    start = start_of(figure, problem, tool, seed, rounds, words)
    file_name = f"{problem}__{tool}__{seed}"
    path = out / "records" / figure / f"{file_name}.jsonl"
    if has_ended(path, start):
        return False
    oracle = Oracle(lab, problem, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    end = "finished"
    with path.open("w") as file:

        def write(kind, content):
            file.write(json.dumps({kind: content}, separators=(",", ":")) + "\n")
            file.flush()

        write("start", start)
        try:
            optimiser = made(first["domain"], seed, batch_size, settings["evaluations"])
            before = time.process_time()
            optimiser.tell(first["points"], oracle.observe(first["points"]))
            for number in range(1, rounds + 1):
                points = optimiser.ask(batch_size)
                optimiser.tell(points, oracle.observe(points))
                metrics = {"loss": oracle.loss}
                write("round", {"round": number, "evaluations": oracle.evaluations, "metrics": metrics})
                if number < rounds and time.process_time() - before > limit:
                    end = "aborted"
                    break
        except Exception:
            # What it reached counts; why it stopped is kept beside the records.
            end = "aborted"
            failure = out / "failures" / figure / f"{file_name}.txt"
            failure.parent.mkdir(parents=True, exist_ok=True)
            failure.write_text(traceback.format_exc())
        write("end", {"end": end, "rounds": count_rounds(path)})
    oracle.close()
    return True


def main():
    parser = parser_of(__doc__, TOOLS, "0,1,2,3,4")
    parser.add_argument("--set", required=True, choices=["objectives", "constraints"])
    parser.add_argument("--problems", default="", help="these only, separated by commas")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    settings = call(arguments.lab, "settings", "--set", arguments.set)
    known = [subject["name"] for subject in settings["problems"]]
    chosen = arguments.problems.split(",") if arguments.problems else known
    for unknown in sorted(set(chosen) - set(known)):
        sys.exit(f"no problem of the comparison is called {unknown}; there are {', '.join(known)}")
    for seed in map(int, arguments.seeds.split(",")):
        for problem in chosen:
            done = run(arguments.lab, arguments.out, settings, arguments.set, arguments.tool, problem, seed)
            print(f"{arguments.tool} {problem} {seed}: {'done' if done else 'found'}", flush=True)


if __name__ == "__main__":
    main()
