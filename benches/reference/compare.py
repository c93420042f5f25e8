"""Runs both sides in turn, since a shared machine is noisy, and prints the minima and their ratios.

usage: compare.py OUR_BINARY [ROUNDS]
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

# Name, key of our time, key of PyTorch's time, key of the bound that our arithmetic sets.
ROWS = [
    (
        "train 6-32-32-1, 100 steps of 64",
        "perceptron_train_seconds",
        "perceptron_train_seconds",
        "perceptron_train_bound_seconds",
    ),
    (
        "  against the fused Adam",
        "perceptron_train_seconds",
        "perceptron_train_fused_adam_seconds",
        "perceptron_train_bound_seconds",
    ),
    (
        "1000 gradients at 10 points",
        "perceptron_gradient_seconds",
        "perceptron_gradient_seconds",
        "perceptron_gradient_bound_seconds",
    ),
    ("SVGD, 1000 steps of 10 particles", "svgd_seconds", "svgd_seconds", None),
]


def timings(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def keep_minima(best, found):
    for key, value in found.items():
        if value is not None:
            best[key] = min(value, best.get(key, value))


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.3f}"


def ratio(a, b):
    return "-" if a is None or b is None else f"{a / b:.1f}"


def main():
    binary = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ours, torch = {}, {}
    for _ in range(rounds):
        keep_minima(ours, timings([binary]))
        keep_minima(torch, timings([sys.executable, HERE / "pytorch.py"]))
    keep_minima(ours, timings([binary]))

    form = "{:<34} {:>10} {:>12} {:>14} {:>10} {:>14}"
    print(form.format("work", "ours, ms", "PyTorch, ms", "PyTorch/ours", "bound, ms", "ours/bound"))
    for name, our_key, torch_key, bound_key in ROWS:
        mine, theirs, bound = ours.get(our_key), torch.get(torch_key), ours.get(bound_key)
        print(
            form.format(
                name,
                milliseconds(mine),
                milliseconds(theirs),
                ratio(theirs, mine),
                milliseconds(bound),
                ratio(mine, bound),
            )
        )


if __name__ == "__main__":
    main()
