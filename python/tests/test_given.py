"""What a user gives: steps, priors, values for some parameters, and study files."""

import pytest

import wimble


def test_reals_have_steps():
    study = wimble.Study("steps", {"x": wimble.real(0, 1, step=0.25), "y": wimble.real(-1, 1)}, method="random", seed=0)
    assert {trial["x"] for trial in study.ask(60)} == {0.0, 0.25, 0.5, 0.75, 1.0}
    for step in (0, -1, 2):
        with pytest.raises(wimble.InvalidError):
            wimble.Study("bad", {"x": wimble.real(0, 1, step=step)})
    with pytest.raises(TypeError, match="x.step is 'a', but must be a number"):
        wimble.Study("bad", {"x": wimble.real(0, 1, step="a")})


def test_a_grid_is_gone_through_whole():
    study = wimble.Study("grid", {"x": wimble.real(0, 1, step=0.5), "k": ["a", "b"]}, method="grid")
    asked = [(trial["x"], trial["k"]) for trial in study.ask(100)]
    assert sorted(asked) == [(x, k) for x in (0.0, 0.5, 1.0) for k in "ab"]


def test_a_prior_says_where_to_begin():
    space = {
        "rate": wimble.real(1e-5, 1, log=True, prior={"at": 1e-3, "spread": 0.05}),
        "layers": wimble.integer(1, 9, prior=3),
        "kind": wimble.categorical([max, min], prior=min),
    }
    study = wimble.Study("prior", space, seed=0)
    first, *rest = study.ask(20)
    assert (first["layers"], first["kind"]) == (3, min) and first["rate"] == pytest.approx(1e-3)
    assert sum(trial["kind"] is min for trial in rest) > 10
    for prior in ({"spread": 1}, {"at": 1, "width": 2}):
        with pytest.raises(wimble.InvalidError, match="x.prior is"):
            wimble.Study("bad", {"x": wimble.real(0, 1, prior=prior)})
    with pytest.raises(wimble.InvalidError):
        wimble.Study("bad", {"x": wimble.real(0, 1, prior=7)})


def test_a_prior_is_stored(storage, name):
    if storage is None:
        pytest.skip("memory ends with the study")
    space = {"x": wimble.real(0, 1, prior={"at": 0.5, "spread": 0.2}), "b": wimble.boolean(prior=True)}
    wimble.Study(name, space, storage=storage)
    found = wimble.Study(name, storage=storage).space
    assert found["x"].prior == {"at": 0.5, "spread": 0.2} and found["b"].prior["at"] is True


SPACE = {"x": wimble.real(0, 1), "kind": ["a", "b"], "size": wimble.integer(1, 9), "constant": 7}


def test_some_values_are_given_and_the_method_chooses_the_rest(storage, name):
    study = wimble.Study(name, SPACE, storage=storage, seed=0)
    study.add({"x": 0.5, "kind": "a", "size": 1})
    for _ in range(3):
        given = study.ask(2, fix={"kind": "b", "size": 4})
        assert [(t["kind"], t["size"], t["constant"]) for t in given] == [("b", 4, 7)] * 2
        for trial in given:
            study.tell(trial, trial["x"])
    # What waits in the queue is for those who give nothing.
    (queued,) = study.ask()
    assert (queued["x"], queued["kind"], queued["size"]) == (0.5, "a", 1)
    assert len({trial["size"] for trial in study.ask(12)}) > 1
    for fix, words in [
        ({"colour": 1}, "`colour`"),
        ({"kind": "c"}, 'kind is "c"'),
        ({"size": 99}, "size is 99"),
        ({"constant": 8}, "only 7"),
    ]:
        with pytest.raises(wimble.InvalidError, match=words):
            study.ask(fix=fix)


def test_values_that_are_given_for_all_of_a_process():
    study = wimble.Study("fixed", SPACE, fixed={"kind": "b"}, seed=0)
    assert {trial["kind"] for trial in study.ask(10)} == {"b"}
    # What is given for one request comes on top, or instead.
    assert [(t["kind"], t["size"]) for t in study.ask(1, fix={"size": 3})] == [("b", 3)]
    assert [t["kind"] for t in study.ask(1, fix={"kind": "a"})] == ["a"]


FILE = """
name = "from a file"
trials = 7
seed = 3
[objectives]
error = "minimise"
speed = "maximise"
[space]
x = { type = "real", low = 0, high = 1, step = 0.1 }
kind = { type = "categorical", choices = ["a", "b"] }
[fixed]
kind = "b"
"""


def test_a_study_from_a_file(tmp_path, wimble_command):
    file = tmp_path / "study.toml"
    file.write_text(FILE)
    study = wimble.Study.from_file(file, storage=tmp_path / "s.db")
    assert (study.name, study.limit, study.seed) == ("from a file", 7, 3)
    assert study.goal.objectives == {"error": False, "speed": True}
    for trial in study.ask(3):
        assert trial["kind"] == "b"
        study.tell(trial, {"error": trial["x"], "speed": 1})
    again = wimble.Study.from_file(str(file), storage=tmp_path / "s.db", trials=9)
    assert again.limit == 9 and again.counts["complete"] == 3
    assert wimble.Study.from_file(file).storage is None
    file.write_text(FILE.replace("high", "hihg"))
    with pytest.raises(wimble.InvalidError, match="hihg"):
        wimble.Study.from_file(file)
