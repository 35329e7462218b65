# SPDX-License-Identifier: Apache-2.0
"""acl_save inside captured and compiled graphs: the values of that point of that replay, whatever happens to the memory afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from msprobe.pytorch import acl_save, flush

NPU = torch.device("npu:0")


def loaded(path: Path) -> torch.Tensor:
    x: torch.Tensor = torch.load(path, weights_only=True)
    return x


def test_each_replay_saves_its_own_values(tmp_path: Path) -> None:
    static = torch.zeros(64, 64, device=NPU)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = static * 2
        acl_save(y, str(tmp_path / "before.pt"))
        y.add_(1)  # the buffer is overwritten in place
        acl_save(y.t(), str(tmp_path / "after.pt"))
        del y
        z = torch.full((64, 64), 7.0, device=NPU)  # may take y's memory
        acl_save(z[::2], str(tmp_path / "z.pt"))
    for value in range(30):
        static.fill_(value)
        graph.replay()  # the next one starts at once
    flush()
    for value in range(30):
        assert loaded(tmp_path / f"before_{value}.pt").unique().tolist() == [2.0 * value]
        assert loaded(tmp_path / f"after_{value}.pt").unique().tolist() == [2.0 * value + 1]
        assert loaded(tmp_path / f"z_{value}.pt").shape == (32, 64)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.bool, torch.float8_e4m3fn], ids=str
)
def test_dtypes_in_a_graph(tmp_path: Path, dtype: torch.dtype) -> None:
    bits = torch.randint(
        0, 2 if dtype == torch.bool else 256, (32 * torch.empty(0, dtype=dtype).element_size(),), dtype=torch.uint8
    )
    host = bits.view(dtype)
    static = torch.empty(32, dtype=dtype, device=NPU)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        acl_save(static, str(tmp_path / "x.pt"))
        acl_save(static[:0], str(tmp_path / "empty.pt"))
    static.copy_(host)
    graph.replay()
    flush()
    assert loaded(tmp_path / "x_0.pt").view(torch.uint8).equal(bits)
    assert loaded(tmp_path / "x_0.pt").dtype == dtype
    assert loaded(tmp_path / "empty_0.pt").shape == (0,)


def test_several_streams(tmp_path: Path) -> None:
    streams = [torch.npu.Stream() for _ in range(3)]
    torch.npu.synchronize()
    for value in range(20):
        for index, stream in enumerate(streams):
            with torch.npu.stream(stream):
                acl_save(torch.full((100,), float(value), device=NPU), str(tmp_path / f"s{index}.pt"))
    flush()
    for index in range(3):
        assert [loaded(tmp_path / f"s{index}_{i}.pt")[0].item() for i in range(20)] == [float(i) for i in range(20)]


class Saves(nn.Module):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.folder = str(folder)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        acl_save(y, self.folder + "/y.pt")
        y = y.relu()
        acl_save(y, self.folder + "/relu.pt")
        return y


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "npugraphs", "npugraph_ex"])
@pytest.mark.parametrize("train", [False, True])
def test_compiled(tmp_path: Path, backend: str, train: bool) -> None:
    if train and backend == "npugraph_ex":
        return  # this backend compiles inference only
    torch._dynamo.reset()
    model = Saves(tmp_path).to(NPU)
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    inputs = [torch.randn(2, 8).to(NPU) for _ in range(4)]
    with torch.set_grad_enabled(train):
        for x in inputs:
            if backend == "npugraphs":
                torch.compiler.npugraph_mark_step_begin()
                model.zero_grad()
            output = compiled(x)
            if train:
                output.sum().backward()
    flush()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{n}_{i}.pt" for n in ("y", "relu") for i in range(4))
    for index, x in enumerate(inputs):
        with torch.no_grad():
            y = model.linear(x).cpu()
        assert torch.equal(loaded(tmp_path / f"y_{index}.pt"), y)
        assert torch.equal(loaded(tmp_path / f"relu_{index}.pt"), y.relu())


def test_a_graph_that_outlives_its_python_objects(tmp_path: Path) -> None:
    def build() -> tuple[torch.npu.NPUGraph, torch.Tensor]:
        static = torch.zeros(4, device=NPU)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            acl_save(static + 1, str(tmp_path / "x.pt"))
        return graph, static

    graph, static = build()
    for value in range(3):
        static.fill_(value)
        graph.replay()
    flush()
    assert [loaded(tmp_path / f"x_{i}.pt")[0].item() for i in range(3)] == [1.0, 2.0, 3.0]


def test_replays_are_saved_when_the_program_ends_without_flush(tmp_path: Path) -> None:
    program = f"""
import torch, torch_npu
from msprobe.pytorch import acl_save
static = torch.zeros(100000, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    acl_save(static, {str(tmp_path / "x.pt")!r})
for value in range(20):
    static.fill_(value)
    graph.replay()
raise SystemExit(0)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert [loaded(tmp_path / f"x_{i}.pt")[0].item() for i in range(20)] == [float(i) for i in range(20)]


FORKED = """
import multiprocessing, signal, sys
import torch, torch_npu
from msprobe.pytorch import acl_save, flush

def child():
    signal.alarm(60)  # ends a child that hangs: the device is its parent's
    acl_save(torch.ones(3), sys.argv[1] + "/child.pt")
    flush()
    acl_save(torch.zeros(3), sys.argv[1] + "/child.pt")  # its end flushes

acl_save(torch.ones(1000, device="npu"), sys.argv[1] + "/parent.pt")
flush()
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
assert process.exitcode == 0, process.exitcode
acl_save(torch.ones(2, device="npu"), sys.argv[1] + "/parent.pt")
"""


def test_a_forked_child_saves_from_the_host_and_ends(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKED, str(tmp_path)], check=True, timeout=120)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["child_0.pt", "child_1.pt", "parent_0.pt", "parent_1.pt"]
    assert loaded(tmp_path / "parent_1.pt").tolist() == [1.0, 1.0]
