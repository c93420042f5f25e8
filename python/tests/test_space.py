"""Spaces: what may be written, what comes back, and what is refused."""

import pickle

import pytest

import wimble


def params_of(space, count=20, **arguments):
    study = wimble.Study("s", space, method="random", seed=1, **arguments)
    return [trial.params for trial in study.ask(count)]


def test_every_kind_of_dimension_gives_its_values():
    space = {
        "rate": wimble.real(1e-5, 1e-1, log=True),
        "layers": wimble.integer(1, 8),
        "width": wimble.integer(16, 64, step=16),
        "flag": wimble.boolean(),
        "optimizer": ["adam", "sgd"],
        "size": wimble.ordinal(["small", "medium", "large"]),
        "momentum": wimble.real(0, 0.99, when={"optimizer": "sgd"}),
    }
    for params in params_of(space, 60):
        assert 1e-5 <= params["rate"] <= 1e-1 and type(params["rate"]) is float
        assert params["layers"] in range(1, 9) and type(params["layers"]) is int
        assert params["width"] in (16, 32, 48, 64)
        assert type(params["flag"]) is bool
        assert ("momentum" in params) == (params["optimizer"] == "sgd")
        # In the order of the space.
        assert list(params) == [name for name in space if name in params]


def test_choices_may_be_any_objects_and_come_back_as_they_are():
    space = {"activation": [max, min, None, (3, 4), "text", 1.5], "x": wimble.real(0, 1, when={"activation": [None, max]})}
    seen = []
    for params in params_of(space, 80):
        choice = params["activation"]
        seen.append(choice)
        assert any(choice is other or choice == other for other in space["activation"])
        assert ("x" in params) == (choice in (None, max))
    assert all(any(choice == one for one in seen) for choice in space["activation"])


def test_constants_are_passed_on_and_not_searched():
    study = wimble.Study("s", {"x": wimble.real(0, 1), "epochs": 10, "only": ["one"], "f": len}, seed=0)
    (trial,) = study.ask()
    assert {name: trial[name] for name in ("epochs", "only", "f")} == {"epochs": 10, "only": "one", "f": len}
    study.tell(trial, 1.0)
    assert study.best.params == trial.params
    # They may be given back with a configuration of one's own.
    study.add({"x": 0.5, "epochs": 10, "only": "one", "f": len}, 2.0)
    assert study.trial(1).params["f"] is len


def test_numpy_scalars_are_taken_for_what_they_hold():
    numpy = pytest.importorskip("numpy")
    space = {
        "x": wimble.real(numpy.float32(0), numpy.float64(1)),
        "n": wimble.integer(numpy.int64(1), numpy.int32(5)),
        "c": list(numpy.array([16, 32])),
    }
    study = wimble.Study("s", space, seed=0)
    study.add({"x": numpy.float64(0.5), "n": numpy.int64(2), "c": numpy.int64(32)}, numpy.float32(1.5))
    (trial,) = study.ask()
    study.tell(trial, numpy.array(2.5))
    assert [t.value for t in study.trials()] == [1.5, 2.5]
    assert study.trial(0).params == {"x": 0.5, "n": 2, "c": 32}


def test_spaces_and_trials_survive_pickling():
    space = {"x": wimble.real(0, 1, log=False), "c": wimble.categorical(["a", "b"], when={"d": True}), "d": wimble.boolean()}
    assert pickle.loads(pickle.dumps(space)) == space
    study = wimble.Study("s", {"x": wimble.real(0, 1)}, seed=0)
    (trial,) = study.ask()
    again = pickle.loads(pickle.dumps(trial))
    assert again == trial
    study.tell(again, 1.0)
    assert pickle.loads(pickle.dumps(study.best)) == study.best


def test_known_constraints_hold_in_every_suggestion(tmp_path):
    import pickle

    space = {"layers": wimble.integer(1, 8), "width": wimble.integer(16, 256), "parts": wimble.shares(["a", "b"])}
    study = wimble.Study("s", space, known=["layers * width <= 512"], storage=tmp_path / "s.db", seed=0)
    for _ in range(3):
        for trial in study.ask(5):
            assert trial["layers"] * trial["width"] <= 512 and abs(trial["a"] + trial["b"] - 1) < 1e-9
            study.tell(trial, -trial["width"])
    assert study.known == ["layers * width <= 512"] == pickle.loads(pickle.dumps(study)).known
    assert wimble.Study("s", storage=tmp_path / "s.db").space == space
    for wrong in ("layers * depth <= 3", "layers <"):
        with pytest.raises(wimble.InvalidError, match="layers"):
            wimble.Study("t", space, known=[wrong])


@pytest.mark.parametrize(
    ("space", "error", "words"),
    [
        ({"x": wimble.real(2, 1)}, wimble.InvalidError, "x.low is 2"),
        ({"x": wimble.real(0, float("nan"))}, ValueError, "x.high is NaN"),
        ({"x": wimble.real(0, 1, log=True)}, ValueError, "positive on a log scale"),
        ({"x": wimble.real("a", 1)}, TypeError, "x.low is 'a', but must be a number"),
        ({"n": wimble.integer(0, 2.5)}, TypeError, "n.high is 2.5, but must be an integer"),
        ({"c": ["a", "a"]}, ValueError, "different from the values before it"),
        ({"x": (0, 1)}, TypeError, "wimble.real(low, high)"),
        ({"x": wimble.real(0, 1, when={"y": 1})}, ValueError, "y"),
        ({"x": wimble.real(0, 1, when={"y": 1, "z": 2})}, ValueError, "with one name"),
        ({"c": [object(), object()]}, TypeError, "no name that is the same tomorrow"),
        ({3: wimble.real(0, 1)}, TypeError, "must be a str"),
        ({}, ValueError, "no dimension"),
        ({"x": 3}, ValueError, "no dimension"),
        ([("x", 1)], TypeError, "must be a dictionary"),
    ],
)
def test_bad_spaces_are_refused_with_the_value_and_the_fix(space, error, words):
    with pytest.raises(error) as raised:
        wimble.Study("s", space)
    assert words in str(raised.value)


def test_an_error_has_its_facts_as_attributes_and_survives_pickling():
    with pytest.raises(wimble.Error) as raised:
        wimble.Study("s", {"x": wimble.real(2, 1)})
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.field, error.value) == ("x.low", "2.0") and "below x.high" in error.allowed
    assert isinstance(error, ValueError) and type(error) is wimble.InvalidError
    assert not hasattr(error, "study")
