"""How do asynchronous workers share one study in PostgreSQL? (Any storage will do: give its address.)"""

import asyncio
import os
import random
import sys

import wimble

storage = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WIMBLE_STORAGE", "wimble.db")
space = {"x": wimble.real(-5, 5), "y": wimble.real(-5, 5)}


async def worker(study, name):
    """Takes trials until there are no more. Run as many as you like, on as many machines."""
    while trials := await study.ask_async():
        (trial,) = trials
        await asyncio.sleep(random.uniform(0.01, 0.05))  # the experiment
        await study.tell_async(trial, trial["x"] ** 2 + trial["y"] ** 2, attributes={"by": name})


async def main():
    study = wimble.Study("asynchronous", space, storage=storage, trials=40)
    await asyncio.gather(*(worker(study, f"worker {number}") for number in range(4)))
    print(study)


asyncio.run(main())
