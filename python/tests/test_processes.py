"""Many processes on one study, killed at random: nothing is lost, nothing is done twice, nobody hangs."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import wimble

WORKER = """
import os, sys, wimble
study = wimble.Study(sys.argv[1], storage=sys.argv[2])
while True:
    asked = study.ask()
    if not asked:
        counts = study.counts
        if counts["running"] == 0 and counts["queued"] == 0:
            break
        import time
        time.sleep(0.05)
        continue
    (trial,) = asked
    try:
        study.tell(trial, trial["x"] ** 2, attributes={"fence": trial.token})
        os.write(1, f"{trial.number}\\n".encode())  # whole or not at all
    except wimble.LeaseLostError:
        pass
"""

TRIALS = int(os.environ.get("WIMBLE_TEST_TRIALS", "150"))
KILLS = int(os.environ.get("WIMBLE_TEST_KILLS", "12"))
WORKERS = int(os.environ.get("WIMBLE_TEST_WORKERS", "4"))


@pytest.mark.parametrize("storage", ["sqlite", "postgresql"], indirect=True)
def test_workers_that_are_killed_at_random_lose_nothing(storage, name, tmp_path):
    study = wimble.Study(
        name, {"x": wimble.real(0, 1)}, storage=storage, method="random", trials=TRIALS, lease=1, retries=1000, seed=0
    )
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    log = open(tmp_path / "told", "a")
    generator = random.Random(0)

    def start():
        return subprocess.Popen([sys.executable, str(script), name, storage], stdout=log)

    workers = [start() for _ in range(WORKERS)]
    kills = 0
    end = time.monotonic() + 600
    while any(worker.poll() is None for worker in workers):
        assert time.monotonic() < end, f"a worker hangs: {study.counts}"
        time.sleep(generator.uniform(0.0, 0.04))
        place = generator.randrange(WORKERS)
        # Spread over the study, however fast it goes.
        is_time = study.counts["complete"] * KILLS >= kills * TRIALS
        if kills < KILLS and is_time and workers[place].poll() is None:
            workers[place].send_signal(signal.SIGKILL)
            workers[place].wait()
            workers[place] = start()
            kills += 1
    assert all(worker.returncode == 0 for worker in workers)
    assert kills > 0.8 * KILLS
    trials = study.trials()
    assert [t.number for t in trials] == list(range(TRIALS))
    assert all(t.state == "complete" and t.value == t["x"] ** 2 for t in trials)
    # What a worker saw acknowledged is there, and each trial was acknowledged to one holder only.
    log.close()
    told = [int(line) for line in (tmp_path / "told").read_text().split()]
    assert len(told) == len(set(told)) and set(told) <= set(range(TRIALS))
    print(f"{kills} kills, {TRIALS} trials, {sum(t.attempt > 1 for t in trials)} tried again")


def test_sixteen_threads_share_a_study(storage, name):
    from concurrent.futures import ThreadPoolExecutor

    study = wimble.Study(name, {"x": wimble.real(0, 1)}, storage=storage, method="random", seed=0, trials=160)

    def work(_):
        done = 0
        while asked := study.ask(2):
            for trial in asked:
                study.tell(trial, trial["x"])
                done += 1
        return done

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(work, range(16))) == 160
    assert len({t["x"] for t in study.trials("complete")}) == 160
