"""Runs other tools on problems with several objectives or constraints, for `wimble-lab compare objectives report` and
`wimble-lab compare constraints report`.

As in peers.py, points are evaluated by `wimble-lab compare evaluate`, and a run that has ended is never computed again.
An adapter has the same two calls, `tell(points, answers)` and `ask(count)`; an answer has `objectives`, to be minimised, and
`constraints`, met if at most 0. Called by ./run --set.
"""

import json
import math
import subprocess
import sys
import time
import traceback
import warnings
from importlib.metadata import version

from peers import Pipe, call, count_rounds, has_ended, is_meant, parser_of, start_of, tell_of
from tools import Hebo, Optuna, RustunaTpe, Tool, maximised

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


class OptunaGp(OptunaTasks):
    settings = "GPSampler, its defaults"

    def sampler(self, constrained):
        return self.library.samplers.GPSampler(seed=self.seed, **self.limits(constrained))


class RustunaTasks(RustunaTpe):
    """It has no constraints. Its trials suggest one variable at a time."""

    def start(self, points, answers):
        count = len(answers[0]["objectives"])
        self.study = self.library.create_study(
            directions=["minimize"] * count, sampler=self.library.samplers.TPESampler(seed=self.seed)
        )
        for x, answer in zip(points, answers):
            trial = self.library.trial.create_trial(
                params=self.coded(x), distributions=self.distributions, values=answer["objectives"]
            )
            self.study.add_trial(trial)

    def tell(self, points, answers):
        if self.study is None:
            return self.start(points, answers)
        for trial, answer in zip(self.open, answers):
            self.study.tell(trial.number, answer["objectives"])


class Coded(Tool):
    """A tool that takes a matrix: each variable is a number, levels and choices are coded by their places."""

    mixed = "levels and choices by their places"

    def build(self):
        self.bounds = list(self.sides(
            lambda low, high: (low, high, "real"),
            lambda count: (0, count - 1, "level"),
            lambda choices: (0, len(choices) - 1, "choice"),
        ).values())
        self.begin()

    def encode(self, x):
        if self.space is None:
            return list(x)
        choices = self.space.choices
        return [code if c is None else c.index(code) for code, c in zip(self.space.encode(x), choices)]

    def decode(self, codes):
        codes = [c if kind == "real" else round(c) for c, (_, _, kind) in zip(codes, self.bounds)]
        codes = [min(max(c, low), high) for c, (low, high, _) in zip(codes, self.bounds)]
        if self.space is None:
            return codes
        choices = self.space.choices
        return self.space.decode([code if c is None else c[code] for code, c in zip(codes, choices)])


class Egobox(Coded):
    package = "egobox"
    settings = "Belfegor.suggest, its defaults (EHVI), batches by the Kriging believer"
    mixed = "levels as integers, choices as categories"

    def begin(self):
        self.points, self.values = [], []

    def specs(self):
        import egobox

        kinds = {
            "real": lambda low, high: egobox.XSpec(egobox.XType.FLOAT, [low, high]),
            "level": lambda low, high: egobox.XSpec(egobox.XType.INT, [low, high]),
            "choice": lambda low, high: egobox.XSpec(egobox.XType.ENUM, [high + 1]),
        }
        return [kinds[kind](low, high) for low, high, kind in self.bounds]

    def optimizer(self, count):
        import egobox

        return egobox.Belfegor(
            self.specs(), n_obj=len(self.values[0]), moo_config=egobox.MooConfig(batch=count), seed=self.seed
        )

    def ask(self, count):
        import numpy as np

        points = self.optimizer(count).suggest(np.array(self.points, dtype=float), np.array(self.values, dtype=float))
        return [self.decode(x) for x in points.tolist()]

    def tell(self, points, answers):
        self.points += [self.encode(x) for x in points]
        self.values += [answer["objectives"] + answer["constraints"] for answer in answers]


class Egor(Egobox):
    """One objective under constraints."""

    settings = "Egor.suggest, its defaults (log EI, constraints by their means), batches by the Kriging believer"

    def optimizer(self, count):
        import egobox

        return egobox.Egor(
            self.specs(), n_cstr=len(self.values[0]) - 1, qei_config=egobox.QEiConfig(batch=count), seed=self.seed
        )

    def ask(self, count):
        return super().ask(count)[:count]


