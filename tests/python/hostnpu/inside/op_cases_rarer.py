# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that write their result into their first input, of rarer functions, and of lists for optimizers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from op_case import FLOATS, HALVES_AND_FLOAT, INTEGERS, Case, positive, real, unit, whole
from op_cases_elementwise import NUMBERS, WIDE, both_unary
from op_cases_network import lists


def inplace(operator: str, function, *inputs, dtypes=NUMBERS) -> Case:
    return Case(f"Inplace{operator}", function, inputs, dtypes, inplace=True)


UNARY = [
    *both_unary("Erfc", "erfc"),
    *both_unary("Asin", "asin", unit),
    *both_unary("Acos", "acos", unit),
    *both_unary("Cosh", "cosh"),
    *both_unary("Asinh", "asinh"),
    *both_unary("Acosh", "acosh", positive),
    *both_unary("Atanh", "atanh", unit),
    *both_unary("Frac", "frac"),
    inplace("Exp2", torch.Tensor.exp2_, real(*WIDE), dtypes=FLOATS),
    inplace("Log2", torch.Tensor.log2_, positive(*WIDE), dtypes=FLOATS),
    inplace("Log10", torch.Tensor.log10_, positive(*WIDE), dtypes=FLOATS),
    inplace("Tan", torch.Tensor.tan_, unit(*WIDE), dtypes=FLOATS),
    inplace("Atan", torch.Tensor.atan_, real(*WIDE), dtypes=FLOATS),
    inplace("Sinh", torch.Tensor.sinh_, real(*WIDE), dtypes=FLOATS),
    inplace("RoundDecimals", lambda a: a.round_(decimals=1), real(*WIDE), dtypes=FLOATS),
    inplace("LogicalNot", torch.Tensor.logical_not_, whole(*WIDE), dtypes=(*NUMBERS, torch.bool)),
]

BINARY = [
    Case("RemainderScalarTensor", lambda a: torch.remainder(7, a), [positive(*WIDE)], NUMBERS),
    inplace("RemainderTensorTensor", torch.Tensor.remainder_, whole(*WIDE), positive(*WIDE)),
    Case("FmodTensor", torch.fmod, [whole(*WIDE), positive(*WIDE)], NUMBERS),
    inplace("FmodTensor", torch.Tensor.fmod_, whole(*WIDE), positive(*WIDE)),
    inplace("FmodScalar", lambda a: a.fmod_(3), whole(*WIDE)),
    inplace("Atan2", torch.Tensor.atan2_, real(*WIDE), positive(*WIDE), dtypes=FLOATS),
    inplace("BitwiseXorScalar", lambda a: a.bitwise_xor_(5), whole(*WIDE), dtypes=INTEGERS),
    Case("ClampMaxTensor", torch.clamp_max, [whole(*WIDE), real(*WIDE)], NUMBERS),
    inplace("ClampMaxTensor", lambda a, b: a.clamp_max_(b), whole(*WIDE), real(*WIDE)),
    inplace("Lerp", torch.Tensor.lerp_, real(*WIDE), real(*WIDE), unit(*WIDE), dtypes=FLOATS),
]


def comparison(operator: str, name: str) -> list[Case]:
    function = getattr(torch.Tensor, name + "_")
    return [
        inplace(f"{operator}Tensor", function, whole(*WIDE), whole(*WIDE), dtypes=(*NUMBERS, torch.bool)),
        inplace(f"{operator}Scalar", lambda a: function(a, 1), whole(*WIDE), dtypes=(*NUMBERS, torch.bool)),
    ]


COMPARE = [case for name in ("Eq", "Ne", "Lt", "Le", "Gt", "Ge") for case in comparison(name, name.lower())]

ACTIVATIONS = [
    inplace("LeakyRelu", lambda a: F.leaky_relu_(a, 0.2), real(*WIDE), dtypes=FLOATS),
    inplace("Elu", lambda a: F.elu_(a, 1.5), real(*WIDE), dtypes=HALVES_AND_FLOAT),
    inplace("Threshold", lambda a: F.threshold_(a, 0.5, -1), real(*WIDE), dtypes=HALVES_AND_FLOAT),
    inplace("Hardtanh", lambda a: F.hardtanh_(a, -1, 2), real(*WIDE), dtypes=HALVES_AND_FLOAT),
    inplace("Hardswish", lambda a: F.hardswish(a, inplace=True), real(*WIDE), dtypes=HALVES_AND_FLOAT),
    inplace("Mish", lambda a: F.mish(a, inplace=True), real(*WIDE), dtypes=HALVES_AND_FLOAT),
]

MATRICES = [
    inplace("Triu", lambda a: a.triu_(1), whole(*WIDE)),
    inplace("Tril", lambda a: a.tril_(-1), whole(*WIDE)),
    inplace("FillDiagonal", lambda a: a.fill_diagonal_(7), whole(*WIDE)),
    Case(
        "InplaceFillDiagonal",
        lambda a: a.fill_diagonal_(7, wrap=True),
        [whole(7, 3)],
        NUMBERS,
        inplace=True,
        label="wrapped",
    ),
]

FOREACH = [
    Case("ForeachSubScalarV2", lists(lambda a: torch._foreach_sub(a, 2), 1), [real(4, 6)]),
    Case("ForeachSubScalarList", lists(lambda a: torch._foreach_sub(a, [3.0, 7.0]), 1), [real(4, 6)]),
    Case("ForeachPowScalarList", lists(lambda a: torch._foreach_pow(a, [2.0, 3.0]), 1), [real(4, 6)]),
    Case("ForeachPowList", lists(torch._foreach_pow, 2), [positive(4, 6)] * 2),
    Case("ForeachPowScalarAndTensor", lists(lambda a: torch._foreach_pow(0.9, a), 1), [positive(4, 6)]),
    Case("ForeachMinimumList", lists(torch._foreach_minimum, 2), [real(4, 6)] * 2),
    Case("ForeachMaximumScalarV2", lists(lambda a: torch._foreach_maximum(a, 0.5), 1), [real(4, 6)]),
    Case("ForeachMinimumScalarV2", lists(lambda a: torch._foreach_minimum(a, 0.5), 1), [real(4, 6)]),
    Case("ForeachNeg", lists(torch._foreach_neg, 1), [real(4, 6)]),
    Case("ForeachExp", lists(torch._foreach_exp, 1), [real(4, 6)]),
]

CASES = [*UNARY, *BINARY, *COMPARE, *ACTIVATIONS, *MATRICES, *FOREACH]
