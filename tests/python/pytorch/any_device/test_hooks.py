# SPDX-License-Identifier: Apache-2.0
"""What hooks record and how they leave the model: structures, filters, recursion, gradients, removal."""

from __future__ import annotations

import copy
import gc
import inspect
import io
import types
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from models import Transformer, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


def names(dump: dict[str, Any]) -> list[str]:
    return list(dump["data"])


def test_close_leaves_the_model_as_it_was(make_config: MakeConfig, device: torch.device) -> None:
    model = Transformer().to(device)
    model.head.forward = types.MethodType(lambda self, x: nn.Linear.forward(self, x) * 2, model.head)  # type: ignore[method-assign]
    before = [dict(module.__dict__) for module in model.modules()]
    ids = torch.randint(0, 30, (1, 4)).to(device)
    wanted = model(ids)["logits"]
    dumper = AclGraphDumper(make_config())
    dumper.start(model)
    assert torch.equal(model(ids)["logits"], wanted)
    dumper.close()
    dumper.close()
    assert [dict(module.__dict__) for module in model.modules()] == before
    assert torch.equal(model(ids)["logits"], wanted)


def test_close_in_the_wrong_order_leaves_nothing_either(make_config: MakeConfig, device: torch.device) -> None:
    model = mlp().to(device)
    first, second = AclGraphDumper(make_config()), AclGraphDumper(make_config())
    first.start(model)
    second.start(model)
    first.close()
    model(torch.zeros(2, 8, device=device))
    second.close()
    assert all("forward" not in module.__dict__ for module in model.modules())


