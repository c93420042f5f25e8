"""Studies: ask, tell and everything that can be looked at."""

import asyncio
import math
import pickle

import pytest

import wimble

SPACE = {"x": wimble.real(-2, 2), "n": wimble.integer(1, 9)}


def value(trial):
    return trial["x"] ** 2 + abs(trial["n"] - 4)


def study_with(count=12, **arguments):
    study = wimble.Study("s", SPACE, seed=3, **arguments)
    for trial in study.ask(count):
        study.tell(trial, value(trial))
    return study


def test_ask_and_tell_in_every_storage(storage, name):
    study = wimble.Study(name, SPACE, storage=storage, seed=0)
    for _ in range(4):
        for trial in study.ask(3):
            study.tell(trial, value(trial), attributes={"note": [1, None, {"a": True}]})
    trials = study.trials()
    assert [t.number for t in trials] == list(range(12))
    assert all(t.state == "complete" and t.value == value(t) and t.finished >= t.started for t in trials)
    assert trials[0].attributes == {"note": [1, None, {"a": True}]}
    assert study.best == min(trials, key=lambda t: t.value)
    assert study.best_trials(3) == sorted(trials, key=lambda t: t.value)[:3]
    assert study.front == [study.best]
    assert study.recommended is not None
    assert len(study) == 12 and study.counts["complete"] == 12
    assert study.limit is None


def test_the_same_seed_gives_the_same_suggestions_in_every_storage(storage, name):
    def suggestions(study):
        found = []
        for _ in range(8):
            for trial in study.ask(2):
                study.tell(trial, value(trial))
                found.append(trial.params)
        return found

    here = wimble.Study(name, SPACE, storage=storage, seed=7)
    assert suggestions(here) == suggestions(wimble.Study("other", SPACE, seed=7))


def test_a_stored_study_is_opened_again_with_its_own_settings(tmp_path):
    file = tmp_path / "s.db"
    first = wimble.Study("s", SPACE, storage=file, method="bore rule=candidates", direction="maximize", lease=5, trials=20)
    (trial,) = first.ask()
    first.tell(trial, 2.5)
    again = wimble.Study("s", storage=file)
    assert again.space == SPACE and again.seed == first.seed and again.method == first.method
    assert str(again.goal) == "maximise value" and again.best == first.best and again.limit == 20
    # The same space is no contradiction, another one is. More trials may be wanted.
    assert wimble.Study("s", SPACE, storage=file, trials=30).limit == 30
    with pytest.raises(wimble.DiffersError, match="x.high is 2.0, not 1.0"):
        wimble.Study("s", {"x": wimble.real(0, 1)}, storage=file)
    with pytest.raises(wimble.DiffersError, match="its seed is"):
        wimble.Study("s", SPACE, storage=file, seed=first.seed + 1)
    with pytest.raises(KeyError, match="there is no study `t`"):
        wimble.Study("t", storage=file)
    assert pickle.loads(pickle.dumps(again)).best == first.best
    with pytest.raises(TypeError, match="in the memory of this process"):
        pickle.dumps(wimble.Study("s", SPACE))


def test_outcomes_of_every_kind():
    study = wimble.Study("s", SPACE, seed=0)
    a, b, c, d, e = study.ask(5)
    study.tell(a, wimble.FAILED)
    study.tell(b, wimble.FAILED("it diverged", "a trace"))
    study.tell(c, wimble.INFEASIBLE)
    study.tell(d, {"value": 0.5, "accuracy": 0.9})
    study.tell(e, wimble.measured(0.25, deviation=0.1))
    states = [(t.state, t.reason, t.value) for t in study.trials()]
    assert states == [
        ("failed", "", None),
        ("failed", "it diverged", None),
        ("infeasible", "", None),
        ("complete", "", 0.5),
        ("complete", "", 0.25),
    ]
    assert study.trial(1).output == "a trace"
    assert study.trial(3).attributes == {"accuracy": 0.9}
    assert study.trial(4).deviations == {"value": 0.1}
    assert [t.number for t in study.trials("failed")] == [0, 1]


@pytest.mark.parametrize(
    ("outcome", "error", "words"),
    [
        (math.nan, ValueError, "NaN"),
        (math.inf, ValueError, "inf"),
        (None, TypeError, "the outcome is None"),
        ("0.5", TypeError, "'0.5'"),
        ({"loss": 1.0}, ValueError, "the objective `value` is missing"),
        ({"value": "low"}, TypeError, "the value of `value` is 'low'"),
        ([1.0, 2.0], ValueError, "a value for each objective: value"),
        (wimble.measured(1.0, -1.0), ValueError, "deviation"),
    ],
)
def test_a_bad_outcome_is_refused_and_the_trial_can_still_be_told(outcome, error, words):
    study = wimble.Study("s", SPACE, seed=0)
    (trial,) = study.ask()
    with pytest.raises(error) as raised:
        study.tell(trial, outcome)
    assert words in str(raised.value)
    assert study.trial(0).state == "running"
    study.tell(trial, 1.0)


