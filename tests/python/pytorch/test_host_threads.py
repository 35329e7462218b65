# SPDX-License-Identifier: Apache-2.0
"""Statistics of large host tensors: on as many threads as torch is set to, with the same bits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

ELEMENTS = 30_000_000


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def nanoseconds() -> dict[str, int]:
    """What each thread of this process has run so far."""
    tasks = Path("/proc/self/task")
    return {task: int((tasks / task / "schedstat").read_text().split()[0]) for task in os.listdir(tasks)}


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_threads_share_the_work_and_change_no_bit(
    make_config: MakeConfig, read_dump: ReadDump, threads: None, level: str
) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.view(-1)

    model, x = Net(), torch.randn(ELEMENTS // 100, 100)
    others = []
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        for count in (1, 2):
            torch.set_num_threads(count)
            model(x)  # threads are made
            dumper.step(dump=False)
            before = nanoseconds()
            for _ in range(5):
                model(x)
            spent = {task: ran - before.get(task, 0) for task, ran in nanoseconds().items()}
            mine = spent.pop(str(threading.get_native_id()))
            others.append(sum(spent.values()) / mine)
            dumper.step()
    one, two = (read_dump(step)["data"] for step in (0, 1))
    assert one == two  # the numbers; and nothing that the work is made of was recorded
    assert all(name.split(".")[1] in {"__root__", "view", "detach", "_unsafe_view", "alias"} for name in one)
    assert others[0] < 0.1
    assert others[1] > 0.3, others
