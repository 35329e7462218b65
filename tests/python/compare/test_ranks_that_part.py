# SPDX-License-Identifier: Apache-2.0
"""Two ranks that share collectives, dumped by real processes over gloo: the rank with the fault is told apart from the one that got it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from compare_program import run

# Each layer adds up the parts of both ranks. In the target run one weight of rank 1 is another one.
PROGRAM = """
import json, sys
import torch
import torch.distributed as dist
from msprobe.pytorch import AclGraphDumper

folder, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + folder + "/store", rank=rank, world_size=2)


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x):
        y = self.linear(x)
        dist.all_reduce(y)
        return torch.tanh(y)


torch.manual_seed(rank)
model = torch.nn.Sequential(Part(), Part(), Part())
torch.manual_seed(7)
x = torch.randn(4, 16)
for side in ("golden", "target"):
    if side == "target" and rank == 1:
        model[1].linear.weight.data[3] *= -1
    for level in ("mix", "L0"):
        config = folder + f"/{level}_{side}{rank}.json"
        with open(config, "w") as file:
            json.dump({"dump_path": folder + f"/{level}/{side}", "level": level, "parameters": False}, file)
        with torch.no_grad(), AclGraphDumper(config) as dumper:
            dumper.start(model)
            model(x)
            dumper.step()
dist.barrier()
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    processes = [
        subprocess.Popen([sys.executable, program, folder, str(rank)], stderr=subprocess.PIPE, text=True) for rank in range(2)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    return folder


@pytest.mark.parametrize(("level", "collective"), [("mix", "Torch.c10d.allreduce_.0.forward"), ("L0", None)], ids=["mix", "L0"])
def test_the_rank_with_the_fault_is_first(dumps: Path, tmp_path: Path, level: str, collective: str | None) -> None:
    done = run("compare", "-tp", dumps / level / "target", "-gp", dumps / level / "golden", "-o", tmp_path, "-da")
    (analysis,) = tmp_path.glob("diff_analyze_*.json")
    content = json.loads(analysis.read_text())
    first = [content[f"rank_{rank}"][0]["divergence"]["first"]["call"] for rank in (0, 1)]
    assert first == ["Module.1.Part.forward.0", "Module.1.linear.Linear.forward.0"]
    across = content["across_ranks"]
    assert across["first_ranks"] == ["rank1"], across["text"]
    assert across["last_shared_collective"] == collective
    assert " ".join(across["text"][0].split()) in " ".join(done.stdout.split())
