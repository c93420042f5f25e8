"""minimize and optimize: alone, in threads, in processes, by any executor."""

import concurrent.futures
import math
import threading
import time

import pytest

import wimble

SPACE = {"x": wimble.real(-2, 2), "n": wimble.integer(1, 9)}


def parabola(x, n):
    return (x - 0.5) ** 2 + abs(n - 4)


def with_trial(trial):
    return parabola(**trial.params)


def fails_sometimes(x, n):
    if n < 4:
        raise ArithmeticError(f"n is {n}")
    return parabola(x, n)


def unpicklable(x, n):
    error = RuntimeError("odd")
    error.lock = threading.Lock()
    raise error


@pytest.mark.parametrize(
    "arguments",
    [{}, {"workers": 4}, {"workers": 4, "executor": "threads"}, {"workers": 2, "executor": "processes"}],
    ids=["alone", "workers", "threads", "processes"],
)
def test_it_finds_the_minimum(arguments):
    result = wimble.minimize(parabola, SPACE, trials=40, seed=0, **arguments)
    assert result.nfev == 40 and result.success and result.value == result.fun < 0.05
    assert result.params["n"] == 4 and result.x == result.params
    assert result["value"] == result.value and result.study.counts["complete"] == 40
    assert result.front == [result.best] and "40 trials" in repr(result) and "<table>" in result._repr_html_()


def test_any_executor_will_do():
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        result = wimble.minimize(parabola, SPACE, trials=20, executor=pool)
        assert pool.submit(int).result() == 0, "it is not shut down: it is the caller's"
    assert result.nfev == 20
    with pytest.raises(TypeError, match="the interface of concurrent.futures"):
        wimble.minimize(parabola, SPACE, executor=3)
    with pytest.raises(ValueError, match="'threads', 'processes'"):
        wimble.minimize(parabola, SPACE, executor="fibres")


def test_dask_is_an_executor():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as client:
        result = wimble.minimize(parabola, SPACE, trials=12, workers=2, executor=client.get_executor())
    assert result.nfev == 12


def test_workers_really_work_at_the_same_time():
    most, running, lock = 0, 0, threading.Lock()

    def slow(x, n):
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1
        return x

    wimble.minimize(slow, SPACE, trials=16, workers=4, method="random")
    assert most == 4


def test_scipy_form():
    numpy = pytest.importorskip("numpy")
    optimize = pytest.importorskip("scipy.optimize")

    def sphere(x):
        assert isinstance(x, numpy.ndarray) and x.shape == (2,)
        return numpy.sum((x - 0.3) ** 2)

    for bounds in ([(-1, 1), (-2, 2)], numpy.array([[-1, 1], [-2, 2]]), optimize.Bounds([-1, -2], [1, 2])):
        result = wimble.minimize(sphere, bounds=bounds, trials=40, seed=1)
        assert isinstance(result.x, numpy.ndarray) and sphere(result.x) == result.fun < 1e-3
        assert (result.nfev, result.success) == (40, True) and isinstance(result.message, str)
    for bounds in ([(0, math.inf)], optimize.Bounds([0], [math.inf]), [0, 1], 3):
        with pytest.raises(ValueError, match="finite|pairs"):
            wimble.minimize(sphere, bounds=bounds)
    with pytest.raises(ValueError, match="either a space or bounds"):
        wimble.minimize(sphere)


def test_british_spelling_and_the_other_direction():
    assert wimble.minimise is wimble.minimize and wimble.maximise is wimble.maximize
    result = wimble.maximise(lambda x, n: -parabola(x, n), SPACE, trials=40, seed=0)
    assert result.value > -0.05 and result.study.best.value == max(t.value for t in result.study.trials())


def test_a_finite_space_ends_the_search():
    result = wimble.minimize(lambda n, c: n, {"n": wimble.integer(1, 3), "c": ["a", "b"]}, trials=100)
    assert result.nfev == 6 and result.value == 1


def test_initial_configurations_come_first_and_runs_resume(tmp_path):
    seen = []

    def function(x, n):
        seen.append((x, n))
        return parabola(x, n)

    arguments = dict(initial=[{"x": 0.25, "n": 4}], storage=tmp_path / "s.db", seed=0)
    wimble.minimize(function, SPACE, trials=5, **arguments)
    assert seen[0] == (0.25, 4) and len(seen) == 5
    result = wimble.minimize(function, SPACE, trials=8, **arguments)
    assert len(seen) == 8 and result.nfev == 8


