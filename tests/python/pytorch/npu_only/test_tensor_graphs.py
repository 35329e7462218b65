# SPDX-License-Identifier: Apache-2.0
"""The tensor task in captured and compiled graphs: every replay's own values in files of their own, whatever happens to the memory."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import Copies, assert_dump, assert_files, bits, expected_tensors, saved_files, watch
from graphed import GraphedInside, capture
from models import Transformer, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")
CPU = torch.device("cpu")


pytestmark = pytest.mark.usefixtures("without_gradients")


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_each_replay_is_one_step(make_config: MakeConfig, read_dump: ReadDump, level: str) -> None:
    model = Transformer().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.zeros(2, 5, dtype=torch.long, device=NPU)
    model(static)  # whatever torch makes at first use is made before the capture
    batches = [torch.randint(0, 30, (2, 5)).to(NPU) for _ in range(3)]
    with AclGraphDumper(make_config(task="tensor", level=level)) as dumper:
        dumper.start(model)
        graph, output = capture(model, static)
        for batch in batches:
            static.copy_(batch)
            graph.replay()
            dumper.step()
            assert torch.equal(output["logits"], bare(batch)["logits"])
    for step, batch in enumerate(batches):
        copies = Copies()
        watch(copies, bare, level, lambda m, batch=batch: m(batch))
        dump = read_dump(step)
        assert_dump(dump, copies.with_tensors(), CPU)
        assert_files(dump, copies.tensors)


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_several_replays_before_one_step(make_config: MakeConfig, read_dump: ReadDump, level: str) -> None:
    model = Transformer(blocks=1).to(NPU)
    bare = copy.deepcopy(model)
    static = torch.zeros(1, 4, dtype=torch.long, device=NPU)
    batches = [torch.randint(0, 30, (1, 4)).to(NPU) for _ in range(5)]
    with AclGraphDumper(make_config(task="tensor", level=level)) as dumper:
        dumper.start(model)
        graph, _ = capture(model, static)
        for batch in batches[:4]:
            static.copy_(batch)
            graph.replay()  # the next one starts at once
        dumper.step()
        static.copy_(batches[4])
        graph.replay()
        dumper.step()
    assert_files(read_dump(0), expected_tensors(bare, level, lambda m: [m(batch) for batch in batches[:4]]))
    assert_files(read_dump(1), expected_tensors(bare, level, lambda m: m(batches[4])))


def test_graphs_and_eager_calls_interleaved(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    statics = [torch.zeros(size, 8, device=NPU) for size in (1, 2, 4)]
    order = [0, None, 2, None, None, 1, 1, 0, None, 2]
    batches = [torch.randn((3, 8) if which is None else statics[which].shape).to(NPU) for which in order]
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        dumper.start(model)
        first, _ = capture(model, statics[0])
        graphs = [first, *(capture(model, static, pool=first.pool())[0] for static in statics[1:])]
        for which, batch in zip(order, batches, strict=True):  # nothing here waits for the device
            if which is None:
                model(batch)
            else:
                statics[which].copy_(batch)
                graphs[which].replay()
        dumper.step()
    copies = Copies()
    watch(copies, bare, "L0", lambda m: [m(batch) for batch in batches])
    dump = read_dump(0)
    assert_dump(dump, copies.with_tensors(), CPU)  # in this order
    assert_files(dump, copies.tensors)


class Reuses(nn.Module):
    """What was recorded is overwritten in place at once; its memory is freed and taken by the next result of the same size."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.identity(x * 2)
        y.add_(1)
        self.identity(y.t())
        del y
        z = torch.full((64, 64), 7.0, device=x.device)
        self.identity(z[::2])
        return x.add_(100)


def test_memory_that_is_overwritten_and_reused(make_config: MakeConfig, read_dump: ReadDump) -> None:
    static = torch.zeros(64, 64, device=NPU)
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        model = Reuses()
        dumper.start(model)
        graph, _ = capture(model, static)
        for value in range(20):
            static.fill_(value)
            graph.replay()
        dumper.step()
    files = saved_files(read_dump(0))
    for value in range(20):
        for place in ("input", "output"):
            found = [files[f"Module.identity.Identity.forward.{3 * value + i}.{place}.0"] for i in range(3)]
            assert [x.unique().tolist() for x in found] == [[2.0 * value], [2.0 * value + 1], [7.0]]
            assert found[2].shape == (32, 64)
        assert files[f"Module.__root__.Reuses.forward.{value}.input.0"].unique().tolist() == [float(value)]
        assert files[f"Module.__root__.Reuses.forward.{value}.output.0"].unique().tolist() == [value + 100.0]


DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
DTYPES += [torch.bool, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_exact_bits_of_dtypes_and_layouts(make_config: MakeConfig, read_dump: ReadDump, dtype: torch.dtype) -> None:
    size = torch.empty(0, dtype=dtype).element_size()
    host = torch.randint(0, 2 if dtype == torch.bool else 256, (24 * size,), dtype=torch.uint8).view(dtype).view(4, 6)
    static = torch.empty(4, 6, dtype=dtype, device=NPU)

    def layouts(x: torch.Tensor) -> list[torch.Tensor]:
        views = [x, x[0, 0], x[:0]]
        return views if dtype.itemsize == 1 and dtype.is_floating_point else [*views, x.t(), x[1:, ::2], x[:, :1].expand(4, 5)]

    with AclGraphDumper(make_config(task="tensor")) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        graph, _ = capture(identity, layouts(static))
        static.copy_(host)
        graph.replay()
        dumper.step()
    files = saved_files(read_dump(0))
    for index, x in enumerate(layouts(host)):
        found = files[f"Module.__root__.Identity.forward.0.input.0.{index}"]
        assert (found.dtype, found.shape, bits(found)) == (dtype, x.shape, bits(x))


class Scales(nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x * scale


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_a_host_scalar_in_every_replay(make_config: MakeConfig, read_dump: ReadDump, level: str) -> None:
    static, scale = torch.zeros(3, device=NPU), torch.tensor(2.0)
    with AclGraphDumper(make_config(task="tensor", level=level)) as dumper:
        model = Scales()
        dumper.start(model)
        graph, _ = capture(model, static, scale)
        scale.fill_(5.0)  # the graph has the value of the capture
        for value in (1.0, 2.0, 3.0):
            static.fill_(value)
            graph.replay()
        dumper.step()
    files = saved_files(read_dump(0))
    names = ["Module.__root__.Scales.forward.{}"] * (level != "L1") + ["Aten.mul.{}.forward"] * (level != "L0")
    assert len(files) == 3 * 3 * len(names)
    for name in names:
        for index, value in enumerate((1.0, 2.0, 3.0)):
            call = name.format(index)
            found = [files[f"{call}.{place}"].view(-1)[0].item() for place in ("input.0", "input.1", "output.0")]
            assert found == [value, 2.0, 2 * value]


def test_replays_of_a_submodules_graph(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Tanh()).to(NPU)
    static = torch.zeros(3, device=NPU)
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        dumper.start(model)
        graph, _ = capture(model[0], static)
        for value in (1.0, 2.0, 3.0):
            static.fill_(value)
            graph.replay()
        dumper.step()
    files = saved_files(read_dump(0))
    assert [files[f"Module.0.ReLU.forward.{i}.output.0"][0].item() for i in range(3)] == [1.0, 2.0, 3.0]
    assert len(files) == 6


class Pieces(GraphedInside):
    """Its tensors, in files."""


def test_a_graph_inside_an_eager_forward(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = Pieces().to(NPU)
    first, second = copy.deepcopy(model.first), copy.deepcopy(model.second)
    inputs = [torch.randn(2, 8).to(NPU) for _ in range(3)]
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        dumper.start(model)
        for x in inputs:
            model(x)
        dumper.step()
    files = saved_files(read_dump(0))
    assert len(files) == 3 * 6 * 2
    for index, x in enumerate(inputs):
        middle = first(x)
        assert torch.equal(files[f"Module.first.Sequential.forward.{index}.output.0"], middle.cpu())
        assert torch.equal(files[f"Module.second.Linear.forward.{index}.output.0"], second(middle).cpu())


def test_several_threads_with_graphs_of_their_own(make_config: MakeConfig, read_dump: ReadDump) -> None:
    models = [nn.Sequential(nn.Identity()) for _ in range(3)]
    statics = [torch.zeros(5, device=NPU) for _ in models]
    replays = 15
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        graphs = []
        for model, static in zip(models, statics, strict=True):
            dumper.start(model)
            graphs.append(capture(model, static)[0])

        def work(number: int) -> None:
            with torch.npu.stream(torch.npu.Stream()):
                for replay in range(replays):
                    statics[number].fill_(100.0 * number + replay)
                    graphs[number].replay()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        dumper.step()
    files = saved_files(read_dump(0))
    for name in ("Module.0.Identity", "Module.__root__.Sequential"):
        found = []
        for index in range(3 * replays):
            value = files[f"{name}.forward.{index}.input.0"].unique().item()
            assert files[f"{name}.forward.{index}.output.0"].unique().item() == value
            found.append(value)
        assert sorted(found) == sorted(100.0 * number + replay for number in range(3) for replay in range(replays))


class TwoDevices(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1).to("npu:1") * 2


def test_two_devices(make_config: MakeConfig, read_dump: ReadDump) -> None:
    statics = [torch.zeros(3, device=f"npu:{index}") for index in range(2)]
    models = [nn.Identity(), nn.ReLU()]
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        eager = TwoDevices()
        dumper.start(eager)
        graphs = []
        for index, (model, static) in enumerate(zip(models, statics, strict=True)):
            dumper.start(model)
            with torch.npu.device(index):
                graphs.append(capture(model, static, stream=torch.npu.Stream())[0])
        for value in range(4):
            for index, static in enumerate(statics):
                with torch.npu.device(index):
                    static.fill_(10.0 * value + index)
                    graphs[index].replay()
            eager(torch.full((3,), float(value), device=NPU))
        dumper.step()
    files = saved_files(read_dump(0))
    assert len(files) == 4 * 3 * 2
    for value in range(4):
        assert files[f"Module.__root__.Identity.forward.{value}.output.0"].unique().item() == 10.0 * value
        assert files[f"Module.__root__.ReLU.forward.{value}.output.0"].unique().item() == 10.0 * value + 1
        assert files[f"Module.__root__.TwoDevices.forward.{value}.output.0"].unique().item() == 2.0 * (value + 1)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "npugraphs", "npugraph_ex"])
@pytest.mark.parametrize("train", [False, True])
def test_compiled(make_config: MakeConfig, read_dump: ReadDump, backend: str, train: bool) -> None:
    if train and backend == "npugraph_ex":
        return  # this backend compiles inference only
    torch._dynamo.reset()
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    batches = [torch.randn(2, 8).to(NPU) for _ in range(4)]
    with AclGraphDumper(make_config(task="tensor")) as dumper, torch.set_grad_enabled(train):
        dumper.start(model)
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for x in batches:
            if backend == "npugraphs":
                torch.compiler.npugraph_mark_step_begin()
                model.zero_grad()
            output = compiled(x)
            if train:
                output.sum().backward()
            dumper.step()
    for step, x in enumerate(batches):
        assert_files(read_dump(step), expected_tensors(bare, "L0", lambda m, x=x: m(x)))


def test_a_step_and_a_failure_in_a_capture_spoil_nothing(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        with pytest.raises(ZeroDivisionError), torch.npu.graph(graph):
            model[0](static)
            raise ZeroDivisionError
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            model(static)
            with pytest.raises(RuntimeError, match="must not be called while a graph is being captured"):
                dumper.step()
        graph.replay()
        dumper.step()
    assert_files(read_dump(0), expected_tensors(bare, "L0", lambda m: m(static)))


def test_steps_thrown_away_and_graphs_after_close(make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path) -> None:
    model = mlp().to(NPU)
    bare = copy.deepcopy(model)
    static = torch.ones(2, 8, device=NPU)
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        dumper.start(model)
        graph, output = capture(model, static)
        for _ in range(2):
            graph.replay()
            dumper.step(dump=False)
        assert not [path for path in (tmp_path / "dumps").rglob("*") if path.is_file()]
        graph.replay()
        dumper.step()
    static.fill_(2.0)
    graph.replay()
    torch.npu.synchronize()
    assert torch.equal(output, bare(static))
    assert_files(read_dump(0), expected_tensors(bare, "L0", lambda m: m(torch.ones_like(static))))
    assert not (tmp_path / "dumps" / "step1").exists()
