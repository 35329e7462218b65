# SPDX-License-Identifier: Apache-2.0
"""custom_api: Python callables of every kind, recorded where they are looked up, and given back untouched."""

from __future__ import annotations

import copy
import importlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from expect import record_of, records_of, saved_files
from torch import nn

from msprobe.pytorch import AclGraphDumper
from msprobe.pytorch.config import ConfigError

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

SOURCE = '''
import enum, functools
import torch

def plain(x, *rest, scale=None, **more):
    """Doubles."""
    return x * 2 if scale is None else x * scale

def nothing(): return torch.full((2,), 4.0)
def no_tensors(n): return n + 1
def raises(x): raise ValueError("broken")
def nested(x): return {"a": [x + 1, (x + 2, "text")], "b": None}

class Ops:
    constant = 3
    @staticmethod
    def static(x): return x + 1
    @classmethod
    def klass(cls, x): return x + 2
    def method(self, x): return x + 3
    def __call__(self, x): return x + 4
    @property
    def prop(self): return 1
    class Inner:
        def deep(self, x): return x + 5

class Derived(Ops): pass

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, gradient): return gradient * 2

class FrozenMeta(type):
    def __setattr__(cls, name, value): raise AttributeError("it is frozen")

class Frozen(metaclass=FrozenMeta):
    def method(self, x): return x

instance = Ops()

@functools.lru_cache
def cached(n): return torch.full((2,), float(n))
'''


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The package `mine` with the module `mine.ops` (SOURCE), and modules that cannot be imported."""
    package = tmp_path / "path" / "mine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "ops.py").write_text(SOURCE)
    for name, text in {
        "needs": "import no_such_module",
        "divides": "1 / 0",
        "ends": "raise SystemExit(3)",
        "syntax": "def f(:",
    }.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(package.parent))
    yield importlib.import_module("mine.ops")
    for name in [name for name in sys.modules if name == "mine" or name.startswith("mine.")]:
        del sys.modules[name]


def custom(*paths: str, task: str = "statistics", **settings: Any) -> dict[str, Any]:
    return {"task": task, task: {"custom_api": list(paths)}, **settings}


CALLS: dict[str, tuple[str, Callable[[Any, torch.Tensor], Any], float]] = {
    "function": ("mine.ops.plain", lambda ops, x: ops.plain(x), 2.0),
    "staticmethod": ("mine.ops.Ops.static", lambda ops, x: ops.Ops.static(x), 2.0),
    "staticmethod_of_object": ("mine.ops.Ops.static", lambda ops, x: ops.Ops().static(x), 2.0),
    "classmethod": ("mine.ops.Ops.klass", lambda ops, x: ops.Ops.klass(x), 3.0),
    "classmethod_of_derived": ("mine.ops.Ops.klass", lambda ops, x: ops.Derived.klass(x), 3.0),
    "method": ("mine.ops.Ops.method", lambda ops, x: ops.Ops().method(x), 4.0),
    "method_of_derived": ("mine.ops.Ops.method", lambda ops, x: ops.Derived().method(x), 4.0),
    "inherited": ("mine.ops.Derived.method", lambda ops, x: ops.Derived().method(x), 4.0),
    "call": ("mine.ops.Ops.__call__", lambda ops, x: ops.Ops()(x), 5.0),
    "object": ("mine.ops.instance", lambda ops, x: ops.instance(x), 5.0),
    "deep": ("mine.ops.Ops.Inner.deep", lambda ops, x: ops.Ops.Inner().deep(x), 6.0),
    "autograd_function": ("mine.ops.Double.apply", lambda ops, x: ops.Double.apply(x), 2.0),
    "builtin": ("torch.neg", lambda ops, x: torch.neg(x), -1.0),
    "functional": ("torch.nn.functional.softplus", lambda ops, x: F.softplus(x), math.log(1 + math.e)),
    "python_method_of_tensor": ("torch.Tensor.norm", lambda ops, x: x.norm(), math.sqrt(2)),
}


@pytest.mark.parametrize("task", ["statistics", "tensor"])
@pytest.mark.parametrize("kind", list(CALLS))
def test_every_kind_of_callable(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mine: ModuleType, kind: str, task: str
) -> None:
    path, call, value = CALLS[kind]
    x = torch.ones(2, device=device)
    owner, name = pair(path)
    before, own = vars(owner).get(name), name in vars(owner)
    wanted = call(mine, x)
    with AclGraphDumper(make_config(**custom(path, task=task))) as dumper:
        dumper.start(nn.Identity())
        outputs = [call(mine, x) for _ in range(2)]  # outside any module
        dumper.step()
    assert (vars(owner).get(name), name in vars(owner)) == (before, own)
    assert all(torch.equal(output, wanted) for output in outputs)
    dump = read_dump(0)
    assert list(dump["data"]) == [f"Custom.{path}.{i}.forward" for i in range(2)]
    for entry in dump["data"].values():
        assert [record["Max"] for record in entry["input_args"]] == [1.0]
        assert entry["output"][0]["Max"] == pytest.approx(value, rel=1e-6)
    if task == "tensor":
        place = (
            1 if kind.startswith(("classmethod", "method", "inherited", "call", "deep", "autograd")) else 0
        )  # after self or cls
        names = {f"Custom.{path}.{i}.forward.{end}" for i in range(2) for end in (f"input.{place}", "output.0")}
        assert set(saved_files(dump)) == names


def pair(path: str) -> tuple[Any, str]:
    """The object that holds the callable, and its name there."""
    module, *rest = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in rest[:-1]:
        owner = getattr(owner, part)
    return owner, rest[-1]


def test_structures_and_calls_without_tensors(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mine: ModuleType
) -> None:
    x = torch.ones(2, device=device)
    names = ("plain", "nothing", "no_tensors", "nested")
    with AclGraphDumper(make_config(**custom(*(f"mine.ops.{name}" for name in names)))) as dumper:
        dumper.start(nn.Identity())
        mine.plain(x, 3, [x, {"k": x}], scale=x, other=x)
        assert mine.no_tensors(3) == 4
        mine.nothing()
        mine.nested(x)
        dumper.step()
    data = read_dump(0)["data"]
    assert list(data) == [f"Custom.mine.ops.{name}.0.forward" for name in ("plain", "nothing", "nested")]
    assert len(data["Custom.mine.ops.plain.0.forward"]["input_args"][1]) == 2
    assert list(data["Custom.mine.ops.plain.0.forward"]["input_kwargs"]) == ["scale", "other"]
    assert data["Custom.mine.ops.nothing.0.forward"]["output"][0]["Max"] == 4.0
    assert [record["Max"] for _, record in records_of(read_dump(0))][-3:] == [1.0, 2.0, 3.0]


class UsesFunctions(nn.Module):
    """Looks functions up where custom_api wraps them."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.softmax(self.linear(x), dim=-1)
        return torch.matmul(y, F.gelu(y).transpose(0, 1))


