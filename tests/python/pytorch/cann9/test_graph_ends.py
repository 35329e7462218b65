# SPDX-License-Identifier: Apache-2.0
"""Graphs that are destroyed give back what their replays used: CANN tells of their end since 9.0."""

from __future__ import annotations

import copy
import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, assert_files, expected, expected_tensors
from models import mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper, acl_save, flush

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")
CPU = torch.device("cpu")


def capture(model: nn.Module, static: torch.Tensor) -> torch.npu.NPUGraph:
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        model(static)
    return graph


class MallocState(ctypes.Structure):
    """struct mallinfo2 of glibc (mallinfo(3))."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]
    )


def bytes_in_use() -> int:
    """What malloc has given out and not got back, whatever pages the heap keeps for the next buffer of a writer."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = MallocState
    state = mallinfo2()
    return int(state.uordblks) + int(state.hblkhd)


def resident_bytes() -> int:
    """Counts what malloc does not know of too, and moves by megabytes with huge pages and a fragmented heap."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Saves(nn.Module):
    """Two records a layer, two for itself, and a tensor saved by hand."""

    def __init__(self, path: Path, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(layers))
        self.path = str(path)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return acl_save(x, self.path)


@pytest.mark.parametrize(("task", "layers"), [("statistics", 30), ("tensor", 4)])
def test_memory_is_flat_over_a_thousand_captures(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, task: str, layers: int
) -> None:
    (tmp_path / "saved").mkdir()
    model, static = Saves(tmp_path / "saved" / "x.pt", layers).to(NPU), torch.ones(2, 4, device=NPU)
    in_use, resident, free = [], [], []
    with AclGraphDumper(make_config(task=task)) as dumper, torch.no_grad():
        dumper.start(model)
        for number in range(1000):
            graph = capture(model, static)
            graph.replay()
            if number % 4 == 3:
                dumper.step(dump=number % 100 == 99)
                flush()
            graph.reset()
            if number % 100 == 99:
                free.append(torch.npu.mem_get_info()[0])
                in_use.append(bytes_in_use())
                resident.append(resident_bytes())
    assert len(set(free)) == 1
    # 500 captures: a kilobyte of each that stayed would show in the first, a row of each in the second.
    assert in_use[-1] - in_use[4] < 500_000, in_use
    assert resident[-1] - resident[4] < 16 << 20, resident
    dump = read_dump(9)
    assert len(dump["data"]) == 4 * (layers + 1)
    assert [(graph["sites"], graph["replays"]) for graph in dump["Run"]["graphs"]] == [(2 * layers + 2, 1)] * 4
    assert len(list((tmp_path / "saved").iterdir())) == 1000


@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_rows_that_are_used_again_hold_the_right_values(make_config: MakeConfig, read_dump: ReadDump, task: str) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    statics = [torch.randn(size, 8).to(NPU) for size in range(1, 9)]
    runs = [[0, 1, 2], [1, 3, 3], [4, 1, 5], [1], [6, 7, 1]]  # by step; what a step does not name has ended before it
    graphs: dict[int, torch.npu.NPUGraph] = {}
    with AclGraphDumper(make_config(task=task)) as dumper:
        dumper.start(model)
        for run in runs:
            graphs = {number: graph for number, graph in graphs.items() if number in run}
            for number in run:
                if number not in graphs:
                    graphs[number] = capture(model, statics[number])
                graphs[number].replay()
            dumper.step()
    for step, run in enumerate(runs):
        dump = read_dump(step)
        runs_of_step = lambda m, run=run: [m(statics[number]) for number in run]  # noqa: E731
        if task == "tensor":
            assert_files(dump, expected_tensors(bare, "L0", runs_of_step))
        else:
            assert_dump(dump, expected(bare, "L0", runs_of_step), NPU)
        assert [graph["replays"] for graph in dump["Run"]["graphs"] if graph["replays"]] == [
            run.count(number) for number in dict.fromkeys(sorted(run))
        ]


def test_a_graph_that_ends_right_after_its_replay_is_recorded(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model, statics = mlp().to(NPU), [torch.randn(2, 8).to(NPU) for _ in range(20)]
    bare = copy.deepcopy(model)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        for static in statics:
            graph = capture(model, static)
            graph.replay()
            graph.reset()
        dumper.step()
    assert_dump(read_dump(0), expected(bare, "L0", lambda m: [m(static) for static in statics]), NPU)


def test_a_capture_that_fails_leaves_the_next_one_whole(make_config: MakeConfig, read_dump: ReadDump) -> None:
    class Fails(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.fail = mlp(), True

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.inner(x)
            if self.fail:
                raise ValueError("in the middle of a capture")
            return x

    model, static = Fails().to(NPU), torch.randn(2, 8).to(NPU)
    bare = copy.deepcopy(model)
    bare.fail = False
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        for _ in range(5):
            model.fail = True
            with pytest.raises(ValueError, match="in the middle"):
                capture(model, static)
            model.fail = False
            graph = capture(model, static)
            graph.replay()
            dumper.step()
            graph.reset()
    for step in range(5):
        assert_dump(read_dump(step), expected(bare, "L0", lambda m: m(static)), NPU)


def test_a_closed_dumper_frees_its_rows_if_its_graphs_are_gone(make_config: MakeConfig) -> None:
    model, static = mlp().to(NPU), torch.ones(2, 8, device=NPU)
    config = make_config()

    def cycle() -> int:
        with AclGraphDumper(config) as dumper, torch.no_grad():
            dumper.start(model)
            graph = capture(model, static)
            graph.replay()
            graph.reset()
            dumper.step(dump=False)
        free: int = torch.npu.mem_get_info()[0]
        return free

    cycle()
    assert len({cycle() for _ in range(20)}) == 1
