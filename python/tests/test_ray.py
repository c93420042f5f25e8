"""Ray: Tune's search algorithm and the executor, on a real cluster on this machine."""

import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

ray = pytest.importorskip("ray")
tune = pytest.importorskip("ray.tune")

import wimble  # noqa: E402
from wimble.ray import WimbleScheduler, WimbleSearch, executor  # noqa: E402

# The worker processes of a cluster cannot import this file.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


def objective(config):
    return (config["lr"] - 0.01) ** 2 + abs(config["model"]["layers"] - 3) + (config["kind"] != "b")


SPACE = {
    "lr": tune.loguniform(1e-4, 1.0),
    "model": {"layers": tune.randint(1, 9), "width": tune.qrandint(16, 64, 16)},
    "kind": tune.choice(["a", "b"]),
    "rate": tune.quniform(0.1, 0.5, 0.1),
    "steps": tune.lograndint(1, 1001),
    "fixed": 7,
}


def search(space=SPACE, **arguments):
    return WimbleSearch(space, "loss", "min", **arguments)


def test_spaces_of_ray_are_converted_and_grids_refused():
    searcher = search(method="random", seed=1)
    for number in range(40):
        config = searcher.suggest(f"t{number}")
        assert 1e-4 <= config["lr"] <= 1 and config["model"]["layers"] in range(1, 9)
        assert config["model"]["width"] in (16, 32, 48, 64) and config["kind"] in ("a", "b")
        assert round(config["rate"] / 0.1, 9) in (1, 2, 3, 4, 5) and 1 <= config["steps"] <= 1000
        assert config["fixed"] == 7 and type(config["model"]["layers"]) is int
    with pytest.raises(ValueError, match="a grid is searched whole"):
        search({"x": tune.grid_search([1, 2])})
    with pytest.raises(ValueError, match="no bounds to search within"):
        search({"x": tune.randn(0, 1)})
    with pytest.raises(RuntimeError, match="needs a search space"):
        WimbleSearch().suggest("t")
    finite = search({"x": tune.choice([1, 2])})
    assert [finite.suggest(str(n)) for n in range(3)][2] == "FINISHED"
    own = search({"x": wimble.real(0, 1), "y": 3})
    assert 0 <= own.suggest("a")["x"] <= 1


def test_saving_and_restoring_loses_nothing(tmp_path):
    def advance(searcher, first, last):
        found = []
        for n in range(first, last):
            config = searcher.suggest(f"t{n}")
            found.append(config)
            if n % 5 == 4:
                searcher.on_trial_complete(f"t{n}", error=True)
            elif n % 7 != 3:
                searcher.on_trial_complete(f"t{n}", {"loss": objective(config)})
        return found

    whole = search(seed=3)
    advance(whole, 0, 12)
    whole.save(str(tmp_path / "state"))
    restored = WimbleSearch()
    restored.restore(str(tmp_path / "state"))
    copied = pickle.loads(pickle.dumps(whole))
    expected = advance(whole, 12, 20)
    assert advance(restored, 12, 20) == expected == advance(copied, 12, 20)


def test_points_to_evaluate_and_evaluated_points():
    point = {"lr": 0.1, "model": {"layers": 2, "width": 32}, "kind": "a", "rate": 0.2, "steps": 10, "fixed": 7}
    searcher = search(points_to_evaluate=[point])
    searcher.add_evaluated_point(point, 3.0)
    config = searcher.suggest("t")
    assert (config["model"], config["kind"], config["steps"]) == (point["model"], "a", 10)
    searcher.on_trial_complete("t", {"loss": float("nan")})
    searcher.on_trial_complete("t", {"loss": 1.0})  # told already
    searcher.on_trial_complete("unknown", {"loss": 1.0})
    assert searcher._search.inner.told() == 2


def trainable(config):
    tune.report({"loss": objective(config)})


@pytest.mark.parametrize("batch", [None, True])
def test_tune_finds_the_minimum(cluster, tmp_path, batch):
    from ray.tune.search import ConcurrencyLimiter

    algorithm = WimbleSearch(seed=0)
    if batch:
        algorithm = ConcurrencyLimiter(algorithm, 4, batch=True)
    tuner = tune.Tuner(
        trainable,
        param_space=SPACE,
        tune_config=tune.TuneConfig(search_alg=algorithm, metric="loss", mode="min", num_samples=16, max_concurrent_trials=None if batch else 4),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="study", verbose=0),
    )
    results = tuner.fit()
    assert len(results) == 16 and not results.errors
    assert results.get_best_result().metrics["loss"] < 3


def first(x):
    return (x - 0.25) ** 2


def dies_once(x, flag):
    if not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return first(x)


