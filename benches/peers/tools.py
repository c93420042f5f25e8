"""One small adapter a tool: the same two calls, `tell(points, values)` and `ask(count)`.

Points are lists of coordinates in the problem's own units; values are minimised. Tools run with the settings that they
recommend for a box of real variables, except where a comment says otherwise. `settings` says in words what was run, and
`mixed` what was run where a side of the domain has levels or choices; a tool without it cannot run there.
Packages are imported when a tool is built: every environment has only some of them.
"""

import queue
import threading
from importlib.metadata import version

import numpy as np


class Box:
    """A domain, and its unit cube for tools that are not scale free."""

    def __init__(self, domain):
        self.low, self.high = np.array(domain, dtype=float).T
        self.dim = len(domain)

    def to_unit(self, points):
        return (np.asarray(points, dtype=float) - self.low) / (self.high - self.low)

    def from_unit(self, points):
        points = self.low + np.asarray(points, dtype=float) * (self.high - self.low)
        return np.clip(points, self.low, self.high).tolist()


def is_mixed(domain):
    """Whether a side has levels or choices."""
    return any(isinstance(side, dict) for side in domain)


class Mixed:
    """Sides that are {"levels": [...]} or {"choices": [...]}, and perhaps [low, high]: levels are coded by their places
    from 0."""

    def __init__(self, domain):
        self.levels = [side.get("levels") if isinstance(side, dict) else None for side in domain]
        self.choices = [side.get("choices") if isinstance(side, dict) else None for side in domain]
        self.reals = [None if isinstance(side, dict) else side for side in domain]

    def encode(self, point):
        return [x if levels is None else levels.index(x) for x, levels in zip(point, self.levels)]

    def decode(self, codes):
        return [x if levels is None else levels[int(x)] for x, levels in zip(codes, self.levels)]


class Tool:
    """What a run needs to know: the domain, a seed, points an ask, evaluations altogether."""

    mixed = None

    def __init__(self, domain, seed, batch_size, evaluations):
        self.space = Mixed(domain) if is_mixed(domain) else None
        if self.space and self.mixed is None:
            raise ValueError("it takes real variables only")
        self.box = None if self.space else Box(domain)
        self.seed, self.batch_size, self.evaluations = seed, batch_size, evaluations
        self.names = [f"x{k + 1}" for k in range(len(domain))]
        self.build()

    def close(self):
        """After the last tell."""

    def sides(self, real, levels, choices):
        """By name: `real(low, high)`, `levels(how many)` or `choices(list)`."""
        if self.space is None:
            return {name: real(float(a), float(b)) for name, a, b in zip(self.names, self.box.low, self.box.high)}
        kinds = zip(self.names, self.space.reals, self.space.levels, self.space.choices)
        return {name: real(*r) if r else levels(len(a)) if a else choices(b) for name, r, a, b in kinds}

    def coded(self, point):
        return dict(zip(self.names, self.space.encode(point) if self.space else point))

    def point(self, params):
        codes = [params[name] for name in self.names]
        return self.space.decode(codes) if self.space else codes


class Optuna(Tool):
    """Trials of its own are asked for in a row before the first is told: batches by its constant liar."""

    package = "optuna"

    def build(self):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.use(optuna)

    def use(self, library):
        self.library, self.study, self.open = library, None, []
        kinds = library.distributions
        self.distributions = self.sides(
            kinds.FloatDistribution, lambda count: kinds.IntDistribution(0, count - 1), kinds.CategoricalDistribution
        )

    def start(self, points, values):
        """The study, with the initial points as finished trials."""
        self.study = self.library.create_study(sampler=self.sampler(points, values))
        for x, value in zip(points, values):
            trial = self.library.trial.create_trial(
                params=self.coded(x), distributions=self.distributions, value=value
            )
            self.study.add_trial(trial)

    def ask(self, count):
        self.open = [self.study.ask(self.distributions) for _ in range(count)]
        return [self.point(trial.params) for trial in self.open]

    def tell(self, points, values):
        if self.study is None:
            return self.start(points, values)
        for trial, value in zip(self.open, values):
            self.study.tell(trial.number, value)


