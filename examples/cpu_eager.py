# SPDX-License-Identifier: Apache-2.0
"""Statistics of modules and APIs in eager mode on the CPU: no NPU, no graph, the same dump.json."""

import json
import sys
from pathlib import Path

import torch

from msprobe.pytorch import AclGraphDumper

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "mix_dump")
config = folder / "config.json"
folder.mkdir(parents=True, exist_ok=True)
config.write_text(json.dumps({"dump_path": str(folder), "level": "mix"}), encoding="utf-8")

model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32))
with AclGraphDumper(str(config)) as dumper:
    dumper.start(model)
    for _ in range(3):
        model(torch.randn(4, 16))
        dumper.step()

first = next(folder.glob("step0/*/dump.json"))
for name, entry in json.loads(first.read_text(encoding="utf-8"))["data"].items():
    print(f"{name:45} {len(entry['input_args'])} in, {len(entry['output'])} out")
