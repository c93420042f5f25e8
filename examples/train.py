# Trains a small network by gradient descent, in steps: learning rate, momentum and width. Needs nothing but Python.
# After each epoch it prints its error on data that it was not trained on. `wimble run` stops it where that is hopeless. With a number
# of epochs and a folder it goes on from the checkpoint there, and leaves one.
import json
import math
import os
import random
import sys
import time

rate, momentum, width = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
epochs = int(sys.argv[4]) if len(sys.argv) > 4 else 27

draw = random.Random(1)
points = [draw.uniform(-3, 3) for _ in range(60)]
train, test = [[(x, math.sin(x) + draw.gauss(0, 0.05)) for x in part] for part in (points[:40], points[40:])]
start = random.Random(2)
w, b, v = ([start.gauss(0, 1) for _ in range(width)] for _ in range(3))
moving = [[0.0] * width for _ in range(3)]
done = 0
checkpoint = os.path.join(sys.argv[5], "checkpoint.json") if len(sys.argv) > 5 else None


def error(data):
    return sum((sum(vi * math.tanh(wi * x + bi) for wi, bi, vi in zip(w, b, v)) - y) ** 2 for x, y in data) / len(data)


if checkpoint and os.path.exists(checkpoint):
    with open(checkpoint) as file:
        done, w, b, v, moving = json.load(file)
    # Known already, unless the runner was killed before it was stored.
    print(json.dumps({"step": done, "value": error(test)}), flush=True)

for epoch in range(done + 1, epochs + 1):
    for x, y in train:
        hidden = [math.tanh(wi * x + bi) for wi, bi in zip(w, b)]
        off = sum(vi * hi for vi, hi in zip(v, hidden)) - y
        for k in range(width):
            slope = off * v[k] * (1 - hidden[k] ** 2)
            for place, (weights, gradient) in enumerate(((w, slope * x), (b, slope), (v, off * hidden[k]))):
                moving[place][k] = momentum * moving[place][k] - rate * gradient
                weights[k] = max(-1e6, min(1e6, weights[k] + moving[place][k]))
    time.sleep(0.1)  # A larger network would need it.
    print(json.dumps({"step": epoch, "value": error(test)}), flush=True)
    if checkpoint:
        with open(checkpoint + ".new", "w") as file:
            json.dump([epoch, w, b, v, moving], file)
        os.replace(checkpoint + ".new", checkpoint)
