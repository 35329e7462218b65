# SPDX-License-Identifier: Apache-2.0
"""Captured graphs: capture, replays, several graphs, submodules, graphed callables, failures."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import Calls, assert_dump, expected, module_calls
from graphed import capture
from models import Transformer, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")


pytestmark = pytest.mark.usefixtures("without_gradients")


@pytest.fixture(params=[{}, {"transfer": "callback"}, {"rows": "copy"}], ids=["default", "callback", "copy"])
def npu_settings(request: pytest.FixtureRequest) -> dict[str, str]:
    settings: dict[str, str] = request.param
    return settings


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_each_replay_is_one_step(
    make_config: MakeConfig, read_dump: ReadDump, level: str, npu_settings: dict[str, str]
) -> None:
    model = Transformer().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.zeros(2, 5, dtype=torch.long, device=NPU)
    model(static)  # whatever torch makes at first use is made before the capture
    batches = [torch.randint(0, 30, (2, 5)).to(NPU) for _ in range(3)]
    with AclGraphDumper(make_config(level=level, npu=npu_settings)) as dumper:
        dumper.start(model)
        graph, output = capture(model, static)
        for batch in batches:
            static.copy_(batch)
            graph.replay()
            dumper.step()
            assert torch.equal(output["logits"], bare(batch)["logits"])
    for step, batch in enumerate(batches):
        assert_dump(read_dump(step), expected(bare, level, lambda m, batch=batch: m(batch)), NPU)


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_several_replays_before_one_step(
    make_config: MakeConfig, read_dump: ReadDump, level: str, npu_settings: dict[str, str]
) -> None:
    model = Transformer().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.zeros(1, 4, dtype=torch.long, device=NPU)
    batches = [torch.randint(0, 30, (1, 4)).to(NPU) for _ in range(5)]
    with AclGraphDumper(make_config(level=level, npu=npu_settings)) as dumper:
        dumper.start(model)
        graph, _ = capture(model, static)
        for batch in batches:
            static.copy_(batch)
            graph.replay()
        dumper.step()
        dumper.step()
    assert_dump(read_dump(0), expected(bare, level, lambda m: [m(batch) for batch in batches]), NPU)
    assert read_dump(1)["data"] == {}


def test_several_graphs_of_one_model_interleaved(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = Transformer().to(NPU)
    bare = copy.deepcopy(model)
    statics = [torch.zeros(size, 4, dtype=torch.long, device=NPU) for size in (1, 2, 4)]
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        first, _ = capture(model, statics[0])
        graphs = [first]
        for static in statics[1:]:
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph, pool=first.pool()):
                model(static)
            graphs.append(graph)
        ran = []
        for which in (0, 2, 1, 1, 0, 2):
            batch = torch.randint(0, 30, statics[which].shape).to(NPU)
            statics[which].copy_(batch)
            graphs[which].replay()
            ran.append(batch)
        dumper.step()
    assert_dump(read_dump(0), expected(bare, "L0", lambda m: [m(batch) for batch in ran]), NPU)


def test_eager_calls_and_replays_stay_in_order(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.zeros(2, 8, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph, _ = capture(model, static)
        inputs = [torch.full((2, 8), float(i), device=NPU) for i in range(6)]
        for index, x in enumerate(inputs):
            if index % 2:
                model(x)
            else:
                static.copy_(x)
                graph.replay()
        dumper.step()
    assert_dump(read_dump(0), expected(bare, "L0", lambda m: [m(x) for x in inputs]), NPU)


class CalledThreeTimes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = self.linear(x)
        return x


def test_a_module_called_several_times(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = CalledThreeTimes().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph, _ = capture(model, static)
        graph.replay()
        graph.replay()
        dumper.step()
    assert_dump(read_dump(0), expected(bare, "L0", lambda m: (m(static), m(static))), NPU)


def test_a_graph_of_a_submodule_only(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = Transformer().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.randn(1, 4, 16).to(NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph, _ = capture(model.blocks[0], static)
        for step in range(2):
            static.fill_(step + 1)
            graph.replay()
            dumper.step()
    for step in range(2):
        calls = Calls()
        with module_calls(bare, calls):
            bare.blocks[0](torch.full_like(static, step + 1))
        assert_dump(read_dump(step), calls.entries, NPU)


class SecondPiece(nn.Module):
    """The root of a model whose first part has been captured into a graph of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = mlp(), nn.Linear(8, 4)

    def forward(self, middle: torch.Tensor) -> torch.Tensor:
        return self.second(middle)


