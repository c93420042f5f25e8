"""Runs other tools on the learning curves of TaskSet, for `wimble-lab compare fidelity report`.

The table comes from `wimble-lab compare fidelity table`: rows in the unit cube, their curves, and what scores are made of. A search
spends checkpoints on simulated workers of equal speed, one checkpoint at a time, as ours do. A tool proposes a point of the unit cube, and gets the
nearest row that was not begun yet: it is told that the trial has the parameters of this row, so that it learns what was evaluated.
An adapter has three calls: `begin(nearest)` gives a trial and its row, `goes_on(trial, checkpoints, loss)` says whether it goes
on, and `end(trial, checkpoints, loss)` or `fail(trial)` that it ended. Called by ./run --set fidelity.
"""

import copy
import datetime
import sys
import warnings
from importlib.metadata import version

import numpy as np
from peers import Record, call, parser_of, start_of

BUDGETS = [200, 500, 1000, 2000, 3000]
TASKS = [
    "gru128", "gru64_avg", "irnn64_avg", "lstm128", "lstm128_avg", "lstm128_short", "vrnn128_tanh", "vrnn64_relu_avg",
]


class Table:
    """A task: what may be begun, and what a search is worth."""

    def __init__(self, task, lab):
        table = call(lab, "fidelity", "table", task)
        self.task, self.names, self.whole = task, table["names"], table["checkpoints"]
        self.rows, self.curves = np.array(table["rows"]), table["curves"]
        self.lowest, self.median = table["lowest"], table["median"]

    def score(self, loss):
        return (loss - self.lowest) / (self.median - self.lowest)

    def params(self, row):
        return dict(zip(self.names, map(float, self.rows[row])))


class Free:
    """The rows that were not begun."""

    def __init__(self, table):
        self.table, self.left = table, np.ones(len(table.rows), dtype=bool)

    def nearest(self, params):
        x = np.array([params[name] for name in self.table.names])
        distances = np.where(self.left, ((self.table.rows - x) ** 2).sum(axis=1), np.inf)
        row = int(np.argmin(distances))
        self.left[row] = False
        return row


class OptunaTpe:
    """TPESampler with its defaults under one of Optuna's pruners."""

    package = "optuna"

    def __init__(self, table, seed):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna, self.table = optuna, table
        # The name decides Hyperband's brackets.
        self.study = optuna.create_study(
            study_name=f"{table.task}-{seed}",
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=self.pruner(optuna.pruners),
        )
        self.sides = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in table.names}

    def begin(self, nearest):
        trial = self.study.ask(self.sides)
        row = nearest(trial.params)
        # The stored trial gets the parameters of its row.
        storage = self.study._storage
        stored = copy.copy(storage._get_trial(trial._trial_id))
        stored.params = self.table.params(row)
        storage._set_trial(trial._trial_id, stored)
        return trial, row

    def goes_on(self, trial, checkpoints, loss):
        trial.report(loss, checkpoints)
        if not trial.should_prune():
            return True
        self.study.tell(trial.number, state=self.optuna.trial.TrialState.PRUNED)
        return False

    def end(self, trial, checkpoints, loss):
        trial.report(loss, checkpoints)
        self.study.tell(trial.number, loss)

    def fail(self, trial):
        self.study.tell(trial.number, state=self.optuna.trial.TrialState.FAIL)


class OptunaMedian(OptunaTpe):
    settings = "TPESampler and MedianPruner, their defaults"

    def pruner(self, pruners):
        return pruners.MedianPruner()


class OptunaAsha(OptunaTpe):
    settings = "TPESampler, its defaults, and SuccessiveHalvingPruner(min_resource=1), else its defaults"

    def pruner(self, pruners):
        return pruners.SuccessiveHalvingPruner(min_resource=1)


class OptunaHyperband(OptunaTpe):
    settings = "TPESampler, its defaults, and HyperbandPruner(min_resource=1, max_resource=51), else its defaults"

    def pruner(self, pruners):
        return pruners.HyperbandPruner(min_resource=1, max_resource=self.table.whole)


class SyneTune:
    """A scheduler of Syne Tune's baselines with its defaults, called as its tuner calls it."""

    package = "syne-tune"

    def __init__(self, table, seed):
        from syne_tune.backend.trial_status import Trial
        from syne_tune.config_space import uniform
        from syne_tune.optimizer import baselines
        from syne_tune.optimizer.scheduler import SchedulerDecision

        np.random.seed(seed)
        self.table, self.trial_type, self.decisions, self.begun = table, Trial, SchedulerDecision, 0
        self.scheduler = getattr(baselines, self.scheduler_name)(
            {name: uniform(0.0, 1.0) for name in table.names},
            metric="loss",
            time_attr="checkpoints",
            max_t=table.whole,
            do_minimize=True,
            random_seed=seed,
        )

    def begin(self, nearest):
        row = nearest(self.scheduler.suggest().config)
        trial = self.trial_type(self.begun, self.table.params(row), datetime.datetime(2000, 1, 1))
        self.begun += 1
        self.scheduler.on_trial_add(trial)
        return trial, row

    def goes_on(self, trial, checkpoints, loss):
        result = {"loss": loss, "checkpoints": checkpoints}
        if self.scheduler.on_trial_result(trial, result) == self.decisions.CONTINUE:
            return True
        self.scheduler.on_trial_remove(trial)
        return False

    def end(self, trial, checkpoints, loss):
        self.scheduler.on_trial_complete(trial, {"loss": loss, "checkpoints": checkpoints})

    def fail(self, trial):
        self.scheduler.on_trial_error(trial)


