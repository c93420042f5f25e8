"""The work of `reference_timings.rs` in PyTorch on one thread. Prints one JSON object of seconds.

Each number is the minimum over repeats. Setting up networks, data and optimisers is not timed here, while it
is on our side.
"""

import json
import math
import time

import torch

DIM = 6
POINTS = 640
STEPS = 100
MINIBATCH = 64
PARTICLES = 10
SVGD_STEPS = 1000


def network():
    """The paper's classifier: two hidden layers of 32 rectified linear units, one logit."""
    return torch.nn.Sequential(
        torch.nn.Linear(DIM, 32),
        torch.nn.ReLU(),
        torch.nn.Linear(32, 32),
        torch.nn.ReLU(),
        torch.nn.Linear(32, 1),
    )


def seconds(repeats, prepare, work):
    """The shortest of `repeats` runs of `work(prepare())`, after one that is not counted."""
    best = math.inf
    for repeat in range(repeats + 1):
        prepared = prepare()
        start = time.perf_counter()
        work(prepared)
        if repeat > 0:
            best = min(best, time.perf_counter() - start)
    return best


def train(repeats, fused):
    """100 Adam steps: 10 passes over 640 points in minibatches of 64, each in a fresh random order."""
    points = torch.rand(POINTS, DIM)
    distance = ((points - 0.3) ** 2).sum(dim=1)
    labels = (distance <= distance.quantile(0.25)).float()
    loss_of = torch.nn.BCEWithLogitsLoss()

    def prepare():
        model = network()
        return model, torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7, fused=fused)

    def work(prepared):
        model, optimiser = prepared
        for _ in range(STEPS * MINIBATCH // POINTS):
            for chosen in torch.randperm(POINTS).split(MINIBATCH):
                optimiser.zero_grad()
                loss_of(model(points[chosen]).squeeze(1), labels[chosen]).backward()
                optimiser.step()

    return seconds(repeats, prepare, work)


def logit_gradient(model, particles):
    """The logit at each particle and its gradient in the particle."""
    particles = particles.detach().requires_grad_(True)
    logits = model(particles)
    (gradient,) = torch.autograd.grad(logits.sum(), particles)
    return logits.detach(), gradient


def frozen_network():
    model = network()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model


def gradient(repeats):
    """1000 gradients of the logit at 10 points."""
    particles = torch.rand(PARTICLES, DIM)

    def work(model):
        for _ in range(SVGD_STEPS):
            logit_gradient(model, particles)

    return seconds(repeats, frozen_network, work)


def svgd(repeats):
    """1000 steps of SVGD, equations (25) and (26), on the logit: squared exponential kernel with the median
    trick, step sizes by the root mean square of past directions, particles kept in the unit cube."""

    def work(model):
        particles = torch.rand(PARTICLES, DIM)
        mean_square = torch.zeros(PARTICLES, DIM)
        for step in range(SVGD_STEPS):
            _, drive = logit_gradient(model, particles)
            difference = particles.unsqueeze(1) - particles.unsqueeze(0)
            distance = (difference**2).sum(dim=2)
            bandwidth = (distance.median() / math.log(PARTICLES + 1)).clamp_min(1e-12)
            kernel = torch.exp(-distance / bandwidth)
            # The gradient of k(x_j, x_i) in x_j, summed over j, pushes x_i away from the others.
            repulsion = (2 / bandwidth) * (kernel.unsqueeze(2) * difference).sum(dim=1)
            direction = (kernel @ drive + repulsion) / PARTICLES
            square = direction**2
            mean_square = square if step == 0 else 0.9 * mean_square + 0.1 * square
            particles = (particles + 1e-3 * direction / (mean_square.sqrt() + 1e-6)).clamp(0, 1)

    return seconds(repeats, frozen_network, work)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(
        json.dumps(
            {
                "perceptron_train_seconds": train(10, fused=False),
                "perceptron_train_fused_adam_seconds": train(10, fused=True),
                "perceptron_gradient_seconds": gradient(5),
                "svgd_seconds": svgd(5),
            }
        )
    )


if __name__ == "__main__":
    main()
