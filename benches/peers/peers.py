"""Runs other tools on our problems and writes records that `wimble-lab compare report` reads.

Points are evaluated by `wimble-lab compare evaluate`, so that a tool meets exactly our functions, initial points and noise.
A run ends after its evaluations, or when asking and telling have taken the limit in CPU seconds of this process: other
work on the machine makes no difference. A run that has ended is never computed again.

Called by ./run, which sets up environments and keeps numerical libraries to one thread.
"""

import argparse
import json
import math
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path

from tools import TOOLS, in_words, is_mixed

ASKS = 5  # timed after each size of history


class Pipe:
    """A problem under a seed, evaluated by the other side of a pipe."""

    def __init__(self, lab, problem, seed):
        command = [lab, "compare", "evaluate", problem, "--seed", str(seed)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.evaluations = 0

    def evaluate(self, x):
        self.process.stdin.write(json.dumps([c if isinstance(c, str) else float(c) for c in x]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("wimble-lab compare evaluate ended; its message is above")
        self.evaluations += 1
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Oracle(Pipe):
    """A problem with one objective."""

    def __init__(self, lab, problem, seed):
        super().__init__(lab, problem, seed)
        self.simple_regret, self.incumbent = math.inf, (math.inf, math.inf)

    def observe(self, points):
        values = []
        for x in points:
            seen = self.evaluate(x)
            self.simple_regret = min(self.simple_regret, seen["regret"])
            self.incumbent = min(self.incumbent, (seen["value"], seen["regret"]))
            values.append(seen["value"])
        return values


def call(lab, *arguments):
    return json.loads(subprocess.run([lab, "compare", *arguments], check=True, capture_output=True, text=True).stdout)


class Record:
    """The record of a run, written round by round; a context that writes how it ended."""

    def __init__(self, out, start):
        key = start["key"]
        self.out, self.start, self.asks, self.end = out, start, [], "finished"
        self.figure, self.name = key["figure"], f"{key['problem']}__{key['method']}__{key['trial']}"
        self.path = out / "records" / self.figure / f"{self.name}.jsonl"
        self.rounds = 0

    def has_ended(self):
        return has_ended(self.path, self.start)

    def __enter__(self):
        self.begun = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("w")
        self.write("start", self.start)

    def write(self, kind, content):
        self.file.write(json.dumps({kind: content}, separators=(",", ":")) + "\n")
        self.file.flush()

    def round(self, number, oracle):
        metrics = {"incumbent_regret": oracle.incumbent[1], "simple_regret": oracle.simple_regret}
        self.write("round", {"round": number, "evaluations": oracle.evaluations, "metrics": metrics})
        self.rounds = number

    def fail(self, why):
        """What it reached counts; why it stopped is kept beside the records."""
        self.end = "aborted"
        failure = self.out / "failures" / self.figure / f"{self.name}.txt"
        failure.parent.mkdir(parents=True, exist_ok=True)
        failure.write_text(why)

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.write("end", {"end": self.end, "rounds": self.rounds})
            times = self.out / "times" / self.figure / f"{self.name}.json"
            times.parent.mkdir(parents=True, exist_ok=True)
            seconds = time.monotonic() - self.begun
            times.write_text(json.dumps({"seconds": seconds, "asks": self.asks}) + "\n")
        self.file.close()


def has_ended(path, start):
    """Whether the file holds this run to its end; a run of other settings is refused."""
    if not path.exists():
        return False
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}}")]
    if not lines or "start" not in lines[0]:
        return False
    if lines[0]["start"]["settings"] != start["settings"]:
        sys.exit(f"{path} is of other settings ({lines[0]['start']['settings']}); give another folder with --out")
    end = lines[-1].get("end")
    return end is not None and (end["end"] == "aborted" or end["rounds"] >= start["rounds"])


def parser_of(doc, tools, seeds):
    """A parser of what every script takes: the lab, the folder, the tool, and seeds."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--lab", required=True, help="the command wimble-lab")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the records")
    parser.add_argument("--tool", required=True, choices=tools)
    parser.add_argument("--seeds", default=seeds, help="separated by commas")
    return parser


def start_of(figure, problem, method, seed, rounds, words):
    """The first line of a record."""
    key = {"figure": figure, "problem": problem, "method": method, "trial": seed}
    return {"key": key, "seed": seed, "rounds": rounds, "settings": words}


def is_meant(tool, problem):
    """Whether the tool runs on the problem, unless a user says so: as in the settings of the comparison."""
    suite = problem.get("suite", "functions")
    return suite not in tool.get("not_on", {}) and (problem.get("sample", False) or not tool.get("slow", False))


def run(lab, out, settings, tool, subject, seed, batch_size):
    """One run, round by round."""
    problem = subject["name"]
    caps = [tool["evaluations"], subject.get("evaluations"), settings["evaluations"]]
    cap = min(cap for cap in caps if cap)
    rounds = math.ceil((cap - settings["initial"]) / batch_size)
    limit = settings["ask_seconds"]
    figure = f"compare-{batch_size}"
    first = call(lab, "initial", problem, "--seed", str(seed), "--count", str(settings["initial"]))
    if is_mixed(first["domain"]) and TOOLS[tool["name"]].mixed is None:
        sys.exit(f"{tool['name']} takes real variables only, and {problem} has levels and choices")
    words = in_words(tool["name"], first["domain"])
    words = f"{words}; batches of {batch_size}, {settings['initial']} initial; at most {limit} s"
    record = Record(out, start_of(figure, problem, tool["name"], seed, rounds, words))
    if record.has_ended():
        return False
    oracle = Oracle(lab, problem, seed)
    with record:
        try:
            before = time.process_time()
            optimiser = TOOLS[tool["name"]](first["domain"], seed, batch_size, cap)
            optimiser.tell(first["points"], oracle.observe(first["points"]))
            spent = time.process_time() - before
            for number in range(1, rounds + 1):
                before = time.process_time()
                points = optimiser.ask(batch_size)
                record.asks.append(time.process_time() - before)
                optimiser.tell(points, oracle.observe(points))
                spent += time.process_time() - before
                record.round(number, oracle)
                if number < rounds and spent > limit:
                    record.end = "aborted"
                    break
        except Exception:
            record.fail(traceback.format_exc())
    oracle.close()
    return True


def count_rounds(path):
    return sum(line.startswith('{"round"') for line in path.read_text().splitlines())


def latency(lab, out, settings, tool, sizes, patience):
    """CPU seconds of an ask after as many evaluations; larger sizes are left out once one takes too long."""
    problem, batch_size = settings["latency_problem"], settings["batch_size"]
    measured = []
    for size in sizes:
        first = call(lab, "initial", problem, "--count", str(size))
        oracle = Oracle(lab, problem, 0)
        optimiser = TOOLS[tool["name"]](first["domain"], 0, batch_size, size + ASKS * batch_size)
        optimiser.tell(first["points"], oracle.observe(first["points"]))
        seconds = []
        for _ in range(ASKS):
            before = time.process_time()
            points = optimiser.ask(batch_size)
            seconds.append(time.process_time() - before)
            optimiser.tell(points, oracle.observe(points))
            if sum(seconds) > patience:
                break
        oracle.close()
        measured.append({"evaluations": size, "seconds": seconds})
        print(f"{tool['name']}: {1000 * sorted(seconds)[len(seconds) // 2]:.1f} ms after {size}", flush=True)
        if max(seconds) > patience:
            break
    folder = out / "latency"
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "tool": tool["name"],
        "settings": in_words(tool["name"]),
        "problem": problem,
        "batch_size": batch_size,
        "sizes": measured,
    }
    (folder / f"{tool['name']}.json").write_text(json.dumps(content) + "\n")


def tell_of(title, one, needs_data):
    """Runs one, and says how it ended. What needs data that is not there is left out."""
    try:
        done = one()
    except subprocess.CalledProcessError as error:
        if not needs_data:
            raise
        print(f"{title}: left out: {error.stderr.strip()}", flush=True)
        return
    print(f"{title}: {'done' if done else 'found'}", flush=True)


def main():
    parser = parser_of(__doc__, TOOLS, "0,1,2,3,4")
    parser.add_argument("--problems", default="", help="these only, separated by commas")
    parser.add_argument("--batch-size", type=int, default=10)
    parser.add_argument("--latency", default="", help="time an ask after these many evaluations instead")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds of an ask after which sizes are left out")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    settings = call(arguments.lab, "settings")
    tool = next(tool for tool in settings["tools"] if tool["name"] == arguments.tool)
    if arguments.latency:
        sizes = [int(size) for size in arguments.latency.split(",")]
        return latency(arguments.lab, arguments.out, settings, tool, sizes, arguments.patience)
    subjects = {subject["name"]: subject for subject in settings["problems"]}
    if arguments.problems:
        chosen = arguments.problems.split(",")
    else:
        chosen = [name for name, subject in subjects.items() if is_meant(tool, subject)]
    for unknown in sorted(set(chosen) - set(subjects)):
        sys.exit(f"no problem of the comparison is called {unknown}; there are {', '.join(subjects)}")
    for seed in map(int, arguments.seeds.split(",")):
        for name in chosen:
            subject = subjects[name]
            one = lambda: run(arguments.lab, arguments.out, settings, tool, subject, seed, arguments.batch_size)
            # Racing lines and tables need data that not everybody has.
            tell_of(f"{tool['name']} {name} {seed}", one, bool(subject.get("fig3")))


if __name__ == "__main__":
    main()
