# SPDX-License-Identifier: Apache-2.0
"""What a dumper gives back when it is closed, and what it must not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from models import mlp

from msprobe.pytorch import AclGraphDumper

NPU = torch.device("npu:0")
MakeConfig = Callable[..., Path]


def free_bytes() -> int:
    torch.npu.synchronize()
    free: int = torch.npu.mem_get_info()[0]
    return free


def test_dumpers_that_captured_nothing_leave_no_device_memory(make_config: MakeConfig) -> None:
    model = mlp().to(NPU)
    x = torch.ones(2, 8, device=NPU)
    config = make_config(level="mix")

    def cycle() -> None:
        with AclGraphDumper(config) as dumper, torch.no_grad():
            dumper.start(model)
            model(x)
            dumper.step(dump=False)

    cycle()
    before = free_bytes()
    for _ in range(50):
        cycle()
    assert free_bytes() == before


def test_rows_of_a_captured_graph_outlive_the_dumper(make_config: MakeConfig) -> None:
    model = mlp().to(NPU)
    static = torch.ones(2, 8, device=NPU)
    config = make_config()
    with torch.no_grad():
        with AclGraphDumper(config) as dumper:
            dumper.start(model)
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph):
                output = model(static)
        held = free_bytes()
        for _ in range(5):  # dumpers whose memory would be taken from what was given back
            with AclGraphDumper(config) as dumper:
                dumper.start(model)
                model(static)
                graph.replay()
                torch.npu.synchronize()
                dumper.step(dump=False)
        graph.replay()
        torch.npu.synchronize()
        assert torch.equal(output, model(static))
    assert free_bytes() == held
