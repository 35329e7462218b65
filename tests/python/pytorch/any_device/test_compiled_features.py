# SPDX-License-Identifier: Apache-2.0
"""What else a dumper can do, in compiled regions with APIs: the tensor task, lists and scopes, custom APIs, copies, threads."""

from __future__ import annotations

import copy
import gc
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import Copies, assert_dump, assert_files, expected, watch
from models import Small, mlp
from torch import nn

from conftest import HAS_NPU
from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

EXACT = torch.device("cpu")  # whose tolerances hold: the numbers are taken from the file's bytes on the host


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    torch._dynamo.reset()


def compile_whole(model: nn.Module) -> Any:
    return torch.compile(model, backend="aot_eager", fullgraph=True)


@pytest.mark.parametrize("train", [False, True])
def test_the_tensor_task(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, train: bool) -> None:
    model = Small().to(device)
    bare = copy.deepcopy(model)
    batches = [torch.randn(2, 3, 8).to(device) for _ in range(2)]
    with AclGraphDumper(make_config(level="mix", task="tensor")) as dumper, torch.set_grad_enabled(train):
        dumper.start(model)
        run = compile_whole(model)
        for batch in batches:
            output = run(batch)
            if train:
                output.sum().backward()
            dumper.step()
    for step, batch in enumerate(batches):
        copies = Copies()
        with torch.set_grad_enabled(train):
            watch(copies, bare, "mix", lambda m, batch=batch: m(batch))
        assert_dump(read_dump(step), copies.with_tensors(), EXACT)
        assert_files(read_dump(step), copies.tensors)