PATHS = ("torch.nn.functional.softmax", "torch.matmul", "torch.nn.functional.gelu")


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_inside_a_model_at_every_level(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str) -> None:
    model = UsesFunctions().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(3, 4).to(device)
    with torch.no_grad():
        with AclGraphDumper(make_config(**custom(*PATHS, level=level))) as dumper:
            dumper.start(model)
            output = model(x)
            dumper.step()
        assert torch.equal(output, bare(x))
        y = F.softmax(bare.linear(x), dim=-1)
    data = read_dump(0)["data"]
    kinds = {name.split(".")[0] for name in data}
    assert kinds == {"Custom", *(["Module"] if level != "L1" else []), *(["Aten"] if level != "L0" else [])}
    found = [name for name in data if name.startswith("Custom")]
    assert found == [f"Custom.{path}.0.forward" for path in (PATHS[0], PATHS[2], PATHS[1])]  # in order of execution
    softmax = data["Custom.torch.nn.functional.softmax.0.forward"]
    assert softmax["output"][0]["Norm"] == pytest.approx(record_of(y)["Norm"], rel=1e-5)
    if level == "L0":  # inside the module's span
        span, root = softmax["Order"], data["Module.__root__.UsesFunctions.forward.0"]["Order"]
        assert root["first"] < span["first"] < span["last"] < root["last"]


