# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that make, fill, copy, move and pick elements."""

from __future__ import annotations

import torch
import torch.nn.functional as F
import torch_npu
from op_case import EVERY_TYPE, FLOATS, HALVES_AND_FLOAT, Case, index, mask, real, typed, whole

NUMBERS = (*FLOATS, torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
WIDE = (4, 6)


def on_device(a: torch.Tensor, *values: int) -> torch.Tensor:
    return torch.tensor(values, device=a.device)


FILL = [
    Case("InplaceFillScalar", lambda a: a.fill_(3), [whole(*WIDE)], EVERY_TYPE, inplace=True),
    Case("InplaceFillTensor", lambda a, b: a.fill_(b), [whole(*WIDE), whole()], NUMBERS, inplace=True),
    Case("InplaceOne", lambda a: torch.ones(a.shape, dtype=a.dtype, device=a.device), [whole(*WIDE)], EVERY_TYPE),
    Case("InplaceZero", torch.Tensor.zero_, [whole(*WIDE)], EVERY_TYPE, inplace=True),
    Case("InplaceCopy", lambda a, b: a.copy_(b), [whole(*WIDE), whole(*WIDE)], EVERY_TYPE, inplace=True),
    Case("InplaceCopy", lambda a, b: a.copy_(b), [whole(*WIDE), whole(6)], NUMBERS, inplace=True, label="broadcast"),
    Case("InplaceCopy", lambda a: a.t().contiguous(), [whole(*WIDE)], (*EVERY_TYPE, *COMPLEX), label="turned"),
    Case(
        "InplaceCopy", lambda a: a.to(torch.float16), [whole(*WIDE)], EVERY_TYPE[:1] + EVERY_TYPE[2:], label="half"
    ),
    *[
        Case(
            "Cast",
            lambda a, t=t: torch_npu.npu_dtype_cast(a, t),
            [whole(*WIDE)],
            [d for d in EVERY_TYPE if d != t],
            reference=lambda a, t=t: a.to(t),
            label=str(t)[6:],
        )
        for t in (torch.float16, torch.float32, torch.int32, torch.bool, torch.float8_e4m3fn, torch.float8_e5m2)
    ],
    Case("InplaceMaskedFillScalar", lambda a, m: a.masked_fill_(m, 0.5), [real(*WIDE), mask(*WIDE)], FLOATS, inplace=True),
    Case(
        "InplaceMaskedFillScalar",
        lambda a, m: a.masked_fill_(m, 7),
        [whole(*WIDE), mask(6)],
        NUMBERS,
        inplace=True,
        label="wide",
    ),
    Case(
        "Arange",
        lambda a: torch.arange(1, 10, 2, device=a.device, dtype=a.dtype),
        [whole(1)],
        [*HALVES_AND_FLOAT, torch.int32, torch.int64],
    ),
    Case("Arange", lambda a: torch.arange(0.5, 3, 0.25, device=a.device), [whole(1)], [torch.float32], label="real"),
    Case("Linspace", lambda a: torch.linspace(-1, 2, 7, device=a.device), [whole(1)], [torch.float32]),
    Case("Eye", lambda a: torch.eye(4, 6, dtype=a.dtype, device=a.device), [whole(1)], HALVES_AND_FLOAT),
    Case("Triu", lambda a: a.triu(1), [whole(*WIDE)], NUMBERS),
    Case("Tril", lambda a: a.tril(-1), [whole(*WIDE)], NUMBERS),
]

SHAPE = [
    Case("Cat", lambda a, b: torch.cat([a, b], 0), [whole(2, 3), whole(4, 3)], EVERY_TYPE),
    Case("Cat", lambda a, b: torch.cat([a, b], -1), [whole(2, 3), whole(2, 1)], EVERY_TYPE, label="last"),
    Case(
        "Cat", lambda a, b: torch.cat([a, b]), [whole(2, 3), typed(real(2, 3), torch.float32)], HALVES_AND_FLOAT, label="mixed"
    ),
    Case("Stack", lambda a, b: torch.stack([a, b], 1), [whole(*WIDE), whole(*WIDE)], EVERY_TYPE),
    Case("Repeat", lambda a: a.repeat(2, 1, 3), [whole(*WIDE)], EVERY_TYPE),
    Case("RepeatInterleaveIntWithDim", lambda a: a.repeat_interleave(3, 1), [whole(*WIDE)], NUMBERS),
    Case("RepeatInterleaveIntWithDim", lambda a: a.repeat_interleave(2, dim=0), [whole(2, 3, 4)], FLOATS, label="first"),
    Case("Flip", lambda a: a.flip((0, 1)), [whole(*WIDE)], EVERY_TYPE),
    Case("ConstantPadNd", lambda a: F.pad(a, (1, 2, 0, 1), value=2), [whole(*WIDE)], NUMBERS),
]

INDEX = [
    Case("Index", lambda a, i: a[i], [whole(*WIDE), index(3, below=4)], EVERY_TYPE),
    Case("Index", lambda a, i: a[:, i], [whole(*WIDE), index(3, below=6)], NUMBERS, label="second"),
    Case("Index", lambda a, i, j: a[i, j], [whole(*WIDE), index(3, below=4), index(3, below=6)], NUMBERS, label="pairs"),
    Case("Index", lambda a, m: a[m], [whole(*WIDE), mask(4)], NUMBERS, label="mask", graph=False),
    Case("Index", lambda a, i: a[-i - 1], [whole(*WIDE), index(2, 2, below=4)], FLOATS, label="negative"),
    Case(
        "IndexPutImpl",
        lambda a, b: a.index_put_((on_device(a, 3, 1),), b),
        [whole(*WIDE), whole(2, 6)],
        NUMBERS,
        inplace=True,
        graph=False,
    ),
    Case(
        "IndexPutImpl",
        lambda a, i, b: a.index_put_((i,), b, accumulate=True),
        [whole(*WIDE), index(9, below=4), whole(9, 6)],
        [torch.float32, torch.int32],
        inplace=True,
        label="add",
    ),
    Case("IndexSelect", lambda a, i: a.index_select(1, i), [whole(*WIDE), index(3, below=6)], EVERY_TYPE),
    Case(
        "IndexSelect",
        lambda a, i: a.index_select(0, i),
        [whole(*WIDE), typed(index(3, below=4), torch.int32)],
        FLOATS,
        label="int32",
    ),
    Case("IndexCopy", lambda a, b: a.index_copy(0, on_device(a, 2, 0), b), [whole(*WIDE), whole(2, 6)], NUMBERS, graph=False),
    Case(
        "InplaceIndexCopy",
        lambda a, b: a.index_copy_(0, on_device(a, 2, 0), b),
        [whole(*WIDE), whole(2, 6)],
        NUMBERS,
        inplace=True,
        graph=False,
    ),
    Case("Gather", lambda a, i: a.gather(1, i), [whole(*WIDE), index(4, 3, below=6)], NUMBERS),
    Case(
        "Scatter", lambda a, i, b: a.scatter(1, i.argsort(1), b), [whole(*WIDE), index(4, 6, below=99), whole(*WIDE)], NUMBERS
    ),
    Case(
        "InplaceScatter",
        lambda a, i, b: a.scatter_(1, i.argsort(1), b),
        [whole(*WIDE), index(4, 6, below=99), whole(*WIDE)],
        NUMBERS,
        inplace=True,
    ),
    Case("MaskedSelect", torch.masked_select, [whole(*WIDE), mask(*WIDE)], EVERY_TYPE, graph=False),
    Case("MaskedSelect", lambda a, m: a.masked_select(m & ~m), [whole(*WIDE), mask(*WIDE)], NUMBERS, graph=False, label="none"),
    Case("Nonzero", torch.nonzero, [whole(*WIDE)], EVERY_TYPE, graph=False),
    Case("NonzeroV2", lambda a, m: a[m], [whole(*WIDE), mask(*WIDE)], NUMBERS, graph=False),
    Case("OneHot", lambda i: F.one_hot(i, 7), [index(3, 4, below=7)], [torch.int64]),
    Case("Embedding", lambda w, i: F.embedding(i, w), [real(5, 6), index(2, 3, below=5)], FLOATS),
]

CASES = [*FILL, *SHAPE, *INDEX]

MOVES_BYTES = {
    "copy": lambda a: a.t().contiguous(),
    "cat": lambda a: torch.cat([a, a]),
    "stack": lambda a: torch.stack([a, a], 1),
    "repeat": lambda a: a.repeat(2, 2),
    "flip": lambda a: a.flip(0),
    "index": lambda a: a[on_device(a, 2, 0)],
    "index_select": lambda a: a.index_select(0, on_device(a, 1, 1)),
    "zero": lambda a: a.clone().zero_(),
}