def test_a_wrapper_put_around_a_hook_survives_close(make_config: MakeConfig, device: torch.device) -> None:
    model = mlp().to(device)
    x = torch.zeros(2, 8, device=device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        inner = model[0].forward
        model[0].forward = lambda value: inner(value) + 1  # type: ignore[method-assign]
        wanted = model(x)
    assert torch.equal(model(x), wanted)


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_list_filters_by_keywords_in_any_case(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str
) -> None:
    model = Transformer().to(device)
    with AclGraphDumper(make_config(level=level, statistics={"list": ["LINEAR", "SoftMax", "blocks.1.norm"]})) as dumper:
        dumper.start(model)
        model(torch.zeros(1, 3, dtype=torch.long, device=device))
        dumper.step()
    found = names(read_dump(0))
    modules = [name for name in found if name.startswith("Module.")]
    apis = [name for name in found if name.startswith("Aten.")]
    assert all("Linear" in name or "blocks.1.norm.LayerNorm" in name for name in modules)
    assert all("softmax" in name for name in apis)
    assert len(modules) == (0 if level == "L1" else 2 * 4 + 1 + 2)
    assert len(apis) == (0 if level == "L0" else 2)


Pair = namedtuple("Pair", "left right")


@dataclass
class Result:
    value: torch.Tensor
    label: str
    more: list[torch.Tensor]


class Nested(nn.Module):
    def forward(self, x: torch.Tensor, *rest: Any, **kwargs: Any) -> Any:
        return [x, (x + 1, None, {"deep": [x + 2, "text"]}), Pair(x + 3, 4), Result(x + 5, "r", [x + 6])]


def test_nested_arguments_and_results(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    x = torch.zeros(1, device=device)
    with AclGraphDumper(make_config()) as dumper:
        model = Nested()
        dumper.start(model)
        model(x, 7, None, "a", [x + 1, 3, (x + 2,)], {"k/|%": x + 3, "n": None}, key=OrderedDict(b=x + 4, a=x + 5), empty=[])
        dumper.step()
    entry = read_dump(0)["data"]["Module.__root__.Nested.forward.0"]

    def maxima(value: Any) -> Any:
        if isinstance(value, list):
            return [maxima(item) for item in value]
        if value.get("type") == "torch.Tensor":
            return value["Max"]
        return {key: maxima(item) for key, item in value.items()}

    assert maxima(entry["input_args"]) == [0.0, [1.0, [2.0]], {"k/|%": 3.0}]
    assert maxima(entry["input_kwargs"]) == {"key": {"b": 4.0, "a": 5.0}}
    assert maxima(entry["output"]) == [0.0, [1.0, {"deep": [2.0]}], [3.0], {"value": 5.0, "more": [6.0]}]


class Recursive(nn.Module):
    def forward(self, x: torch.Tensor, depth: int) -> torch.Tensor:
        return self(x + 1, depth - 1) * 2 if depth else x


def test_a_module_that_calls_itself(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    with AclGraphDumper(make_config(level="mix")) as dumper:
        model = Recursive()
        dumper.start(model)
        model(torch.zeros(1, device=device), 2)
        dumper.step()
    data = read_dump(0)["data"]
    calls = [data[f"Module.__root__.Recursive.forward.{i}"] for i in range(3)]
    assert [(c["input_args"][0]["Max"], c["output"][0]["Max"]) for c in calls] == [(0.0, 8.0), (1.0, 4.0), (2.0, 2.0)]
    assert [name for name in data if "mul" in name] == ["Aten.mul.0.forward", "Aten.mul.1.forward"]


def test_a_failed_forward_does_not_spoil_the_next(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    class Picky(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape[0] == 1:
                raise ValueError("one row")
            return x

    model = nn.Sequential(mlp(), Picky()).to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        with pytest.raises(ValueError, match="one row"):
            model(torch.zeros(1, 8, device=device))
        dumper.step(dump=False)
        model(torch.ones(2, 8, device=device))
        dumper.step()
    assert len(names(read_dump(0))) == 6


def test_checkpointed_blocks_are_recorded_once(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = mlp()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False)
            return y

    model = Checkpointed().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(torch.ones(2, 8, device=device)).sum().backward()
        dumper.step()
    found = names(read_dump(0))
    assert len(found) == 5
    assert all(name.endswith(".0") for name in found)


def test_gradients_are_the_same(make_config: MakeConfig, device: torch.device) -> None:
    model = Transformer().to(device)
    bare = copy.deepcopy(model)
    ids = torch.randint(0, 30, (2, 5)).to(device)
    with AclGraphDumper(make_config(level="mix")) as dumper:
        dumper.start(model)
        model(ids)["logits"].pow(2).sum().backward()
    bare(ids)["logits"].pow(2).sum().backward()
    for ours, theirs in zip(model.parameters(), bare.parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad)  # type: ignore[arg-type]


def test_signature_shows_the_models_own_arguments(make_config: MakeConfig) -> None:
    model = Transformer()
    before = inspect.signature(model.forward)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        assert inspect.signature(model.forward) == before


def test_a_hooked_model_can_be_saved(make_config: MakeConfig) -> None:
    model = mlp()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        buffer = io.BytesIO()
        torch.save(model, buffer)
        buffer.seek(0)
        loaded = torch.load(buffer, weights_only=False)
        x = torch.randn(2, 8)
        assert torch.equal(loaded(x), model(x))


def test_a_closed_dumper_does_not_keep_the_model(make_config: MakeConfig) -> None:
    model = mlp()
    alive = weakref.ref(model)
    dumper = AclGraphDumper(make_config())
    dumper.start(model)
    model(torch.zeros(2, 8))
    dumper.close()
    del model
    gc.collect()
    assert alive() is None


def test_tensors_without_statistics_are_recorded_as_such(make_config: MakeConfig, read_dump: ReadDump) -> None:
    sparse = torch.eye(3).to_sparse()
    quantised = torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8)
    with AclGraphDumper(make_config()) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        identity((sparse, quantised, torch.ones(1)))
        dumper.step()
    first, second, third = read_dump(0)["data"]["Module.__root__.Identity.forward.0"]["input_args"][0]
    assert first["shape"] == [3, 3] and first["Max"] is None and "strided" in first["Note"]
    assert second["shape"] == [4] and second["Max"] is None and "quantised" in second["Note"]
    assert third["Max"] == 1.0
