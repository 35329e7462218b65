# SPDX-License-Identifier: Apache-2.0
"""Models as serving engines load them: an inner module that keeps a compiled callable of its own forward, made before start(), and models
inside a wrapper that is no module."""

from __future__ import annotations

import copy
import json
import unittest.mock
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from models import Small
from torch import nn

from msprobe.pytorch import AclGraphDumper, compiled_parts

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

LEVELS = ["L0", "L1", "mix"]


@pytest.fixture(autouse=True)
def fresh_compiler() -> Any:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    with torch.no_grad():
        yield


class Inner(nn.Module):
    """Compiles its forward when it is made; whoever calls it gets that."""

    def __init__(self, backend: str | None = "aot_eager") -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Small() for _ in range(2))
        self.callable = None
        if backend is not None:
            self.callable = torch.compile(self.forward, backend=backend, fullgraph=True, dynamic=False)

    def __call__(self, *args: Any) -> Any:
        return super().__call__(*args) if self.callable is None else self.callable(*args)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


class Served(nn.Module):
    def __init__(self, backend: str | None = "aot_eager") -> None:
        super().__init__()
        self.inner = Inner(backend)
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.inner(x).relu())


def served_and_bare(device: torch.device) -> tuple[Served, Served]:
    """With the compiled callable, and the same model without."""
    model, bare = Served().to(device), Served(None).to(device)
    bare.load_state_dict(model.state_dict())
    return model, bare


