# One training on one GPU. wimble sets CUDA_VISIBLE_DEVICES to {slot}, so that PyTorch sees a single GPU and calls it `cuda`.
# Put your model and your data here; the last line that is only a number is the result, and lower is better.
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--width", type=int, required=True)
arguments = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
inputs = torch.rand(4096, 8, device=device)
targets = torch.sin(3 * inputs.sum(dim=1, keepdim=True))
model = nn.Sequential(
    nn.Linear(8, arguments.width), nn.ReLU(), nn.Linear(arguments.width, 1)
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=arguments.rate)
loss = nn.MSELoss()

for _ in range(200):
    optimizer.zero_grad()
    loss(model(inputs[:3072]), targets[:3072]).backward()
    optimizer.step()

with torch.no_grad():
    print(loss(model(inputs[3072:]), targets[3072:]).item())
