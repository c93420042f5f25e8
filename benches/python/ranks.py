"""WimbleSampler beside Optuna's own samplers, inside Optuna, on the same problems, seeds and number of trials.

usage: python benches/python/ranks.py run LAB RECORDS [--trials 100] [--seeds 5] [--first-seed 0] [--samplers wimble,tpe,gp,auto]
                                                [--problems …]
       python benches/python/ranks.py report RECORDS [--samplers …]
       python benches/python/ranks.py times RECORDS [--trials 5000] [--samplers …]

  run     the regret after all trials, one trial at a time; LAB is the binary wimble-lab, which evaluates the problems. Each run is a
          line of the file RECORDS; one that is there is not run again
  report  the page docs/results/optuna.md: the median regret by problem, and the mean rank over problems and seeds with a 95 % interval
  times   how long one ask takes at 100, 1,000 and 5,000 trials of a smooth function in six dimensions; lines of RECORDS too

GPSampler needs torch. AutoSampler is a package of OptunaHub: it is fetched from there, or loaded from a copy of the registry's folder
`package` that --hub names. What is missing is named and left out. A sampler whose asks have taken --limit seconds of the
processor in a run stops there; what it reached counts.
"""

import argparse
import json
import random
import statistics
import sys
import time
import warnings
from pathlib import Path

import optuna

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from peers import Oracle, call  # noqa: E402

PROBLEMS = (
    "branin,camel+shifted,hartmann3+rotated,shekel,rosenbrock-4,rastrigin-4+shifted,ackley-5+shifted,hartmann6,"
    "griewank-6+shifted+rotated,levy-10+shifted"
)
MARKS = (100, 1000, 5000)
#: Draws of problems, and of seeds within them, for an interval.
DRAWS = 4000


TITLES = {
    "wimble": "WimbleSampler",
    "tpe": "TPESampler",
    "gp": "GPSampler",
    "auto": "AutoSampler",
    "random": "RandomSampler",
}

INTRODUCTION = """# WimbleSampler inside Optuna

Does changing one line of an Optuna study help? `optuna.create_study(sampler=WimbleSampler(seed=seed))` beside Optuna's own samplers, with
their defaults, on the same problems: {trials} trials, one at a time, the same seeds for all. Each cell is the median of the regret of the
best trial. A rank of 1 is the lowest regret of a run; the intervals are 95 % of draws of problems, and of seeds within them. This page
is what `benches/python/ranks.py report` printed.
"""

TIMES = """
## How long an ask takes

Milliseconds of the processor, medians of the last 50 asks, in a study of a smooth function in six dimensions with one thread:
"""

REMARKS = """
## What was run

Optuna 5.0.0. GPSampler needs torch 2, of which PyPI has a build with CUDA (2.1.2 was used). AutoSampler is neither part of Optuna nor a
package of PyPI: OptunaHub fetches it from GitHub. For one objective without conditions and choices it is GPSampler up to 250 trials, with a
random first trial and another seed, and CMA-ES warm-started from them after that (`samplers/auto_sampler` of the registry at 257a04b). Where
it is in a table, a copy of that part was run.

## To repeat it

`cargo build --release -p wimble-experiments`, then `python benches/python/ranks.py run target/release/wimble-lab records.jsonl`, the same with
`times records.jsonl`, and `python benches/python/ranks.py report records.jsonl`. A run that is in the file is not run again. `--hub FOLDER`
names a copy of OptunaHub's folder `package`, for machines that do not reach GitHub."""


def wimble(seed, hub=None):
    # Imported here, so that the others run where it is not installed.
    from wimble.optuna import WimbleSampler

    return WimbleSampler(seed=seed)


def auto(seed, hub=None):
    import optunahub

    name = "samplers/auto_sampler"
    module = optunahub.load_local_module(name, registry_root=hub) if hub else optunahub.load_module(name)
    return module.AutoSampler(seed=seed)