@pytest.mark.parametrize("kind", list(CALLS))
def test_every_kind_in_a_compiled_region(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mine: ModuleType, kind: str
) -> None:
    torch._dynamo.reset()
    path, call, value = CALLS[kind]
    with AclGraphDumper(make_config(**custom(path))) as dumper:
        dumper.start(nn.Identity())
        torch.compile(lambda x: call(mine, x) + 1, backend="aot_eager", fullgraph=True)(torch.ones(2, device=device))
        dumper.step()
    entries = read_dump(0)["data"]
    unseen = kind in ("autograd_function", "python_method_of_tensor")  # Dynamo knows these by itself, and does not look them up
    assert list(entries) == ([] if unseen else [f"Custom.{path}.0.forward"])
    assert all(entry["output"][0]["Max"] == pytest.approx(value, rel=1e-6) for entry in entries.values())


@pytest.mark.parametrize(("task", "train"), [("statistics", True), ("tensor", False)])
def test_in_one_compiled_graph(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, train: bool, task: str
) -> None:
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()
    model = UsesFunctions().to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(3, 4).to(device)
    with AclGraphDumper(make_config(**custom(*PATHS, task=task))) as dumper, torch.set_grad_enabled(train):
        dumper.start(model)
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        for _ in range(2):
            output = compiled(x)
        dumper.step()
        assert counters["stats"]["unique_graphs"] == 1
    with torch.set_grad_enabled(train):
        assert torch.equal(output, bare(x))
        assert torch.equal(compiled(x), bare(x))  # traced anew, without records
    data = read_dump(0)["data"]
    found = [name for name in data if name.startswith("Custom")]
    assert found == [f"Custom.{path}.{i}.forward" for i in range(2) for path in (PATHS[0], PATHS[2], PATHS[1])]
    wanted = record_of(bare(x))["Norm"]
    assert data["Custom.torch.matmul.1.forward"]["output"][0]["Norm"] == pytest.approx(wanted, rel=1e-5)


def test_a_call_that_raises(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mine: ModuleType) -> None:
    x = torch.ones(2, device=device)
    with AclGraphDumper(make_config(**custom("mine.ops.raises", "mine.ops.plain"))) as dumper:
        dumper.start(nn.Identity())
        for _ in range(2):
            with pytest.raises(ValueError, match="broken"):
                mine.raises(x)
            mine.plain(x)
        dumper.step()
    data = read_dump(0)["data"]
    assert sorted(data) == [f"Custom.mine.ops.{name}.{i}.forward" for name in ("plain", "raises") for i in range(2)]
    assert all(data[f"Custom.mine.ops.raises.{i}.forward"]["output"] == [] for i in range(2))


def test_gradients_pass(make_config: MakeConfig, device: torch.device, mine: ModuleType) -> None:
    with AclGraphDumper(make_config(**custom("mine.ops.plain", "mine.ops.Double.apply", task="tensor"))) as dumper:
        dumper.start(nn.Identity())
        x = torch.ones(2, device=device, requires_grad=True)
        mine.Double.apply(mine.plain(x)).sum().backward()
        dumper.step()
    assert x.grad is not None and x.grad.tolist() == [4.0, 4.0]


def test_it_looks_like_the_original(make_config: MakeConfig, mine: ModuleType) -> None:
    with AclGraphDumper(make_config(**custom("mine.ops.plain", "mine.ops.cached", "mine.ops.instance"))) as dumper:
        dumper.start(nn.Identity())
        assert mine.plain.__doc__ == "Doubles."
        assert mine.plain.__name__ == "plain" and mine.plain.__module__ == "mine.ops"
        mine.cached(1), mine.cached(1)
        assert mine.cached.cache_info().hits == 1
        assert mine.instance.method(torch.ones(1)).item() == 4.0


@pytest.mark.parametrize("first_closes_first", [False, True])
def test_two_dumpers_on_one_function(
    make_config: MakeConfig, tmp_path: Path, device: torch.device, mine: ModuleType, first_closes_first: bool
) -> None:
    original = mine.plain
    dumpers = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"dump_path": str(tmp_path / name), **custom("mine.ops.plain")}))
        dumpers.append(AclGraphDumper(path))
        dumpers[-1].start(nn.Identity())
    x = torch.ones(2, device=device)
    assert mine.plain(x).tolist() == [2.0, 2.0]
    for dumper in dumpers:
        dumper.step()
    first, second = dumpers if first_closes_first else reversed(dumpers)
    first.close()
    mine.plain(x)
    second.step()
    second.close()
    assert mine.plain is original
    for name, still_open in (("one", not first_closes_first), ("two", first_closes_first)):
        dumps = [json.loads(path.read_text())["data"] for path in sorted((tmp_path / name).rglob("dump.json"))]
        assert [list(data) for data in dumps] == [["Custom.mine.ops.plain.0.forward"]] * (2 if still_open else 1)