class OptunaTpe(Optuna):
    settings = "TPESampler, its defaults (multivariate, constant liar)"
    mixed = "levels as integers, choices as categories"

    def sampler(self, points, values):
        return self.library.samplers.TPESampler(seed=self.seed)


class OptunaGp(Optuna):
    settings = "GPSampler, its defaults"
    mixed = "levels as integers, choices as categories"

    def sampler(self, points, values):
        return self.library.samplers.GPSampler(seed=self.seed)


class OptunaCmaEs(Optuna):
    settings = "CmaEsSampler, from the best initial point, population = batch (its default for batches below 5)"

    def sampler(self, points, values):
        best = points[int(np.argmin(values))]
        return self.library.samplers.CmaEsSampler(
            seed=self.seed,
            x0=dict(zip(self.names, best)),
            popsize=self.batch_size if self.batch_size >= 5 else None,
        )


class RustunaTpe(Optuna):
    """Rustuna's trials suggest one variable at a time."""

    package = "rustuna"
    settings = "TPESampler, its defaults (multivariate)"
    mixed = "levels as integers, choices as categories"

    def build(self):
        import rustuna

        self.use(rustuna)
        # What to call on a trial, a name.
        self.calls = self.sides(
            lambda low, high: ("suggest_float", low, high),
            lambda count: ("suggest_int", 0, count - 1),
            lambda choices: ("suggest_categorical", choices),
        )

    def sampler(self, points, values):
        return self.library.samplers.TPESampler(seed=self.seed)

    def ask(self, count):
        self.open = [self.study.ask() for _ in range(count)]
        points = []
        for trial in self.open:
            points.append(
                self.point({name: getattr(trial, call)(name, *rest) for name, (call, *rest) in self.calls.items()})
            )
        return points


class Pycma(Tool):
    """Starts from the best initial point; starts again from a random one when it has converged."""

    package = "cma"
    settings = (
        "CMAEvolutionStrategy in the unit cube from the best initial point, deviation 0.3, "
        "population = batch (its default for batches below 5), started again at random when it stops"
    )

    def build(self):
        self.rng = np.random.default_rng(self.seed)
        self.strategy, self.starts = None, 0
        self.waiting, self.answered = [], []

    def start(self, x):
        import cma

        options = {"bounds": [0, 1], "verbose": -9, "seed": 1 + self.seed + 1000 * self.starts}
        if self.batch_size >= 5:
            options["popsize"] = self.batch_size
        self.strategy = cma.CMAEvolutionStrategy(x, 0.3, options)
        self.starts += 1
        self.waiting, self.answered = [], []

    def ask(self, count):
        points = []
        while len(points) < count:
            if not self.waiting:
                self.waiting = list(self.strategy.ask())
            points.append(self.waiting.pop(0))
        self.asked = points
        return self.box.from_unit(points)

    def tell(self, points, values):
        if self.strategy is None:
            return self.start(self.box.to_unit(points[int(np.argmin(values))]))
        self.answered += list(zip(self.asked, values))
        size = self.strategy.popsize
        while len(self.answered) >= size:
            batch, self.answered = self.answered[:size], self.answered[size:]
            self.strategy.tell([x for x, _ in batch], [value for _, value in batch])
        if self.strategy.stop() and not self.waiting:
            self.start(self.rng.uniform(size=self.box.dim))