class SyneTuneAsha(SyneTune):
    settings = "baselines.ASHA, its defaults (random search, stopping, from 1, a third goes on)"
    scheduler_name = "ASHA"


class SyneTuneBohb(SyneTune):
    settings = "baselines.BOHB, its defaults (kernel densities; asynchronous successive halving, from 1, a third goes on)"
    scheduler_name = "BOHB"


TOOLS = {
    "optuna-tpe-median": OptunaMedian,
    "optuna-tpe-asha": OptunaAsha,
    "optuna-tpe-hyperband": OptunaHyperband,
    "syne-tune-asha": SyneTuneAsha,
    "syne-tune-bohb": SyneTuneBohb,
}


class Search:
    """What was begun, stopped and seen."""

    def __init__(self, table, tool):
        self.table, self.tool, self.free = table, tool, Free(table)
        self.rows, self.stopped, self.lowest = [], set(), float("inf")

    def begin(self):
        if not self.free.left.any():
            return None
        trial, row = self.tool.begin(self.free.nearest)
        self.rows.append(row)
        return {"trial": trial, "row": row, "done": 0}

    def advance(self, job):
        """One checkpoint; what goes on, or None."""
        curve, job["done"] = self.table.curves[job["row"]], job["done"] + 1
        if job["done"] > len(curve):
            self.tool.fail(job["trial"])
            return None
        loss = curve[job["done"] - 1]
        self.lowest = min(self.lowest, loss)
        if job["done"] == self.table.whole:
            self.tool.end(job["trial"], job["done"], loss)
            return None
        if self.tool.goes_on(job["trial"], job["done"], loss):
            return job
        self.stopped.add(job["row"])
        return None

    def metrics(self):
        ends = [(self.table.curves[row][-1], row) for row in self.rows if len(self.table.curves[row]) == self.table.whole]
        return {
            "best-stopped": float(bool(ends) and min(ends)[1] in self.stopped),
            "score": self.table.score(self.lowest),
            "started": float(len(self.rows)),
            "stopped": float(len(self.stopped)),
        }


class Rounds(Record):
    """A record whose rounds are budgets."""

    def reached(self, budget, metrics):
        self.rounds += 1
        self.write("round", {"round": self.rounds, "evaluations": budget, "metrics": metrics})


def run(out, table, name, seed, workers):
    """One search; whether it was run now."""
    tool = TOOLS[name]
    words = f"{tool.package} {version(tool.package)}: {tool.settings}; the nearest row; to {BUDGETS} checkpoints"
    record = Rounds(out, start_of(f"fidelity-{workers}", table.task, name, seed, len(BUDGETS), words))
    if record.has_ended():
        return False
    search, slots, spent, left = Search(table, tool(table, seed)), [None] * workers, 0, list(BUDGETS)
    with record:
        while left:
            worked = False
            for place, job in enumerate(slots):
                job = job or search.begin()
                if job is None:
                    continue
                worked, spent = True, spent + 1
                slots[place] = search.advance(job)
                if left and spent == left[0]:
                    record.reached(left.pop(0), search.metrics())
            if not worked:
                # Every row was begun.
                while left:
                    record.reached(left.pop(0), search.metrics())
    return True


def main():
    parser = parser_of(__doc__, TOOLS, "0,1,2,3,4,5,6,7,8,9")
    parser.add_argument("--problems", default="", help="these tasks only, separated by commas")
    parser.add_argument("--workers", default="1,8", help="numbers of simulated workers")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    chosen = arguments.problems.split(",") if arguments.problems else TASKS
    for unknown in sorted(set(chosen) - set(TASKS)):
        sys.exit(f"no task of TaskSet is called {unknown}; there are {', '.join(TASKS)}")
    for task in chosen:
        table = Table(task, arguments.lab)
        for workers in map(int, arguments.workers.split(",")):
            for seed in map(int, arguments.seeds.split(",")):
                done = run(arguments.out, table, arguments.tool, seed, workers)
                print(f"{arguments.tool} {task} {seed}, {workers} workers: {'done' if done else 'found'}", flush=True)


if __name__ == "__main__":
    main()
