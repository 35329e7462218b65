# SPDX-License-Identifier: Apache-2.0
"""Compares saved tensors element by element."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch


class Elements(NamedTuple):
    """What two tensors of one shape have to do with each other. Elements that are not finite on a side count in `not_finite` alone."""

    shape: tuple[int, ...]
    relative_l2: float
    """|target - golden| / |golden|"""
    cosine: float
    """1: the same direction; 0: nothing to do with each other."""
    scale: float
    """The factor by which golden comes nearest to target."""
    not_finite: int
    """Elements of target that are not finite where golden's are."""


def compare(target: torch.Tensor, golden: torch.Tensor) -> Elements:
    """Computed in float64. Shapes must be the same."""
    if target.shape != golden.shape:
        raise ValueError(f"tensors must have one shape to be compared, got {list(target.shape)} and {list(golden.shape)}")
    finite = target.isfinite() & golden.isfinite()
    t, g = target.double()[finite], golden.double()[finite]
    square = g.dot(g)
    return Elements(
        tuple(golden.shape),
        ((t - g).norm() / g.norm()).item(),
        (t.dot(g) / (t.norm() * g.norm())).item(),
        (t.dot(g) / square).item(),
        int((golden.isfinite() & ~target.isfinite()).sum()),
    )


def load(folder: Path, name: str, step: int, rows: int) -> torch.Tensor:
    """The tensor that the step saved, without the padding behind `rows`."""
    return torch.load(folder / f"{name}_{step}.pt", map_location="cpu", weights_only=True)[:rows]


def worst(target: torch.Tensor, golden: torch.Tensor) -> tuple[tuple[int, ...], float, float]:
    """Where the two are furthest apart, and what stands there. NaN is furthest of all."""
    difference = (target.double() - golden.double()).abs().nan_to_num(nan=torch.inf)
    index = torch.unravel_index(difference.argmax(), difference.shape)
    return tuple(int(i) for i in index), target[index].item(), golden[index].item()
