# SPDX-License-Identifier: Apache-2.0
"""What a case of an operator is, the inputs it may ask for, and the ways those inputs may lie in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)
HALVES_AND_FLOAT = (torch.float32, torch.float16, torch.bfloat16)
FLOAT32 = (torch.float32,)
EVERY_TYPE = (*FLOATS, *INTEGERS, torch.bool)


@dataclass(frozen=True)
class Spec:
    """An input: its shape, its values, and a type of its own if it does not follow the type the case runs with."""

    shape: tuple[int, ...]
    low: float = -3.0
    high: float = 3.0
    dtype: torch.dtype | None = None
    distinct: bool = False  # no value twice, so that the order of a sort is the only right one

    def make(self, generator: torch.Generator, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
        wanted = self.dtype or dtype
        if self.distinct:
            count = torch.Size(shape).numel()
            return (torch.randperm(count, generator=generator) - count // 2).reshape(shape).to(wanted)
        if wanted == torch.bool:
            return torch.rand(shape, generator=generator) > 0.5
        if wanted.is_floating_point or wanted.is_complex:
            values = torch.rand(shape, generator=generator, dtype=torch.float64) * (self.high - self.low) + self.low
            if wanted.is_complex:
                values = torch.complex(values, values.flip(-1) if values.dim() else values)
            return values.to(wanted)
        low = max(int(self.low), 0) if not wanted.is_signed else int(self.low)
        return torch.randint(low, max(int(self.high), low + 1), shape, generator=generator).to(wanted)


def real(*shape: int) -> Spec:
    return Spec(shape)


def positive(*shape: int) -> Spec:
    return Spec(shape, low=1.0, high=4.0)


def unit(*shape: int) -> Spec:
    return Spec(shape, low=0.05, high=0.95)


def whole(*shape: int) -> Spec:
    return Spec(shape, low=-9.0, high=9.0)


def distinct(*shape: int) -> Spec:
    return Spec(shape, distinct=True)


def mask(*shape: int) -> Spec:
    return Spec(shape, dtype=torch.bool)


def index(*shape: int, below: int) -> Spec:
    return Spec(shape, low=0, high=below, dtype=torch.int64)


def typed(spec: Spec, dtype: torch.dtype) -> Spec:
    return Spec(spec.shape, spec.low, spec.high, dtype, spec.distinct)


@dataclass(frozen=True)
class Case:
    """A call that must run the named aclnn operators and give what the CPU gives."""

    operators: str  # names without "aclnn", separated by spaces
    call: Callable[..., Any]
    inputs: Sequence[Spec]
    dtypes: Sequence[torch.dtype] = HALVES_AND_FLOAT
    reference: Callable[..., Any] | None = None  # for the CPU where `call` means something else there
    inplace: bool = False  # the first input is written: it cannot be an expanded one
    zero_size: bool = True  # also with empty inputs; not where the call itself takes its inputs apart
    layouts: bool = True  # also with strided, shifted and expanded inputs
    tolerance: dict[str, float] | None = None  # rtol and atol, where the CPU rounds differently
    graph: bool = True  # also captured and replayed
    label: str = ""

    @property
    def name(self) -> str:
        return f"{self.operators.replace(' ', '+')}{'-' + self.label if self.label else ''}"


LAYOUTS = ("contiguous", "transposed", "slice", "step", "expanded")


def in_layout(values: torch.Tensor, layout: str, device: str) -> torch.Tensor | None:
    """The values on the device, lying as `layout` says; None: a tensor of that shape cannot lie so."""
    if layout == "contiguous":
        return values.to(device)
    if values.dim() == 0:
        return None
    if layout == "transposed":
        if values.dim() < 2:
            return None
        return values.transpose(-1, -2).contiguous().to(device).transpose(-1, -2)
    if layout == "slice":
        wide = torch.zeros((*values.shape[:-1], values.shape[-1] + 5), dtype=values.dtype)
        wide[..., 2 : 2 + values.shape[-1]] = values
        return wide.to(device)[..., 2 : 2 + values.shape[-1]]
    if layout == "step":
        tall = torch.zeros((values.shape[0] * 2 + 1, *values.shape[1:]), dtype=values.dtype)
        tall[1::2] = values
        return tall.to(device)[1::2]
    if layout == "expanded":
        return values[:1].to(device).expand(values.shape)
    raise ValueError(f"no layout is called {layout}")