def test_telling_twice_and_other_mistakes():
    study = wimble.Study("s", SPACE, seed=0)
    (trial,) = study.ask()
    study.tell(trial, 1.0)
    study.tell(trial, 1.0)  # the same again is acknowledged
    with pytest.raises(wimble.AlreadyToldError) as raised:
        study.tell(trial, 2.0)
    assert study.best.value == 1.0 and (raised.value.trial, raised.value.outcome) == (0, "1")
    with pytest.raises(wimble.AlreadyToldError) as told:
        study.tell(trial, 2.0, key="another")
    assert (told.value.trial, told.value.outcome) == (0, "1")
    with pytest.raises(KeyError, match="never gave the token 7.1"):
        study.tell("7.1", 1.0)
    with pytest.raises(wimble.InvalidError, match="the token is 'x'|the token is \"x\""):
        study.tell("x", 1.0)
    with pytest.raises(wimble.InvalidError, match="was not given by `ask`"):
        study.tell(study.trial(0), 1.0)
    with pytest.raises(TypeError, match="must be one that `ask` gave"):
        study.tell(0, 1.0)
    for count in (0, -1):
        with pytest.raises(ValueError, match=str(count)):
            study.ask(count)
    with pytest.raises(KeyError, match="has no trial 9"):
        study.trial(9)
    with pytest.raises(ValueError, match="number is -1"):
        study.trial(-1)
    with pytest.raises(TypeError, match="must be a dictionary from names to values"):
        study.add([0.5])
    with pytest.raises(TypeError, match="takes a list of configurations"):
        study.predict({"x": 0.5, "n": 1})
    with pytest.raises(ValueError, match="there is no state"):
        study.trials("done")
    with pytest.raises(ValueError, match="mysql"):
        wimble.Study("s", SPACE, storage="mysql://host/db")
    with pytest.raises(ValueError, match="atuo"):
        wimble.Study("s", SPACE, method="atuo")
    with pytest.raises(ValueError, match="needs a space"):
        wimble.Study("s")
    with pytest.raises(KeyError, match="has no value for `n`"):
        study.add({"x": 0.0})
    with pytest.raises(KeyError, match="`y`"):
        study.add({"x": 0.0, "n": 1, "y": 2})
    with pytest.raises(ValueError, match="not finite"):
        study.tell(study.ask()[0], 1.0, attributes={"a": math.nan})


def test_names_that_there_are_none_of_are_said(tmp_path):
    study = wimble.Study("s", SPACE, storage=tmp_path / "s.db", seed=0)
    with pytest.raises(wimble.UnknownStudyError, match="there is no study `t`|no study") as unknown:
        wimble.Study("t", storage=tmp_path / "s.db")
    assert isinstance(unknown.value, KeyError) and unknown.value.study == "t"
    study.tell(study.ask()[0], 1.0)
    for call in (
        lambda: study.ask(fix={"y": 1.0}),
        lambda: study.predict([{"x": 0.0, "n": 1, "y": 1.0}]),
        lambda: study.add({"x": 0.0, "n": 1, "y": 1.0}, 1.0),
        lambda: wimble.Study("u", SPACE, fixed={"y": 1.0}),
        lambda: wimble.Study("u", {"x": wimble.real(0, 1), "z": wimble.real(0, 1, when={"y": 1})}),
    ):
        with pytest.raises((KeyError, ValueError), match="y"):
            call()
    with pytest.raises(ValueError, match="the quantity is `loss`, but must be one of value"):
        study.importance("loss")
    with pytest.raises(TypeError, match="budget"):
        wimble.Study("u", SPACE, budget=3)
    assert len(study) == 1


def test_released_trials_are_given_again_and_keys_repeat_an_answer():
    study = wimble.Study("s", SPACE, seed=0)
    (trial,) = study.ask(key="mine")
    assert study.ask(key="mine") == [trial]
    study.release(trial)
    (again,) = study.ask()
    assert again.number == trial.number and again.params == trial.params and again.token != trial.token
    with pytest.raises(wimble.LeaseLostError) as lost:
        study.tell(trial, 1.0)
    assert lost.value.trial == 0
    with study:
        study.ask(3)
        assert study.counts["running"] == 4
    assert study.counts == {"queued": 4, "running": 0, "complete": 0, "failed": 0, "infeasible": 0}


