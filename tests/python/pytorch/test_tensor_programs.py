# SPDX-License-Identifier: Apache-2.0
"""The tensor task in programs of their own (forks, ends, ranks) and in models compiled for the CPU."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_files, expected_tensors, saved_files
from models import Transformer

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

ROOT_INPUT = "Module.__root__.Identity.forward.{}.input.0"


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("train", [False, True])
def test_compiled(make_config: MakeConfig, read_dump: ReadDump, backend: str, train: bool) -> None:
    torch._dynamo.reset()
    model = Transformer(blocks=1)
    bare = copy.deepcopy(model)
    batches = [torch.randint(0, 30, (2, 5)) for _ in range(3)]
    with AclGraphDumper(make_config(task="tensor")) as dumper, torch.set_grad_enabled(train):
        dumper.start(model)
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for batch in batches:
            output = compiled(batch)
            if train:
                output["logits"].sum().backward()
            dumper.step()
    for step, batch in enumerate(batches):
        with torch.set_grad_enabled(train):
            wanted = expected_tensors(bare, "L0", lambda m, batch=batch: m(batch))
        if backend != "inductor":
            assert_files(read_dump(step), wanted)
            continue
        files = saved_files(read_dump(step))  # fused kernels may round differently
        assert sorted(files) == sorted(wanted)
        for name, x in wanted.items():
            torch.testing.assert_close(files[name], x, rtol=1e-4, atol=1e-5)


def run(program: str, *arguments: Any, **environment: str) -> str:
    """A program of its own; fails if it does, or hangs."""
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    result = subprocess.run(command, check=False, env=os.environ | environment, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    return result.stdout


FORKS = """
import os, sys, threading, time
import torch
from torch import nn
from msprobe.pytorch import AclGraphDumper
torch.set_num_threads(1)

dumper, model = AclGraphDumper(sys.argv[1]), nn.Sequential(*(nn.Identity() for _ in range(4)))
dumper.start(model)
model(torch.full((3,), 7.0))  # torch's own first uses are not safe against a fork
dumper.step(dump=False)
stop = threading.Event()
def work():
    while not stop.is_set():
        model(torch.full((3,), 7.0))
        time.sleep(0.005)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(30):
    child = os.fork()
    if child == 0:
        if number % 10 == 0:
            model(torch.full((3,), float(number)))
            dumper.step()
        os._exit(0)
    print(child, os.waitpid(child, 0)[1])
stop.set()
for thread in threads:
    thread.join()
dumper.step()
print(os.getpid(), 0)
"""


def test_forks_in_the_middle_of_saving(make_config: MakeConfig, tmp_path: Path) -> None:
    ended = [line.split() for line in run(FORKS, make_config(task="tensor")).splitlines()]
    assert [status for _, status in ended] == ["0"] * 31
    folders = sorted(path.name for path in (tmp_path / "dumps" / "step0").iterdir())
    recorded = [pid for index, (pid, _) in enumerate(ended) if index % 10 == 0]
    assert folders == sorted(f"pid{pid}" for pid in recorded)
    for index, pid in enumerate(recorded):
        dump = json.loads((tmp_path / "dumps" / "step0" / f"pid{pid}" / "dump.json").read_text())
        files = saved_files(dump)
        if index < 3:  # a child: its one forward, and nothing of its parent's
            assert len(files) == 10
            assert all(x.unique().item() == 10.0 * index for x in files.values())
        else:
            assert all(x.unique().item() == 7.0 for x in files.values())


ENDS = """
import os, sys
import torch
from torch import nn
from msprobe.pytorch import AclGraphDumper

def work():
    dumper, model = AclGraphDumper(sys.argv[1]), nn.Identity()
    dumper.start(model)
    for value in range(20):
        model(torch.full((100_000,), float(value)))
    return dumper

for end in ("pass", "dumper.close()", "dumper.step()", "raise ValueError"):
    child = os.fork()
    if child == 0:
        if "step" in end:
            os.environ["MSPROBE_SAVE_QUEUE_BYTES"] = "1000"  # less than one tensor
        dumper = work()
        exec(end)
        sys.exit()
    os.waitpid(child, 0)
    print(child)
"""


def test_the_end_of_a_program_leaves_whole_files(make_config: MakeConfig, tmp_path: Path) -> None:
    for child, steps in zip(run(ENDS, make_config(task="tensor")).split(), (0, 0, 1, 0), strict=True):
        folder = tmp_path / "dumps" / "step0" / f"pid{child}"
        assert len(list(folder.glob("*.json"))) == steps
        files = {path.name: torch.load(path) for path in (folder / "dump_tensor_data").iterdir()}
        assert len(files) == 2 * 20
        for value in range(20):
            assert files[ROOT_INPUT.format(value) + ".pt"].unique().item() == float(value)


RANK = """
import sys
import torch
import torch.distributed as dist
from msprobe.pytorch import AclGraphDumper
rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + sys.argv[3], rank=rank, world_size=2)
dumper, model = AclGraphDumper(sys.argv[1]), torch.nn.Identity()
dumper.start(model)
model(torch.full((2,), float(rank)))
dumper.step()
dist.barrier()
"""


def test_each_rank_has_its_folder(make_config: MakeConfig, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", RANK, str(make_config(task="tensor"))]
    processes = [subprocess.Popen([*arguments, str(rank), str(tmp_path / "store")]) for rank in range(2)]
    assert [process.wait(timeout=100) for process in processes] == [0, 0]
    for rank in range(2):
        folder = tmp_path / "dumps" / "step0" / f"rank{rank}"
        dump = json.loads((folder / "dump.json").read_text())
        assert dump["dump_data_dir"] == str(folder / "dump_tensor_data")
        assert saved_files(dump)[ROOT_INPUT.format(0)].tolist() == [rank, rank]
