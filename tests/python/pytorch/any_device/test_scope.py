# SPDX-License-Identifier: Apache-2.0
"""scope: from each call of a first module to the end of a last one, in execution order; both tasks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import expected, saved_files
from models import Transformer
from torch import nn

from msprobe.pytorch import AclGraphDumper
from msprobe.pytorch.config import ConfigError, read_config

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

TASKS = pytest.mark.parametrize("task", ["statistics", "tensor"])


def scoped(
    make_config: MakeConfig, read_dump: ReadDump, model: nn.Module, x: torch.Tensor, scope: list[str], **settings: Any
) -> list[str]:
    """The entries of one forward."""
    with AclGraphDumper(make_config(scope=scope, **settings)) as dumper, torch.no_grad():
        dumper.start(model)
        wanted = model(x)
        dumper.step()
        assert torch.equal(model(x), wanted)
    dump = read_dump(0)
    if dump["task"] == "tensor":
        files = {name.split(".input.")[0].split(".output.")[0] for name in saved_files(dump)}
        assert files == set(dump["data"])
    return list(dump["data"])


def chain(device: torch.device) -> nn.Sequential:
    return nn.Sequential(*(nn.Linear(4, 4) for _ in range(6))).to(device)


def linears(*numbers: int, call: int = 0) -> list[str]:
    return [f"Module.{number}.Linear.forward.{call}" for number in numbers]


FORMS = ["{}", "{}.Linear", "Module.{}.Linear", "Module.{}.Linear.forward", "Module.{}.Linear.forward.0", "{}.Linear.forward.7"]


@pytest.mark.parametrize("form", FORMS)
def test_names_in_every_form(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, form: str) -> None:
    x = torch.ones(1, 4, device=device)
    found = scoped(make_config, read_dump, chain(device), x, [form.format(1), form.format(3)])
    assert found == linears(1, 2, 3)


@TASKS
@pytest.mark.parametrize(
    ("scope", "numbers"),
    [(["0", "5"], range(6)), (["2", "2"], [2]), (["5", "5"], [5])],
    ids=str,
)
def test_first_to_last(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, scope: list[str], numbers: Any, task: str
) -> None:
    x = torch.ones(1, 4, device=device)
    assert scoped(make_config, read_dump, chain(device), x, scope, task=task) == linears(*numbers)


@TASKS
def test_a_last_module_that_does_not_come(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, task: str
) -> None:
    """Then the scope ends with the forward, whose result lies in it, and the next forward begins outside."""
    model, x = chain(device), torch.ones(1, 4, device=device)
    with AclGraphDumper(make_config(scope=["4", "1"], task=task)) as dumper:
        dumper.start(model)
        for _ in range(3):
            model(x)
        dumper.step()
    data = read_dump(0)["data"]
    root = "Module.__root__.Sequential.forward"
    assert list(data) == [name for call in range(3) for name in (*linears(4, 5, call=call), f"{root}.{call}")]
    assert all(data[f"{root}.{call}"]["input_args"] == [] for call in range(3))


@pytest.mark.parametrize("name", ["__root__", "__root__.Sequential", "Module.__root__.Sequential"])
def test_the_model_itself(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, name: str) -> None:
    x = torch.ones(1, 4, device=device)
    found = scoped(make_config, read_dump, chain(device), x, [name, "1"])
    assert found == ["Module.__root__.Sequential.forward.0", *linears(0, 1)]


@TASKS
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_nested_blocks_at_every_level(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str, task: str
) -> None:
    model = Transformer(blocks=3).to(device)
    bare = copy.deepcopy(model)
    ids = torch.randint(0, 30, (1, 4)).to(device)
    with AclGraphDumper(make_config(scope=["blocks.1", "blocks.1"], level=level, task=task)) as dumper, torch.no_grad():
        dumper.start(model)
        model(ids)
        dumper.step()
    found = list(read_dump(0)["data"])
    with torch.no_grad():
        everything = list(expected(bare, "mix", lambda m: m(ids)))
    first = next(i for i, name in enumerate(everything) if name.startswith("Module.blocks.1.Block"))
    after = next(i for i, name in enumerate(everything) if name.startswith("Module.blocks.2.Block"))
    inside = [name.rsplit(".", 1 if name.startswith("Module") else 2)[0] for name in everything[first:after]]
    kinds = {"L0": ("Module",), "L1": ("Aten", "NPU"), "mix": ("Module", "Aten", "NPU")}[level]
    wanted = [name for name in inside if name.startswith(kinds)]
    assert [name.rsplit(".", 1 if name.startswith("Module") else 2)[0] for name in found] == wanted
    numbers: dict[str, int] = {}  # of calls, counted among those that are recorded
    for name in found:
        parts = name.split(".")
        place = -1 if parts[0] == "Module" else -2
        stem = ".".join(parts[:place])
        assert int(parts[place]) == numbers.get(stem, 0)
        numbers[stem] = numbers.get(stem, 0) + 1


def test_a_module_called_several_times(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    class Loops(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c = nn.Identity(), nn.ReLU(), nn.Tanh()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(2):
                x = self.c(self.b(self.a(x)))
            return x

    x = torch.ones(1, 4, device=device)
    found = scoped(make_config, read_dump, Loops().to(device), x, ["a", "b"])
    assert found == [f"Module.{name}.forward.{i}" for i in range(2) for name in ("a.Identity", "b.ReLU")]


@pytest.mark.parametrize("mode", ["input", "output"])
def test_with_one_side_of_the_calls(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mode: str) -> None:
    x = torch.ones(1, 4, device=device)
    assert scoped(make_config, read_dump, chain(device), x, ["1", "3"], data_mode=mode) == linears(1, 2, 3)


def test_the_list_still_decides(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU()).to(device)
    x = torch.ones(1, 4, device=device)
    found = scoped(make_config, read_dump, model, x, ["1", "3"], statistics={"list": ["relu"]})
    assert found == ["Module.2.ReLU.forward.0"]


def test_without_any_call_of_the_first(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    class Skips(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Identity(), nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.used(x)
            return y

    with pytest.warns(UserWarning, match="nothing was recorded in step 0.*the first module of the scope"):
        assert scoped(make_config, read_dump, Skips(), torch.ones(1, device=device), ["unused", "used"]) == []


@pytest.mark.parametrize("name", ["nothing", "Module.nothing.Linear", "0.ReLU", "0.", ".0", "6", "Module.0", "linear", " 0"])
@pytest.mark.parametrize("place", [0, 1])
def test_names_that_the_model_does_not_have(make_config: MakeConfig, device: torch.device, name: str, place: int) -> None:
    model = chain(device)
    scope = ["1", "3"]
    scope[place] = name
    dumper = AclGraphDumper(make_config(scope=scope))
    with pytest.raises(ConfigError, match="key 'scope': must name modules of the model, such as Module.__root__") as caught:
        dumper.start(model)
    assert f'got "{name}"' in str(caught.value)
    assert all("forward" not in module.__dict__ for module in model.modules())
    dumper.step()
    dumper.close()


@pytest.mark.parametrize(
    "value", ["0", ["0"], ["0", "1", "2"], [0, 1], ["", "1"], [None, "1"], {"a": 1}, [["0"], ["1"]]], ids=str
)
def test_wrong_values(make_config: MakeConfig, value: Any) -> None:
    with pytest.raises(ConfigError, match="key 'scope': must be .* the names of two modules, the first and the last one"):
        read_config(make_config(scope=value))


def test_empty_and_null_are_no_scope(make_config: MakeConfig) -> None:
    assert read_config(make_config(scope=[])).scope is read_config(make_config(scope=None)).scope is None