class HeboTasks(Hebo):
    """Its class for constraints. What its front does not fill of a batch it draws at random."""

    settings = "GeneralBO, its defaults, unit cube"

    def start(self, columns):
        from hebo.optimizers.general import GeneralBO

        return GeneralBO(self.design, num_obj=1, num_constr=columns - 1, rand_sample=2)

    def tell(self, points, answers):
        super().tell(points, [answer["objectives"] + answer["constraints"] for answer in answers])


class Botorch(Tool):
    """Reference point: a tenth of the range beyond the worst values on the observed front, as its own helper has it."""

    package = "botorch"
    settings = (
        "a SingleTaskGP for each objective, qLogNEHVI, greedy batches, 5 restarts of 128 raw samples, unit cube, "
        "double precision"
    )

    def build(self):
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self.points, self.values = [], []

    def ask(self, count):
        import torch
        from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import ModelListGP, SingleTaskGP
        from botorch.utils.multi_objective.hypervolume import infer_reference_point
        from botorch.utils.multi_objective.pareto import is_non_dominated
        from gpytorch.mlls import SumMarginalLogLikelihood

        x = torch.tensor(self.points, dtype=torch.double)
        y = -torch.tensor(self.values, dtype=torch.double)
        model = ModelListGP(*[SingleTaskGP(x, y[:, [j]]) for j in range(y.shape[1])])
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        reference = infer_reference_point(y[is_non_dominated(y)])
        gain = qLogNoisyExpectedHypervolumeImprovement(model, reference, X_baseline=x, prune_baseline=True)
        return maximised(gain, self.box, count)

    def tell(self, points, answers):
        self.points += self.box.to_unit(points).tolist()
        self.values += [answer["objectives"] for answer in answers]


class PymooNsga2(Coded):
    """Its generations are cut into batches; the initial points are a part of the first population."""

    package = "pymoo"
    settings = f"NSGA2, population {POPULATION}; steps by rounding"

    def begin(self):
        self.low, self.high = [side[0] for side in self.bounds], [side[1] for side in self.bounds]
        self.algorithm, self.queue, self.told = None, [], []

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


TOOLS = {
    "optuna-tpe": OptunaTpe,
    "optuna-nsga2": OptunaNsga2,
    "optuna-gp": OptunaGp,
    "rustuna-tpe": RustunaTasks,
    "egobox": Egobox,
    "egor": Egor,
    "hebo": HeboTasks,
    "botorch": Botorch,
    "pymoo-nsga2": PymooNsga2,
}


def run(lab, out, settings, name, tool, subject, seed):
    """One run, round by round."""
    problem, batch_size, limit = subject["name"], settings["batch_size"], settings["ask_seconds"]
    caps = [tool.get("evaluations"), subject.get("evaluations"), settings["evaluations"]]
    evaluations = min(cap for cap in caps if cap)
    rounds = math.ceil((evaluations - settings["initial"]) / batch_size)
    figure, tool = f"{name}-{batch_size}", tool["name"]
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
            optimiser = made(first["domain"], seed, batch_size, evaluations)
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
    known = {subject["name"]: subject for subject in settings["problems"]}
    tools = {tool["name"]: tool for tool in settings["tools"]}
    if arguments.tool not in tools:
        sys.exit(f"{arguments.tool} is no tool of this comparison; there are {', '.join(tools)}")
    tool = tools[arguments.tool]
    meant = [name for name, subject in known.items() if is_meant(tool, subject)]
    chosen = arguments.problems.split(",") if arguments.problems else meant
    for unknown in sorted(set(chosen) - set(known)):
        sys.exit(f"no problem of the comparison is called {unknown}; there are {', '.join(known)}")
    for seed in map(int, arguments.seeds.split(",")):
        for problem in chosen:
            one = lambda: run(arguments.lab, arguments.out, settings, arguments.set, tool, known[problem], seed)
            # Tables of networks need data that not everybody has.
            tell_of(f"{arguments.tool} {problem} {seed}", one, bool(known[problem].get("needs_data")))


if __name__ == "__main__":
    main()
