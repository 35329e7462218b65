# SPDX-License-Identifier: Apache-2.0
"""Compiled regions beyond the matrix of test_modes.py: dynamic shapes, graph breaks, compiled parts, late starts, contexts."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from models import Attention, Small, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

LEVELS = ["L0", "L1", "mix"]


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def counts() -> tuple[int, int, int]:
    """Graphs, recompilations and graph breaks since the test began, or since the last call."""
    counters = torch._dynamo.utils.counters
    found = (counters["stats"]["unique_graphs"], sum(counters["recompiles"].values()), sum(counters["graph_break"].values()))
    counters.clear()
    return found


# Not npugraphs: torch_npu 2.13 replays its graph of another shape, with and without a dumper.
DYNAMIC_BACKENDS = ["aot_eager", *(["npugraph_ex"] if find_spec("torch_npu") else [])]


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x).relu())


@pytest.mark.parametrize(("dynamic", "level"), [(None, "L0"), (None, "mix"), (True, "L1")])
@pytest.mark.parametrize("backend", DYNAMIC_BACKENDS)
def test_dynamic_shapes(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, backend: str, level: str, dynamic: bool | None
) -> None:
    torch._dynamo.reset()
    model = nn.Sequential(Mlp(), nn.Softmax(dim=1)).to(device)
    bare = copy.deepcopy(model)
    batches = [torch.randn(2, size, 8).to(device) for size in (3, 4, 6, 7)]
    with torch.no_grad():
        run_bare = torch.compile(copy.deepcopy(model), backend=backend, fullgraph=True, dynamic=dynamic)
        outputs = [run_bare(batch).clone() for batch in batches]
        wanted_counts = counts()
        torch._dynamo.reset()
        with AclGraphDumper(make_config(level=level)) as dumper:
            dumper.start(model)
            run = torch.compile(model, backend=backend, fullgraph=True, dynamic=dynamic)
            for batch, output in zip(batches, outputs, strict=True):
                assert torch.equal(run(batch), output)
                dumper.step()
            assert counts() == wanted_counts
        for step, batch in enumerate(batches):
            assert_dump(read_dump(step), expected(bare, level, lambda m, batch=batch: m(batch)), device)


class Breaks(nn.Module):
    """Has a graph break of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x) + 1
        torch._dynamo.graph_break()
        return self.second(x * 2)


@pytest.mark.parametrize("level", LEVELS)
def test_a_models_own_graph_break(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str) -> None:
    model = Breaks().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 8).to(device)
    with AclGraphDumper(make_config(level=level)) as dumper, torch.no_grad(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        dumper.start(model)
        run = torch.compile(model, backend="aot_eager")
        for _ in range(2):
            assert torch.equal(run(x), bare(x))
            dumper.step()
        for step in range(2):
            assert_dump(read_dump(step), expected(bare, level, lambda m: m(x)), device)
    messages = [str(one.message) for one in told if "what lies between graph breaks runs uncompiled" in str(one.message)]
    assert len(messages) == (0 if level == "L0" else 1)


PARTS = {
    "in place, before": (lambda part: part.compile(backend="aot_eager", fullgraph=True) or part, True),
    "in place, after": (lambda part: part.compile(backend="aot_eager", fullgraph=True) or part, False),
    "around, before": (lambda part: torch.compile(part, backend="aot_eager", fullgraph=True), True),
    "around, after": (lambda part: torch.compile(part, backend="aot_eager", fullgraph=True), False),
}


@pytest.mark.parametrize(
    ("how", "level"), [(how, level) for how in PARTS for level in LEVELS if level == "mix" or how == "around, after"]
)
def test_blocks_compiled_one_by_one(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str, how: str
) -> None:
    """Before and after start(); no block is run uncompiled, and none is compiled twice."""
    compile_part, before = PARTS[how]
    model = nn.Sequential(Mlp(), nn.ReLU(), Mlp()).to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 3, 8).to(device)

    def compile_parts() -> None:
        for index in (0, 2):
            model[index] = compile_part(model[index])

    with AclGraphDumper(make_config(level=level)) as dumper, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        if before:
            compile_parts()
        dumper.start(model)
        dumper.start(model)
        if not before:
            compile_parts()
        for step in range(3):
            assert torch.equal(model(x), bare(x))
            dumper.step()
            assert counts() == ((2, 0, 0) if step == 0 else (0, 0, 0))
            wanted = expected(bare, level, lambda m: m(x))
            assert_dump(read_dump(step), wanted, device)
    assert torch.equal(model(x), bare(x))