@pytest.mark.parametrize("arguments", [{}, {"workers": 3}, {"workers": 2, "executor": "processes"}])
def test_what_a_function_raises_ends_the_run_unless_it_is_caught(arguments, tmp_path):
    with pytest.raises(ArithmeticError, match="n is"):
        wimble.minimize(fails_sometimes, SPACE, trials=30, storage=tmp_path / "a.db", **arguments)
    study = wimble.Study("minimize", storage=tmp_path / "a.db")
    failed = study.trials("failed")[0]
    assert failed.reason == f"ArithmeticError: n is {failed['n']}"
    assert "fails_sometimes" in failed.output and "raise ArithmeticError" in failed.output
    assert study.counts["running"] == 0
    result = wimble.minimize(fails_sometimes, SPACE, trials=30, catch=ArithmeticError, seed=0, **arguments)
    assert result.nfev == 30 and result.study.counts["failed"] > 0 and result.value < 1


def test_an_exception_that_cannot_be_pickled_still_arrives():
    with pytest.raises(RuntimeError, match="odd"):
        wimble.minimize(unpicklable, SPACE, trials=2, workers=2, executor="processes")


def test_returning_nothing_is_a_mistake_and_nan_is_a_failure():
    with pytest.raises(TypeError, match="trial 0: the outcome is None"):
        wimble.minimize(lambda x, n: None, SPACE, trials=3)
    result = wimble.minimize(lambda x, n: math.nan if n > 4 else x, SPACE, trials=20, seed=0)
    failed = result.study.trials("failed")
    assert failed and all(t["n"] > 4 and t.reason == "the function returned nan" for t in failed)
    with pytest.raises(TypeError, match="something to call"):
        wimble.minimize(3, SPACE)
    for arguments in ({"trials": 0}, {"workers": 0}):
        with pytest.raises(ValueError, match="0"):
            wimble.minimize(parabola, SPACE, **arguments)


def test_optimize_with_trials_callbacks_and_stopping():
    study = wimble.Study("s", SPACE, seed=0)
    seen = []

    def callback(study, trial):
        seen.append((trial.number, trial.value))
        if len(seen) == 7:
            study.stop()

    assert study.optimize(with_trial, trials=20, callbacks=[callback]) is study
    assert len(seen) == 7 and all(study.trial(number).value == value for number, value in seen)
    study.optimise(with_trial, trials=5, workers=2, progress=True)
    assert study.counts["complete"] == 12
    began = time.monotonic()
    study.optimize(lambda trial: time.sleep(0.05) or 1.0, timeout=0.3)
    assert time.monotonic() - began < 5


def test_a_dead_process_pool_gives_its_trials_back(tmp_path):
    with pytest.raises(concurrent.futures.BrokenExecutor):
        wimble.minimize(die, SPACE, trials=6, workers=2, executor="processes", storage=tmp_path / "s.db")
    study = wimble.Study("minimize", storage=tmp_path / "s.db")
    assert study.counts["running"] == 0 and study.counts["queued"] > 0


def die(x, n):
    import os

    os._exit(9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workers": 2.5}, "workers is 2.5, but must be an integer"),
        ({"seed": 2**70}, "must be below 2 to the 64th"),
        ({"catch": "ValueError"}, "catch is 'ValueError'"),
        ({"callbacks": print}, "callbacks is one function"),
        ({"callbacks": [3]}, "a callback is 3"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_stored(given, message, tmp_path):
    file = tmp_path / "s.db"
    with pytest.raises((TypeError, ValueError), match=message):
        wimble.minimize(parabola, SPACE, trials=2, storage=file, **given)
    assert not file.exists()
    with pytest.raises(TypeError, match="the function is 3"):
        wimble.Study("s", SPACE).optimize(3, 2)


PROGRESS = """
import sys
sys.modules["tqdm"] = sys.modules["tqdm.auto"] = None  # as if it were not installed
import wimble
wimble.minimize(lambda x: x, {"x": wimble.real(0, 1)}, trials=3, seed=0, progress=True)
"""


def test_without_tqdm_a_terminal_shows_a_line_and_a_file_nothing(python):
    import os
    import subprocess
    import sys

    assert python(PROGRESS).stderr == ""
    leader, follower = os.openpty()
    subprocess.run([sys.executable, "-c", PROGRESS], stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 10000).decode()
    os.close(leader)
    assert [line.split(",")[0] for line in shown.split("\r")[1:4]] == ["1/3 trials", "2/3 trials", "3/3 trials"]
    assert "best 0" in shown and shown.endswith("\n")


def test_a_bar_knows_how_many_trials_there_are_and_were(monkeypatch, tmp_path):
    auto = pytest.importorskip("tqdm.auto")
    seen = []

    class Seen(auto.tqdm):
        def __init__(self, **given):
            seen.append((given["total"], given["initial"]))
            super().__init__(**given, disable=True)

    monkeypatch.setattr(auto, "tqdm", Seen)
    for trials in (2, 5):
        wimble.minimize(lambda x: x, {"x": wimble.real(0, 1)}, trials=trials, storage=tmp_path / "s.db", progress=True)
    assert seen == [(2, 0), (5, 2)]
