"""Compares the baselines with Optuna's: same problems, same initial points, median simple regret.

usage: optuna_compare.py BINARY [SEEDS]

BINARY is the example `baseline_regret`. Prints a Markdown report; times go to standard error.
"""

import json
import platform
import statistics
import subprocess
import sys
import time
import warnings

import cmaes
import numpy as np
import optuna

CHECKPOINTS = [60, 110, 210]
INITIAL = 10


def branin(x):
    b, c, t = 5.1 / (4 * np.pi**2), 5 / np.pi, 1 / (8 * np.pi)
    return (x[1] - b * x[0] ** 2 + c * x[0] - 6) ** 2 + 10 * (1 - t) * np.cos(x[0]) + 10


HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(x):
    exponents = (HARTMANN_A * (x - HARTMANN_P) ** 2).sum(axis=1)
    return -np.array([1.0, 1.2, 3.0, 3.2]) @ np.exp(-exponents)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def ackley(x):
    length = np.sqrt((x**2).mean())
    return 20 + np.e - 20 * np.exp(-0.2 * length) - np.exp(np.cos(2 * np.pi * x).mean())


def levy(x):
    w = 1 + (x - 1) / 4
    waves = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return np.sin(np.pi * w[0]) ** 2 + waves.sum() + last


# Name: function, box, minimum.
PROBLEMS = {
    "branin": (branin, [(-5, 10), (0, 15)], 0.39788735772973816),
    "hartmann6": (hartmann6, [(0, 1)] * 6, -3.322368011415512),
    "rosenbrock-4": (rosenbrock, [(-5, 10)] * 4, 0.0),
    "ackley-5": (ackley, [(-32.768, 32.768)] * 5, 0.0),
    "levy-10": (levy, [(-10, 10)] * 10, 0.0),
}

# Name: batch size, sampler.
SAMPLERS = {
    "TPESampler(multivariate=True)": (1, lambda seed: optuna.samplers.TPESampler(multivariate=True, seed=seed)),
    "TPESampler(multivariate=False)": (1, lambda seed: optuna.samplers.TPESampler(multivariate=False, seed=seed)),
    "CmaEsSampler": (10, lambda seed: optuna.samplers.CmaEsSampler(seed=seed, n_startup_trials=INITIAL)),
}

# Our method, then those it is compared with.
COMPARISONS = [
    ("tpe", ["TPESampler(multivariate=True)", "TPESampler(multivariate=False)"]),
    ("tpe, scott", ["TPESampler(multivariate=True)"]),
    ("cma-es", ["CmaEsSampler"]),
    ("cma-es, initial injected", ["CmaEsSampler"]),
    ("sobol", []),
]


def optuna_regrets(name, sampler, batch_size, seed, initial):
    """Simple regret at each checkpoint."""
    function, box, minimum = PROBLEMS[name]
    distributions = {f"x{i}": optuna.distributions.FloatDistribution(*side) for i, side in enumerate(box)}
    study = optuna.create_study(sampler=sampler(seed))
    for u in initial:
        params = {f"x{i}": low + u[i] * (high - low) for i, (low, high) in enumerate(box)}
        study.enqueue_trial(params)
    best, done, regrets = np.inf, 0, []
    for checkpoint in CHECKPOINTS:
        while done < checkpoint:
            # The initial points are one batch.
            size = INITIAL if done == 0 else min(batch_size, checkpoint - done)
            trials = [study.ask(distributions) for _ in range(size)]
            for trial in trials:
                x = np.array([trial.params[f"x{i}"] for i in range(len(box))])
                value = function(x)
                best = min(best, value)
                study.tell(trial, value)
            done += size
        regrets.append(best - minimum)
    return regrets


def medians(runs):
    return [statistics.median(run[k] for run in runs) for k in range(len(CHECKPOINTS))]


def quartiles(runs, k):
    return np.quantile([run[k] for run in runs], [0.25, 0.75])


def main():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    binary, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    initial = {
        name: [np.random.default_rng(seed).random((INITIAL, len(box))).tolist() for seed in range(seeds)]
        for name, (_, box, _) in PROBLEMS.items()
    }

    work = {
        "checkpoints": CHECKPOINTS,
        "problems": [{"problem": name, "initial": points} for name, points in initial.items()],
    }
    start = time.perf_counter()
    output = subprocess.run([binary], input=json.dumps(work), text=True, capture_output=True, check=True).stdout
    print(f"ours: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    runs = {}
    for line in output.splitlines():
        record = json.loads(line)
        runs.setdefault((record["problem"], record["method"]), []).append(record["regret"])

    for method, (batch_size, sampler) in SAMPLERS.items():
        start = time.perf_counter()
        for name in PROBLEMS:
            runs[name, method] = [
                optuna_regrets(name, sampler, batch_size, seed, points)
                for seed, points in enumerate(initial[name])
            ]
        print(f"{method}: {time.perf_counter() - start:.1f} s", file=sys.stderr)

    print("# Baselines against Optuna\n")
    print(
        f"Written by `benches/reference/optuna_compare`. Optuna {optuna.__version__}, cmaes {cmaes.__version__}, "
        f"Python {platform.python_version()}.\n"
    )
    print(
        f"Simple regret, the median over {seeds} seeds with the quartiles in brackets; every method starts from the "
        f"same {INITIAL} uniform points.\nTPE asks for one point at a time, the others for ten.\n"
    )
    heads = " | ".join(f"{checkpoint} evaluations" for checkpoint in CHECKPOINTS)
    print(f"| problem | method | {heads} |")
    print("|---|---|" + "---:|" * len(CHECKPOINTS))
    for name in PROBLEMS:
        methods = [method for method, _ in COMPARISONS] + list(SAMPLERS)
        for method in methods:
            cells = []
            for k, median in enumerate(medians(runs[name, method])):
                low, high = quartiles(runs[name, method], k)
                cells.append(f"{median:.3g} [{low:.2g}, {high:.2g}]")
            ours = method in dict(COMPARISONS)
            print(f"| {name} | {method if ours else f'Optuna {method}'} | {' | '.join(cells)} |")

    print("\nSeeds, of all problems, at which ours ends with the lower regret:\n")
    print(f"| ours | Optuna's | {heads} |")
    print("|---|---|" + "---:|" * len(CHECKPOINTS))
    for ours, others in COMPARISONS:
        for other in others:
            cells = []
            for k in range(len(CHECKPOINTS)):
                pairs = [
                    (a[k], b[k]) for name in PROBLEMS for a, b in zip(runs[name, ours], runs[name, other])
                ]
                cells.append(f"{sum(a < b for a, b in pairs)} of {len(pairs)}")
            print(f"| {ours} | {other} | {' | '.join(cells)} |")


main()
