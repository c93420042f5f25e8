"""Runs other tools in the trials of the paper's Figure 3 and writes records that `wimble-lab paper summarise` reads.

`wimble-lab paper evaluate` says which points come first, evaluates, and keeps the score, so that a tool meets the same initial points
and noise as our methods. Points are objects, one value by the name of each dimension; a dimension says whether its scale is
logarithmic, and adapters use that. A trial that has ended is never computed again. Called by ./run --set fig3.
"""

import json
import math
import subprocess
import time
import warnings
from importlib.metadata import version

import numpy as np

from peers import Record, parser_of

PROBLEMS = ["parkinsons", "slice", "racing-ucb", "racing-eth", "mnist", "lcbench"]


class HyperoptTpe:
    """One point at a time, from its defaults: 20 random trials, of which the initial points count ten."""

    package = "hyperopt"
    settings = "tpe.suggest, its defaults; ordered levels by hp.quniform of their places, choices by hp.choice"

    def __init__(self, space, seed):
        from hyperopt import Trials
        from hyperopt.base import Domain

        self.dimensions = space["dimensions"]
        self.rng = np.random.default_rng(seed)
        self.trials = Trials()
        self.domain = Domain(lambda point: 0.0, {side["name"]: self.side(side) for side in self.dimensions})

    def side(self, side):
        from hyperopt import hp

        name, kind = side["name"], side["type"]
        if kind == "categorical":
            return hp.choice(name, list(range(len(side["choices"]))))
        if kind == "ordinal":
            return hp.quniform(name, 0, len(side["levels"]) - 1, 1)
        low, high, is_log = side["low"], side["high"], side.get("scale") == "log"
        if kind == "integer":
            return hp.qloguniform(name, math.log(low), math.log(high), 1) if is_log else hp.quniform(name, low, high, 1)
        return hp.loguniform(name, math.log(low), math.log(high)) if is_log else hp.uniform(name, low, high)

    def coded(self, side, value):
        """A value as the tool keeps it."""
        if side["type"] == "categorical":
            return side["choices"].index(value)
        return side["levels"].index(value) if side["type"] == "ordinal" else value

    def decoded(self, side, code):
        """A value as the space has it."""
        if side["type"] == "categorical":
            return side["choices"][int(code)]
        if side["type"] == "ordinal":
            return side["levels"][int(code)]
        code = min(max(code, side["low"]), side["high"])
        return int(round(code)) if side["type"] == "integer" else float(code)

    def ask(self):
        from hyperopt import tpe

        ids = self.trials.new_trial_ids(1)
        (self.open,) = tpe.suggest(ids, self.domain, self.trials, int(self.rng.integers(2**31 - 1)))
        codes = self.open["misc"]["vals"]
        return {side["name"]: self.decoded(side, codes[side["name"]][0]) for side in self.dimensions}

    def tell(self, point, value):
        """The value of the point asked for last; of any other one, such as the initial points, if none is open."""
        from hyperopt import JOB_STATE_DONE, STATUS_OK
        from hyperopt.fmin import generate_trial

        document = getattr(self, "open", None)
        if document is None:
            codes = {side["name"]: self.coded(side, point[side["name"]]) for side in self.dimensions}
            (number,) = self.trials.new_trial_ids(1)
            document = generate_trial(number, codes)
        self.open = None
        document["result"] = {"status": STATUS_OK, "loss": value}
        document["state"] = JOB_STATE_DONE
        self.trials.insert_trial_doc(document)
        self.trials.refresh()


TOOLS = {"hyperopt-tpe": HyperoptTpe}


class Trial:
    """A trial of a figure on the other side of a pipe."""

    def __init__(self, lab, problem, tool, number):
        command = [lab, "paper", "evaluate", "fig3", problem, tool, str(number)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.introduction = self.read()
        self.evaluations, self.metrics = 0, {}

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("wimble-lab paper evaluate ended; its message is above")
        return json.loads(line)

    def evaluate(self, point):
        self.process.stdin.write(json.dumps(point) + "\n")
        self.process.stdin.flush()
        answer = self.read()
        self.evaluations, self.metrics = self.evaluations + 1, answer["metrics"]
        return answer["value"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def run(lab, out, name, problem, number):
    """One trial, round by round; false if it need not be run."""
    trial = Trial(lab, problem, name, number)
    start, tool = trial.introduction["start"], TOOLS[name]
    start["settings"] = f"{tool.package} {version(tool.package)} {tool.settings}; {start['settings']}"
    record = Record(out, start)
    if number >= trial.introduction["trials"] or record.has_ended():
        trial.close()
        return False
    with record:
        optimiser = tool(trial.introduction["space"], number)
        for point in trial.introduction["points"]:
            optimiser.tell(point, trial.evaluate(point))
        for round_number in range(1, start["rounds"] + 1):
            before = time.process_time()
            point = optimiser.ask()
            record.asks.append(time.process_time() - before)
            optimiser.tell(point, trial.evaluate(point))
            content = {"round": round_number, "evaluations": trial.evaluations, "metrics": trial.metrics}
            record.write("round", content)
            record.rounds = round_number
    trial.close()
    return True


def main():
    parser = parser_of(__doc__, TOOLS, "0,1,2,3,4,5,6,7,8,9")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="these only, separated by commas")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for number in map(int, arguments.seeds.split(",")):
        for problem in arguments.problems.split(","):
            done = run(arguments.lab, arguments.out, arguments.tool, problem, number)
            print(f"{arguments.tool} {problem} {number}: {'done' if done else 'not needed'}", flush=True)


if __name__ == "__main__":
    main()
