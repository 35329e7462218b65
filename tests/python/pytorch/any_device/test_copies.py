# SPDX-License-Identifier: Apache-2.0
"""Copies of a hooked model, and what else is made of one: they record nothing, use their own weights, and leave the original as it is."""

from __future__ import annotations

import copy
import functools
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models import mlp
from torch import nn
from torch.func import functional_call, stack_module_state

from msprobe.pytorch import AclGraphDumper, compiled

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


def through_pickle(model: nn.Module) -> Any:
    return pickle.loads(pickle.dumps(model))


def through_torch_save(model: nn.Module) -> Any:
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


def shallow(model: nn.Module) -> nn.Module:
    """What copy.copy makes, with children that are copies too."""
    twin = copy.copy(model)
    twin.__dict__["_modules"] = {name: shallow(child) for name, child in model._modules.items() if child is not None}
    return twin


def replica(model: nn.Module) -> Any:
    """What DataParallel runs: each module's replica, put together."""
    twin = model._replicate_for_data_parallel()  # type: ignore[operator]
    for name, parameter in model._parameters.items():
        setattr(twin, name, parameter)
    for name, child in model._modules.items():
        twin._modules[name] = replica(child)  # type: ignore[arg-type]
    return twin


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": through_pickle,
    "torch.save": through_torch_save,
    "copy": shallow,
    "replica": replica,
}


def with_an_overridden_forward() -> nn.Module:
    model = mlp()
    model[0].forward = functools.partial(nn.Linear.forward, model[0])  # type: ignore[method-assign]
    return model


MODELS = {"plain": mlp, "fx": lambda: torch.fx.symbolic_trace(mlp()), "overridden": with_an_overridden_forward}


@pytest.mark.parametrize("kind", list(MODELS))
@pytest.mark.parametrize("how", ["deepcopy", "pickle", "torch.save"])
def test_deep_copies(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, how: str, kind: str) -> None:
    model = MODELS[kind]().to(device)
    before = [dict(module.__dict__) for module in model.modules()]
    x = torch.randn(2, 8).to(device)
    wanted = model(x)
    with AclGraphDumper(make_config(level="mix")) as dumper:
        dumper.start(model)
        twin = COPIES[how](model)
        with torch.no_grad():
            for parameter in twin.parameters():
                parameter.zero_()
        assert not twin(x).any()
        dumper.step(dump=False)
        twin(x)
        with pytest.warns(UserWarning, match="nothing was recorded"):
            dumper.step()
        assert torch.equal(model(x), wanted)
        dumper.step()
    assert read_dump(0)["data"] == {}
    assert "Module.0.Linear.forward.0" in read_dump(1)["data"]
    assert [dict(module.__dict__) for module in model.modules()] == before
    assert not any("msprobe" in key for module in twin.modules() for key in module.__dict__)


@pytest.mark.parametrize("how", ["copy", "replica"])
def test_shallow_copies(make_config: MakeConfig, device: torch.device, how: str) -> None:
    model = mlp().to(device)
    x = torch.randn(2, 8).to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        twin = COPIES[how](model)
        wanted = model(x)
        dumper.step(dump=False)
        assert torch.equal(twin(x), wanted)
        with pytest.warns(UserWarning, match="nothing was recorded"):
            dumper.step()
        for module in twin.modules():  # its own weights, not those of the original that it was copied from
            if isinstance(module, nn.Linear):
                module.__dict__["_parameters"] = {name: torch.zeros_like(p) for name, p in module._parameters.items()}
        assert not twin(x).any()


def test_moved_and_wrapped(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model.to(device).to(torch.float64).to(torch.float32)
        wrapped = nn.Sequential(model, nn.ReLU())
        wrapped(torch.randn(2, 8).to(device))
        dumper.step()
    assert next(iter(read_dump(0)["data"])) == "Module.__root__.Sequential.forward.0"
    assert len(read_dump(0)["data"]) == 4


@pytest.mark.parametrize("level", ["L0", "mix"])
def test_functional_calls_and_transforms(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str
) -> None:
    model = mlp().to(device)
    x = torch.randn(2, 8).to(device)
    zeros = {name: torch.zeros_like(parameter) for name, parameter in model.named_parameters()}
    wanted = model(x)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        assert not functional_call(model, zeros, (x,)).any()
        dumper.step()
        torch.testing.assert_close(torch.vmap(model)(x[None])[0], wanted)
        parameters, buffers = stack_module_state([model, copy.deepcopy(model)])
        ensemble = torch.vmap(lambda p, b: functional_call(model, (p, b), (x,)))(parameters, buffers)
        torch.testing.assert_close(ensemble, torch.stack([wanted, wanted]))
        assert torch.func.grad(lambda value: model(value).sum())(x).shape == x.shape
    assert read_dump(0)["data"]["Module.2.Linear.forward.0"]["output"][0]["Norm"] == 0.0


class MapsOver(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.inner = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.vmap(lambda row: self.inner(row).relu())(self.before(x))
        return result * 2


@pytest.mark.parametrize("level", ["L0", "mix"])
@pytest.mark.parametrize("where", ["inside", "over"])
def test_a_compiled_vmap_records_what_an_eager_one_does(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, where: str, level: str
) -> None:
    model = (MapsOver() if where == "inside" else mlp()).to(device)
    x = torch.randn(3, 8).to(device)

    def run(values: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = model(values) if where == "inside" else torch.vmap(model)(values)
        return output

    wanted = run(x)
    compiled._told_of_vmap.clear()
    torch._dynamo.reset()
    with AclGraphDumper(make_config(level=level)) as dumper, torch.no_grad():
        dumper.start(model)
        run(x)
        dumper.step()
        with pytest.warns(UserWarning, match="inside vmap, grad or jvp are not recorded"):
            output = torch.compile(run, backend="aot_eager", fullgraph=True)(x)
        torch.testing.assert_close(output, wanted)
        dumper.step()
    names = [list(read_dump(step)["data"]) for step in range(2)]
    assert names[0] == names[1]
    assert ("Module.before.Linear.forward.0" in names[0]) == (where == "inside")
