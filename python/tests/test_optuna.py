"""The sampler for Optuna: its own suite of conformance, and how trials become evidence."""

import copy
import pickle
import threading
import time

import pytest

optuna = pytest.importorskip("optuna")
if int(optuna.__version__.split(".")[0]) < 5:
    pytest.skip("the suite of conformance needs Optuna 5", allow_module_level=True)

from optuna.testing.pytest_samplers import (  # noqa: E402
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

import wimble  # noqa: E402
from wimble.optuna import WimblePruner, WimbleSampler  # noqa: E402
from wimble.optuna._sampler import _Search  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)


class TestAuto(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: WimbleSampler(seed=0)


class TestSobol(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: WimbleSampler("sobol", seed=0)


class TestGaussianProcess(SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: WimbleSampler("gp-ei", seed=0)


def branin(trial):
    import math

    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    a = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def test_it_finds_the_minimum_and_repeats_itself():
    def values():
        study = optuna.create_study(sampler=WimbleSampler(seed=1))
        study.optimize(branin, n_trials=50)
        return [trial.value for trial in study.trials]

    first = values()
    assert min(first) < 0.3979 + 1e-3
    assert values() == first


def test_maximising_is_minimising_turned():
    down = optuna.create_study(sampler=WimbleSampler(seed=1))
    down.optimize(branin, n_trials=15)
    up = optuna.create_study(direction="maximize", sampler=WimbleSampler(seed=1))
    up.optimize(lambda trial: -branin(trial), n_trials=15)
    assert [t.params for t in up.trials] == [t.params for t in down.trials]


def test_running_trials_are_pending_points():
    study = optuna.create_study(sampler=WimbleSampler(seed=0))
    study.optimize(branin, n_trials=12)
    space = {"x": optuna.distributions.FloatDistribution(-5, 10), "y": optuna.distributions.FloatDistribution(0, 15)}
    asked = [study.ask(space) for _ in range(6)]
    assert len({tuple(t.params.values()) for t in asked}) == 6
    search = study.sampler._searches[tuple(space.items())]
    assert len(search.open) == 6 and all(search.inner.knows(t.number) for t in asked)
    # A worker in another process, with a sampler of its own, sees the same points as pending.
    other = WimbleSampler(seed=0)
    study.sampler = other
    study.ask(space)
    assert all(other._searches[tuple(space.items())].inner.knows(t.number) for t in asked)


def test_failed_and_pruned_trials_are_evidence():
    study = optuna.create_study(sampler=WimbleSampler(seed=0))

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x > 0.8:
            raise ValueError
        if x > 0.6:
            raise optuna.TrialPruned
        return (x - 0.3) ** 2

    study.optimize(objective, n_trials=25, catch=ValueError)
    study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    search = study.sampler._searches[(("x", optuna.distributions.FloatDistribution(0, 1)),)]
    assert search.inner.told() == 25 and study.best_value < 1e-3


def test_conditional_parameters():
    study = optuna.create_study(sampler=WimbleSampler(seed=0))

    def objective(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return trial.suggest_float("x", 0, 1) + 1
        return (trial.suggest_float("y", 0, 1) - 0.4) ** 2

    study.optimize(objective, n_trials=40)
    assert study.best_value < 1e-3 and study.best_params["kind"] == "b"


def test_trials_enqueued_or_moved_by_the_user_are_evidence_where_they_were_evaluated():
    sampler = WimbleSampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(branin, n_trials=5)
    study.enqueue_trial({"x": 3.14159, "y": 2.275})
    study.enqueue_trial({"x": 1.0})
    study.optimize(branin, n_trials=4)
    assert study.best_value < 0.398
    study.ask({"x": optuna.distributions.FloatDistribution(-5, 10), "y": optuna.distributions.FloatDistribution(0, 15)})
    assert list(sampler._searches.values())[-1].inner.told() == 9


def test_threads_share_a_sampler():
    study = optuna.create_study(sampler=WimbleSampler(seed=0))
    study.optimize(branin, n_trials=24, n_jobs=4)
    assert len({tuple(t.params.items()) for t in study.trials}) == 24
    assert threading.active_count() < 20


def test_copies_and_pickles_begin_anew_and_reseeding_changes_suggestions():
    study = optuna.create_study(sampler=WimbleSampler(seed=3))
    study.optimize(branin, n_trials=15)
    space = {"x": optuna.distributions.FloatDistribution(-5, 10), "y": optuna.distributions.FloatDistribution(0, 15)}

    def next_by(sampler):
        trial = study._storage.get_trial(study._storage.create_new_trial(study._study_id))
        study._storage.set_trial_state_values(trial._trial_id, optuna.trial.TrialState.FAIL)
        study._thread_local.cached_all_trials = None
        return sampler.sample_relative(study, trial, space)

    same = [next_by(s) for s in (copy.deepcopy(study.sampler), pickle.loads(pickle.dumps(study.sampler)))]
    assert same[0] == same[1]
    other = copy.deepcopy(study.sampler)
    other.reseed_rng()
    assert next_by(other) != same[0]


def test_constraints():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.set_user_attr("over", x - 0.5)
        return -x

    sampler = WimbleSampler(seed=0, constraints_func=lambda trial: [trial.user_attrs["over"]])
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=30)
    assert list(sampler._searches.values())[-1].constraints == ["0"]
    allowed = [t.params["x"] for t in study.trials if t.user_attrs["over"] <= 0]
    assert len(allowed) > 5 and max(allowed) > 0.49

    def by_trial(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.set_constraint("half", x - 0.5)
        return -x

    sampler = WimbleSampler(seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(by_trial, n_trials=30)
    assert list(sampler._searches.values())[-1].constraints == ["half"]
    assert 0.49 < study.best_params["x"] <= 0.5


def test_several_objectives():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=WimbleSampler(seed=0))

    def objective(trial):
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        return x + y, 1 - (x - 1) ** 2 - y

    study.optimize(objective, n_trials=40)
    assert len(study.best_trials) > 10
    assert all(t.params["y"] < 0.3 for t in study.best_trials)


def test_what_a_method_does_not_serve_is_refused_with_the_reason():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=WimbleSampler("gp-ei"))
    with pytest.raises(wimble.UnservedError, match="methods that can"):
        study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    with pytest.raises(ValueError, match="atuo"):
        optuna.create_study(sampler=WimbleSampler("atuo")).optimize(branin, n_trials=1)


def test_asking_does_not_slow_down_with_the_length_of_a_study():
    study = optuna.create_study(sampler=WimbleSampler("sobol", seed=0))
    space = {"x": optuna.distributions.FloatDistribution(-5, 10), "y": optuna.distributions.FloatDistribution(0, 15)}
    reads = []
    follow = _Search.follow

    def counted(self, trials, current):
        before = self.read
        follow(self, trials, current)
        reads.append(self.read - before)

    _Search.follow = counted
    try:
        for n in range(300):
            study.add_trial(optuna.create_trial(params={"x": n / 30 - 5, "y": n / 20}, distributions=space, value=n))
        began = time.perf_counter()
        for _ in range(20):
            study.tell(study.ask(space), 1.0)
        assert time.perf_counter() - began < 20
    finally:
        _Search.follow = follow
    assert reads[0] == 301 and set(reads[1:]) == {1}


def test_optunahub_loads_it():
    optunahub = pytest.importorskip("optunahub")
    from pathlib import Path

    folder = Path(__file__).parents[1] / "optunahub" / "package"
    module = optunahub.load_local_module("samplers/wimble", registry_root=str(folder))
    assert module.WimbleSampler is WimbleSampler
    assert {path.name for path in (folder / "samplers" / "wimble").iterdir()} >= {
        "README.md",
        "__init__.py",
        "LICENSE",
        "example.py",
        "requirements.txt",
    }