def test_the_pieces_of_a_broken_graph(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = SecondPiece().to(NPU)
    first, second = copy.deepcopy(model.first), copy.deepcopy(model.second)
    static = torch.zeros(2, 8, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        before, middle = capture(model.first, static)
        after, _ = capture(model, middle)
        for value in (1.0, 2.0, 3.0):
            static.fill_(value)
            before.replay()
            after.replay()
        static.fill_(4.0)
        before.replay()  # alone: its records are found by step()
        dumper.step()
    data = read_dump(0)["data"]
    for index in range(3):
        out = first(torch.full((2, 8), index + 1.0, device=NPU))
        assert data[f"Module.first.Sequential.forward.{index}"]["output"][0]["Max"] == out.max().item()
        assert data[f"Module.second.Linear.forward.{index}"]["output"][0]["Max"] == second(out).max().item()
    assert data["Module.first.Sequential.forward.3"]["input_args"][0]["Max"] == 4.0
    assert "Module.second.Linear.forward.3" not in data


def test_graphed_callables(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    with torch.enable_grad(), AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        sample = torch.randn(2, 8).to(NPU).requires_grad_()
        graphed = torch.npu.make_graphed_callables(model, (sample,))
        dumper.step(dump=False)  # the warm-up runs
        for _ in range(2):
            x = torch.randn(2, 8).to(NPU).requires_grad_()
            y = x.detach().clone().requires_grad_()
            for parameter in (*model.parameters(), *bare.parameters()):
                parameter.grad = None
            graphed(x).pow(2).sum().backward()
            bare(y).pow(2).sum().backward()
            assert torch.equal(x.grad, y.grad)  # type: ignore[arg-type]
            for ours, theirs in zip(model.parameters(), bare.parameters(), strict=True):
                assert torch.equal(ours.grad, theirs.grad)  # type: ignore[arg-type]
            dumper.step()
            wanted = expected(bare, "L0", lambda m, y=y: m(y))
            assert_dump(read_dump(dumper.step_id - 1), wanted, NPU)


def test_step_in_a_capture_is_an_error_and_spoils_nothing(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            model(static)
            with pytest.raises(RuntimeError, match="must not be called while a graph is being captured"):
                dumper.step()
        graph.replay()
        dumper.step()
    assert len(read_dump(0)["data"]) == 4


def test_a_capture_that_fails_is_tried_again(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        with pytest.raises(ZeroDivisionError), torch.npu.graph(graph):
            model[0](static)
            raise ZeroDivisionError
        graph, _ = capture(model, static)
        graph.replay()
        dumper.step()
    assert_dump(read_dump(0), expected(bare, "L0", lambda m: m(static)), NPU)


def test_graphs_stay_valid_after_close_and_without_the_dumper(make_config: MakeConfig, tmp_path: Path) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.ones(2, 8, device=NPU)
    dumper = AclGraphDumper(make_config())
    dumper.start(model)
    graph, output = capture(model, static)
    dumper.close()
    del dumper
    gc.collect()
    for value in (2.0, 3.0):
        static.fill_(value)
        graph.replay()
        torch.npu.synchronize()
        assert torch.equal(output, bare(static))
    assert not list((tmp_path / "dumps").rglob("dump.json"))


def test_a_destroyed_graph_takes_nothing_with_it(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        for _ in range(3):
            graph, output = capture(model, static)
            graph.replay()
            del graph, output
            gc.collect()
        dumper.step()
    assert len(read_dump(0)["data"]) == 3 * 4


def test_more_sites_than_were_reserved(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = CalledThreeTimes().to(NPU)
    static = torch.ones(2, 8, device=NPU)
    calls = 400
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            for _ in range(calls):
                model(static)
        graph.replay()
        dumper.step()
    assert len(read_dump(0)["data"]) == calls * 4


def test_many_uncommitted_eager_records(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    x = torch.ones(2, 8, device=NPU)
    calls = 3000
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        for _ in range(calls):
            model[1](x)
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == calls
    assert all(entry["output"][0]["Max"] == 1.0 for entry in data.values())
