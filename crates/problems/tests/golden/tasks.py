"""Writes tasks.json: objectives and constraints of tasks at random points, by tools that share no code with this crate.

python tasks.py > tasks.json

pymoo has its constraints as "at most 0", some of them scaled; here they are turned back into the quantities that the crate
bounds, so that the formulas are compared and not the way in which a limit is written.
"""

import json
from importlib.metadata import version

import numpy as np
from pymoo.problems import get_problem
from pymoo.problems.single.g import G4, G6
from pymoo.problems.single.pressure_vessel import PressureVessel
from vamos.foundation.problem.real_world import tanabe_ishibuchi as re

rng = np.random.default_rng(5)


def points(low, high, count=6):
    low, high = np.asarray(low, float), np.asarray(high, float)
    return np.round(low + rng.uniform(size=(count, len(low))) * (high - low), 6)


def case(name, rows, objectives, constraints=None):
    constraints = np.zeros((len(rows), 0)) if constraints is None else constraints
    return {
        "name": name,
        "points": np.asarray(rows).tolist(),
        "objectives": np.asarray(objectives).reshape(len(rows), -1).tolist(),
        "constraints": np.asarray(constraints).tolist(),
    }


cases = []
for name, problem in [
    *((f"zdt{i}-6", get_problem(f"zdt{i}", n_var=6)) for i in (1, 2, 3)),
    ("dtlz2-6-2", get_problem("dtlz2", n_var=6, n_obj=2)),
    ("dtlz2-8-3", get_problem("dtlz2", n_var=8, n_obj=3)),
    ("dtlz2-9-5", get_problem("dtlz2", n_var=9, n_obj=5)),
    ("dtlz7-6-2", get_problem("dtlz7", n_var=6, n_obj=2)),
    ("dtlz7-7-4", get_problem("dtlz7", n_var=7, n_obj=4)),
]:
    rows = points(problem.xl, problem.xu)
    cases.append(case(name, rows, problem.evaluate(rows)))

for number in (21, 24, 31, 33, 34, 37):
    problem = getattr(re, f"RE{number}Problem")()
    rows = points(np.broadcast_to(problem.xl, problem.n_var), np.broadcast_to(problem.xu, problem.n_var))
    out = {"F": np.zeros((len(rows), problem.n_obj))}
    problem.evaluate(rows, out)
    cases.append(case(f"re{number}", rows, out["F"]))

problem = G4()
rows = points(problem.xl, problem.xu)
f, g = problem.evaluate(rows)
cases.append(case("g04", rows, f, np.column_stack([-g[:, 0], g[:, 1] + 92, 90 - g[:, 2], g[:, 3] + 110, 20 - g[:, 4], g[:, 5] + 25])))

problem = G6()
rows = points(problem.xl, problem.xu)
f, g = problem.evaluate(rows)
cases.append(case("g06", rows, f, np.column_stack([100 - g[:, 0], g[:, 1] + 82.81])))

problem = PressureVessel()
rows = points(problem.xl, problem.xu)
rows[:, :2] = np.round(rows[:, :2])
f, g = problem.evaluate(rows)
values = np.column_stack([-3 * g[:, 0], -3 * g[:, 1], 1296000 - 1296000 * g[:, 2], 240 * g[:, 3] + 240])
cases.append(case("pressure-vessel", rows * [1 / 16, 1 / 16, 1, 1], f, values))

tools = ", ".join(f"{name} {version(name)}" for name in ("pymoo", "vamos-optimization"))
print(json.dumps({"tool": tools, "cases": cases}))
