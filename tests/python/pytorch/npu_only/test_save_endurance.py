# SPDX-License-Identifier: Apache-2.0
"""10,000 replays with saves on a slow disk: bounded memory, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch

REPLAYS = 10_000
ELEMENTS = 8192  # 32 KiB a save
QUEUE_BYTES = 16 << 20

PROGRAM = """
import resource, sys
import torch, torch_npu
from msprobe.pytorch import acl_save, flush

base, replays, elements = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
static = torch.zeros(elements, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    acl_save(static, base)
graph.replay()
flush()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for value in range(1, replays):
    static.fill_(value)
    graph.replay()
flush()
print("grown", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_ten_thousand_replays_on_a_slow_disk(tmp_path: Path, slow_disk: dict[str, str]) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    environment = os.environ | slow_disk | {"MSPROBE_SAVE_QUEUE_BYTES": str(QUEUE_BYTES)}
    command = [sys.executable, "-c", PROGRAM, str(folder / "x.pt"), str(REPLAYS), str(ELEMENTS)]
    result = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=500)
    assert result.returncode == 0, result.stderr
    grown = int(result.stdout.split()[-1])
    # The bound and a tenth of it; and the launches of 10,000 replays, which wait in hostnpu's streams while the disk is slow.
    assert grown < QUEUE_BYTES * 1.1 + (16 << 20), grown
    assert len(list(folder.iterdir())) == REPLAYS
    for value in range(REPLAYS):
        x = torch.load(folder / f"x_{value}.pt", weights_only=True)
        assert x.shape == (ELEMENTS,)
        assert x[0].item() == x[-1].item() == float(value)
