# SPDX-License-Identifier: Apache-2.0
"""Many graphs at a time: of several sizes in one pool, replayed on several streams; of several dumpers; of models added later, and of a
dumper that is closed while others go on."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from models import Small, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")
LEVELS = ["L0", "L1", "mix"]


pytestmark = pytest.mark.usefixtures("without_gradients")


def capture(run: Callable[[], torch.Tensor], pool: Any = None) -> tuple[torch.npu.NPUGraph, torch.Tensor]:
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, pool=pool):
        output = run()
    return graph, output


def dump_in(folder: Path, step: int = 0) -> dict[str, Any]:
    (path,) = (folder / f"step{step}").glob("*/dump.json")
    content: dict[str, Any] = json.loads(path.read_text())
    return content


@pytest.mark.parametrize("level", LEVELS)
def test_batch_sizes_in_one_pool_on_several_streams(make_config: MakeConfig, read_dump: ReadDump, level: str) -> None:
    """As serving does it: the largest first, all in its pool, replayed in any order and on streams that wait for each other."""
    model = Small().to(NPU)
    bare = copy.deepcopy(model)
    statics = {size: torch.zeros(size, 3, 8, device=NPU) for size in (8, 4, 1)}
    streams = [torch.npu.Stream() for _ in range(3)]
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        graphs: dict[int, tuple[torch.npu.NPUGraph, torch.Tensor]] = {}
        for size, static in statics.items():
            pool = graphs[8][0].pool() if graphs else None
            graphs[size] = capture(lambda static=static: model(static), pool)  # type: ignore[misc]
        for step, order in enumerate([(1, 8, 4, 4, 1, 8), (8, 8, 1)]):
            batches = [torch.randn(size, 3, 8).to(NPU) for size in order]
            outputs = []
            before = torch.npu.current_stream()
            for index, batch in enumerate(batches):
                size = order[index]
                stream = streams[index % len(streams)]
                stream.wait_stream(before)
                with torch.npu.stream(stream):
                    statics[size].copy_(batch)
                    graphs[size][0].replay()
                    outputs.append(graphs[size][1].clone())
                before = stream
            dumper.step()
            assert all(torch.equal(output, bare(batch)) for output, batch in zip(outputs, batches, strict=True))
            assert_dump(read_dump(step), expected(bare, level, lambda m, batches=batches: [m(b) for b in batches]), NPU)


def test_graphs_that_run_at_the_same_time(make_config: MakeConfig, read_dump: ReadDump) -> None:
    """Each in a pool and on a stream of its own, without any wait between them: every replay is there, whole and with its own numbers."""
    models = [mlp().to(NPU) for _ in range(3)]
    bare = copy.deepcopy(models)
    streams = [torch.npu.Stream() for _ in models]
    root = nn.ModuleList(models)
    statics = [torch.zeros(2, 8, device=NPU) for _ in models]
    replays = 5
    torch.npu.synchronize()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(root)
        graphs = [capture(lambda m=m, s=s: m(s))[0] for m, s in zip(models, statics, strict=True)]  # type: ignore[misc]
        for value in range(replays):
            for static, graph, stream in zip(statics, graphs, streams, strict=True):
                with torch.npu.stream(stream):
                    static.fill_(float(value))
                    graph.replay()
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == len(models) * replays * 4
    for index, model in enumerate(bare):
        for value in range(replays):
            record = data[f"Module.{index}.Sequential.forward.{value}"]["output"][0]
            assert record["Max"] == model(torch.full((2, 8), float(value), device=NPU)).max().item()


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_dumpers_of_their_own_in_one_graph(make_config: MakeConfig, tmp_path: Path, level: str) -> None:
    """Two models with a dumper each, captured together; one dumper is closed in the middle, the graph and the other go on."""
    models = [mlp().to(NPU), Small().to(NPU)]
    bare = copy.deepcopy(models)
    static = torch.zeros(2, 3, 8, device=NPU)
    dumpers = [AclGraphDumper(make_config(level=level, dump_path=str(tmp_path / str(index)))) for index in range(2)]
    for dumper, model in zip(dumpers, models, strict=True):
        dumper.start(model)
    graph, output = capture(lambda: models[1](models[0](static)))
    for step in range(3):
        x = torch.randn(2, 3, 8).to(NPU)
        static.copy_(x)
        graph.replay()
        for dumper in dumpers:
            dumper.step()
        middle = bare[0](x)
        assert torch.equal(output, bare[1](middle))
        if step < 2:
            assert_dump(dump_in(tmp_path / "0", step), expected(bare[0], level, lambda m, x=x: m(x)), NPU)
        assert_dump(dump_in(tmp_path / "1", step), expected(bare[1], level, lambda m, y=middle: m(y)), NPU)
        if step == 1:
            dumpers[0].close()
    assert not (tmp_path / "0" / "step2").exists()
    dumpers[1].close()
    static.fill_(3.0)
    graph.replay()
    torch.npu.synchronize()
    assert torch.equal(output, bare[1](bare[0](static)))


@pytest.mark.parametrize("level", LEVELS)
def test_a_model_that_is_added_after_captures(make_config: MakeConfig, read_dump: ReadDump, level: str) -> None:
    models = [mlp().to(NPU), Small().to(NPU)]
    bare = copy.deepcopy(models)
    static = torch.zeros(2, 3, 8, device=NPU)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(models[0])
        first, middle = capture(lambda: models[0](static))
        dumper.start(models[1])
        second, _ = capture(lambda: models[1](middle))
        for step in range(2):
            static.fill_(step + 1.0)
            first.replay()
            second.replay()
            dumper.step()
    for step in range(2):
        x = torch.full_like(static, step + 1.0)
        between = bare[0](x)
        wanted = [*expected(bare[0], level, lambda m, x=x: m(x))]
        later = expected(bare[1], level, lambda m, x=between: m(x))
        data = read_dump(step)["data"]
        assert list(data)[: len(wanted)] == wanted
        assert len(data) == len(wanted) + len(later)
        last = list(data.values())[-1] if level == "L1" else data["Module.__root__.Small.forward.0"]
        assert last["output"][0]["Max"] == bare[1](between).max().item()


@pytest.mark.parametrize("level", LEVELS)
def test_a_captured_model_with_compiled_parts(make_config: MakeConfig, read_dump: ReadDump, level: str) -> None:
    """One graph of the whole, into which the compiled parts run."""
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(8, 8), Small(), nn.ReLU(), mlp()).to(NPU)
    bare = copy.deepcopy(model)
    static = torch.zeros(2, 3, 8, device=NPU)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        for index in (1, 3):
            model[index].compile(backend="aot_eager", fullgraph=True)
        model(static)  # compiles
        dumper.step(dump=False)
        graph, output = capture(lambda: model(static))
        for step in range(3):
            x = torch.randn(2, 3, 8).to(NPU)
            static.copy_(x)
            graph.replay()
            dumper.step()
            assert torch.equal(output, bare(x))
            assert_dump(read_dump(step), expected(bare, level, lambda m, x=x: m(x)), NPU)
