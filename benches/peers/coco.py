"""Runs other tools on the functions of COCO and writes records that `wimble-lab compare coco report` reads.

As in peers.py, points are evaluated by `wimble-lab compare evaluate`, and a run that has ended is never computed again. The first
trial is the centre of the box; a batch of several begins with it and up to nine random points, as `auto` does, and the tool
knows their values when it is asked for the rest: that favours it a little. Called by ./run --set coco.
"""

import math
import time
import traceback
import warnings

from peers import Oracle, Record, call, parser_of, start_of
from tools import TOOLS, in_words

FIRST = 10  # points of the first batch that are given


def run(lab, out, settings, name, subject, seed, batch_size):
    """One run, round by round."""
    problem, cap, limit = subject["name"], subject["evaluations"], settings["ask_seconds"]
    rounds = math.ceil(cap / batch_size)
    first = call(lab, "initial", problem, "--seed", str(seed), "--count", str(min(batch_size, FIRST)))
    first["points"][0] = [(low + high) / 2 for low, high in first["domain"]]
    words = f"{in_words(name)}; batches of {batch_size}, from the centre; at most {limit} s"
    record = Record(out, start_of(f"coco-{batch_size}", problem, name, seed, rounds, words))
    if record.has_ended():
        return False
    oracle, optimiser = Oracle(lab, problem, seed), None
    with record:
        try:
            before = time.process_time()
            optimiser = TOOLS[name](first["domain"], seed, batch_size, cap)
            optimiser.tell(first["points"], oracle.observe(first["points"]))
            spent, left = time.process_time() - before, batch_size - len(first["points"])
            for number in range(1, rounds + 1):
                before = time.process_time()
                points = optimiser.ask(left) if left else []
                record.asks.append(time.process_time() - before)
                if points:
                    optimiser.tell(points, oracle.observe(points))
                spent += time.process_time() - before
                record.round(number, oracle)
                left = batch_size
                if number < rounds and spent > limit:
                    record.end = "aborted"
                    break
        except Exception:
            record.fail(traceback.format_exc())
    if optimiser is not None:
        optimiser.close()
    oracle.close()
    return True


def main():
    parser = parser_of(__doc__, TOOLS, "0")
    parser.add_argument("--batch-size", type=int, default=1)
    for option in ["functions", "dims", "instances", "budget", "noise"]:
        parser.add_argument(f"--{option}", help="as for `wimble-lab compare coco run`")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    tool = arguments.tool
    if arguments.batch_size > 1 and getattr(TOOLS[tool], "sequential", False):
        return print(f"{tool}: left out: it takes one point at a time", flush=True)
    chosen = ["functions", "dims", "instances", "budget", "noise"]
    options = [word for name in chosen if getattr(arguments, name) for word in (f"--{name}", getattr(arguments, name))]
    settings = call(arguments.lab, "coco", "settings", *options)
    for seed in map(int, arguments.seeds.split(",")):
        for subject in settings["problems"]:
            done = run(arguments.lab, arguments.out, settings, tool, subject, seed, arguments.batch_size)
            print(f"{tool} {subject['name']} {seed}: {'done' if done else 'found'}", flush=True)


if __name__ == "__main__":
    main()