def test_a_compiled_part_inside_a_compiled_model(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = nn.Sequential(Small(), nn.ReLU()).to(device)
    bare = copy.deepcopy(model)
    model[0] = torch.compile(model[0], backend="aot_eager")  # type: ignore[assignment]
    x = torch.randn(2, 3, 8).to(device)
    with AclGraphDumper(make_config(level="mix")) as dumper, torch.no_grad():
        dumper.start(model)
        run = torch.compile(model, backend="aot_eager", fullgraph=True)
        assert torch.equal(run(x), bare(x))
        dumper.step()
        assert_dump(read_dump(0), expected(bare, "mix", lambda m: m(x)), device)


def test_a_compiled_function_runs_uncompiled_while_apis_are_collected(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    function = torch.compile(lambda value: value.sin().cos(), backend="aot_eager", fullgraph=True)

    class Calls(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return function(x + 1) * 2

    model = Calls()
    x = torch.ones(2, device=device)
    wanted = model(x)
    with AclGraphDumper(make_config(level="L1")) as dumper:
        dumper.start(model)
        with pytest.warns(UserWarning, match=r"<lambda> \(.*test_compiled_regions.py:\d+\) runs uncompiled"):
            assert torch.equal(model(x), wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            assert torch.equal(model(x), wanted)  # told once
        dumper.step()
    assert [name.split(".")[1] for name in read_dump(0)["data"]] == ["add", "sin", "cos", "mul"] * 2
    assert torch.equal(model(x), wanted)


@pytest.mark.parametrize("level", LEVELS)
def test_start_after_the_first_run(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str) -> None:
    model = mlp().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 8).to(device)
    run = torch.compile(model, backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        wanted = run(x)
        with AclGraphDumper(make_config(level=level)) as dumper:
            dumper.start(model)
            assert torch.equal(run(x), wanted)
            dumper.step()
        assert_dump(read_dump(0), expected(bare, level, lambda m: m(x)), device)
        counts()
        assert torch.equal(run(x), wanted)
        assert counts() == (0, 0, 0)  # what was compiled before start() serves again


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_two_dumpers_and_other_models(make_config: MakeConfig, tmp_path: Path, device: torch.device, level: str) -> None:
    """Each sees its own model only; a model without a dumper is compiled as if there were none; close() leaves torch as it was."""
    from torch._dynamo.output_graph import OutputGraph

    original = OutputGraph.call_user_compiler
    graphs: list[str] = []

    def backend(graph_module: torch.fx.GraphModule, inputs: Any) -> Any:
        graphs.append(str([node.target for node in graph_module.graph.nodes]))
        return graph_module.forward

    models = [mlp().to(device) for _ in range(3)]
    x = torch.randn(2, 8).to(device)
    dumpers = [AclGraphDumper(make_config(level=level, dump_path=str(tmp_path / str(index)))) for index in range(2)]
    for dumper, model in zip(dumpers, models, strict=False):
        dumper.start(model)
    for model in models:
        torch.compile(model, backend=backend, fullgraph=True)(x)
    for dumper in dumpers:  # in the order in which they were started
        dumper.step()
        dumper.close()
    assert "msprobe" in graphs[0] and "msprobe" in graphs[1] and "msprobe" not in graphs[2] and "recorded" not in graphs[2]
    assert OutputGraph.call_user_compiler is original
    dumps = [next((tmp_path / str(index)).rglob("dump.json")).read_text() for index in range(2)]
    assert all(dump.count("Module.") == 4 and "Linear.forward.1" not in dump for dump in dumps)


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Attention(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.utils.checkpoint.checkpoint(lambda value: self.inner(value)[0], x, use_reentrant=False)
        return y * 2


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
def test_checkpointed_blocks_are_recorded_once(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str, backend: str | None
) -> None:
    model = Checkpointed().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 3, 8).to(device)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        run = model if backend is None else torch.compile(model, backend=backend, fullgraph=True)
        run(x).pow(2).sum().backward()
        dumper.step()
    with_gradients = expected(bare, level, lambda m: m(x))
    bare(x).pow(2).sum().backward()
    assert_dump(read_dump(0), with_gradients, device)
    for ours, theirs in zip(model.parameters(), bare.parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_a_forward_inside_a_backward_is_not_recorded(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, backend: str | None
) -> None:
    model = mlp().to(device)
    x = torch.randn(2, 8).to(device)
    ran = []
    with AclGraphDumper(make_config(level="mix")) as dumper:
        dumper.start(model)
        run = model if backend is None else torch.compile(model, backend=backend, fullgraph=True)
        y = torch.ones(2, device=device, requires_grad=True)
        product = y * 2
        product.register_hook(lambda _: ran.append(run(x)))
        dumper.step(dump=False)
        product.sum().backward()
        with pytest.warns(UserWarning, match="nothing was recorded"):
            dumper.step()
        assert torch.equal(run(x), ran[0])
        dumper.step()
    assert read_dump(0)["data"] == {}
    assert len(read_dump(1)["data"]) > 4


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("context", ["inference", "autocast"])
def test_contexts(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, context: str, level: str, backend: str | None
) -> None:
    model = mlp().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 8).to(device)

    def inside() -> Any:
        return torch.inference_mode() if context == "inference" else torch.autocast(device.type, torch.bfloat16)

    def as_run(m: nn.Module) -> Any:
        return m if backend is None else torch.compile(m, backend=backend, fullgraph=True)

    with inside():
        wanted_output = as_run(copy.deepcopy(bare))(x)
    with AclGraphDumper(make_config(level=level)) as dumper, inside():
        dumper.start(model)
        assert torch.equal(as_run(model)(x), wanted_output)
        dumper.step()
    # In inference mode operators are not taken apart on their way to a mode; msprobe names them as elsewhere.
    with torch.no_grad() if context == "inference" else inside():
        assert_dump(read_dump(0), expected(bare, level, lambda m: m(x)), device)