def compilations() -> int:
    """Graphs since the last call."""
    found = int(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    assert not torch._dynamo.utils.counters["graph_break"]
    torch._dynamo.utils.counters.clear()
    return found


@pytest.mark.parametrize("runs_before", [False, True], ids=["first-run-later", "runs-before"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_callable_made_before_start(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str, runs_before: bool
) -> None:
    """The inner module's own entry is there too, and APIs are seen without running the region uncompiled."""
    model, bare = served_and_bare(device)
    made = model.inner.callable
    x = torch.randn(2, 3, 8).to(device)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        if runs_before:
            model(x)
            assert compilations() == 1
        with AclGraphDumper(make_config(level=level)) as dumper:
            dumper.start(model)
            for step in range(3):
                assert torch.equal(model(x + step), bare(x + step))
                dumper.step()
                assert compilations() == (1 if step == 0 else 0)
            for step in range(3):
                wanted = expected(bare, level, lambda m, y=x + step: m(y))
                assert any(name.startswith("Module.inner.Inner") for name in wanted) == (level != "L1")
                assert_dump(read_dump(step), wanted, device)
            assert all("Inner" not in name for name in read_dump(2)["Run"]["Account"]["silent"])
    assert model.inner.callable is made
    assert torch.equal(model(x), bare(x))
    assert compilations() == (0 if runs_before else 1), "what was compiled before start() serves again"


@pytest.mark.parametrize(("level", "in_place"), [("L0", False), ("mix", False), ("mix", True)])
def test_two_dumpers_on_one_such_model(
    make_config: MakeConfig, tmp_path: Path, device: torch.device, level: str, in_place: bool
) -> None:
    """One is closed in the middle: the other goes on, and sees the APIs of the region, which runs compiled from then on."""
    model, bare = served_and_bare(device)
    if in_place:
        model.inner.callable = None
        model.inner.compile(backend="aot_eager", fullgraph=True)
    made = model.inner.callable
    x = torch.randn(2, 3, 8).to(device)
    dumpers = [AclGraphDumper(make_config(level=level, dump_path=str(tmp_path / str(index)))) for index in range(2)]
    for dumper in dumpers:
        dumper.start(model)
    model(x)
    for dumper in dumpers:
        dumper.step()
    dumpers[0].close()
    compilations()
    for _ in range(2):
        assert torch.equal(model(x), bare(x))
        dumpers[1].step()
    assert compilations() == 1
    dumpers[1].close()
    assert torch.equal(model(x), bare(x))
    assert model.inner.callable is made
    wanted = expected(bare, level, lambda m: m(x))
    for folder in ("0/step0", "1/step1", "1/step2"):
        (path,) = (tmp_path / folder).glob("*/dump.json")
        assert_dump(json.loads(path.read_text()), wanted, device)


def test_an_inner_module_that_the_list_leaves_out(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model, bare = served_and_bare(device)
    x = torch.randn(2, 3, 8).to(device)
    with AclGraphDumper(make_config(statistics={"list": ["linear"]})) as dumper:
        dumper.start(model)
        assert torch.equal(model(x), bare(x))
        dumper.step()
    wanted = [name for name in expected(bare, "L0", lambda m: m(x)) if "Linear" in name]
    assert list(read_dump(0)["data"]) == wanted


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_the_whole_compiled_around_it(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str) -> None:
    model, bare = served_and_bare(device)
    x = torch.randn(2, 3, 8).to(device)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        run = torch.compile(model, backend="aot_eager", fullgraph=True)
        assert torch.equal(run(x), bare(x))
        dumper.step()
    assert_dump(read_dump(0), expected(bare, level, lambda m: m(x)), device)


def test_a_copy_keeps_the_callable_of_the_bare_model(make_config: MakeConfig, device: torch.device) -> None:
    model, _ = served_and_bare(device)
    made = model.inner.callable
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        assert model.inner.callable is not made
        assert copy.deepcopy(model.inner).callable is made
        assert copy.copy(model.inner).callable is made


def test_a_torch_that_does_not_tell_what_is_compiled(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_parts, "_WHAT_IS_COMPILED", "none of its variables")
    model, bare = served_and_bare(device)
    x = torch.randn(2, 3, 8).to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        with pytest.warns(UserWarning, match=r"Inner is called through a compiled callable made before start\(\)") as told:
            first = model(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            assert torch.equal(model(x), first) and torch.equal(first, bare(x))
        dumper.step()
    assert len(told) == 1
    silent = read_dump(0)["Run"]["Account"]["silent"]["Module.inner.Inner"]
    assert "compiled callable made before start()" in silent
    assert "Module.inner.blocks.0.Small.forward.1" in read_dump(0)["data"]


def compiled_forwards(device: torch.device) -> tuple[nn.Module, nn.Module]:
    """A model, a part of which has `part.forward = torch.compile(part.forward)`, and the same without."""
    model = nn.Sequential(Small(), Small(), nn.Linear(8, 5)).to(device)
    bare = copy.deepcopy(model)
    model[1].forward = torch.compile(model[1].forward, backend="aot_eager", fullgraph=True)
    return model, bare


@pytest.mark.parametrize("root", [False, True], ids=["part", "root"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_forward_that_was_replaced_by_its_compiled_one(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str, root: bool
) -> None:
    model, bare = compiled_forwards(device)
    if root:
        model, bare = model[1], bare[1]
    made = model.forward if root else model[1].forward
    x = torch.randn(2, 3, 8).to(device)
    with warnings.catch_warnings(), AclGraphDumper(make_config(level=level)) as dumper:
        warnings.simplefilter("error", UserWarning)
        dumper.start(model)
        for step in range(2):
            assert torch.equal(model(x + step), bare(x + step))
            dumper.step()
            dumper.start(model)
            assert compilations() == (1 if step == 0 else 0)
        assert (copy.deepcopy(model) if root else copy.deepcopy(model)[1]).forward is made
    for step in range(2):
        assert_dump(read_dump(step), expected(bare, level, lambda m, y=x + step: m(y)), device)
    assert (model if root else model[1]).__dict__["forward"] is made
    assert not any(key.startswith("_msprobe") for key in (model if root else model[1]).__dict__)


@pytest.mark.parametrize("first_closed", [0, 1])
def test_two_dumpers_on_a_replaced_forward(
    make_config: MakeConfig, tmp_path: Path, device: torch.device, first_closed: int
) -> None:
    model, bare = compiled_forwards(device)
    made = model[1].forward
    x = torch.randn(2, 3, 8).to(device)
    dumpers = [AclGraphDumper(make_config(level="mix", dump_path=str(tmp_path / str(index)))) for index in range(2)]
    for dumper in dumpers:
        dumper.start(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # under two modes nothing is compiled
        assert torch.equal(model(x), bare(x))
    for dumper in dumpers:
        dumper.step()
    dumpers[first_closed].close()
    assert torch.equal(model(x), bare(x))
    dumpers[1 - first_closed].step()
    dumpers[1 - first_closed].close()
    assert model[1].__dict__["forward"] is made
    wanted = expected(bare, "mix", lambda m: m(x))
    for folder in ("0/step0", "1/step0", f"{1 - first_closed}/step1"):
        (path,) = (tmp_path / folder).glob("*/dump.json")
        assert_dump(json.loads(path.read_text()), wanted, device)


def test_a_copy_of_a_module_with_an_attribute_that_answers_to_every_name(make_config: MakeConfig, device: torch.device) -> None:
    model = Small().to(device)
    model.settings = unittest.mock.MagicMock()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        assert copy.copy(model).settings is model.settings


class Wrapper:
    """As an engine's graph wrapper: no module, but with the attributes of one."""

    def __init__(self, runnable: nn.Module) -> None:
        self.runnable = runnable

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runnable, name)

    def __call__(self, *args: Any) -> Any:
        return self.runnable(*args)


def test_a_model_inside_wrappers(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = Small().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 3, 8).to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(Wrapper(Wrapper(model)))  # type: ignore[arg-type]
        dumper.start(model)  # the same one
        dumper.step(dump=False)
        Wrapper(model)(x)
        dumper.step()
    assert_dump(read_dump(0), expected(bare, "L0", lambda m: m(x)), device)


@pytest.mark.parametrize(
    "given",
    [None, 3, Wrapper, Wrapper(None), type("Odd", (), {"named_modules": list})()],
    ids=["None", "int", "class", "wrapper of nothing", "odd"],
)  # type: ignore[arg-type]
def test_what_is_no_model_is_refused(make_config: MakeConfig, given: Any) -> None:
    with AclGraphDumper(make_config()) as dumper, pytest.raises(TypeError, match=r"model must be a torch\.nn\.Module, got"):
        dumper.start(given)