class Callback(Tool):
    """A minimiser that calls the function itself: it runs in a thread of its own and waits there for each value.

    One point at a time. It starts at the first point told, and again at a random one when it stops.
    """

    sequential = True

    def build(self):
        self.rng = np.random.default_rng(self.seed)
        self.asked, self.answers = queue.Queue(), queue.Queue()
        self.waiting, self.started, self.thread = None, False, None

    def function(self, x):
        x = np.clip(np.asarray(x, dtype=float), 0.0, 1.0)
        self.asked.put(x)
        answer = self.answers.get()
        if answer is None:
            raise StopIteration("the run is over")
        return answer

    def close(self):
        """Ends the thread: COBYQA holds a lock that the next run needs."""
        self.answers.put(None)
        if self.thread is not None:
            self.thread.join(timeout=10.0)

    def work(self, x):
        try:
            while True:
                self.minimise(x)
                x = self.rng.uniform(size=self.box.dim)
        except Exception as error:  # raised again where the point is asked for
            self.asked.put(error)

    def ask(self, count):
        point, self.waiting = self.asked.get() if self.waiting is None else self.waiting, None
        if isinstance(point, Exception):
            raise point
        return self.box.from_unit([point])

    def tell(self, points, values):
        if self.started:
            return self.answers.put(values[0])
        self.started, start = True, self.box.to_unit(points[0])
        self.thread = threading.Thread(target=self.work, args=(start,), daemon=True)
        self.thread.start()
        # Most begin by asking for the start, whose value is known.
        first = self.asked.get()
        if not isinstance(first, Exception) and np.allclose(first, start):
            self.answers.put(values[0])
        else:
            self.waiting = first


class Cobyqa(Callback):
    package = "scipy"
    settings = "minimize, method COBYQA, unit cube as bounds, initial radius 0.2, started again at random when it stops"

    def minimise(self, x):
        from scipy.optimize import minimize

        options = {"initial_tr_radius": 0.2, "final_tr_radius": 1e-9, "maxfev": 10**6}
        minimize(self.function, x, method="COBYQA", bounds=[(0.0, 1.0)] * self.box.dim, options=options)


class NelderMead(Callback):
    package = "scipy"
    settings = "minimize, method Nelder-Mead (adaptive), unit cube as bounds, first steps 0.2, started again at random when it stops"

    def minimise(self, x):
        from scipy.optimize import minimize

        steps = np.where(x[:, None] + 0.2 <= 1.0, 0.2, -0.2) * np.eye(self.box.dim)
        options = {
            "adaptive": True,
            "initial_simplex": np.vstack([x, x + steps]),
            "xatol": 1e-9,
            "fatol": 1e-10,
            "maxfev": 10**6,
            "maxiter": 10**6,
        }
        minimize(self.function, x, method="Nelder-Mead", bounds=[(0.0, 1.0)] * self.box.dim, options=options)


class LqCmaEs(Callback):
    package = "cma"
    settings = "fmin_lq_surr2 (linear-quadratic surrogate) in the unit cube, deviation 0.3, started again at random when it stops"

    def minimise(self, x):
        import cma

        options = {"bounds": [0, 1], "verbose": -9, "seed": int(self.rng.integers(1, 10**6)), "maxfevals": 10**6}
        cma.fmin_lq_surr2(self.function, x, 0.3, options)


class Nevergrad(Tool):
    package = "nevergrad"
    settings = "NGOpt in the unit cube, workers = batch, budget = all evaluations; initial points by suggest"
    mixed = "levels as TransitionChoice, choices as Choice, no cube; initial points told without being asked"

    def build(self):
        import nevergrad

        if self.space:
            variables = self.sides(
                None,
                lambda count: nevergrad.p.TransitionChoice(range(count)),
                nevergrad.p.Choice,
            )
            domain = nevergrad.p.Dict(**variables)
        else:
            domain = nevergrad.p.Array(shape=(self.box.dim,)).set_bounds(0.0, 1.0)
        domain.random_state.seed(self.seed)
        self.optimizer = nevergrad.optimizers.NGOpt(
            domain, budget=self.evaluations, num_workers=self.batch_size
        )
        self.candidates = None

    def ask(self, count):
        self.candidates = [self.optimizer.ask() for _ in range(count)]
        found = [candidate.value for candidate in self.candidates]
        return [self.point(value) for value in found] if self.space else self.box.from_unit(found)

    def tell(self, points, values):
        if self.candidates is None and self.space:
            # What is suggested is not asked for as it was: choices are drawn again.
            domain = self.optimizer.parametrization
            self.candidates = [domain.spawn_child(new_value=self.coded(x)) for x in points]
        elif self.candidates is None:
            for x in self.box.to_unit(points):
                self.optimizer.suggest(x)
            self.ask(len(points))
        for candidate, value in zip(self.candidates, values):
            self.optimizer.tell(candidate, value)


