# SPDX-License-Identifier: Apache-2.0
"""Several ranks: rank folders, the rank filter, and a group that is initialised after the dumper was made. Real processes over gloo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


def run_ranks(tmp_path: Path, world: int, **settings: object) -> list[str]:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"dump_path": str(tmp_path / "dumps"), **settings}))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
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