def test_lists_and_scopes(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    """The same entries as in eager mode."""
    model = nn.Sequential(Small(), mlp(), nn.ReLU()).to(device)
    x = torch.randn(2, 3, 8).to(device)
    whole = [*expected(model, "mix", lambda m: m(x))]
    for settings in ({"statistics": {"list": ["linear", "softmax", "mul"]}}, {"scope": ["0.attention", "1.1"]}):
        torch._dynamo.reset()
        names = []
        with AclGraphDumper(make_config(level="mix", **settings)) as dumper, torch.no_grad():
            dumper.start(model)
            for run in (model, compile_whole(model)):
                run(x)
                dumper.step()
                names.append(list(read_dump(dumper.step_id - 1)["data"]))
        assert names[0] == names[1]
        assert 3 < len(names[0]) < len(whole) - 3


@pytest.fixture
def my_library() -> Iterator[Any]:
    library: Any = types.ModuleType("my_library")
    library.double = lambda x: x * 2
    sys.modules["my_library"] = library
    yield library
    del sys.modules["my_library"]


def test_custom_apis_stand_among_the_operators(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, my_library: Any
) -> None:
    class Doubles(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = my_library.double(x + 1).relu()
            return result

    model = Doubles()
    x = torch.ones(2, device=device)
    with AclGraphDumper(make_config(level="mix", statistics={"custom_api": ["my_library.double"]})) as dumper:
        dumper.start(model)
        for run in (model, compile_whole(model)):
            assert torch.equal(run(x), torch.full_like(x, 4.0))
            dumper.step()
    eager, compiled = (list(read_dump(step)["data"]) for step in range(2))
    assert eager == compiled
    assert any("my_library.double" in name for name in eager) and "Aten.mul.0.forward" in eager


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_a_region_commits_once(make_config: MakeConfig, device: torch.device, level: str) -> None:
    """On an NPU each commit is a callback at each replay. On the CPU a part leaves it to the forward around it."""
    commits: list[int] = []

    def backend(graph_module: torch.fx.GraphModule, _: Any) -> Any:
        commits.append(sum("commit" in str(node.target) for node in graph_module.graph.nodes))
        return graph_module.forward

    for parts in (False, True):
        model = nn.Sequential(Small(), mlp()).to(device)
        with AclGraphDumper(make_config(level=level)) as dumper, torch.no_grad():
            dumper.start(model)
            for part in model if parts else [model]:
                part.compile(backend=backend, fullgraph=True)
            model(torch.randn(2, 3, 8).to(device))
    assert commits == [1, *[int(device.type != "cpu")] * 2]


class Twice(nn.Module):
    """Calls a block twice in a forward: one graph of it, or one for each call."""

    def __init__(self) -> None:
        super().__init__()
        self.between, self.block, self.last = nn.Linear(8, 8), mlp(), nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.last(self.block(self.between(self.block(self.between(x)))))
        return result


@pytest.mark.parametrize("before", [True, False], ids=["compiled-before", "compiled-after"])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("backend", ["npugraphs", "npugraph_ex"] if HAS_NPU else ["aot_eager"])
def test_a_compiled_block_that_is_called_twice(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, backend: str, level: str, before: bool
) -> None:
    """Every call is there and in its place, whichever graph replays it."""
    model = Twice().to(device)
    bare = copy.deepcopy(model)
    batches = [torch.randn(2, 8).to(device) for _ in range(4)]
    with AclGraphDumper(make_config(level=level)) as dumper, torch.no_grad():
        if before:
            model.block.compile(backend=backend, fullgraph=True)
        dumper.start(model)
        if not before:
            model.block.compile(backend=backend, fullgraph=True)
        for batch in batches:
            model(batch)
            dumper.step()
        for step, batch in enumerate(batches):
            assert_dump(read_dump(step), expected(bare, level, lambda m, batch=batch: m(batch)), device)


def test_copies_of_a_model_with_compiled_parts(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    """A copy has weights of its own and records nothing; the original goes on."""
    model = nn.Sequential(Small(), Small(), nn.ReLU()).to(device)
    model[0].compile(backend="aot_eager")
    model[1] = compile_whole(model[1])
    x = torch.randn(2, 3, 8).to(device)
    with torch.no_grad(), AclGraphDumper(make_config(level="mix")) as dumper:
        wanted = copy.deepcopy(model)(x)
        dumper.start(model)
        twin = copy.deepcopy(model)
        assert torch.equal(twin(x), wanted)
        for parameter in twin.parameters():
            parameter.zero_()
        assert torch.equal(twin(x), x.relu())
        with pytest.warns(UserWarning, match="nothing was recorded"):
            dumper.step()
        assert torch.equal(model(x), wanted)
        dumper.step()
    assert next(iter(read_dump(1)["data"])) == "Module.__root__.Sequential.forward.0"


def test_threads_compile_and_run_at_the_same_time(make_config: MakeConfig, tmp_path: Path, device: torch.device) -> None:
    """Each with a model and a dumper of its own, begun and closed meanwhile; torch is as before in the end."""
    from torch._dynamo.output_graph import OutputGraph

    original = OutputGraph.call_user_compiler
    barrier = threading.Barrier(3)
    failures: list[BaseException] = []
    bare = [copy.deepcopy(mlp()).to(device) for _ in range(3)]
    configs = [
        make_config(level="mix", dump_path=str(tmp_path / str(index))).rename(tmp_path / f"{index}.json") for index in range(3)
    ]
    x = torch.randn(2, 8).to(device)

    def work(index: int) -> None:
        try:
            with torch.no_grad():
                model = copy.deepcopy(bare[index])
                barrier.wait()
                with AclGraphDumper(configs[index]) as dumper:
                    dumper.start(model)
                    run = compile_whole(model)
                    for _ in range(3):
                        assert torch.equal(run(x), bare[index](x))
                    dumper.step()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert OutputGraph.call_user_compiler is original
    with torch.no_grad():
        names = [*expected(bare[0], "mix", lambda m: [m(x) for _ in range(3)])]
    for index in range(3):
        (dump,) = (tmp_path / str(index) / "step0").glob("*/dump.json")
        assert dump.read_text().count('"Order"') == len(names)


def test_a_dumper_dropped_without_close_does_not_live_on(make_config: MakeConfig) -> None:
    dumper = AclGraphDumper(make_config(level="mix"))
    dumper.start(mlp())
    dropped = weakref.ref(dumper)
    del dumper
    gc.collect()
    assert dropped() is None
    torch.compile(mlp(), backend="eager")(torch.ones(1, 8))
