# SPDX-License-Identifier: Apache-2.0
"""Children that are forked while another thread starts or closes a dumper, and such as run what their parent has compiled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import torch
from models import mlp

from msprobe.pytorch import AclGraphDumper, patches

MakeConfig = Callable[..., Path]


def test_a_child_closes_its_dumper_whoever_held_the_patches(make_config: MakeConfig) -> None:
    held, forked = threading.Event(), threading.Event()

    def hold() -> None:
        with patches.patching:
            held.set()
            assert forked.wait(60)

    model = mlp()
    dumper = AclGraphDumper(make_config(level="mix"))
    dumper.start(model)
    model(torch.ones(2, 8))
    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that hangs
        dumper.close()
        os._exit(0 if "forward" not in model.__dict__ else 1)
    forked.set()
    thread.join()
    _, status = os.waitpid(child, 0)
    dumper.close()
    assert os.waitstatus_to_exitcode(status) == 0


COMPILED = """
import multiprocessing, sys
import torch
from msprobe.pytorch import acl_save
torch.set_num_threads(1)

@torch.compile(backend="aot_eager", fullgraph=True)
def region(x):
    acl_save(x, sys.argv[1])
    return x + 1

def child():
    for value in range(200):
        region(torch.full((50_000,), float(value)))

region(torch.zeros(50_000))
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
sys.exit(process.exitcode)
"""


def test_the_end_of_a_child_waits_for_what_its_compiled_region_saved(tmp_path: Path, slow_disk: dict[str, str]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", COMPILED, str(tmp_path / "x.pt")]
    subprocess.run(command, check=True, env=os.environ | slow_disk, timeout=120)
    assert sorted(tmp_path.glob("x_*")) == sorted(tmp_path / f"x_{i}.pt" for i in range(200))
    assert all(torch.load(tmp_path / f"x_{i}.pt").unique().tolist() == [float(i)] for i in range(200))