class Hebo(Tool):
    package = "HEBO"
    settings = "HEBO, its defaults (MACE), unit cube"
    mixed = "levels as integers, choices as categories, no cube"

    def build(self):
        import torch
        from hebo.design_space.design_space import DesignSpace

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        np.random.seed(self.seed)
        sides = self.sides(
            lambda low, high: {"type": "num", "lb": 0, "ub": 1},
            lambda count: {"type": "int", "lb": 0, "ub": count - 1},
            lambda choices: {"type": "cat", "categories": choices},
        )
        sides = [{"name": name, **side} for name, side in sides.items()]
        self.design = DesignSpace().parse(sides)
        self.optimizer = None

    def start(self, columns):
        from hebo.optimizers.hebo import HEBO

        # The shared initial points take the place of its own.
        return HEBO(self.design, rand_sample=2, scramble_seed=self.seed)

    def ask(self, count):
        found = self.optimizer.suggest(count)
        if self.space:
            return [self.point(row) for row in found.to_dict("records")]
        return self.box.from_unit(found[self.names].to_numpy())

    def tell(self, points, values):
        import pandas

        values = np.array(values).reshape(len(values), -1)
        self.optimizer = self.optimizer or self.start(values.shape[1])
        if self.space:
            frame = pandas.DataFrame([self.coded(x) for x in points])
        else:
            frame = pandas.DataFrame(self.box.to_unit(points), columns=self.names)
        self.optimizer.observe(frame, values)


def maximised(acquisition, box, count):
    """Points of the box where an acquisition of BoTorch is largest, one after the other."""
    import torch
    from botorch.optim import optimize_acqf

    bounds = torch.tensor([[0.0] * box.dim, [1.0] * box.dim], dtype=torch.double)
    options = {"maxiter": 100}
    batch, _ = optimize_acqf(acquisition, bounds=bounds, q=count, num_restarts=5, raw_samples=128, sequential=True, options=options)
    return box.from_unit(batch.numpy())


class Botorch(Tool):
    package = "botorch"
    settings = "SingleTaskGP, qLogEI, greedy batches, 5 restarts of 128 raw samples, unit cube, double precision"

    def build(self):
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self.points, self.values = np.empty((0, self.box.dim)), np.empty(0)

    def ask(self, count):
        import torch
        from botorch.acquisition.logei import qLogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x = torch.tensor(self.points, dtype=torch.double)
        y = -torch.tensor(self.values, dtype=torch.double).unsqueeze(-1)
        model = SingleTaskGP(x, y)  # standardises the values
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return maximised(qLogExpectedImprovement(model, best_f=y.max()), self.box, count)

    def tell(self, points, values):
        self.points = np.vstack([self.points, self.box.to_unit(points)])
        self.values = np.append(self.values, values)


