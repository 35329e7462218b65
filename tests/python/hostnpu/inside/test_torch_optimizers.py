# SPDX-License-Identifier: Apache-2.0
"""torch's optimizers on hostnpu: the parameters after some steps are those of the CPU, eager and as a replayed graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch_npu  # noqa: F401

STEPS = 4
OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1},
    "Adam": {"amsgrad": True, "weight_decay": 0.1},
    "AdamW": {},
    "NAdam": {},
    "RAdam": {},
    "Adamax": {},
    "Adadelta": {},
    "Adagrad": {},
    "Adafactor": {},
    "ASGD": {},
    "RMSprop": {"centered": True, "momentum": 0.9},
    "Rprop": {},
}
CAPTURABLE = ["Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adadelta", "ASGD", "RMSprop", "Rprop"]


def parameters(device: str) -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    shapes = [(4, 6), (5,), (2, 3, 2)]
    return [torch.nn.Parameter(torch.randn(shape, generator=generator).to(device)) for shape in shapes]


def gradients(step: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(step + 1)
    return [torch.randn(one.shape, generator=generator) for one in parameters("cpu")]


def after_steps(name: str, device: str, make: Callable[[Callable[[], None]], Callable[[], None]], **more) -> list[torch.Tensor]:
    """`make` turns the optimizer's step into what is called for each step after the first, which makes the states."""
    mine = parameters(device)
    for parameter in mine:
        parameter.grad = torch.zeros_like(parameter)
    optimizer = getattr(torch.optim, name)(mine, lr=0.05, **OPTIMIZERS[name], **more)
    call = optimizer.step
    for step in range(STEPS):
        for parameter, gradient in zip(mine, gradients(step), strict=True):
            parameter.grad.copy_(gradient)
        if step == 1:
            call = make(optimizer.step)
        call()
    return [parameter.detach().cpu() for parameter in mine]


def eager(step: Callable[[], None]) -> Callable[[], None]:
    return step


def graphed(step: Callable[[], None]) -> Callable[[], None]:
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        step()
    return graph.replay


@pytest.mark.parametrize("foreach", [True, False], ids=["foreach", "one_by_one"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_eager(name: str, foreach: bool) -> None:
    torch.testing.assert_close(after_steps(name, "npu", eager, foreach=foreach), after_steps(name, "cpu", eager))


@pytest.mark.parametrize("foreach", [True, False], ids=["foreach", "one_by_one"])
@pytest.mark.parametrize("name", CAPTURABLE)
def test_in_a_graph(name: str, foreach: bool) -> None:
    on_npu = after_steps(name, "npu", graphed, foreach=foreach, capturable=True)
    torch.testing.assert_close(on_npu, after_steps(name, "cpu", eager))
