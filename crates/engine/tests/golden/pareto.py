"""Writes pareto.json: hypervolumes, contributions and levels of random rows, some of them equal.

python pareto.py > pareto.json
"""

import json

import moocore
import numpy as np

rng = np.random.default_rng(11)
cases = []
for objectives, count in [(2, 40), (3, 40), (4, 30), (5, 25), (6, 20)]:
    # Two digits: ties in single objectives are common. The last three rows are equal to the first three.
    rows = np.round(rng.uniform(size=(count, objectives)), 2)
    rows[: count // 2] = np.round(rows[: count // 2] / np.linalg.norm(rows[: count // 2], axis=1)[:, None], 2)
    rows = np.vstack([rows, rows[:3]])
    reference = np.round(rng.uniform(0.9, 1.3, size=objectives), 2)
    cases.append(
        {
            "rows": rows.tolist(),
            "reference": reference.tolist(),
            "hypervolume": moocore.hypervolume(rows, ref=reference),
            "contributions": moocore.hv_contributions(rows, ref=reference, ignore_dominated=False).tolist(),
            "levels": moocore.pareto_rank(rows).tolist(),
        }
    )
print(json.dumps({"tool": f"moocore {moocore.__version__}", "cases": cases}))