def test_a_lease_is_renewed_while_python_computes(tmp_path, python):
    # The lease is much shorter than the computation, which holds the interpreter's lock all the time.
    text = """
import sys, time, wimble
study = wimble.Study("s", {"x": wimble.real(0, 1)}, storage=sys.argv[1], lease=0.5)
(trial,) = study.ask()
end = time.monotonic() + 2.5
while time.monotonic() < end:
    sum(range(1000))
assert not study.is_lost(trial)
study.tell(trial, 1.0)
"""
    python(text, tmp_path / "s.db")
    (trial,) = wimble.Study("s", storage=tmp_path / "s.db").trials()
    assert (trial.state, trial.attempt) == ("complete", 1)


def test_a_trial_that_outlives_its_lease_is_fenced_off(tmp_path, python):
    text = """
import sys, os, wimble
study = wimble.Study("s", {"x": wimble.real(0, 1)}, storage=sys.argv[1], lease=0.3)
(trial,) = study.ask()
print(trial.token, flush=True)
os._exit(0)
"""
    file = tmp_path / "s.db"
    token = python(text, file).stdout.strip()
    import time

    time.sleep(0.6)
    study = wimble.Study("s", storage=file)
    # An ask that finds the queue empty gives notice to the worker that is silent, which keeps the trial if it answers.
    (other,) = study.ask()
    study.tell(other, 3.0)
    time.sleep(0.3)
    (again,) = study.ask()
    assert (other.number, again.number, again.attempt) == (1, 0, 2)
    with pytest.raises(wimble.LeaseLostError):
        study.tell(token, 1.0)
    study.tell(again, 2.0)
    assert [t.value for t in study.trials()] == [2.0, 3.0]


def test_predictions():
    study = study_with(method="gp-ei")
    assert wimble.Study("t", SPACE).predict([{"x": 0.0, "n": 4}]) is None
    near, far = study.predict([{"x": 0.1, "n": 4}, {"x": 2, "n": 9}])
    assert near.mean < far.mean and near.deviation > 0 and 0 <= near.good <= 1
    with pytest.raises(KeyError, match="`n`"):
        study.predict([{"x": 0.1}])


def test_importance():
    study = study_with(60, method="sobol")
    found = study.importance()
    assert list(found) == ["n", "x"] and found.explained > 0.5 and found.trials == 60
    assert found["n"].total.low <= found["n"].total.mean <= found["n"].total.high
    assert study.importance("value") == found and "explains" in found._repr_html_()
    with pytest.raises(ValueError, match="at least 10"):
        study_with(5).importance()
    with pytest.raises(wimble.Error, match="loss"):
        study.importance("loss")


def test_warm_starts():
    pandas = pytest.importorskip("pandas")
    study = study_with(6)
    study.tell(study.ask()[0], wimble.FAILED("no"))
    study.ask()
    other = wimble.Study("t", SPACE)
    assert other.add_trials(study) == 7
    assert [t.value for t in other.trials()] == [t.value for t in study.trials("finished")]
    assert {t.origin for t in other.trials()} == {"imported"}
    third = wimble.Study("u", SPACE)
    assert third.add_trials(study.to_dataframe("finished")) == 7
    assert third.counts == other.counts
    plain = pandas.DataFrame({"x": [0.5, 1.0], "n": [3, 4], "value": [1.0, math.nan]})
    assert wimble.Study("v", SPACE).add_trials(plain) == 2


def test_dataframes():
    pytest.importorskip("pandas")
    study = wimble.Study("s", {"x": wimble.real(0, 1), "c": ["a", "b"], "y": wimble.real(0, 1, when={"c": "b"})}, seed=0)
    for trial in study.ask(10):
        study.tell(trial, trial["x"])
    frame = study.to_dataframe()
    assert list(frame.columns[:6]) == ["number", "state", "value", "params_x", "params_c", "params_y"]
    assert (frame["value"] == frame["params_x"]).all()
    assert (frame["params_y"].isna() == (frame["params_c"] == "a")).all()
    assert wimble.Study("e", SPACE).to_dataframe().empty


def test_a_limit_of_trials():
    study = wimble.Study("s", SPACE, trials=5)
    assert study.limit == 5
    assert [len(study.ask(3)) for _ in range(3)] == [3, 2, 0]