def test_minimize_on_a_cluster_with_a_killed_worker_and_a_node_that_comes_and_goes(cluster, tmp_path):
    node = cluster.add_node(num_cpus=2)
    flag = str(tmp_path / "killed")
    pool = executor(num_cpus=1, max_retries=3)
    result = wimble.minimize(
        dies_once, {"x": wimble.real(0, 1), "flag": flag}, trials=20, workers=4, executor=pool, seed=0
    )
    assert result.nfev == 20 and result.study.counts["complete"] == 20 and os.path.exists(flag)
    cluster.remove_node(node)
    again = wimble.minimize(first, {"x": wimble.real(0, 1)}, trials=6, workers=2, executor=executor(), seed=0)
    assert again.nfev == 6


DRIVER = """
import os, sys, time
import ray
from ray import tune
from wimble.ray import WimbleSearch

def train(config):
    time.sleep(0.5)
    tune.report({"loss": (config["x"] - 0.3) ** 2})

ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
folder, name = sys.argv[1:3]
path = os.path.join(folder, name)
if tune.Tuner.can_restore(path):
    tuner = tune.Tuner.restore(path, trainable=train, resume_unfinished=True)
else:
    tuner = tune.Tuner(
        train,
        param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(search_alg=WimbleSearch(seed=0), metric="loss", mode="min", num_samples=12,
                                    max_concurrent_trials=2),
        run_config=tune.RunConfig(storage_path=folder, name=name, verbose=0),
    )
results = tuner.fit()
print(len(results), min(r.metrics["loss"] for r in results))
"""


def test_a_killed_driver_resumes(tmp_path):
    file = tmp_path / "driver.py"
    file.write_text(DRIVER)
    env = {**os.environ, "TUNE_GLOBAL_CHECKPOINT_S": "1"}
    command = [sys.executable, str(file), str(tmp_path / "results"), "study"]
    driver = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=open(tmp_path / "err", "w"), start_new_session=True)
    states = []
    for _ in range(240):
        time.sleep(0.25)
        states = list((tmp_path / "results" / "study").glob("searcher-state*")) if (tmp_path / "results").exists() else []
        if states and driver.poll() is None:
            break
    assert states, f"Tune saved no state of the searcher: {(tmp_path / 'err').read_text()[-2000:]}"
    time.sleep(2)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-3000:]
    count, best = done.stdout.splitlines()[-1].split()
    assert int(count) == 12 and float(best) < 0.01


def curve(config):
    for step in range(1, 28):
        tune.report({"loss": (config["x"] - 0.3) ** 2 + 1 / step})


@pytest.mark.parametrize("rule", ["halving", "auto"])
def test_the_scheduler_stops_what_falls_behind_and_the_search_learns_from_it(cluster, tmp_path, rule):
    searcher = WimbleSearch(seed=0, fidelity={"training_iteration": (1, 27)})
    scheduler = WimbleScheduler(rule, max_t=27, wrong_stop=0.3)
    results = tune.Tuner(
        curve,
        param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(
            search_alg=searcher, scheduler=scheduler, metric="loss", mode="min", num_samples=16, max_concurrent_trials=2
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="study", verbose=0),
    ).fit()
    assert len(results) == 16 and not results.errors
    lengths = [result.metrics["training_iteration"] for result in results]
    assert max(lengths) == 27
    if rule == "halving":
        assert min(lengths) < 27
    assert results.get_best_result().metrics["loss"] < 0.1


def test_a_trial_that_tune_starts_again_is_a_run_of_its_own():
    class Trial:
        trial_id = "again"

    scheduler = WimbleScheduler("halving", max_t=27, metric="loss", mode="max")
    for loss in (1.0, 2.0):
        scheduler.on_trial_add(None, Trial)
        assert scheduler.on_trial_result(None, Trial, {"training_iteration": 1, "loss": loss}) == "CONTINUE"
        # A result that is no number says nothing.
        assert scheduler.on_trial_result(None, Trial, {"training_iteration": 2, "loss": "n/a"}) == "CONTINUE"
        scheduler.on_trial_error(None, Trial)
    scheduler.on_trial_add(None, Trial)
    scheduler.on_trial_complete(None, Trial, {"training_iteration": 27, "loss": 3.0})
    assert sorted(scheduler._ended) == [0, 1, 2]


