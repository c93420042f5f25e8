"""WimbleSampler beside Optuna's own samplers, inside Optuna, on the same problems, seeds and number of trials.

usage: python benches/python/ranks.py ranks LAB [--trials 100] [--seeds 5] [--samplers wimble,tpe,gp,auto] [--problems …]
       python benches/python/ranks.py times [--trials 5000] [--samplers …]

  ranks   the regret after all trials, one trial at a time, and ranks of its median by problem; LAB is the binary wimble-lab,
          which evaluates the problems
  times   how long one ask takes at 100, 1,000 and 5,000 trials of a smooth function in six dimensions

GPSampler needs torch, and AutoSampler optunahub with its package `samplers/auto_sampler`: what is missing is named and left out.
A sampler whose asks have taken LIMIT seconds in a run stops there; what it reached counts.
"""

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path

import optuna

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from peers import Oracle, call  # noqa: E402

from wimble.optuna import WimbleSampler  # noqa: E402

LIMIT = 120.0
PROBLEMS = (
    "branin,camel+shifted,hartmann3+rotated,shekel,rosenbrock-4,rastrigin-4+shifted,ackley-5+shifted,hartmann6,"
    "griewank-6+shifted+rotated,levy-10+shifted"
)


def auto(seed):
    import optunahub

    return optunahub.load_module("samplers/auto_sampler").AutoSampler(seed=seed)


SAMPLERS = {
    "wimble": lambda seed: WimbleSampler(seed=seed),
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "gp": lambda seed: optuna.samplers.GPSampler(seed=seed),
    "auto": auto,
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
}


def distributions(domain):
    return {f"x{place}": optuna.distributions.FloatDistribution(*side) for place, side in enumerate(domain)}


def run(lab, problem, name, seed, trials):
    """The regret of the best trial, how many trials there were, and the median time of an ask in milliseconds."""
    space = distributions(call(lab, "initial", problem, "--seed", str(seed), "--count", "1")["domain"])
    oracle = Oracle(lab, problem, seed)
    study = optuna.create_study(sampler=SAMPLERS[name](seed))
    asks = []
    for _ in range(trials):
        began = time.perf_counter()
        trial = study.ask(space)
        asks.append(time.perf_counter() - began)
        (value,) = oracle.observe([list(trial.params.values())])
        study.tell(trial, value)
        if sum(asks) > LIMIT:
            break
    oracle.close()
    return oracle.simple_regret, len(asks), statistics.median(asks) * 1e3


def usable(names):
    for name in names:
        try:
            study = optuna.create_study(sampler=SAMPLERS[name](0))
            for _ in range(12):
                trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
                study.tell(trial, trial.params["x"])
            yield name
        except Exception as error:
            print(f"no {name}: {type(error).__name__}: {error}", file=sys.stderr)


def ranks(options, names):
    print(f"| problem | {' | '.join(names)} |\n|---|{'---|' * len(names)}", flush=True)
    places, asks = {name: [] for name in names}, {name: [] for name in names}
    for problem in options.problems.split(","):
        medians = {}
        for name in names:
            runs = [run(options.lab, problem, name, seed, options.trials) for seed in range(options.seeds)]
            medians[name] = statistics.median(regret for regret, _, _ in runs)
            asks[name] += [milliseconds for _, _, milliseconds in runs]
        for name in names:
            better = sum(medians[other] < medians[name] for other in names)
            same = sum(medians[other] == medians[name] for other in names)
            places[name].append(better + (same + 1) / 2)
        print(f"| {problem} | {' | '.join(f'{medians[name]:.2e}' for name in names)} |", flush=True)
    print(f"| mean rank | {' | '.join(f'{statistics.mean(places[name]):.2f}' for name in names)} |")
    print(f"| median ask, ms | {' | '.join(f'{statistics.median(asks[name]):.1f}' for name in names)} |")


def times(options, names):
    space = distributions([(-1.0, 1.0)] * 6)
    marks = [mark for mark in (100, 1000, 5000) if mark <= options.trials]
    print(f"| sampler | {' | '.join(f'{mark} trials, ms' for mark in marks)} |\n|---|{'---|' * len(marks)}", flush=True)
    for name in names:
        study = optuna.create_study(sampler=SAMPLERS[name](0))
        spent, cells = [], []
        for done in range(1, marks[-1] + 1):
            began = time.perf_counter()
            trial = study.ask(space)
            spent.append(time.perf_counter() - began)
            study.tell(trial, sum((x - 0.3) ** 2 for x in trial.params.values()))
            if done in marks:
                cells.append(f"{statistics.median(spent[-50:]) * 1e3:.1f}")
            if sum(spent) > 5 * LIMIT:
                break
        cells += ["-"] * (len(marks) - len(cells))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for action, trials in (("ranks", 100), ("times", 5000)):
        one = actions.add_parser(action)
        if action == "ranks":
            one.add_argument("lab")
            one.add_argument("--seeds", type=int, default=5)
            one.add_argument("--problems", default=PROBLEMS)
        one.add_argument("--trials", type=int, default=trials)
        one.add_argument("--samplers", default="wimble,tpe,gp,auto")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names = list(usable(options.samplers.split(",")))
    (ranks if options.action == "ranks" else times)(options, names)


if __name__ == "__main__":
    main()