class Smac(Tool):
    package = "smac"
    settings = "HyperparameterOptimizationFacade, its defaults (random forest, log EI), deterministic"
    mixed = "levels as ordered categories, choices as categories"

    def build(self):
        self.facade = None

    def start(self, points):
        """Its initial design is the shared points, which it then asks for first."""
        import tempfile

        from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float
        from smac import HyperparameterOptimizationFacade, Scenario

        space = ConfigurationSpace(seed=self.seed)
        sides = self.sides(
            lambda low, high: lambda name: Float(name, (low, high)),
            lambda count: lambda name: Categorical(name, list(range(count)), ordered=True),
            lambda choices: lambda name: Categorical(name, choices),
        )
        space.add([side(name) for name, side in sides.items()])
        self.folder = tempfile.TemporaryDirectory()
        scenario = Scenario(
            space,
            deterministic=True,
            n_trials=self.evaluations,
            seed=self.seed,
            output_directory=self.folder.name,
        )
        first = [Configuration(space, values=self.coded(x)) for x in points]
        design = HyperparameterOptimizationFacade.get_initial_design(scenario, n_configs=0, additional_configs=first)
        self.facade = HyperparameterOptimizationFacade(
            scenario, lambda config, seed=0: 0.0, initial_design=design, overwrite=True, logging_level=40
        )

    def ask(self, count):
        self.trials = [self.facade.ask() for _ in range(count)]
        return [self.point(trial.config) for trial in self.trials]

    def tell(self, points, values):
        from smac.runhistory.dataclasses import TrialValue

        if self.facade is None:
            self.start(points)
            asked = self.ask(len(points))
            # It may ask for the initial points in another order.
            if self.space:
                order = [points.index(x) for x in asked]
            else:
                order = [int(np.argmin([np.abs(np.subtract(x, y)).sum() for y in points])) for x in asked]
            values = [values[place] for place in order]
        for trial, value in zip(self.trials, values):
            self.facade.tell(trial, TrialValue(cost=value, time=0.0), save=False)


class SyneTuneBore(Tool):
    package = "syne-tune"
    settings = "Bore searcher, its defaults (xgboost, random search of the acquisition), one point after the other"
    mixed = "levels as ordinals of equal distance, choices as categories"

    def build(self):
        from syne_tune.config_space import choice, ordinal, uniform
        from syne_tune.optimizer.schedulers.searchers.bore import Bore

        np.random.seed(self.seed)
        space = self.sides(uniform, lambda count: ordinal(list(range(count)), kind="equal"), choice)
        self.searcher = Bore(space, random_seed=self.seed, points_to_evaluate=[])
        self.told = 0

    def ask(self, count):
        configs = [self.searcher.suggest() for _ in range(count)]
        return [self.point(config) for config in configs]

    def tell(self, points, values):
        for x, value in zip(points, values):
            self.searcher.on_trial_complete(self.told, self.coded(x), value)
            self.told += 1


class Egobox(Tool):
    package = "egobox"
    settings = "Egor.suggest, its defaults (log EI), batches by the Kriging believer"

    def build(self):
        import egobox

        self.optimizer = egobox.Egor(
            np.column_stack([self.box.low, self.box.high]).tolist(),
            qei_config=egobox.QEiConfig(batch=self.batch_size),
            seed=self.seed,
        )
        self.points, self.values = np.empty((0, self.box.dim)), np.empty((0, 1))

    def ask(self, count):
        # The batch size is one of its settings.
        return np.clip(self.optimizer.suggest(self.points, self.values), self.box.low, self.box.high).tolist()[:count]

    def tell(self, points, values):
        self.points = np.vstack([self.points, points])
        self.values = np.vstack([self.values, np.reshape(values, (-1, 1))])


TOOLS = {
    "optuna-tpe": OptunaTpe,
    "optuna-cma-es": OptunaCmaEs,
    "optuna-gp": OptunaGp,
    "rustuna-tpe": RustunaTpe,
    "pycma": Pycma,
    "cobyqa": Cobyqa,
    "nelder-mead": NelderMead,
    "lq-cma-es": LqCmaEs,
    "nevergrad": Nevergrad,
    "hebo": Hebo,
    "botorch": Botorch,
    "smac": Smac,
    "syne-tune-bore": SyneTuneBore,
    "egobox": Egobox,
}


def in_words(name, domain=()):
    """The tool, its version and how it was set up for a domain."""
    tool = TOOLS[name]
    mixed = f"; {tool.mixed}" if is_mixed(domain) else ""
    return f"{tool.package} {version(tool.package)} {tool.settings}{mixed}"
