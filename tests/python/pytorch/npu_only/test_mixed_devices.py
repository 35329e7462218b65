# SPDX-License-Identifier: Apache-2.0
"""Calls with tensors on several devices, and replays without a hooked root in the graph: tensors of one call stay together, no replay is
lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")


class Scales(nn.Module):
    """No parameters; a host scalar among the arguments."""

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x * scale


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_host_scalars_stay_with_their_call(make_config: MakeConfig, read_dump: ReadDump, level: str, captured: bool) -> None:
    model, scale = Scales(), torch.tensor(2.0)
    static = torch.zeros(3, device=NPU)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        if captured:
            with torch.npu.graph(graph):
                model(static, scale)
        for value in (1.0, 2.0, 3.0):
            static.fill_(value)
            graph.replay() if captured else model(static, scale)
        dumper.step()
    data = read_dump(0)["data"]
    name = "Aten.mul.{}.forward" if level == "L1" else "Module.__root__.Scales.forward.{}"
    assert len(data) == (6 if level == "mix" else 3)
    for index, value in enumerate((1.0, 2.0, 3.0)):
        entry = data[name.format(index)]
        assert [record["Max"] for record in entry["input_args"]] == [value, 2.0]
        assert [record["Max"] for record in entry["output"]] == [2 * value]


class ToNpu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(NPU) + 1


def test_from_host_to_npu(make_config: MakeConfig, read_dump: ReadDump) -> None:
    with AclGraphDumper(make_config()) as dumper:
        model = ToNpu()
        dumper.start(model)
        for value in (1.0, 2.0, 3.0):
            model(torch.full((2,), value))
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == 3
    for index, entry in enumerate(data.values()):
        assert (entry["input_args"][0]["Max"], entry["output"][0]["Max"]) == (index + 1.0, index + 2.0)


class Pipeline(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to("npu:1") + 1


def test_two_npus_over_several_forwards(make_config: MakeConfig, read_dump: ReadDump) -> None:
    with AclGraphDumper(make_config()) as dumper:
        model = Pipeline()
        dumper.start(model)
        for value in range(20):
            model(torch.full((2,), float(value), device=NPU))
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == 20
    for index, entry in enumerate(data.values()):
        assert (entry["input_args"][0]["Max"], entry["output"][0]["Max"]) == (float(index), index + 1.0)


@pytest.mark.parametrize("settings", [{"level": "L1"}, {"statistics": {"list": ["inner"]}}], ids=["L1", "list"])
@pytest.mark.parametrize("moved", [False, True], ids=["no parameters", "moved after start"])
def test_every_replay_counts_whatever_the_root_shows(
    make_config: MakeConfig, read_dump: ReadDump, settings: dict[str, Any], moved: bool
) -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 3) if moved else nn.ReLU()

        def forward(self, holder: dict[str, Any]) -> Any:
            return {"result": self.inner(holder["x"])}

    model = Outer()
    static = torch.zeros(1, 3, device=NPU)
    with AclGraphDumper(make_config(**settings)) as dumper, torch.no_grad():
        dumper.start(model)
        model.to(NPU)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            model({"x": static})
        for value in (1.0, 2.0, 3.0):
            static.fill_(value)
            graph.replay()
        dumper.step()
    kind = "Module.inner" if "statistics" in settings else "Aten.addmm" if moved else "Aten.relu"
    entries = [entry for name, entry in read_dump(0)["data"].items() if name.startswith(kind)]
    place = 1 if kind == "Aten.addmm" else 0
    assert [entry["input_args"][place]["Max"] for entry in entries] == [1.0, 2.0, 3.0]


def test_several_replays_of_a_submodules_graph(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Tanh()).to(NPU)
    static = torch.zeros(3, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            model[0](static)
        for value in (1.0, 2.0, 3.0):
            static.fill_(value)
            graph.replay()
        dumper.step()
    entries = list(read_dump(0)["data"].values())
    assert [entry["output"][0]["Max"] for entry in entries] == [1.0, 2.0, 3.0]
