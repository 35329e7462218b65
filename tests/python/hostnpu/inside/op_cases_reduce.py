# SPDX-License-Identifier: Apache-2.0
"""Cases of reductions, orders and scans."""

from __future__ import annotations

import torch
from op_case import EVERY_TYPE, FLOATS, HALVES_AND_FLOAT, Case, distinct, real, whole

NUMBERS = (*FLOATS, torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)
WIDE = (4, 6)
DEEP = (3, 4, 5)


def into_slot(function, count: int = 1):
    """Writes the results into one-element slots in the middle of a buffer, as a statistics kernel does."""

    def call(a: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        buffer = torch.zeros(16, dtype=dtype or a.dtype, device=a.device)
        slots = [buffer[3 + 4 * i] for i in range(count)]
        function(a, slots)
        return buffer

    return call


CASES = [
    Case("Amin", lambda a: a.amin(1), [whole(*WIDE)], EVERY_TYPE),
    Case("Amin", lambda a: a.amin((0, 2), keepdim=True), [whole(*DEEP)], EVERY_TYPE, label="keep"),
    Case("Amin", into_slot(lambda a, s: torch.amin(a, dim=(0, 1), out=s[0])), [whole(*WIDE)], EVERY_TYPE, label="slot"),
    Case("Amax", lambda a: a.amax((0, 1)), [whole(*WIDE)], EVERY_TYPE),
    Case("Amax", lambda a: a.amax(0, keepdim=True), [whole(*DEEP)], EVERY_TYPE, label="keep"),
    Case("Amax", into_slot(lambda a, s: torch.amax(a, dim=(), out=s[0])), [whole(*WIDE)], EVERY_TYPE, label="slot"),
    Case("Amax", lambda a: a.amax(), [whole()], EVERY_TYPE, label="0-dim"),
    Case("Aminmax", lambda a: torch.aminmax(a), [whole(*DEEP)], EVERY_TYPE),
    Case("Aminmax", lambda a: torch.aminmax(a, dim=1, keepdim=True), [whole(*DEEP)], EVERY_TYPE, label="dim"),
    Case("Aminmax", into_slot(lambda a, s: torch.aminmax(a, out=(s[0], s[1])), 2), [whole(*WIDE)], EVERY_TYPE, label="slot"),
    Case("AminmaxAll", torch._aminmax, [whole(*WIDE)], EVERY_TYPE, reference=torch.aminmax),
    Case(
        "AminmaxDim",
        lambda a: torch._aminmax(a, 1, True),
        [whole(*WIDE)],
        EVERY_TYPE,
        reference=lambda a: torch.aminmax(a, dim=1, keepdim=True),
    ),
    Case("Max", lambda a: a.max(), [whole(*DEEP)], EVERY_TYPE),
    Case("Min", lambda a: a.min(), [whole(*DEEP)], EVERY_TYPE),
    Case("MaxDim", lambda a: tuple(a.max(1)), [distinct(*WIDE)], NUMBERS[:-1]),
    Case("MaxDim", lambda a: tuple(a.max(0, keepdim=True)), [distinct(*WIDE)], FLOATS, label="keep"),
    Case("MinDim", lambda a: tuple(a.min(1)), [distinct(*WIDE)], NUMBERS[:-1]),
    Case("ArgMax", lambda a: a.argmax(-1), [distinct(*WIDE)], FLOATS),
    Case("ArgMax", lambda a: a.argmax(), [distinct(*WIDE)], FLOATS, label="all"),
    Case("Mean", lambda a: a.mean(), [real(*WIDE)], FLOATS),
    Case("Mean", lambda a: a.mean((0, 2), keepdim=True), [real(*DEEP)], FLOATS, label="dims"),
    Case("Mean", lambda a: a.mean(dtype=torch.float32), [whole(*DEEP)], NUMBERS, label="type"),
    Case(
        "Mean",
        lambda a: into_slot(lambda x, s: torch.mean(x, dim=(), dtype=torch.float32, out=s[0]))(a, torch.float32),
        [whole(*DEEP)],
        [*HALVES_AND_FLOAT, torch.int8, torch.uint8, torch.int32, torch.int64],
        label="slot",
    ),
    Case("Mean", lambda a: a.mean(), [real(0, 3)], FLOATS, layouts=False, label="of-nothing"),
    Case("ReduceSum", lambda a: a.sum(), [whole(*DEEP)], EVERY_TYPE),
    Case("ReduceSum", lambda a: a.sum((0, 1), keepdim=True), [whole(*DEEP)], EVERY_TYPE, label="dims"),
    Case("ReduceSum", lambda a: a.sum(1, dtype=torch.float32), [whole(*DEEP)], EVERY_TYPE, label="type"),
    # torch_npu writes the zero itself.
    Case("InplaceZero", lambda a: a.sum(), [real(0, 3)], FLOATS, layouts=False, label="sum-of-nothing"),
    Case("Norm", lambda a: torch.ops.aten.norm(a, 2), [real(*WIDE)], HALVES_AND_FLOAT),
    Case("Norm", lambda a: torch.ops.aten.norm(a, 1, [1], True), [real(*WIDE)], HALVES_AND_FLOAT, label="dim"),
    Case("LinalgVectorNorm", lambda a: torch.linalg.vector_norm(a, dim=1), [real(*WIDE)], HALVES_AND_FLOAT),
    Case(
        "LinalgVectorNorm",
        lambda a: torch.linalg.vector_norm(a, 2, dtype=torch.float32),
        [real(*DEEP)],
        HALVES_AND_FLOAT,
        label="type",
    ),
    Case(
        "LinalgVectorNorm",
        lambda a: into_slot(lambda x, s: torch.linalg.vector_norm(x, 2, dtype=torch.float32, out=s[0]))(a, torch.float32),
        [real(*DEEP)],
        HALVES_AND_FLOAT,
        label="slot",
    ),
    *[
        Case(
            "LinalgVectorNorm",
            lambda a, p=p: torch.linalg.vector_norm(a, p, dtype=torch.float32),
            [real(90, 700)],
            HALVES_AND_FLOAT,
            reference=lambda a, p=p: torch.linalg.vector_norm(a.double(), p).float(),
            label=f"long-{p}",
        )
        for p in (0, 1, 2, 3, float("inf"))
    ],
    Case("LinalgVectorNorm", torch.linalg.vector_norm, [real(0, 3)], HALVES_AND_FLOAT, layouts=False, label="of-nothing"),
    Case("All", lambda a: a.all(), [whole(*WIDE)], [torch.bool, torch.float32, torch.uint8]),
    Case("All", lambda a: a.all(1), [whole(*WIDE)], [torch.bool], label="dim"),
    Case("Any", lambda a: a.any(), [whole(*WIDE)], [torch.bool, torch.float32, torch.uint8]),
    Case("Any", lambda a: a.any(0, keepdim=True), [whole(*WIDE)], [torch.bool], label="dim"),
    Case("VarCorrection", lambda a: a.var(1), [real(*WIDE)], FLOATS),
    Case("VarCorrection", lambda a: a.var((0, 1), correction=0, keepdim=True), [real(*WIDE)], FLOATS, label="dims"),
    Case("Histc", lambda a: torch.histc(a, 5, -2, 2), [real(*WIDE)], [torch.float32]),
    Case(
        "Histc",
        lambda a: torch.histc(a, 9, 0, 8),
        [whole(*WIDE)],
        [torch.int32, torch.int64],
        reference=lambda a: torch.histc(a.double(), 9, 0, 8).to(a.dtype),
        label="integers",
    ),
    Case("Topk", lambda a: tuple(a.topk(2)), [distinct(*WIDE)], NUMBERS[:-1]),
    Case("Topk", lambda a: tuple(a.topk(2, dim=0, largest=False)), [distinct(*WIDE)], FLOATS, label="smallest"),
    Case("Sort", lambda a: tuple(a.sort()), [distinct(*WIDE)], NUMBERS[:-1]),
    Case("Sort", lambda a: tuple(a.sort(0, descending=True)), [distinct(*WIDE)], FLOATS, label="down"),
    Case(
        "Sort", lambda a: tuple(a.sort(stable=True)), [whole(*WIDE)], [t for t in NUMBERS if t != torch.float64], label="stable"
    ),
    Case("Cumsum", lambda a: a.cumsum(1), [whole(*WIDE)], NUMBERS),
    Case("Cumsum", lambda a: a.cumsum(0, dtype=torch.float32), [whole(*WIDE)], NUMBERS, label="type"),
]