SAMPLERS = {
    "wimble": wimble,
    "tpe": lambda seed, hub: optuna.samplers.TPESampler(seed=seed),
    "gp": lambda seed, hub: optuna.samplers.GPSampler(seed=seed),
    "auto": auto,
    "random": lambda seed, hub: optuna.samplers.RandomSampler(seed=seed),
}


def distributions(domain):
    return {f"x{place}": optuna.distributions.FloatDistribution(*side) for place, side in enumerate(domain)}


class Asks:
    """A study, and what its asks take: on the clock, and of the processor."""

    def __init__(self, sampler, space):
        self.study, self.space = optuna.create_study(sampler=sampler), space
        self.clock, self.processor = [], []

    def __call__(self):
        began, before = time.perf_counter(), time.process_time()
        trial = self.study.ask(self.space)
        self.clock.append(time.perf_counter() - began)
        self.processor.append(time.process_time() - before)
        return trial


class Records:
    """A file of lines of JSON."""

    def __init__(self, path):
        self.path = Path(path)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.rows = [json.loads(line) for line in lines]

    def has(self, **key):
        return any(key.items() <= row.items() for row in self.rows)

    def add(self, **row):
        self.rows.append(row)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def usable(options):
    for name in options.samplers.split(","):
        try:
            asks = Asks(SAMPLERS[name](0, options.hub), distributions([(0.0, 1.0)]))
            for _ in range(12):
                trial = asks()
                asks.study.tell(trial, trial.params["x0"])
            yield name
        except Exception as error:
            print(f"no {name}: {type(error).__name__}: {error}", file=sys.stderr)


def run(options):
    records = Records(options.records)
    names = list(usable(options))
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for problem in options.problems.split(","):
            for name in names:
                key = {"kind": "run", "problem": problem, "sampler": name, "seed": seed}
                if records.has(**key):
                    continue
                domain = call(options.lab, "initial", problem, "--seed", str(seed), "--count", "1")["domain"]
                oracle = Oracle(options.lab, problem, seed)
                asks = Asks(SAMPLERS[name](seed, options.hub), distributions(domain))
                while len(asks.clock) < options.trials and sum(asks.processor) <= options.limit:
                    trial = asks()
                    (value,) = oracle.observe([list(trial.params.values())])
                    asks.study.tell(trial, value)
                oracle.close()
                median = statistics.median(asks.processor) * 1e3
                records.add(**key, regret=oracle.simple_regret, trials=len(asks.clock), ask_ms=round(median, 3))


def mean_ranks(ranks, problems):
    """The mean over (problem, seed) of each sampler's rank."""
    cells = [ranks[problem, seed] for problem, seeds in problems for seed in seeds]
    return [statistics.fmean(column) for column in zip(*cells)]


def ranked(rows, names):
    """The regrets by problem and the mean ranks of some samplers, as lines of a table, over what all of them have run."""
    found = {(row["problem"], row["seed"], row["sampler"]): row for row in rows}
    pairs = sorted({(problem, seed) for problem, seed, _ in found}, key=lambda pair: (PROBLEMS.find(pair[0]), pair[1]))
    pairs = [pair for pair in pairs if all((*pair, name) in found for name in names)]
    ranks = {}
    for pair in pairs:
        regrets = [found[(*pair, name)]["regret"] for name in names]
        ranks[pair] = [
            sum(other < own for other in regrets) + (sum(other == own for other in regrets) + 1) / 2 for own in regrets
        ]
    seeds = {}
    for problem, seed in pairs:
        seeds.setdefault(problem, []).append(seed)
    yield f"| problem | seeds | {' | '.join(TITLES[name] for name in names)} |\n|---|---|{'---|' * len(names)}"
    for problem, own in seeds.items():
        medians = [statistics.median(found[problem, seed, name]["regret"] for seed in own) for name in names]
        yield f"| {problem} | {len(own)} | {' | '.join(f'{median:.2e}' for median in medians)} |"
    rng, drawn = random.Random(0), []
    for _ in range(DRAWS):
        some = rng.choices(list(seeds.items()), k=len(seeds))
        drawn.append(mean_ranks(ranks, [(problem, rng.choices(own, k=len(own))) for problem, own in some]))
    cells = []
    for mean, column in zip(mean_ranks(ranks, seeds.items()), zip(*drawn)):
        low, high = (sorted(column)[int(part * (DRAWS - 1))] for part in (0.025, 0.975))
        cells.append(f"{mean:.2f} [{low:.2f}, {high:.2f}]")
    yield f"| mean rank | {len(pairs)} runs | {' | '.join(cells)} |"
    asks = [statistics.median(found[(*pair, name)]["ask_ms"] for pair in pairs) for name in names]
    yield f"| median ask, ms of the processor | | {' | '.join(f'{ask:.1f}' for ask in asks)} |"