def test_somebody_elses_wrapper_stays(make_config: MakeConfig, device: torch.device, mine: ModuleType) -> None:
    with AclGraphDumper(make_config(**custom("mine.ops.plain"))) as dumper:
        dumper.start(nn.Identity())
        ours = mine.plain
        mine.plain = lambda x: ours(x) + 1
    assert mine.plain(torch.ones(1, device=device)).item() == 3.0


@pytest.mark.parametrize("path", ["torch.zeros", "torch.is_tensor", "dataclasses.is_dataclass", "warnings.warn"])
def test_what_the_recording_uses_itself(make_config: MakeConfig, device: torch.device, path: str) -> None:
    class Zeros(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.zeros(2, device=x.device)

    for task in ("statistics", "tensor"):
        with AclGraphDumper(make_config(**custom(path, task=task))) as dumper:
            dumper.start(nn.Identity())
            model = Zeros()
            dumper.start(model)
            assert model(torch.ones(2, device=device)).tolist() == [1.0, 1.0]
            dumper.step()


WRONG = {
    "plain": "must be a full import path such as package.module.function",
    "mine.": "must be a full import path",
    ".mine": "must be a full import path",
    "mine..ops": "must be a full import path",
    "mine.my ops.f": "must be a full import path",
    "no_such_module.f": "there is no module 'no_such_module'",
    "mine.ops.missing": "mine.ops has no 'missing'",
    "mine.ops.Ops.missing": "mine.ops.Ops has no 'missing'",
    "mine.no_module.f": "mine has no 'no_module'",
    "mine.ops.Ops": "is a class: name the method that is called",
    "mine.ops.Ops.constant": "must be callable, got int",
    "mine.ops.Ops.prop": "must be callable, got property",
    "mine.ops.instance.method": "must lie in a module or a class, not in a Ops",
    "mine.ops.plain.__call__": "must lie in a module or a class, not in a function",
    "mine.ops.Frozen.method": "cannot be wrapped: it is frozen",
    "mine.needs.f": "importing mine.needs failed: No module named 'no_such_module'",
    "mine.divides.f": "importing mine.divides failed: ZeroDivisionError('division by zero')",
    "mine.ends.f": "importing mine.ends failed: SystemExit(3)",
    "mine.syntax.f": "importing mine.syntax failed: SyntaxError",
    "torch.Tensor.add": "TensorBase, a type written in C",
    "torch._C.TensorBase.add": "recording needs it itself",
    "torch.ops.aten.add": "operators (torch.ops) are recorded at level L1",
    "torch.compiler.is_compiling": "recording needs it itself",
    "builtins.len": "recording needs it itself",
    "msprobe.pytorch.acl_save": "recording needs it itself",
    "collections.OrderedDict.get": "a type written in C",
    "torch.float32": "must be callable, got dtype",
}


@pytest.mark.parametrize("path", list(WRONG))
@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_a_wrong_path_is_named_and_nothing_stays_behind(
    make_config: MakeConfig, mine: ModuleType, path: str, task: str
) -> None:
    before = mine.plain
    model = nn.Linear(1, 1)
    dumper = AclGraphDumper(make_config(**custom("mine.ops.plain", path, task=task)))
    with pytest.raises(ConfigError) as caught:
        dumper.start(model)
    assert f"custom_api '{path}': " in str(caught.value)
    assert WRONG[path] in str(caught.value)
    assert mine.plain is before
    assert "forward" not in model.__dict__
    dumper.step()
    dumper.close()


@pytest.mark.parametrize(
    ("value", "message"), [("a.b", "must be a list"), ([3], "got 3"), ([""], 'got ""'), ([None], "got null")]
)
def test_wrong_values(make_config: MakeConfig, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match="key 'statistics.custom_api': must be a list of import paths") as caught:
        AclGraphDumper(make_config(statistics={"custom_api": value}))
    assert message in str(caught.value)
