"""The pruner for Optuna, from the stopping rules of studies."""

import math
import pickle

import pytest

optuna = pytest.importorskip("optuna")

import wimble  # noqa: E402
from wimble._judge import Judge
from wimble.optuna import WimblePruner, WimbleSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)

RULES = ["auto", "halving", "hyperband", "median"]


def curve(trial, steps=27):
    """A loss that falls towards a value which `x` decides."""
    x = trial.suggest_float("x", 0, 1)
    for step in range(steps):
        trial.report((x - 0.3) ** 2 + 1 / (step + 1), step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return (x - 0.3) ** 2 + 1 / steps


def states(study):
    return [trial.state.name for trial in study.trials]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_rules_prune_what_is_bad_in_either_direction(rule, direction):
    sign = 1 if direction == "minimize" else -1

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in range(27):
            trial.report(sign * (x + 1 / (step + 1)), step)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return sign * (x + 1 / 27)

    sampler = optuna.samplers.RandomSampler(seed=1)
    study = optuna.create_study(direction=direction, sampler=sampler, pruner=WimblePruner(rule, wrong_stop=0.2))
    study.optimize(objective, n_trials=90)
    done = states(study)
    assert set(done) == {"COMPLETE", "PRUNED"}
    pruned = [t.params["x"] for t in study.trials if t.state.name == "PRUNED"]
    whole = [t.params["x"] for t in study.trials if t.state.name == "COMPLETE"]
    assert len(pruned) >= 10
    # What was pruned would have been worse on average, and the best went to its end.
    assert sum(pruned) / len(pruned) > sum(whole) / len(whole)
    assert min(whole) < min(pruned)


def test_the_contract_of_pruners():
    study = optuna.create_study(pruner=WimblePruner("halving"))
    trial = study.ask()
    assert trial.should_prune() is False  # no step yet
    trial.report(1.0, 0)
    assert trial.should_prune() is False  # no trial is complete, so that nothing is known of the last step
    study.tell(trial, 1.0)
    diverged = study.ask()
    diverged.report(math.nan, 0)
    assert diverged.should_prune() is True
    diverged.report(math.inf, 1)
    assert diverged.should_prune() is True
    study.tell(diverged, state=optuna.trial.TrialState.PRUNED)
    # A trial is judged from a copy that somebody holds, and nothing of it changes.
    other = study.ask()
    other.report(0.5, 0)
    before = pickle.dumps(study.trials)
    study.pruner.prune(study, study.trials[other.number])
    assert pickle.dumps(study.trials) == before
    # A pruner for several studies.
    second = optuna.create_study(pruner=study.pruner)
    second.optimize(curve, n_trials=5)
    assert len(second.trials) == 5


def test_min_resource_and_max_resource():
    study = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(seed=0), pruner=WimblePruner("halving", min_resource=3, max_resource=27)
    )
    study.optimize(curve, n_trials=40)
    steps = [trial.last_step for trial in study.trials if trial.state.name == "PRUNED"]
    # A rung is behind 3, 9, … steps.
    assert steps and set(steps) <= {2, 8, 26}
    # Steps beyond the end are those of the end.
    longer = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(seed=0), pruner=WimblePruner("median", max_resource=9)
    )
    longer.optimize(curve, n_trials=20)
    assert all(t.last_step < 9 for t in longer.trials if t.state.name == "PRUNED")


def test_what_cannot_work_is_said():
    for arguments, words in [
        ({"rule": "asha"}, "must be one of auto, halving, hyperband, median"),
        ({"wrong_stop": 0}, "strictly between 0 and 1"),
        ({"min_resource": 0}, "min_resource is 0"),
        ({"min_resource": 5, "max_resource": 5}, "above min_resource, 5"),
        ({"max_resource": "all"}, "must be 'auto' or an integer"),
    ]:
        with pytest.raises(wimble.InvalidError, match=words):
            WimblePruner(**arguments)


@pytest.mark.parametrize("jobs", [1, 4])
def test_pruned_trials_are_evidence_for_the_sampler(jobs):
    study = optuna.create_study(sampler=WimbleSampler(seed=0), pruner=WimblePruner("halving", max_resource=27))
    study.optimize(curve, n_trials=60, n_jobs=jobs)
    pruned = [t for t in study.trials if t.state.name == "PRUNED"]
    assert len(pruned) > 5
    assert abs(study.best_params["x"] - 0.3) < 0.15
    # None of the searches took what was pruned for failed: each knows curves.
    (search,) = study.sampler._searches.values()
    assert search.steps == 27 and search.inner.told() >= 60 - jobs


def test_a_sampler_takes_pruned_trials_by_rank_and_not_by_value():
    """Trials that were pruned early have small values here; taken for whole ones they would mislead."""

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in range(9):
            # Grows with the step, and is worse for large x at every step.
            trial.report((1 + x) * (step + 1), step)
            if step == 0 and x > 0.5:
                raise optuna.TrialPruned()
        return (1 + x) * 9

    study = optuna.create_study(sampler=WimbleSampler(seed=3))
    study.optimize(objective, n_trials=40)
    later = [t.params["x"] for t in study.trials[25:]]
    assert sum(x < 0.5 for x in later) > 10, later


def test_a_pruner_can_be_pickled_and_reads_the_study_again(tmp_path):
    study = optuna.create_study(
        storage=f"sqlite:///{tmp_path / 'optuna.db'}", study_name="s", sampler=optuna.samplers.RandomSampler(seed=0),
        pruner=WimblePruner("halving", max_resource=27),
    )
    study.optimize(curve, n_trials=20)
    copied = pickle.loads(pickle.dumps(study.pruner))
    again = optuna.load_study(
        storage=f"sqlite:///{tmp_path / 'optuna.db'}", study_name="s", sampler=optuna.samplers.RandomSampler(seed=1),
        pruner=copied,
    )
    again.optimize(curve, n_trials=10)
    assert states(again)[20:].count("PRUNED") >= 3


def test_what_comes_after_the_end_of_a_trial_says_nothing():
    judge = Judge("halving", 0.05, 1, 27, False, 0)
    for trial in range(9):
        judge.report(trial, 1, float(trial))
    assert judge.should_stop(8)
    judge.end(8, None)
    judge.report(8, 3, 0.0)
    judge.end(8, 1.0)
    assert not judge.should_stop(8)


def test_threads_with_lists_of_different_age_prune_alike():
    pruner = WimblePruner("halving", max_resource=9)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0), pruner=pruner)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in range(9):
            trial.report(x + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    study.optimize(objective, n_trials=200, n_jobs=8)
    states = [trial.state.name for trial in study.trials]
    assert len(states) == 200 and set(states) == {"COMPLETE", "PRUNED"}
