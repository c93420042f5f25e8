"""`wimble.ray.run`: the commands of a study file as tasks of a real cluster, whose workers and nodes die on the way."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

ray = pytest.importorskip("ray")

import wimble  # noqa: E402
import wimble.ray  # noqa: E402

FILE = """
name = "{name}"
command = ["{python}", "evaluate.py", "{{x}}", "{{kind}}"]
trials = {trials}
lease = "2s"
{more}
[space]
x = {{ type = "real", low = 0, high = 1 }}
kind = {{ type = "categorical", choices = ["a", "b"] }}
"""

#: Prints a value, and does what a file beside it says, once.
EVALUATE = """
import os, signal, sys, time
x, kind = float(sys.argv[1]), sys.argv[2]
with open("begun", "a") as log:
    log.write(f"{os.getpid()} {os.getppid()}\\n")
try:
    os.remove("kill")
except FileNotFoundError:
    pass
else:
    os.kill(os.getppid(), signal.SIGKILL)  # the worker process of Ray
    time.sleep(60)
if "UNFIT" in os.environ:
    sys.exit("no such data here")
time.sleep(float(os.environ.get("PAUSE", "0.1")))
print((x - 0.3) ** 2 + (kind == "a"))
"""


@pytest.fixture
def study_file(tmp_path):
    def write(name="cluster", trials=12, more=""):
        (tmp_path / "evaluate.py").write_text(EVALUATE)
        file = tmp_path / "study.toml"
        file.write_text(FILE.format(name=name, python=sys.executable, trials=trials, more=more))
        return file

    return write


def told_once(study, trials):
    found = study.trials()
    assert [trial.number for trial in found] == list(range(trials))
    assert all(trial.state == "complete" for trial in found), study.counts
    assert all(t.value == pytest.approx((t["x"] - 0.3) ** 2 + (t["kind"] == "a")) for t in found)


@pytest.mark.parametrize("storage", ["sqlite", "postgresql"], indirect=True)
def test_a_study_is_run_and_resumed_though_a_worker_is_killed(cluster, study_file, storage, name, tmp_path):
    (tmp_path / "kill").touch()
    file = study_file(name=name, trials=8)
    result = wimble.ray.run(file, storage=storage, progress=False)
    assert not (tmp_path / "kill").exists()
    assert result.nfev == 8 and result.success
    told_once(result.study, 8)
    # One evaluation was killed with its worker, and none was done twice.
    assert len((tmp_path / "begun").read_text().splitlines()) == 9
    again = wimble.ray.run(file, storage=storage, trials=14, progress=False)
    told_once(again.study, 14)
    assert len((tmp_path / "begun").read_text().splitlines()) == 15
    # It is the study that everybody else sees.
    assert wimble.Study(name, storage=storage).best.value == again.value
    assert set(again.params) == {"x", "kind"}


def test_nodes_come_and_go(cluster, study_file, tmp_path):
    import threading

    file = study_file(name="nodes", trials=40)
    storage = str(tmp_path / "s.db")
    ends = []
    runtime = {"env_vars": {"PAUSE": "0.4"}}
    thread = threading.Thread(
        target=lambda: ends.append(wimble.ray.run(file, storage=storage, progress=False, runtime_env=runtime))
    )
    thread.start()
    wait(lambda: begun(tmp_path) >= 2)
    node = cluster.add_node(num_cpus=2)
    # Workers follow the cluster: more commands run at a time than one node has room for.
    wait(lambda: running(storage, "nodes") >= 3)
    cluster.remove_node(node, allow_graceful=False)
    thread.join(120)
    assert ends and ends[0].nfev == 40
    told_once(ends[0].study, 40)


def test_what_cannot_work_is_said(cluster, study_file, tmp_path, monkeypatch):
    file = study_file()
    storage = str(tmp_path / "s.db")
    with pytest.raises(wimble.InvalidError, match="max_retries is the study's"):
        wimble.ray.run(file, storage=storage, max_retries=3)
    with pytest.raises(wimble.InvalidError, match="workers is 0"):
        wimble.ray.run(file, storage=storage, workers=0)
    with pytest.raises(wimble.InvalidError, match="which the workers cannot reach"):
        wimble.ray.run(file, storage="memory:")
    with pytest.raises(wimble.InvalidError, match="give workers"):
        wimble.ray.run(file, storage=storage, num_cpus=0)
    with pytest.raises(FileNotFoundError):
        wimble.ray.run(tmp_path / "none.toml")
    with pytest.raises(wimble.InvalidError, match="has no folder"):
        wimble.ray.run(file, storage=storage, folder=tmp_path / "nowhere", progress=False)
    bare = tmp_path / "bare.toml"
    bare.write_text('name = "bare"\n[space]\nx = { type = "real", low = 0, high = 1 }\n')
    with pytest.raises(wimble.InvalidError, match="`command` is missing"):
        wimble.ray.run(bare, storage=storage)
    bare.write_text('nam = "bare"\n')
    with pytest.raises(wimble.InvalidError, match="bare.toml"):
        wimble.ray.run(bare, storage=storage)
    broken = study_file(name="broken")
    (tmp_path / "evaluate.py").write_text("raise SystemExit('no such data')")
    with pytest.raises(wimble.CommandError, match="no such data") as caught:
        wimble.ray.run(broken, storage=storage, progress=False)
    assert caught.value.reason
    two = [{"Alive": True, "NodeManagerAddress": f"10.0.0.{n}", "Resources": {"CPU": 1.0}} for n in (1, 2)]
    monkeypatch.setattr(ray, "nodes", lambda: two)
    with pytest.raises(wimble.InvalidError, match="the cluster is 2 machines"):
        wimble.ray.run(file, storage=storage)


def test_the_command_for_the_end_is_run_once(cluster, study_file, tmp_path):
    more = f'[on]\nend = ["{sys.executable}", "-c", "import sys; open(\'ended\', \'a\').write(sys.stdin.read())"]'
    file = study_file(name="noticed", trials=3, more=more)
    wimble.ray.run(file, storage=tmp_path / "s.db", progress=False)
    (line,) = (tmp_path / "ended").read_text().splitlines()
    told = json.loads(line)
    assert (told["end"], told["study"], told["counts"]["complete"], told["told"]) == ("budget-spent", "noticed", 3, 3)


DRIVER = """
import sys, ray, wimble.ray
ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
try:
    result = wimble.ray.run(sys.argv[1], storage=sys.argv[2], progress=False)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(130)
