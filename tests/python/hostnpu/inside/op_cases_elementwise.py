# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that work element by element."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from op_case import EVERY_TYPE, FLOATS, INTEGERS, Case, mask, positive, real, typed, unit, whole

NUMBERS = (*FLOATS, torch.int32, torch.int64)
WIDE = (4, 6)


def unary(operator: str, function, spec=real, dtypes=FLOATS) -> Case:
    return Case(operator, function, [spec(*WIDE)], dtypes)


def both_unary(operator: str, name: str, spec=real) -> list[Case]:
    return [
        unary(operator, getattr(torch, name), spec),
        Case(f"Inplace{operator}", getattr(torch.Tensor, name + "_"), [spec(*WIDE)], FLOATS, inplace=True),
    ]


def pair(operator: str, function, dtypes=NUMBERS, **more) -> Case:
    return Case(operator, function, [real(*WIDE), positive(*WIDE)], dtypes, **more)


UNARY = [
    *both_unary("Exp", "exp"),
    *both_unary("Expm1", "expm1"),
    *both_unary("Log", "log", positive),
    *both_unary("Log1p", "log1p", positive),
    *both_unary("Sqrt", "sqrt", positive),
    *both_unary("Rsqrt", "rsqrt", positive),
    *both_unary("Reciprocal", "reciprocal", positive),
    *both_unary("Sin", "sin"),
    *both_unary("Cos", "cos"),
    *both_unary("Tanh", "tanh"),
    *both_unary("Erf", "erf"),
    *both_unary("Floor", "floor"),
    *both_unary("Ceil", "ceil"),
    *both_unary("Sigmoid", "sigmoid"),
    unary("Abs", torch.abs, whole, (*FLOATS, torch.int32, torch.int64)),
    unary("Neg", torch.neg, whole, (*FLOATS, torch.int32, torch.int64)),
    unary("Sign", torch.sign, whole, (*FLOATS, torch.int32, torch.int64)),
    unary("Round", torch.round),
    unary("Trunc", torch.trunc),
    unary("LogicalNot", torch.logical_not, whole, EVERY_TYPE),
    unary("BitwiseNot", torch.bitwise_not, whole, (*INTEGERS, torch.bool)),
    Case(
        "IsFinite",
        lambda a: torch.isfinite(a / (a - 1)),
        [typed(whole(*WIDE), torch.float32)],
        [torch.float32],
        label="inf",
    ),
    unary("IsFinite", torch.isfinite, real, (*FLOATS, torch.int32, torch.bool)),
    Case("IsNegInf", lambda a: torch.isneginf(torch.log(a.abs().floor())), [real(*WIDE)], FLOATS),
]

