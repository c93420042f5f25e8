"""Trials that report steps and are stopped early."""

from __future__ import annotations

import pickle

import pytest
import wimble

EPOCHS = {"epochs": (1, 9)}


def study(name="s", **more):
    return wimble.Study(name, {"x": wimble.real(0, 1)}, method="random", seed=1, fidelity=EPOCHS, **more)


def test_steps_are_stored_and_a_stopped_trial_keeps_its_last():
    one = study()
    first, second = one.ask(2)
    for epoch in (1, 2, 3):
        first.report(epoch, 1 / epoch)
    one.report(first, 3, 1 / 3)
    one.tell(first, wimble.STOPPED, attributes={"note": "enough"})
    stopped = one.trial(first.number)
    assert (stopped.state, stopped.fidelity, stopped.value) == ("stopped", 3.0, 1 / 3)
    assert stopped.attributes == {"note": "enough"}
    assert one.steps(stopped) == [(1.0, {"value": 1.0}), (2.0, {"value": 0.5}), (3.0, {"value": 1 / 3})]
    assert one.best.number == first.number
    second.report(9, 5.0)
    one.tell(second, 5.0)
    assert one.trial(second.number).fidelity is None
    assert one.best.number == second.number, "a whole evaluation comes before what was stopped"
    assert [t.number for t in one.trials("stopped")] == [first.number]
    assert [t.number for t in one.trials("complete")] == [second.number]


def test_the_rule_stops_what_falls_behind():
    one = study(stopping="median")

    def train(trial):
        for epoch in range(1, 10):
            trial.report(epoch, float(trial.number))
            if trial.should_stop:
                return wimble.STOPPED
        return float(trial.number)

    one.optimize(train, 8)
    states = [trial.state for trial in one.trials()]
    assert states[:5] == ["complete"] * 5 and states[5:] == ["stopped"] * 3
    assert {trial.fidelity for trial in one.trials("stopped")} == {1.0}


def _train(trial):
    """For another process: the trial finds its study again in the storage."""
    trial.report(1, 2.0)
    trial.report(2, 1.0)
    return wimble.STOPPED if trial.should_stop or trial.number == 1 else 0.5


def test_other_processes_report_too(tmp_path):
    one = study(storage=tmp_path / "s.db")
    one.optimize(_train, 2, workers=2, executor="processes")
    assert [trial.state for trial in one.trials()] == ["complete", "stopped"]
    assert [len(one.steps(number)) for number in (0, 1)] == [2, 2]
    # The rule and the fidelity stay with the study.
    again = wimble.Study("s", storage=tmp_path / "s.db")
    assert again.steps(0) == one.steps(0)
    with pytest.raises(wimble.Error, match="epochs 1 to 9"):
        wimble.Study("s", {"x": wimble.real(0, 1)}, storage=tmp_path / "s.db", fidelity={"epochs": (1, 27)})


def test_several_values_have_names():
    one = study(objectives={"error": "minimize", "speed": "maximize"}, constraints={"memory": "<= 8"})
    (trial,) = one.ask()
    trial.report(1, {"error": 1.0, "speed": 2.0, "memory": 3.0})
    assert one.steps(trial) == [(1.0, {"error": 1.0, "memory": 3.0, "speed": 2.0})]
    with pytest.raises(ValueError, match="speed"):
        trial.report(2, {"error": 1.0, "memory": 3.0})


def test_what_is_wrong_is_named():
    one = study()
    (trial,) = one.ask()
    with pytest.raises(wimble.Error, match="from 1 to 9"):
        trial.report(10, 1.0)
    with pytest.raises(ValueError, match="(?i)nan"):
        trial.report(1, float("nan"))
    with pytest.raises(TypeError, match="must be a number"):
        trial.report(1, wimble.FAILED)
    with pytest.raises(wimble.InvalidError, match="has no step"):
        one.tell(trial, wimble.STOPPED)
    with pytest.raises(wimble.InvalidError, match="has no study to report to"):
        pickle.loads(pickle.dumps(trial)).report(1, 1.0)
    plain = wimble.Study("plain", {"x": wimble.real(0, 1)}, method="random")
    with pytest.raises(wimble.InvalidError, match="the study has no fidelity"):
        plain.ask()[0].report(1, 1.0)
    for wrong in ({"epochs": 9}, {}, {"a": (1, 2), "b": (1, 2)}, 9):
        with pytest.raises(wimble.InvalidError, match="must name one measure"):
            wimble.Study("s", {"x": wimble.real(0, 1)}, fidelity=wrong)
    with pytest.raises(wimble.Error, match="medain"):
        study(stopping="medain")
