# SPDX-License-Identifier: Apache-2.0
"""Graphs captured long ago under switches, steps, slices, scope and custom APIs: what each replay records and what it does not."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from expect import TOLERANCE, assert_record, bits, record_of, records_of, saved_files
from models import mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")
TASKS = pytest.mark.parametrize("task", ["statistics", "tensor"])


pytestmark = pytest.mark.usefixtures("without_gradients")


def capture(model: Callable[..., Any], *inputs: Any, stream: Any = None) -> tuple[torch.npu.NPUGraph, Any]:
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, stream=stream):
        output = model(*inputs)
    return graph, output


def steps_written(folder: Path) -> list[int]:
    return sorted(int(path.parent.parent.name.removeprefix("step")) for path in folder.rglob("dump.json"))


def maxima(dump: dict[str, Any]) -> list[float]:
    """Of the inputs of the model, replay by replay; each replay is there as a whole."""
    roots = [entry for name, entry in dump["data"].items() if ".__root__." in name]
    assert len(dump["data"]) == 4 * len(roots)
    assert len(list(records_of(dump))) == 8 * len(roots)
    if dump["task"] == "tensor":
        assert len(saved_files(dump)) == 8 * len(roots)
    return [entry["input_args"][0]["Max"] for entry in roots]


@pytest.fixture
def replayed() -> tuple[nn.Module, Callable[[AclGraphDumper], Callable[[float], None]]]:
    """A model of four modules, and what captures it under a dumper: the result replays the graph with an input."""
    model = mlp().to(NPU)
    static = torch.zeros(2, 8, device=NPU)
    graphs = []

    def begin(dumper: AclGraphDumper) -> Callable[[float], None]:
        dumper.start(model)
        graphs.append(capture(model, static))  # kept, as long as the model is

        def replay(value: float) -> None:
            static.fill_(value)
            graphs[-1][0].replay()

        return replay

    return model, begin


@TASKS
@pytest.mark.parametrize("captured_while", [True, False])
def test_switches_work_on_old_graphs(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, replayed: Any, task: str, captured_while: bool
) -> None:
    model, begin = replayed
    bare = copy.deepcopy(model)
    with AclGraphDumper(make_config(task=task, dump_enable=captured_while)) as dumper:
        replay = begin(dumper)
        dumper.step(dump=False)
        for step in range(6):
            (dumper.enable if step in (1, 2, 5) else dumper.disable)()
            replay(float(step))
            replay(step + 0.5)
            dumper.step()
    assert steps_written(tmp_path / "dumps") == [1, 2, 5]
    for step in (1, 2, 5):
        assert maxima(read_dump(step)) == [float(step), step + 0.5]
        output = bare(torch.full((2, 8), step + 0.5, device=NPU)).max().item()
        assert read_dump(step)["data"]["Module.__root__.Sequential.forward.1"]["output"][0]["Max"] == output
    assert sorted(path.name for path in (tmp_path / "dumps").iterdir()) == ["step1", "step2", "step5"]


@TASKS
def test_switches_between_the_replays_of_a_step(make_config: MakeConfig, read_dump: ReadDump, replayed: Any, task: str) -> None:
    with AclGraphDumper(make_config(task=task)) as dumper:
        replay = replayed[1](dumper)
        for value in range(10):
            (dumper.disable if value % 3 == 1 else dumper.enable)()
            replay(float(value))
            torch.npu.synchronize()  # a replay follows the switch as it is when it runs
        dumper.step()
    assert maxima(read_dump(0)) == [float(value) for value in range(10) if value % 3 != 1]


@TASKS
def test_the_file_switches_old_graphs(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, replayed: Any, task: str
) -> None:
    path = make_config(task=task)
    with AclGraphDumper(path) as dumper:
        replay = replayed[1](dumper)
        for step in range(4):
            fresh = path.with_suffix(".new")
            fresh.write_text(json.dumps(json.loads(path.read_text()) | {"dump_enable": step % 2 == 1}))
            os.replace(fresh, path)
            replay(float(step))
            dumper.step()
    assert steps_written(tmp_path / "dumps") == [0, 2]
    assert [maxima(read_dump(step)) for step in (0, 2)] == [[0.0], [2.0]]


def test_a_replay_is_recorded_as_a_whole_or_not_at_all(make_config: MakeConfig, read_dump: ReadDump, replayed: Any) -> None:
    stop = threading.Event()
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        replay = replayed[1](dumper)

        def switch() -> None:
            while not stop.is_set():
                dumper.disable()
                dumper.enable()

        thread = threading.Thread(target=switch)
        thread.start()
        for value in range(60):
            replay(float(value))
        torch.npu.synchronize()
        stop.set()
        thread.join()
        dumper.enable()
        dumper.step()
    found = maxima(read_dump(0))
    assert found == sorted(found)


@TASKS
def test_steps_that_are_listed(make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, replayed: Any, task: str) -> None:
    with AclGraphDumper(make_config(task=task, step=[1, "3-4"])) as dumper:
        replay = replayed[1](dumper)
        for step in range(6):
            replay(float(step))
            dumper.step()
    assert steps_written(tmp_path / "dumps") == [1, 3, 4]
    assert [maxima(read_dump(step)) for step in (1, 3, 4)] == [[1.0], [3.0], [4.0]]


@TASKS
def test_padding_is_kept_out(make_config: MakeConfig, read_dump: ReadDump, task: str) -> None:
    """A graph for 8 tokens that serves 3: the rest of each tensor is whatever was there."""
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU()).to(NPU)
    bare = copy.deepcopy(model)
    static = torch.full((8, 4), float("nan"), device=NPU)
    entries = [{"dim": 0, "size": 8, "end": 3}, {"dim": -1, "size": 6, "begin": 1}]
    with AclGraphDumper(make_config(task=task, **{task: {"slice": entries}})) as dumper:
        dumper.start(model)
        graph, output = capture(model, static)
        batches = [torch.randn(3, 4).to(NPU) for _ in range(2)]
        for batch in batches:
            static[:3].copy_(batch)
            graph.replay()
        dumper.step()
    assert output.shape == (8, 6)
    dump = read_dump(0)
    files = saved_files(dump) if task == "tensor" else {}
    for index, batch in enumerate(batches):
        name = f"Module.0.Linear.forward.{index}"
        wanted = {"input": batch.cpu(), "output": bare[0](batch)[:, 1:].cpu()}
        entry = dump["data"][name]
        for place, record in (("input", entry["input_args"][0]), ("output", entry["output"][0])):
            assert_record(record, record_of(wanted[place]), place, TOLERANCE["cpu" if files else "npu"])
            assert not files or bits(files[f"{name}.{place}.0"]) == bits(wanted[place])


class Uses(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softmax(torch.neg(x), dim=-1)


@TASKS
@pytest.mark.parametrize("hooked", [True, False])
def test_custom_apis(make_config: MakeConfig, read_dump: ReadDump, task: str, hooked: bool) -> None:
    paths = ["torch.neg", "torch.nn.functional.softmax"]
    static = torch.zeros(2, 4, device=NPU)
    originals = (torch.neg, F.softmax)
    with AclGraphDumper(make_config(task=task, **{task: {"custom_api": paths}})) as dumper:
        model = Uses()
        dumper.start(model if hooked else nn.Identity())
        graph, _ = capture(model, static)
        for value in range(3):
            static.fill_(value)
            graph.replay()
        dumper.step()
    assert (torch.neg, F.softmax) == originals
    data = read_dump(0)["data"]
    found = [name for name in data if name.startswith("Custom")]
    assert found == [f"Custom.{path}.{index}.forward" for index in range(3) for path in paths]
    assert len(data) == (9 if hooked else 6)
    for index in range(3):
        assert data[found[2 * index]]["output"][0]["Max"] == -float(index)
        assert data[found[2 * index + 1]]["output"][0]["Max"] == 0.25


@TASKS
@pytest.mark.parametrize("backend", ["aot_eager", "npugraphs", "npugraph_ex"])
def test_custom_apis_in_compiled_graphs(make_config: MakeConfig, read_dump: ReadDump, backend: str, task: str) -> None:
    torch._dynamo.reset()
    paths = ["torch.neg", "torch.nn.functional.softmax"]
    with AclGraphDumper(make_config(task=task, **{task: {"custom_api": paths}})) as dumper:
        model = Uses()
        dumper.start(model)
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for value in range(4):
            if backend == "npugraphs":
                torch.compiler.npugraph_mark_step_begin()
            compiled(torch.full((2, 4), float(value), device=NPU))
        dumper.step()
    data = read_dump(0)["data"]
    found = [name for name in data if name.startswith("Custom")]
    assert found == [f"Custom.{path}.{index}.forward" for index in range(4) for path in paths]
    assert [data[name]["output"][0]["Max"] for name in found[::2]] == [0.0, -1.0, -2.0, -3.0]


@TASKS
@pytest.mark.parametrize("settings", [{"scope": ["0", "1"]}, {"data_mode": "output"}, {"data_mode": "input"}], ids=str)
def test_scope_and_data_mode(make_config: MakeConfig, read_dump: ReadDump, settings: dict[str, Any], task: str) -> None:
    model = mlp().to(NPU)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config(task=task, **settings)) as dumper:
        dumper.start(model)
        graph, _ = capture(model, static)
        for _ in range(3):
            graph.replay()
        dumper.step()
    dump = read_dump(0)
    names = ["0.Linear", "1.ReLU"] if "scope" in settings else ["__root__.Sequential", "0.Linear", "1.ReLU", "2.Linear"]
    assert sorted(dump["data"]) == sorted(f"Module.{name}.forward.{index}" for name in names for index in range(3))
    mode = settings.get("data_mode")
    assert all(len(entry["input_args"]) == (mode != "output") for entry in dump["data"].values())
    assert all(len(entry["output"]) == (mode != "input") for entry in dump["data"].values())
    if task == "tensor":
        assert len(saved_files(dump)) == len(dump["data"]) * (2 if mode is None else 1)


class Scales(nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x * scale


@TASKS
def test_host_scalar_of_a_graph_on_the_second_device(make_config: MakeConfig, read_dump: ReadDump, task: str) -> None:
    first, second = nn.Linear(2, 2).to(NPU), Scales()
    with AclGraphDumper(make_config(task=task)) as dumper:
        dumper.start(first)
        first(torch.ones(1, 2, device=NPU))
        dumper.start(second)
        static = torch.zeros(3, device="npu:1")
        with torch.npu.device(1):
            graph, _ = capture(second, static, torch.tensor(2.0), stream=torch.npu.Stream())
            for value in (1.0, 2.0, 3.0):
                static.fill_(value)
                graph.replay()
        dumper.step()
    data = read_dump(0)["data"]
    for index, value in enumerate((1.0, 2.0, 3.0)):
        entry = data[f"Module.__root__.Scales.forward.{index}"]
        assert [record["Max"] for record in (*entry["input_args"], *entry["output"])] == [value, 2.0, 2 * value]
