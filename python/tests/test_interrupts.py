"""Ctrl-C, forks, and an interpreter that ends in the middle of a wait. Each in a process of its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

import wimble

HEAD = "import sys, os, time, threading, wimble\nSPACE = {'x': wimble.real(0, 1), 'y': wimble.real(0, 1)}\n"


def interrupted(tmp_path, text, *arguments, after=1.0):
    """Starts a script, sends SIGINT once it says that it waits, and returns its exit code and output."""
    file = tmp_path / "script.py"
    file.write_text(HEAD + text)
    process = subprocess.Popen(
        [sys.executable, str(file), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "waiting\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err, time.monotonic() - sent


def test_ctrl_c_ends_a_long_ask(tmp_path):
    # A Gaussian process on 1,500 trials takes many seconds to propose 200 points.
    text = """
study = wimble.Study("s", SPACE, method="q-ei", seed=0)
for n in range(1500):
    study.add({"x": (n * 0.618) % 1, "y": (n * 0.414) % 1}, float(n % 7))
print("waiting", flush=True)
try:
    study.ask(200)
    print("asked")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(3)
"""
    code, out, err, took = interrupted(tmp_path, text)
    assert (code, out) == (3, "interrupted\n"), err
    assert took < 5


def test_ctrl_c_ends_waiting_for_a_busy_file(tmp_path):
    import sqlite3

    file = tmp_path / "s.db"
    wimble.Study("s", {"x": wimble.real(0, 1)}, storage=file)
    holder = sqlite3.connect(file)
    holder.execute("BEGIN EXCLUSIVE")
    text = """
print("waiting", flush=True)
try:
    wimble.Study("s", storage=sys.argv[1]).ask()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(3)
"""
    code, out, err, took = interrupted(tmp_path, text, file)
    holder.rollback()
    assert (code, out) == (3, "interrupted\n"), err
    assert took < 2


@pytest.mark.parametrize("arguments", ["", "workers=2", "workers=2, executor='processes'"])
def test_ctrl_c_ends_a_run_and_gives_its_trials_back(tmp_path, arguments):
    text = f"""
def slow(trial):
    time.sleep(3)
    return 1.0

def main():
    study = wimble.Study("s", SPACE, storage=sys.argv[1])
    print("waiting", flush=True)
    try:
        study.optimize(slow, trials=8{", " + arguments if arguments else ""})
    except KeyboardInterrupt:
        print("interrupted", study.counts["running"], flush=True)

if __name__ == "__main__":
    main()
"""
    code, out, err, _ = interrupted(tmp_path, text, tmp_path / "s.db", after=2.0)
    assert out == "interrupted 0\n", err
    assert wimble.Study("s", storage=tmp_path / "s.db").counts["queued"] >= 1


def test_a_forked_process_is_told_to_open_the_study_again(python, tmp_path):
    text = HEAD + """
study = wimble.Study("s", SPACE, storage=sys.argv[1])
study.ask()
child = os.fork()
if child == 0:
    try:
        study.ask()
    except wimble.ForkError as error:
        assert "open the study again" in str(error)
        del study
        again = wimble.Study("s", storage=sys.argv[1])
        (trial,) = again.ask()
        again.tell(trial, 1.0)
        os._exit(0)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
study.tell(study.ask()[0], 2.0)
print(study.counts)
"""
    out = python(text, tmp_path / "s.db").stdout
    assert "'running': 1, 'complete': 2" in out


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_forked_process_may_end_as_any_other(python, tmp_path, kind):
    text = HEAD + """
study = wimble.Study("s", SPACE, storage=sys.argv[1] or None, lease=1)
(trial,) = study.ask()
child = os.fork()
if child == 0:
    refused = 0
    for call in (study.ask, lambda: study.tell(trial, 1.0), study.trials, lambda: study.counts, lambda: repr(study)):
        try:
            call()
        except wimble.ForkError:
            refused += 1
    print(refused, flush=True)
    sys.exit(7)  # with the study still there
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
time.sleep(2)  # the parent goes on renewing its lease
study.tell(trial, 2.0)
print(study.best.value)
"""
    out = python(text, tmp_path / "s.db" if kind == "file" else "").stdout
    assert out.split() == ["5", "2.0"]


@pytest.mark.parametrize("where", ["daemon", "atexit"])
def test_the_interpreter_may_end_in_the_middle_of_a_wait(python, where):
    text = HEAD + """
study = wimble.Study("s", SPACE, method="q-ei", seed=0)
for n in range(800):
    study.add({"x": (n * 0.618) % 1, "y": (n * 0.414) % 1}, float(n % 7))
threading.Thread(target=lambda: study.ask(100), daemon=True).start()
time.sleep(0.3)
if sys.argv[1] == "atexit":
    import atexit
    atexit.register(lambda: print(study.counts["running"]))
print("end", flush=True)
"""
    done = python(text, where, check=False)
    assert done.returncode == 0 and done.stdout.startswith("end\n"), (done.returncode, done.stdout, done.stderr)


def test_dropping_a_study_ends_its_thread(python):
    text = HEAD + """
def threads():
    return len(os.listdir("/proc/self/task")) if os.path.exists("/proc") else 0

before = threads()
for _ in range(5):
    study = wimble.Study("s", SPACE, lease=0.2)
    study.ask()
    del study
time.sleep(0.5)
print(threads() - before)
"""
    if os.path.exists("/proc"):
        assert int(python(text).stdout) <= 0
