"""Long studies: memory holds the history and nothing else."""

import os
import sys

import pytest

PAIRS = int(os.environ.get("WIMBLE_TEST_PAIRS", "3000"))

#: Asks and tells; prints the kilobytes that each trial of the last two thirds has added.
TEXT = """
import sys, wimble
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
study = wimble.Study("s", {name: wimble.real(-1, 1) for name in "xyz"}, method="random", seed=0)
count = int(sys.argv[1])
for done in range(count):
    if done == count // 3:
        before = resident()
    (trial,) = study.ask()
    study.tell(trial, trial["x"] ** 2)
print((resident() - before) / (count - count // 3))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_asking_and_telling_leaks_nothing(python):
    grown = float(python(TEXT, PAIRS, timeout=900).stdout)
    # A stored trial with its configuration takes less than 2 kB; so much for each is a leak.
    assert grown < 3.0
    print(f"{PAIRS} asks and tells: {grown:.2f} kB a trial")
