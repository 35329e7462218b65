# SPDX-License-Identifier: Apache-2.0
"""Two dumps to compare, on the CPU: a small transformer as it should be, and one whose weights were loaded wrongly in one place."""

import json
import sys
from pathlib import Path

import torch

from msprobe.pytorch import AclGraphDumper


class Layer(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        x = x + self.out(torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1) @ v)
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


class Model(torch.nn.Module):
    def __init__(self, width: int = 64, layers: int = 4) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def dump(model: torch.nn.Module, folder: Path) -> None:
    config = folder.with_suffix(".json")
    config.write_text(json.dumps({"dump_path": str(folder), "level": "L0"}), encoding="utf-8")
    random = torch.Generator().manual_seed(1)
    with torch.no_grad(), AclGraphDumper(str(config)) as dumper:
        dumper.start(model)
        for _ in range(2):
            model(torch.randn(2, 16, 64, generator=random))
            dumper.step()


place = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
place.mkdir(parents=True, exist_ok=True)
torch.manual_seed(0)
model = Model()
dump(model, place / "golden_dump")
with torch.no_grad():
    model.layers[2].up.weight.mul_(1.7)  # the fault
dump(model, place / "target_dump")
