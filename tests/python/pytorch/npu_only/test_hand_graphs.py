# SPDX-License-Identifier: Apache-2.0
"""Graphs that a model captures or replays by hand inside its own eager forward."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from graphed import GraphedInside, capture
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")


pytestmark = pytest.mark.usefixtures("without_gradients")


def test_a_graph_replayed_inside_an_eager_forward(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = GraphedInside().to(NPU)
    first, second = copy.deepcopy(model.first), copy.deepcopy(model.second)
    inputs = [torch.full((2, 8), float(i + 1), device=NPU) for i in range(4)]
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        for x in inputs:
            model(x)
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == 6 * len(inputs)
    for index, x in enumerate(inputs):
        middle = first(x)
        assert data[f"Module.first.Sequential.forward.{index}"]["output"][0]["Max"] == middle.max().item()
        assert data[f"Module.second.Linear.forward.{index}"]["output"][0]["Max"] == second(middle).max().item()
        place = [
            list(data).index(f"Module.{name}.forward.{index}")
            for name in ("__root__.GraphedInside", "first.Sequential", "second.Linear")
        ]
        assert place == sorted(place)


class ReplayedOften(nn.Module):
    """Captures its first part by hand in its eager forward, and replays it several times in each, with eager work between."""

    def __init__(self, fails_first: bool) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.graph: torch.npu.NPUGraph | None = None
        self.static = torch.zeros(2, 8, device=NPU)
        self.fails = fails_first

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.static.copy_(x)
        if self.graph is None:
            if self.fails:
                self.capture_and_fail()
            self.graph, self.inner = capture(self.first, self.static)
        for _ in range(3):
            self.graph.replay()
            self.static.copy_(self.second(self.inner))
        return self.static.clone()

    def capture_and_fail(self) -> None:
        def fail(x: torch.Tensor) -> torch.Tensor:
            self.first(x)
            raise KeyError("in the middle")

        with pytest.raises(KeyError):
            capture(fail, self.static)


@pytest.mark.parametrize("task", ["statistics", "tensor"])
@pytest.mark.parametrize("fails_first", [False, True])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_a_graph_captured_and_replayed_often_inside_an_eager_forward(
    make_config: MakeConfig, read_dump: ReadDump, level: str, fails_first: bool, task: str
) -> None:
    model = ReplayedOften(fails_first).to(NPU)
    x = torch.randn(2, 8).to(NPU)
    eager = Unrolled(copy.deepcopy(model.first), copy.deepcopy(model.second))
    with AclGraphDumper(make_config(level=level, task=task)) as dumper:
        dumper.start(eager)
        wanted = eager(x)
        dumper.step()
        for _ in range(2):
            eager(x)
        dumper.step()
    expected_data = read_dump(1)["data"]
    with AclGraphDumper(make_config(level=level, task=task)) as dumper:
        dumper.start(model)
        assert torch.equal(model(x), wanted)
        dumper.step()  # the capture, and three replays
        for _ in range(2):
            model(x)
        dumper.step()
    found = without_places(read_dump(1)["data"]).replace("ReplayedOften", "Unrolled")
    assert found == without_places(expected_data)
    first = [name for name in read_dump(0)["data"] if "first" in name or "addmm" in name]
    assert len(first) == {"L0": 3, "L1": 6, "mix": 9}[level]


class Unrolled(nn.Module):
    """What ReplayedOften computes, without graphs."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.static = torch.zeros(2, 8, device=NPU)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.static.copy_(x)
        for _ in range(3):
            self.static.copy_(self.second(self.first(self.static)))
        return self.static.clone()


def without_places(entries: dict[str, Any]) -> str:
    """The values of a dump, without what differs between two runs of the same: spans, and parameters of the first step."""
    kept = {
        name: {key: value for key, value in entry.items() if key in ("input_args", "input_kwargs", "output")}
        for name, entry in entries.items()
    }
    return json.dumps(kept)


class TriedAgain(nn.Module):
    """Captures its part where it handles the error of the first attempt; others replay the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(8, 8)
        self.static = torch.zeros(2, 8, device=NPU)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            [].pop()  # the first attempt
        except IndexError:
            self.graph, self.output = capture(self.part, self.static)
        return x + 1


def test_a_capture_where_an_error_is_handled(make_config: MakeConfig, read_dump: ReadDump) -> None:
    """Its graph brings every replay's records itself, outside the model's forward too."""
    model = TriedAgain().to(NPU)
    inputs = [torch.full((2, 8), float(i + 1), device=NPU) for i in range(3)]
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(inputs[0])
        dumper.step(dump=False)
        for x in inputs:
            model.static.copy_(x)
            model.graph.replay()
        dumper.step()
    data = read_dump(0)["data"]
    part = copy.deepcopy(model.part)
    found = [data[f"Module.part.Linear.forward.{index}"]["output"][0]["Max"] for index in range(3)]
    assert found == [part(x).max().item() for x in inputs]
