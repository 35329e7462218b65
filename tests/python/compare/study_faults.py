# SPDX-License-Identifier: Apache-2.0
"""Faults to plant in the models of the study, each with the place that has to be named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from study_models import Model
from torch import nn

INSIDE = "inside the call"
TAIL = "own code after the last child"
BEFORE = "own code before the call"


@dataclass(frozen=True)
class Place:
    """What must be named: the kind of place, whose code it is, and the module at which it is seen (with the number of its call)."""

    where: str
    code: str
    module: str
    call: int = 0


@dataclass(frozen=True)
class Fault:
    plant: Callable[[Model, int, str], Place]  # of the model and the layer, for the family
    families: tuple[str, ...] = ("llama", "experts", "bert")
    in_weights: bool = False


def _inside(name: str, call: int = 0) -> Place:
    return Place(INSIDE, name, name, call)


def _changed(module: nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Changes what a module returns, between the module and what records it."""
    run = module.forward
    module.forward = lambda *args, **kwargs: change(run(*args, **kwargs))  # type: ignore[method-assign]


def _exchange(model: Model, at: int, family: str) -> Place:
    a, b = model.layers[at].attention, model.layers[at + 1].attention
    a.q.weight.data, b.q.weight.data = b.q.weight.data, a.q.weight.data
    return _inside(f"layers.{at}.attention.q")


def _transpose(model: Model, at: int, family: str) -> Place:
    o = model.layers[at].attention.o
    o.weight.data = o.weight.data.T.contiguous()
    return _inside(f"layers.{at}.attention.o")


def _lose_half(model: Model, at: int, family: str) -> Place:
    k = model.layers[at].attention.k
    k.weight.data[:, k.weight.shape[1] // 2 :] = 0
    return _inside(f"layers.{at}.attention.k")


def _column(model: Model, at: int, family: str) -> Place:
    model.layers[at].attention.v.weight.data[:, 5] *= 2
    return _inside(f"layers.{at}.attention.v")


def _row(model: Model, at: int, family: str) -> Place:
    model.layers[at].attention.v.weight.data[7] *= 2
    return _inside(f"layers.{at}.attention.v")


def _int8(model: Model, at: int, family: str) -> Place:
    weight = model.layers[at].attention.v.weight.data
    scale = weight.abs().amax(1, keepdim=True) / 127
    weight.copy_((weight / scale).round() * scale)
    return _inside(f"layers.{at}.attention.v")


def _bias(model: Model, at: int, family: str) -> Place:
    model.layers[at].attention.q.bias.data.zero_()
    return _inside(f"layers.{at}.attention.q")


def _residual(times: int) -> Callable[[Model, int, str], Place]:
    def plant(model: Model, at: int, family: str) -> Place:
        model.layers[at].residual = times
        name = f"layers.{at}.norm1" if family == "bert" else f"layers.{at}.norm2"
        return Place(BEFORE, f"layers.{at}", name)

    return plant


def _attention(attribute: str, value: object) -> Callable[[Model, int, str], Place]:
    def plant(model: Model, at: int, family: str) -> Place:
        setattr(model.layers[at].attention, attribute, value)
        return Place(BEFORE, f"layers.{at}.attention", f"layers.{at}.attention.o")

    return plant


def _element(value: float) -> Callable[[Model, int, str], Place]:
    def plant(model: Model, at: int, family: str) -> Place:
        def change(y: torch.Tensor) -> torch.Tensor:
            y = y.clone()
            y[0, 0, 3] = value
            return y

        _changed(model.layers[at].attention.o, change)
        return _inside(f"layers.{at}.attention.o")

    return plant


def _stale(model: Model, at: int, family: str) -> Place:
    """The last token's call returns what the call before it did."""
    given: list[torch.Tensor] = []

    def change(y: torch.Tensor) -> torch.Tensor:
        given.append(y)
        return given[-2] if len(given) == 3 else y

    _changed(model.layers[at].attention.v, change)
    return _inside(f"layers.{at}.attention.v", 2)


def _eps(model: Model, at: int, family: str) -> Place:
    model.layers[at].norm2.eps = 1e-2
    return _inside(f"layers.{at}.norm2")


def _position(model: Model, at: int, family: str) -> Place:
    model.decode_shift = 1
    return Place(BEFORE, "__root__", "rotary", 1)


def _expert(model: Model, at: int, family: str) -> Place:
    router = model.layers[at].mlp.router
    run = router.forward

    def other(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        logits, weights, chosen = run(x)
        return logits, weights, (chosen + 1) % 4

    router.forward = other  # type: ignore[method-assign]
    return _inside(f"layers.{at}.mlp.router")


FAULTS = {
    "exchanged weights": Fault(_exchange, in_weights=True),
    "transposed weight": Fault(_transpose, in_weights=True),
    "half of K lost": Fault(_lose_half, in_weights=True),
    "one column x2": Fault(_column, in_weights=True),
    "one row x2": Fault(_row, in_weights=True),
    "int8 weight": Fault(_int8, in_weights=True),
    "bias missing": Fault(_bias, ("bert",), in_weights=True),
    "residual lost": Fault(_residual(0)),
    "residual twice": Fault(_residual(2)),
    "attention scale x1.41": Fault(_attention("scale", 2**0.5)),
    "mask missing": Fault(_attention("without_mask", True)),
    "bf16 softmax": Fault(_attention("narrow_softmax", True)),
    "q turned by one": Fault(_attention("turn_q", 1), ("llama", "experts")),
    "NaN": Fault(_element(float("nan"))),
    "Inf": Fault(_element(float("inf"))),
    "one 1e4": Fault(_element(1e4)),
    "stale output": Fault(_stale, ("llama", "experts")),
    "wrong eps": Fault(_eps),
    "decode position + 1": Fault(_position, ("llama", "experts")),
    "other experts": Fault(_expert, ("experts",)),
}