print(result.nfev)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_driver_that_is_interrupted_or_killed_goes_on_when_it_is_run_again(study_file, tmp_path, how):
    file = study_file(name="driver", trials=10)
    storage = str(tmp_path / "s.db")
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    command = [sys.executable, str(script), str(file), storage]
    env = {**os.environ, "PAUSE": "0.6"}
    driver = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    wait(lambda: begun(tmp_path) >= 3)
    driver.send_signal(how)
    out, _ = driver.communicate(timeout=60)
    if how == signal.SIGINT:
        assert driver.returncode == 130 and out.strip() == "interrupted"
        # What ran went back to the queue.
        assert wimble.Study("driver", storage=storage).counts["running"] == 0
    else:
        # Ray ends the workers of a driver that is gone, and with them the commands.
        wait(lambda: not any(alive(pid) for pid in pids(tmp_path)), 60)
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "10"
    told_once(wimble.Study("driver", storage=storage), 10)


def test_a_node_on_which_the_command_does_not_work_is_left_out(cluster, study_file, tmp_path, caplog):
    file = study_file(name="unfit", trials=40)
    node = cluster.add_node(num_cpus=2, env_vars={"UNFIT": "1"})
    try:
        runtime = {"env_vars": {"PAUSE": "0.3"}}
        result = wimble.ray.run(file, storage=tmp_path / "s.db", progress=False, runtime_env=runtime)
    finally:
        cluster.remove_node(node)
    counts = result.study.counts
    assert result.nfev == 40 and counts["running"] == counts["queued"] == 0
    # Two workers failed there until one had said so, and no other began.
    assert 5 <= counts["failed"] <= 10 and counts["complete"] == 40 - counts["failed"]
    assert sum("the run goes on without node" in record.message for record in caplog.records) == 1


#: Takes its time when it is asked to end.
STUBBORN = """
import pathlib, signal, sys, time
def end(*_):
    time.sleep(4)
    pathlib.Path("ended").touch()
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
pathlib.Path("begun").write_text("1 1\\n")
time.sleep(60)
"""


def test_a_command_has_the_time_to_end_that_its_study_file_gives(study_file, tmp_path):
    file = study_file(name="stubborn", trials=1, more='grace = "30s"')
    (tmp_path / "evaluate.py").write_text(STUBBORN)
    script = tmp_path / "driver.py"
    # Workers have so little time of their own that the command's counts.
    script.write_text("import wimble.ray._fleet\nwimble.ray._fleet._GRACE = 1.0\n" + DRIVER)
    command = [sys.executable, str(script), str(file), str(tmp_path / "s.db")]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    wait(lambda: begun(tmp_path) >= 1)
    driver.send_signal(signal.SIGINT)
    out, _ = driver.communicate(timeout=60)
    assert driver.returncode == 130 and out.strip() == "interrupted"
    assert (tmp_path / "ended").exists()
    assert wimble.Study("stubborn", storage=tmp_path / "s.db").counts["queued"] == 1


def test_no_argument_of_a_task_has_the_address_of_the_storage(cluster, study_file, tmp_path, monkeypatch):
    from ray import cloudpickle
    from ray.remote_function import RemoteFunction

    given = []
    remote = RemoteFunction._remote

    def seen(self, args=None, kwargs=None, **options):
        # A reference to an object is not the object.
        given.append(cloudpickle.dumps((args, kwargs, options)))
        return remote(self, args=args, kwargs=kwargs, **options)

    monkeypatch.setattr(RemoteFunction, "_remote", seen)
    # As for a server's token, or a password of PostgreSQL: it is in the address.
    storage = tmp_path / "s3cret.db"
    assert wimble.ray.run(study_file(name="secret", trials=2), storage=storage, progress=False).nfev == 2
    assert given and not any(b"s3cret" in text for text in given)


def wait(condition, seconds=90):
    for _ in range(seconds * 20):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain")


def begun(folder):
    log = folder / "begun"
    return len(log.read_text().splitlines()) if log.exists() else 0


def pids(folder):
    return [int(line.split()[0]) for line in (folder / "begun").read_text().splitlines()]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def running(storage, name):
    return wimble.Study(name, storage=storage).counts["running"]


def test_a_time_budget_lets_what_runs_finish(cluster, study_file, tmp_path):
    runtime = {"env_vars": {"PAUSE": "1.2"}}
    # The time counts from the call, the start of the workers included, which takes long on a machine that is busy.
    for seconds in (10, 40, 120):
        file = study_file(name=f"timed-{seconds}", trials=500, more=f'time = "{seconds}s"')
        result = wimble.ray.run(file, storage=tmp_path / "s.db", progress=False, runtime_env=runtime)
        if result.nfev > 0:
            break
    # What had begun was finished and told; nothing new began, and nothing went back to the queue.
    assert 1 <= result.nfev == begun(tmp_path) < 250
    assert result.study.counts["running"] == 0
