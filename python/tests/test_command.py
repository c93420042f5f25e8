"""The command that comes with the package, and studies that it shares with Python."""

import json
import signal
import subprocess
import time

import wimble


def test_the_command_is_the_same(wimble_command):
    shown = subprocess.run([wimble_command, "--version"], capture_output=True, text=True)
    assert (shown.returncode, shown.stdout) == (0, f"wimble {wimble.__version__}\n")
    wrong = subprocess.run([wimble_command, "nonsense"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "nonsense" in wrong.stderr
    assert subprocess.run([wimble_command], capture_output=True).returncode == 2
    closed = subprocess.run(f"{wimble_command} methods | head -1; exit ${{PIPESTATUS[0]}}", shell=True,
                            executable="/bin/bash", capture_output=True, text=True)
    assert closed.returncode == 0 and closed.stderr == ""


def test_python_and_the_command_share_a_study(wimble_command, tmp_path):
    def command(*words):
        done = subprocess.run(
            [wimble_command, *words, "--storage", str(tmp_path / "s.db")], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    study = wimble.Study("shared", {"x": wimble.real(0, 1), "c": ["a", "b"]}, storage=tmp_path / "s.db", seed=0)
    (mine,) = study.ask()
    theirs = json.loads(command("ask", "shared"))
    assert theirs["trial"] != mine.number
    command("tell", "shared", "--token", theirs["token"], "--value", "0.25")
    command("tell", "shared", "--token", mine.token, "--value", "0.5")
    assert [t.value for t in study.trials()] == [0.5, 0.25]
    study.tell(study.ask()[0], {"value": 0.125, "note": "from Python"})
    assert json.loads(command("best", "shared", "--json"))["value"] == 0.125
    assert "from Python" in command("trials", "shared", "--json")
    assert "shared" in command("studies")


def test_ctrl_c_stops_a_run_as_in_the_binary(wimble_command, tmp_path):
    (tmp_path / "study.toml").write_text(
        'name = "slow"\ncommand = ["sh", "-c", "sleep 60; echo 1"]\ntrials = 4\nworkers = 2\n'
        "[space]\nx = { type = \"real\", low = 0, high = 1 }\n"
    )
    process = subprocess.Popen([wimble_command, "run"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    storage = tmp_path / "wimble.db"
    for _ in range(200):
        time.sleep(0.05)
        if storage.exists() and study_runs(storage):
            break
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert wimble.Study("slow", storage=storage).counts["running"] == 0


def study_runs(storage):
    try:
        return wimble.Study("slow", storage=storage).counts["running"] == 2
    except wimble.Error:
        return False