@pytest.mark.parametrize("method", ["auto", "random"])
def test_several_objectives_and_constraints(storage, name, method):
    study = wimble.Study(
        f"{name}-{method}",
        SPACE,
        storage=storage,
        objectives={"a": "minimize", "b": "maximize"},
        constraints={"c": "<= 3", "a": [">= -1.9"]},
        method=method,
        seed=0,
    )
    assert str(study.goal) == "minimise a, maximise b, c <= 3, a >= -1.9"
    for _ in range(3):
        for trial in study.ask(10):
            study.tell(trial, {"a": trial["x"], "b": -trial["n"], "c": abs(trial["x"] - trial["n"]), "seconds": 3})
    complete = study.trials("complete")
    assert complete[0].attributes == {"seconds": 3} and set(complete[0].values) == {"a", "b", "c"}
    feasible = [t for t in complete if t.values["c"] <= 3 and t.values["a"] >= -1.9]
    dominated = {
        t.number
        for t in feasible
        for o in feasible
        if o.values["a"] <= t.values["a"]
        and o.values["b"] >= t.values["b"]
        and (o.values["a"], o.values["b"]) != (t.values["a"], t.values["b"])
    }
    front = study.front
    assert [t.number for t in front] == [
        t.number for t in sorted(feasible, key=lambda t: t.values["a"]) if t.number not in dominated
    ]
    assert set(front.reference) == {"a", "b"} and front.hypervolume > 0 and "<table>" in front._repr_html_()
    assert study.best in front
    (trial,) = study.ask()
    with pytest.raises(ValueError, match="`b` is missing"):
        study.tell(trial, {"a": 1.0, "c": 1.0})
    with pytest.raises(ValueError, match="a value for each objective: a, b"):
        study.tell(trial, 1.0)
    study.tell(trial, wimble.FAILED)


def test_a_goal_that_the_method_does_not_serve_is_refused_with_those_that_do():
    with pytest.raises(wimble.UnservedError) as refused:
        wimble.Study("s", SPACE, objectives=["a", "b"], method="gp-ei")
    assert refused.value.method == "gp-ei" and "random" in refused.value.serving


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"direction": "up"}, "the direction is 'up'"),
        ({"objectives": {"a": "upwards"}}, "the direction is 'upwards'"),
        ({"objectives": ["a"], "direction": "minimize"}, "either direction or objectives"),
        ({"objectives": ["a", "a"]}, "named twice"),
        ({"constraints": {"c": 8}}, "must be such as '<= 8'"),
        ({"constraints": {"c": "< 8"}}, "must be such as '<= 8'"),
        ({"seed": -1}, "seed is -1, but must be at least 0"),
        ({"trials": 0}, "trials is 0, but must be positive"),
        ({"lease": 0}, "lease"),
        ({"lease": math.nan}, "lease"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_bad_settings_are_refused(arguments, words):
    with pytest.raises(wimble.InvalidError) as raised:
        wimble.Study("s", SPACE, **arguments)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"seed": "q"}, "seed is 'q', but must be an integer"),
        ({"trials": "10"}, "trials is '10', but must be an integer"),
        ({"method": 3}, "method is 3, but must be a str"),
        ({"batch_size": 1.5}, "batch_size is 1.5"),
    ],
)
def test_settings_of_the_wrong_type_are_named(arguments, words):
    with pytest.raises(TypeError) as raised:
        wimble.Study(**{"name": "s", "space": SPACE, **arguments})
    assert words in str(raised.value)
    with pytest.raises(TypeError, match="count is '3', but must be an integer"):
        wimble.Study("s", SPACE).ask("3")
    with pytest.raises(TypeError, match="the attribute `f` cannot be kept"):
        study = wimble.Study("s", SPACE)
        study.tell(study.ask()[0], 1.0, attributes={"f": object()})


def test_how_studies_and_trials_look():
    study = study_with(12)
    assert repr(study).startswith("Study('s', minimise value, method='auto', seed=3: 12 complete, best ")
    assert repr(study.best).startswith(f"Trial({study.best.number}, complete, params={{'x': ")
    for thing in (study, study.best, study.front):
        html = thing._repr_html_()
        assert "<table>" in html and html.count("<div>") == html.count("</div>")
    assert [repr(wimble.FAILED), repr(wimble.FAILED("no")), repr(wimble.INFEASIBLE)] == ["FAILED", "FAILED('no')", "INFEASIBLE"]
    hostile = wimble.Study("<script>", SPACE)
    assert "<script>" not in hostile._repr_html_()


def test_asyncio_goes_on_while_a_study_asks():
    async def work():
        study = wimble.Study("s", SPACE, seed=0)
        beats = 0

        async def beat():
            nonlocal beats
            while True:
                await asyncio.sleep(0)
                beats += 1

        heart = asyncio.create_task(beat())
        for _ in range(5):
            asked = await asyncio.gather(*(study.ask_async() for _ in range(4)))
            await asyncio.gather(*(study.tell_async(trial, value(trial)) for (trial,) in asked))
        heart.cancel()
        return study, beats

    study, beats = asyncio.run(work())
    assert study.counts["complete"] == 20 and beats > 20
    assert len({tuple(t.params.items()) for t in study.trials()}) == 20
