# SPDX-License-Identifier: Apache-2.0
"""Compares saved tensors element by element."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch


class Elements(NamedTuple):
    """What two tensors of one shape have to do with each other; elements that are not finite count in `not_finite` alone."""

    shape: tuple[int, ...]
    relative_l2: float
    """|target - golden| / |golden|; NaN if no element is finite."""
    cosine: float
    """1: the same direction; 0: nothing to do with each other."""
    scale: float
    """The factor by which golden comes nearest to target."""
    not_finite: int
    """Elements of target that are not finite where golden's are."""
    along: list[list[float]]
    """The relative L2 error at each index of the first two dimensions, requests and tokens."""
    worst: tuple[tuple[int, ...], float, float]
    """Where the two are furthest apart, and target's and golden's element there. NaN is furthest of all."""


def compare(target: torch.Tensor, golden: torch.Tensor) -> Elements:
    """Computed in float64. Shapes must be the same."""
    if target.shape != golden.shape:
        raise ValueError(f"tensors must have one shape to be compared, got {list(target.shape)} and {list(golden.shape)}")
    finite = target.isfinite() & golden.isfinite()
    t, g = target.double()[finite], golden.double()[finite]
    return Elements(
        tuple(golden.shape),
        _relative_l2(target, golden),
        (t.dot(g) / (t.norm() * g.norm())).item(),
        (t.dot(g) / g.dot(g)).item(),
        int((golden.isfinite() & ~target.isfinite()).sum()),
        [
            [_relative_l2(*pair) for pair in zip(target.unbind(dim), golden.unbind(dim), strict=True)]
            for dim in range(min(2, golden.dim()))
        ],
        _worst(target, golden),
    )


def load(folder: Path, name: str, step: int) -> torch.Tensor:
    """What acl_save left of the step: each run of the forward, replays included, has the next number."""
    return torch.load(folder / f"{name}_{step}.pt", map_location="cpu", weights_only=True)


def _relative_l2(target: torch.Tensor, golden: torch.Tensor) -> float:
    finite = target.isfinite() & golden.isfinite()
    t, g = target.double()[finite], golden.double()[finite]
    return ((t - g).norm() / g.norm()).item()


def _worst(target: torch.Tensor, golden: torch.Tensor) -> tuple[tuple[int, ...], float, float]:
    difference = (target.double() - golden.double()).abs().nan_to_num(nan=torch.inf)
    index = torch.unravel_index(difference.argmax(), difference.shape)
    return tuple(int(i) for i in index), target[index].item(), golden[index].item()
