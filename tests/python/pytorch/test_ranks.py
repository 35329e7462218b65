# SPDX-License-Identifier: Apache-2.0
"""Several ranks: rank folders, the rank filter, and a group that is initialised after the dumper was made. Real processes over gloo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import sys
import torch
import torch.distributed as dist
from msprobe.pytorch import AclGraphDumper

config, rank, world, store = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dumper = AclGraphDumper(config)  # before the group exists
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
model = torch.nn.Linear(4, 4)
dumper.start(model)
for _ in range(2):
    model(torch.full((1, 4), float(rank)))
    dumper.step()
dist.barrier()
dist.destroy_process_group()
"""


COLLECTIVES = """
import sys, time
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from msprobe.pytorch import AclGraphDumper

config, rank, world, store = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)

class Net(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.3 * rank)  # the other rank has begun, and cannot have ended
        dist.all_reduce(x)
        gathered = [torch.zeros_like(x) for _ in range(world)]
        dist.all_gather(gathered, x + rank)
        time.sleep(0.3 * rank)
        late = x.clone()
        work = dist.all_reduce(late, async_op=True)
        work.wait()
        time.sleep(0.3 * rank)
        summed = functional.all_reduce(late + rank, "sum", dist.group.WORLD)
        return gathered[0] + gathered[1] + late + summed

model = Net()
dumper = AclGraphDumper(config)
dumper.start(model)
output = model(torch.full((3,), 1.0 + rank))
assert output.tolist() == [3.0 + 4.0 + 6.0 + 13.0] * 3, output
dumper.step()
dist.barrier()
dist.destroy_process_group()
"""


def run_ranks(tmp_path: Path, world: int, text: str = PROGRAM, **settings: object) -> list[str]:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"dump_path": str(tmp_path / "dumps"), **settings}))
    program = tmp_path / "program.py"
    program.write_text(text)
    arguments = [sys.executable, str(program), str(config)]
    processes = [
        subprocess.Popen([*arguments, str(rank), str(world), str(tmp_path / "store")], stderr=subprocess.PIPE, text=True)
        for rank in range(world)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    return sorted(str(path.relative_to(tmp_path / "dumps")) for path in (tmp_path / "dumps").rglob("*.json"))


def test_one_folder_a_rank(tmp_path: Path) -> None:
    assert run_ranks(tmp_path, 2) == [f"step{step}/rank{rank}/dump.json" for step in range(2) for rank in range(2)]
    for rank in range(2):
        dump = json.loads((tmp_path / "dumps" / "step1" / f"rank{rank}" / "dump.json").read_text())
        assert dump["data"]["Module.__root__.Linear.forward.0"]["input_args"][0]["Max"] == float(rank)


@pytest.mark.parametrize("ranks", [[1], ["1-5"]], ids=str)
def test_ranks_that_are_not_listed_write_nothing(tmp_path: Path, ranks: list[object]) -> None:
    assert run_ranks(tmp_path, 2, rank=ranks) == [f"step{step}/rank1/dump.json" for step in range(2)]


def maxima(value: Any) -> list[float]:
    return [number for item in value for number in maxima(item)] if isinstance(value, list) else [value["Max"]]


@pytest.mark.parametrize("level", ["L1", "mix"])
def test_results_of_collectives_are_recorded_when_they_exist(tmp_path: Path, level: str) -> None:
    assert len(run_ranks(tmp_path, 2, COLLECTIVES, level=level)) == 2
    for rank in range(2):
        data = json.loads((tmp_path / "dumps" / "step0" / f"rank{rank}" / "dump.json").read_text())["data"]
        at_once = data["Torch.c10d.allreduce_.0.forward"]
        assert maxima(at_once["input_args"]) == [1.0 + rank]
        assert maxima(at_once["output"]) == [3.0]
        assert maxima(data["Torch.c10d.allgather_.0.forward"]["output"]) == [3.0, 4.0]
        later = data["Torch.c10d.allreduce_.1.forward"]
        assert maxima(later["input_args"]) == [3.0]
        assert not later.get("output")
        assert not data["Torch._c10d_functional.all_reduce.0.forward"].get("output")
        assert "Torch._c10d_functional._wrap_tensor_autograd.0.forward" not in data