def test_a_scheduler_and_a_search_go_on_from_their_state(tmp_path):
    class Trial:
        def __init__(self, name):
            self.trial_id = name

    def advance(scheduler, first, last):
        said = []
        for n in range(first, last):
            trial = Trial(f"t{n}")
            scheduler.on_trial_add(None, trial)
            for step in (1, 3, 9):
                result = {"training_iteration": step, "loss": float((n * 7) % 13) + 1 / step}
                said.append(scheduler.on_trial_result(None, trial, result))
                if said[-1] == "STOP":
                    break
            scheduler.on_trial_complete(None, trial, result)
        return said

    whole = WimbleScheduler("halving", max_t=27, metric="loss", mode="min")
    assert "STOP" in advance(whole, 0, 20)
    whole.save(str(tmp_path / "state"))
    restored = WimbleScheduler("halving", max_t=27)
    restored.restore(str(tmp_path / "state"))
    assert advance(restored, 20, 40) == advance(whole, 20, 40)

    def learn(searcher, first, last):
        found = []
        for n in range(first, last):
            config = searcher.suggest(f"t{n}")
            found.append(config)
            searcher.on_trial_result(f"t{n}", {"training_iteration": 1, "loss": config["x"]})
            end = 27 if n % 2 else 2
            searcher.on_trial_complete(f"t{n}", {"training_iteration": end, "loss": config["x"] / end})
        return found

    searcher = WimbleSearch({"x": tune.uniform(0, 1)}, "loss", "min", fidelity={"training_iteration": (1, 27)})
    learn(searcher, 0, 12)
    searcher.save(str(tmp_path / "search"))
    other = WimbleSearch()
    other.restore(str(tmp_path / "search"))
    assert learn(other, 12, 18) == learn(searcher, 12, 18)


def test_a_trial_that_ends_by_itself_is_a_whole_one_and_one_that_is_stopped_is_not():
    class Trial:
        def __init__(self, name):
            self.trial_id = name

    scheduler = WimbleScheduler("median", max_t=27, metric="loss", mode="min")
    for n in range(8):
        trial = Trial(f"t{n}")
        scheduler.on_trial_add(None, trial)
        for step in range(1, 10):
            result = {"training_iteration": step, "loss": n + 1 / step}
            if scheduler.on_trial_result(None, trial, result) == "STOP":
                break
        scheduler.on_trial_complete(None, trial, result)
    ends = {number: at for number, at, _, ended in scheduler._events if ended}
    assert scheduler._stopped and len(ends) == 8
    assert all((ends[number] is not None) == (number in scheduler._stopped) for number in ends)

    searcher = WimbleSearch({"x": tune.uniform(0, 1)}, "loss", "min", fidelity={"training_iteration": (2, 27)})

    def ended(name, last):
        """How far the trial is said to have come, and what is told of it."""
        searcher.suggest(name)
        for step in range(1, 6):
            searcher.on_trial_result(name, {"training_iteration": step, "loss": 1.0})
        searcher.on_trial_complete(name, last and {"training_iteration": last, "loss": 0.5})
        _, outcome, at, over = searcher._told[-1]
        assert over and isinstance(outcome, dict)
        return at

    # The last result again, as Tune gives it when a function returns; a result that a scheduler stopped; none, for a paused trial.
    assert (ended("whole", 5), ended("stopped", 6), ended("paused", None)) == (None, 6.0, 5.0)


def early(config):
    for step in range(1, 1 + config["steps"]):
        tune.report({"loss": config["x"] + 1 / step})


def test_tune_shows_which_trials_ended_by_themselves(cluster, tmp_path):
    searcher = WimbleSearch(seed=0, fidelity={"training_iteration": (1, 27)})
    scheduler = WimbleScheduler("halving", max_t=27)
    tune.Tuner(
        early,
        param_space={"x": tune.uniform(0, 1), "steps": 5},
        tune_config=tune.TuneConfig(
            search_alg=searcher, scheduler=scheduler, metric="loss", mode="min", num_samples=8, max_concurrent_trials=1
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="study", verbose=0),
    ).fit()
    # Whole for both, or stopped for both.
    searched = {number: at for number, _, at, ended in searcher._told if ended}
    scheduled = {number: at for number, at, _, ended in scheduler._events if ended}
    assert searched == scheduled and len(searched) == 8
    assert None in searched.values() and set(searched.values()) - {None}


def test_a_scheduler_says_what_is_wrong():
    with pytest.raises(wimble.InvalidError, match="must be one of"):
        WimbleScheduler("asha", max_t=9)
    with pytest.raises(wimble.InvalidError, match="the first below the second"):
        WimbleScheduler(max_t=1)
    with pytest.raises(wimble.InvalidError, match="mode is 'up'"):
        WimbleScheduler(max_t=9, mode="up")
    with pytest.raises(wimble.InvalidError, match="needs a metric and a mode"):
        WimbleScheduler(max_t=9).on_trial_add(None, None)
    with pytest.raises(wimble.InvalidError, match="must name one measure"):
        WimbleSearch(fidelity={"a": 3})
