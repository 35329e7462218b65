# SPDX-License-Identifier: Apache-2.0
"""Several streams and several threads, eagerly and in captured graphs."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models import mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")


pytestmark = pytest.mark.usefixtures("without_gradients")


class ForksAStream(nn.Module):
    """Runs one of two branches on a side stream; `joins` says whether it waits for it itself."""

    def __init__(self, side: torch.npu.Stream, joins: bool) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(8, 8), nn.Linear(8, 8)
        self.side, self.joins = side, joins

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        current = torch.npu.current_stream()
        self.side.wait_stream(current)
        with torch.npu.stream(self.side):
            right = self.right(x)
        left = self.left(x)
        if self.joins:
            current.wait_stream(self.side)
        return left, right


@pytest.mark.parametrize("joins", [True, False])
@pytest.mark.parametrize("captured", [True, False])
def test_side_streams(make_config: MakeConfig, read_dump: ReadDump, joins: bool, captured: bool) -> None:
    side = torch.npu.Stream()
    model = ForksAStream(side, joins).to(NPU)
    left, right = copy.deepcopy(model.left), copy.deepcopy(model.right)
    static = torch.zeros(2, 8, device=NPU)
    torch.npu.synchronize()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        if captured:
            with torch.npu.graph(graph):
                model(static)
                torch.npu.current_stream().wait_stream(side)
        values = [1.0, 2.0, 3.0]
        for value in values:
            static.fill_(value)
            if captured:
                graph.replay()
            else:
                model(static)
                torch.npu.current_stream().wait_stream(side)
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == 3 * len(values)
    for index, value in enumerate(values):
        x = torch.full((2, 8), value, device=NPU)
        assert data[f"Module.left.Linear.forward.{index}"]["output"][0]["Max"] == left(x).max().item()
        assert data[f"Module.right.Linear.forward.{index}"]["output"][0]["Max"] == right(x).max().item()


def test_threads_that_capture_and_replay_at_the_same_time(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    torch.npu.synchronize()
    barrier = threading.Barrier(2)
    failures: list[BaseException] = []

    def work(first_value: int) -> None:
        try:
            with torch.no_grad(), torch.npu.stream(torch.npu.Stream()):
                static = torch.zeros(2, 8, device=NPU)
                torch.npu.current_stream().synchronize()
                barrier.wait()
                graph = torch.npu.NPUGraph()
                graph.capture_begin(capture_error_mode="thread_local")
                model(static)
                graph.capture_end()
                for value in range(first_value, first_value + 10):
                    static.fill_(float(value))
                    graph.replay()
                torch.npu.current_stream().synchronize()
        except BaseException as error:
            failures.append(error)

    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == 2 * 10 * 4
    seen = []
    for index in range(20):
        entry = data[f"Module.__root__.Sequential.forward.{index}"]
        value = entry["input_args"][0]["Max"]
        seen.append(value)
        assert entry["output"][0]["Max"] == bare(torch.full((2, 8), value, device=NPU)).max().item()
        assert entry["Order"]["last"] - entry["Order"]["first"] == 7
    assert [v for v in seen if v < 50] == [float(i) for i in range(10)]
    assert [v for v in seen if v >= 50] == [float(i) for i in range(100, 110)]


class OnTwoDevices(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.near, self.far = nn.Linear(8, 8).to("npu:0"), nn.Linear(8, 4).to("npu:1")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.far(self.near(x).to("npu:1"))


def test_a_model_on_two_devices(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = OnTwoDevices()
    x = torch.ones(2, 8, device=NPU)
    wanted = model(x)
    with AclGraphDumper(make_config(level="mix")) as dumper:
        dumper.start(model)
        assert torch.equal(model(x), wanted)
        dumper.step()
    data = read_dump(0)["data"]
    assert data["Module.__root__.OnTwoDevices.forward.0"]["output"][0]["Max"] == wanted.max().item()
    assert data["Module.far.Linear.forward.0"]["output"][0]["Max"] == wanted.max().item()
    assert data["Module.near.Linear.forward.0"]["input_args"][0]["Norm"] == 4.0


def test_a_graph_on_the_second_device(make_config: MakeConfig, read_dump: ReadDump) -> None:
    device = torch.device("npu:1")
    model = mlp().to(device)
    static = torch.zeros(2, 8, device=device)
    with AclGraphDumper(make_config()) as dumper, torch.npu.device(1):
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        # torch.npu.graph's own stream is made once a process, on the device that was current then.
        with torch.npu.graph(graph, stream=torch.npu.Stream()):
            output = model(static)
        for value in (1.0, 2.0):
            static.fill_(value)
            graph.replay()
        with torch.npu.device(0):
            dumper.step()
    data = read_dump(0)["data"]
    assert [data[f"Module.__root__.Sequential.forward.{i}"]["input_args"][0]["Max"] for i in range(2)] == [1.0, 2.0]
    assert data["Module.__root__.Sequential.forward.1"]["output"][0]["Max"] == output.max().item()