def report(options):
    """The page: what is in the records, and nothing else."""
    records = Records(options.records).rows
    rows = [row for row in records if row["kind"] == "run"]
    count = {name: sum(row["sampler"] == name for row in rows) for name in options.samplers.split(",")}
    names = [name for name, runs in count.items() if runs]
    trials = max(row["trials"] for row in rows)
    whole = [name for name in names if count[name] == max(count.values())]
    print(INTRODUCTION.format(trials=trials))
    print("\n".join(ranked(rows, whole)))
    for more in (names[: names.index(name) + 1] for name in names if name not in whole):
        print(f"\n## With {TITLES[more[-1]]}\n\n{TITLES[more[-1]]} takes long; these are the runs that all {len(more)} have.\n")
        print("\n".join(ranked(rows, more)))
    short = [row for row in rows if row["sampler"] in names and row["trials"] < trials]
    if short:
        print(f"\n{len(short)} runs had spent their time before trial {trials}, and count with what they had reached:")
        print("; ".join(f"{TITLES[r['sampler']]} on {r['problem']}, {r['trials']} trials" for r in short) + ".")
    timed = [row for row in records if row["kind"] == "times" and row["sampler"] in options.samplers.split(",")]
    if timed:
        print(TIMES + f"\n| sampler | {' | '.join(f'{mark:,} trials' for mark in MARKS)} |\n|---|{'---|' * len(MARKS)}")
    for row in timed:
        cells = (str(row["ms"].get(str(mark), f"not reached in {row['seconds']:.0f} s")) for mark in MARKS)
        print(f"| {TITLES[row['sampler']]} | {' | '.join(cells)} |")
    print(REMARKS)


def times(options):
    records = Records(options.records)
    for name in usable(options):
        if records.has(kind="times", sampler=name):
            continue
        asks, cells = Asks(SAMPLERS[name](0, options.hub), distributions([(-1.0, 1.0)] * 6)), {}
        while len(asks.clock) < options.trials and sum(asks.processor) <= options.limit:
            trial = asks()
            asks.study.tell(trial, sum((x - 0.3) ** 2 for x in trial.params.values()))
            if len(asks.clock) in MARKS:
                cells[str(len(asks.clock))] = round(statistics.median(asks.processor[-50:]) * 1e3, 2)
        records.add(kind="times", sampler=name, ms=cells, trials=len(asks.clock), seconds=round(sum(asks.processor), 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for action, trials, limit in (("run", 100, 120.0), ("report", 0, 0.0), ("times", 5000, 600.0)):
        one = actions.add_parser(action)
        if action == "run":
            one.add_argument("lab")
            one.add_argument("--seeds", type=int, default=5)
            one.add_argument("--first-seed", type=int, default=0)
            one.add_argument("--problems", default=PROBLEMS)
        one.add_argument("records")
        one.add_argument("--samplers", default="wimble,tpe,gp,auto")
        if action != "report":
            one.add_argument("--trials", type=int, default=trials)
            one.add_argument("--limit", type=float, default=limit)
            one.add_argument("--hub")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    {"run": run, "report": report, "times": times}[options.action](options)


if __name__ == "__main__":
    main()
