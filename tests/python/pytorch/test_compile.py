# SPDX-License-Identifier: Apache-2.0
"""Compilers of the CPU: one graph, no recompilation, the records of the eager model; saved tensors; what Inductor rounds; TorchScript;
branches."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from models import Transformer, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper, acl_save, compiled, flush

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_records_equal_eager_ones(make_config: MakeConfig, read_dump: ReadDump, backend: str) -> None:
    model = Transformer(blocks=1)
    bare = copy.deepcopy(model)
    batches = [torch.randint(0, 30, (2, 5)) for _ in range(3)]
    counters = torch._dynamo.utils.counters
    counters.clear()
    with AclGraphDumper(make_config()) as dumper, torch.no_grad():
        dumper.start(model)
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for batch in batches:
            compiled(batch)
            dumper.step()
    assert counters["stats"]["unique_graphs"] == 1
    assert not counters["graph_break"]
    for step, batch in enumerate(batches):
        with torch.no_grad():
            wanted = expected(bare, "L0", lambda m, batch=batch: m(batch))
        # Fused kernels may round differently from the eager ones that the numbers here come from.
        dump = read_dump(step)
        assert list(dump["data"]) == list(wanted)
        if backend != "inductor":
            assert_dump(dump, wanted, torch.device("cpu"))
        else:
            last = dump["data"]["Module.head.Linear.forward.0"]["output"][0]
            assert last["Norm"] == pytest.approx(wanted["Module.head.Linear.forward.0"]["output"][0]["Norm"], rel=1e-5)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("train", [False, True])
def test_acl_save_in_a_compiled_region(tmp_path: Path, backend: str, train: bool) -> None:
    linear = nn.Linear(8, 4)

    def run(x: torch.Tensor) -> torch.Tensor:
        y = linear(x)
        acl_save(y, str(tmp_path / "before.pt"))
        y = y.relu() + 1
        acl_save(y, str(tmp_path / "after.pt"))
        return y

    compiled = torch.compile(run, backend=backend, fullgraph=True)
    batches = [torch.randn(2, 8) for _ in range(3)]
    with torch.set_grad_enabled(train):
        for x in batches:
            output = compiled(x)
            if train:
                output.sum().backward()
    flush()
    assert len(list(tmp_path.iterdir())) == 2 * len(batches)
    for index, x in enumerate(batches):
        y = linear(x).detach()
        torch.testing.assert_close(torch.load(tmp_path / f"before_{index}.pt"), y)
        torch.testing.assert_close(torch.load(tmp_path / f"after_{index}.pt"), y.relu() + 1)


def test_a_backend_that_sees_for_itself(make_config: MakeConfig, read_dump: ReadDump, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a torch has no place to look at graphs, a region says that it is not seen, and dumper.backend() sees it."""
    monkeypatch.setattr(compiled.Sight, "open", lambda self: None)
    model = mlp()
    bare = copy.deepcopy(model)
    x = torch.randn(2, 8)
    with AclGraphDumper(make_config(level="mix")) as dumper, torch.no_grad():
        dumper.start(model)
        with pytest.warns(UserWarning, match=r"not recorded: compile it with backend=dumper.backend\("):
            torch.compile(model, backend="aot_eager", fullgraph=True)(x)
        dumper.step(dump=False)
        torch._dynamo.reset()
        for backend in ("aot_eager", "eager"):
            torch.compile(model, backend=dumper.backend(backend), fullgraph=True)(x)
            dumper.step()
        for step in range(2):
            assert_dump(read_dump(step), expected(bare, "mix", lambda m: m(x)), torch.device("cpu"))


class Chain(nn.Module):
    """Operations that a compiler fuses, in several modules."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.first, self.second = nn.Linear(16, 16), nn.SiLU(), nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(self.linear(x)) * 1.3 + 0.7).sin()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_chains(make_config: MakeConfig, dtype: torch.dtype) -> None:
    """Inductor keeps them in float32, and goes on doing so where a tensor in the middle is recorded."""
    model = Chain().to(dtype)
    bare = copy.deepcopy(model)
    x = torch.randn(64, 16).to(dtype)
    compiled._told_of_rounding.clear()
    with AclGraphDumper(make_config(level="mix")) as dumper, torch.no_grad():
        wanted = torch.compile(bare, fullgraph=True)(x)
        dumper.start(model)
        with pytest.warns(UserWarning, match="Inductor keeps half-precision results in float32"):
            found = torch.compile(model, fullgraph=True)(x)
        assert torch.equal(found, wanted)
        assert not torch.equal(wanted, bare(x))  # else there is nothing to see here


class CompiledMethod(nn.Module):
    """As serving engines do: the callable is made when the module is."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.compiled_callable = torch.compile(self.forward)


def compiled_in_place() -> nn.Module:
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].compile()
    return model


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: torch.compile(nn.Linear(2, 2).half()), True),
        (lambda: nn.Sequential(torch.compile(nn.Linear(2, 2))).bfloat16(), True),
        (lambda: compiled_in_place().half(), True),
        (lambda: CompiledMethod().half(), True),
        (lambda: torch.compile(nn.Linear(2, 2)), False),
        (lambda: torch.compile(nn.Linear(2, 2).half(), backend="aot_eager"), False),
        (lambda: nn.Linear(2, 2).half(), False),
    ],
)
@pytest.mark.parametrize("level", ["L0", "mix"])
def test_the_warning_of_rounding_comes_at_start(
    make_config: MakeConfig, make: Callable[[], nn.Module], told: bool, level: str
) -> None:
    compiled._told_of_rounding.clear()
    model = make()
    with AclGraphDumper(make_config(level=level)) as dumper, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dumper.start(model)
        dumper.start(model)
    assert ["Inductor keeps half-precision" in str(warning.message) for warning in caught] == [True] * told
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_torchscript_takes_the_model_without_hooks(make_config: MakeConfig, level: str) -> None:
    model = mlp()
    x = torch.randn(2, 8)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        children = [id(child) for child in model.modules()]
        for program in (torch.jit.script(model), torch.jit.trace(model, (x,))):
            assert "msprobe" not in str(program.inlined_graph)
            assert torch.equal(program(x), model(x))
            assert [p.data_ptr() for p in program.parameters()] == [p.data_ptr() for p in model.parameters()]
        assert [id(child) for child in model.modules()] == children


class Chooses(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = mlp(), mlp()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(x.sum() > 0, self.first, self.second, (x,))
        return result


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("train", [False, True])
def test_branches_of_torch_cond_are_not_recorded_and_said_to_be(
    make_config: MakeConfig, read_dump: ReadDump, backend: str, train: bool
) -> None:
    compiled._told_of_branches.clear()
    model = Chooses()
    bare = copy.deepcopy(model)
    x = torch.randn(2, 8).abs()
    with AclGraphDumper(make_config()) as dumper, torch.set_grad_enabled(train):
        dumper.start(model)
        run = torch.compile(model, backend=backend, fullgraph=True)
        with pytest.warns(UserWarning, match="inside torch.cond is not recorded"):
            output = run(x)
        assert torch.equal(output, bare.first(x))
        assert torch.equal(run(-x), bare.second(-x))
        dumper.step()
    assert len(read_dump(0)["data"]) == 2