BINARY = [
    pair("Add", torch.add, (*NUMBERS, torch.int16, torch.int8, torch.uint8, torch.bool)),
    pair("Add", lambda a, b: torch.add(a, b, alpha=3), label="alpha"),
    Case("Add", torch.add, [real(4, 6), real(6)], NUMBERS, label="broadcast"),
    Case("Adds", lambda a: a + 2.5, [real(*WIDE)], NUMBERS),
    pair("InplaceAdd", lambda a, b: a.add_(b, alpha=2), inplace=True),
    Case("InplaceAdds", lambda a: a.add_(2), [real(*WIDE)], NUMBERS, inplace=True),
    pair("Sub", torch.sub),
    Case("Subs", lambda a: a - 2, [real(*WIDE)], NUMBERS),
    pair("InplaceSub", lambda a, b: a.sub_(b, alpha=2), inplace=True),
    Case("InplaceSubs", lambda a: a.sub_(2), [real(*WIDE)], NUMBERS, inplace=True),
    Case("Rsubs", lambda a: torch.rsub(a, 3, alpha=2), [real(*WIDE)], NUMBERS),
    pair("Mul", torch.mul, (*NUMBERS, torch.bool)),
    Case("Muls", lambda a: a * 2.5, [real(*WIDE)], NUMBERS),
    pair("InplaceMul", lambda a, b: a.mul_(b), inplace=True),
    Case("InplaceMuls", lambda a: a.mul_(3), [real(*WIDE)], NUMBERS, inplace=True),
    pair("Div", torch.div),
    Case("Divs", lambda a: a / 3, [real(*WIDE)], NUMBERS),
    pair("InplaceDiv", lambda a, b: a.div_(b), FLOATS, inplace=True),
    Case("InplaceDivs", lambda a: a.div_(3), [real(*WIDE)], FLOATS, inplace=True),
    Case("FloorDivides", lambda a: torch.floor_divide(a, 2), [whole(*WIDE)], NUMBERS),
    Case("FloorDivide", torch.floor_divide, [whole(*WIDE), positive(*WIDE)], NUMBERS),
    Case("InplaceFloorDivide", lambda a, b: a.floor_divide_(b), [whole(*WIDE), positive(*WIDE)], NUMBERS, inplace=True),
    Case("InplaceFloorDivides", lambda a: a.floor_divide_(2), [whole(*WIDE)], NUMBERS, inplace=True),
    Case("RemainderTensorTensor", torch.remainder, [whole(*WIDE), positive(*WIDE)], NUMBERS),
    Case("RemainderTensorScalar", lambda a: torch.remainder(a, 3), [whole(*WIDE)], NUMBERS),
    pair("Maximum", torch.maximum, (*NUMBERS, torch.bool)),
    pair("Minimum", torch.minimum, (*NUMBERS, torch.bool)),
    Case("PowTensorScalar", lambda a: a**3, [real(*WIDE)], NUMBERS),
    Case("PowTensorScalar", lambda a: a**0.5, [positive(*WIDE)], FLOATS, label="root"),
    Case("PowTensorTensor", torch.pow, [positive(*WIDE), positive(*WIDE)], NUMBERS),
    Case("PowScalarTensor", lambda a: torch.pow(2, a), [positive(*WIDE)], NUMBERS),
    Case("BitwiseAndTensor", torch.bitwise_and, [whole(*WIDE), whole(*WIDE)], (*INTEGERS, torch.bool)),
    Case("BitwiseAndScalar", lambda a: a & 5, [whole(*WIDE)], INTEGERS),
    Case("BitwiseOrTensor", torch.bitwise_or, [whole(*WIDE), whole(*WIDE)], (*INTEGERS, torch.bool)),
    Case("BitwiseOrScalar", lambda a: a | 5, [whole(*WIDE)], INTEGERS),
    Case("InplaceBitwiseAndTensor", torch.Tensor.bitwise_and_, [whole(*WIDE), whole(*WIDE)], INTEGERS, inplace=True),
    Case("InplaceBitwiseAndScalar", lambda a: a.bitwise_and_(5), [whole(*WIDE)], INTEGERS, inplace=True),
    Case("Clamp", lambda a: torch.clamp(a, -1, 2), [whole(*WIDE)], NUMBERS),
    Case("Clamp", lambda a: torch.clamp(a, min=0.5), [real(*WIDE)], FLOATS, label="low"),
    Case("Clamp", lambda a: torch.clamp(a, max=0.5), [real(*WIDE)], FLOATS, label="high"),
    Case("Lerp", torch.lerp, [real(*WIDE), real(*WIDE), unit(*WIDE)], FLOATS),
    Case("Lerps", lambda a, b: torch.lerp(a, b, 0.3), [real(*WIDE), real(*WIDE)], FLOATS),
    Case("InplaceLerps", lambda a, b: a.lerp_(b, 0.3), [real(*WIDE), real(*WIDE)], FLOATS, inplace=True),
    Case("Addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=2), [real(*WIDE)] * 3, FLOATS),
    Case("InplaceAddcmul", lambda a, b, c: a.addcmul_(b, c, value=2), [real(*WIDE)] * 3, FLOATS, inplace=True),
    Case("Addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=2), [real(*WIDE)] * 2 + [positive(*WIDE)], FLOATS),
    Case(
        "InplaceAddcdiv",
        lambda a, b, c: a.addcdiv_(b, c, value=2),
        [real(*WIDE)] * 2 + [positive(*WIDE)],
        FLOATS,
        inplace=True,
    ),
]


def comparison(operator: str, function) -> list[Case]:
    types = (*NUMBERS, torch.int8, torch.uint8, torch.bool)
    return [
        Case(f"{operator}Tensor", function, [whole(*WIDE), whole(*WIDE)], types),
        Case(f"{operator}Scalar", lambda a: function(a, 1), [whole(*WIDE)], types),
    ]


COMPARE = [
    *comparison("Eq", torch.eq),
    *comparison("Ne", torch.ne),
    *comparison("Lt", torch.lt),
    *comparison("Le", torch.le),
    *comparison("Gt", torch.gt),
    *comparison("Ge", torch.ge),
    Case("LogicalAnd", torch.logical_and, [whole(*WIDE), whole(*WIDE)], NUMBERS),
    Case("LogicalOr", torch.logical_or, [whole(*WIDE), whole(*WIDE)], NUMBERS),
    Case(
        "Equal",
        lambda a, b: torch.tensor([torch.equal(a, b), torch.equal(a, a.clone())]),
        [real(*WIDE)] * 2,
        NUMBERS,
        graph=False,
    ),
    Case("IsClose", lambda a, b: torch.isclose(a, a + b * 1e-7, rtol=1e-7), [real(*WIDE)] * 2, [torch.float32]),
    Case("SWhere", torch.where, [mask(*WIDE), real(*WIDE), real(*WIDE)], NUMBERS),
]

ACTIVATIONS = [
    unary("Relu", F.relu),
    Case("InplaceRelu", torch.relu_, [real(*WIDE)], FLOATS, inplace=True),
    unary("Silu", F.silu),
    # torch_npu calls aclnnGelu for both kinds, and that is the tanh approximation.
    Case("Gelu", F.gelu, [real(*WIDE)], reference=lambda a: F.gelu(a, approximate="tanh")),
]

CASES = [*UNARY, *BINARY, *COMPARE, *ACTIVATIONS]
