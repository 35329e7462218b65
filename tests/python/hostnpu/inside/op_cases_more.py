# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that fewer models use."""

from __future__ import annotations

import torch
import torch.nn.functional as F
import torch_npu
from op_case import FLOATS, HALVES_AND_FLOAT, INTEGERS, Case, Spec, distinct, index, mask, positive, real, typed, unit, whole
from op_cases_elementwise import NUMBERS, WIDE, both_unary, pair, unary
from op_cases_network import FOR_GRADIENTS, LOOSE, gradients, in_float, lists

FLOAT32 = (torch.float32,)
INF = float("inf")


def with_specials(a: torch.Tensor) -> torch.Tensor:
    """Zeros become NaN, ones infinite."""
    return a.masked_fill(a == 0, float("nan")).masked_fill(a == 1, INF).masked_fill(a == -1, -INF)


ELEMENTWISE = [
    *both_unary("Erfinv", "erfinv", unit),
    unary("Exp2", torch.exp2),
    unary("Log2", torch.log2, positive),
    unary("Log10", torch.log10, positive),
    unary("Tan", torch.tan),
    unary("Atan", torch.atan),
    unary("Sinh", torch.sinh),
    Case("RoundDecimals", lambda a: torch.round(a, decimals=2), [real(*WIDE)], FLOAT32),
    Case("NanToNum", lambda a: torch.nan_to_num(with_specials(a), 1.5, 7, -7), [whole(*WIDE)], HALVES_AND_FLOAT),
    Case("InplaceNanToNum", lambda a: with_specials(a).nan_to_num_(1.5, 7, -7), [whole(*WIDE)], HALVES_AND_FLOAT),
    Case("IsPosInf", lambda a: torch.isposinf(with_specials(a)), [whole(*WIDE)], HALVES_AND_FLOAT),
    pair("DivMod", lambda a, b: torch.div(a, b, rounding_mode="floor")),
    pair("DivMod", lambda a, b: torch.div(a, b, rounding_mode="trunc"), label="trunc"),
    Case("DivMods", lambda a: torch.div(a, 2, rounding_mode="trunc"), [whole(*WIDE)], NUMBERS),
    Case(
        "InplaceDivMod", lambda a, b: a.div_(b, rounding_mode="floor"), [whole(*WIDE), positive(*WIDE)], NUMBERS, inplace=True
    ),
    Case("InplaceDivMods", lambda a: a.div_(2, rounding_mode="floor"), [whole(*WIDE)], NUMBERS, inplace=True),
    Case("InplaceRemainderTensorScalar", lambda a: a.remainder_(3), [whole(*WIDE)], NUMBERS, inplace=True),
    Case("FmodScalar", lambda a: torch.fmod(a, 3), [whole(*WIDE)], NUMBERS),
    pair("Atan2", torch.atan2, FLOATS),
    Case("InplacePowTensorScalar", lambda a: a.pow_(2), [whole(*WIDE)], NUMBERS, inplace=True),
    Case("InplacePowTensorTensor", lambda a, b: a.pow_(b), [positive(*WIDE), positive(*WIDE)], FLOATS, inplace=True),
    Case("BitwiseXorTensor", torch.bitwise_xor, [whole(*WIDE), whole(*WIDE)], INTEGERS),
    Case("BitwiseXorScalar", lambda a: a ^ 5, [whole(*WIDE)], INTEGERS),
    Case("InplaceBitwiseXorTensor", torch.Tensor.bitwise_xor_, [whole(*WIDE), whole(*WIDE)], INTEGERS, inplace=True),
    Case("LeftShift", lambda a, b: a << b, [positive(*WIDE), positive(*WIDE)], [torch.int32, torch.int64]),
    Case("RightShift", lambda a, b: a >> b, [whole(*WIDE), positive(*WIDE)], [torch.int32, torch.int64]),
    Case("ClampMin", lambda a: torch.clamp_min(a, 0), [whole(*WIDE)], NUMBERS),
    Case("ClampMax", lambda a: torch.clamp_max(a, 0), [whole(*WIDE)], NUMBERS),
    Case("InplaceClampMax", lambda a: a.clamp_max_(0), [whole(*WIDE)], NUMBERS, inplace=True),
    Case("ClampMinTensor", torch.clamp_min, [whole(*WIDE), whole(*WIDE)], NUMBERS),
    Case("InplaceClampMinTensor", lambda a, b: a.clamp_min_(b), [whole(*WIDE), whole(*WIDE)], NUMBERS, inplace=True),
    Case("ClampTensor", lambda a, b, c: torch.clamp(a, b, b + c), [whole(*WIDE), whole(*WIDE), positive(*WIDE)], NUMBERS),
    Case("LogicalXor", torch.logical_xor, [whole(*WIDE), whole(*WIDE)], NUMBERS),
    Case("InplaceLogicalAnd", lambda a, b: a.logical_and_(b), [mask(*WIDE), mask(*WIDE)], [torch.bool], inplace=True),
    Case("InplaceLogicalOr", lambda a, b: a.logical_or_(b), [mask(*WIDE), mask(*WIDE)], [torch.bool], inplace=True),
    Case("IsInTensorScalar", lambda a: torch.isin(a, 2), [whole(*WIDE)], [torch.int32, torch.int64, torch.float32]),
    Case("IsInScalarTensor", lambda a: torch.isin(2, a), [whole(*WIDE)], [torch.int32, torch.int64, torch.float32]),
]

TENSORS = [
    Case("Addbmm", torch.addbmm, [real(4, 5), real(2, 4, 6), real(2, 6, 5)], FLOAT32),
    Case("Addmv", lambda a, m, v: torch.addmv(a, m, v, beta=0.5, alpha=2), [real(4), real(4, 6), real(6)], FLOAT32),
    Case("Mv", torch.mv, [real(4, 6), real(6)], HALVES_AND_FLOAT, tolerance=LOOSE),
    Case("Dot", torch.dot, [real(6), real(6)], HALVES_AND_FLOAT, tolerance=LOOSE),
    Case(
        "InplaceMaskedFillTensor",
        lambda a, m, v: a.masked_fill_(m, v),
        [real(*WIDE), mask(*WIDE), real()],
        FLOATS,
        inplace=True,
    ),
    Case(
        "InplaceMaskedScatter",
        lambda a, m, b: a.masked_scatter_(m, b),
        [real(*WIDE), mask(*WIDE), real(*WIDE)],
        NUMBERS,
        inplace=True,
    ),
    Case("Range", lambda a: torch.range(1, 4, 0.5, device=a.device), [real(1)], FLOAT32),
    Case("RepeatInterleaveInt", lambda a: a.repeat_interleave(3), [whole(*WIDE)], NUMBERS),
    Case("RepeatInterleave", lambda a, r: a.repeat_interleave(r), [whole(5), index(5, below=4)], NUMBERS, graph=False),
    Case(
        "RepeatInterleaveWithDim",
        lambda a, r: a.repeat_interleave(r, dim=0),
        [whole(4, 6), index(4, below=4)],
        NUMBERS,
        graph=False,
    ),
    Case("Roll", lambda a: a.roll((1, -2), (0, 1)), [whole(*WIDE)], NUMBERS),
    Case("Cummax", lambda a: tuple(a.cummax(1)), [distinct(*WIDE)], FLOAT32),
    Case("Cummin", lambda a: tuple(a.cummin(0)), [distinct(*WIDE)], FLOAT32),
    Case(
        "SearchSorted",
        lambda a, b: torch.searchsorted(a, b),
        [Spec((6,), 1, 2), real(3)],
        FLOAT32,
        reference=lambda a, b: torch.searchsorted(a, b),
        layouts=False,
    ),
    Case("ScatterValue", lambda a, i: a.scatter(1, i, 3), [whole(*WIDE), index(4, 3, below=6)], NUMBERS),
    Case("InplaceScatterValue", lambda a, i: a.scatter_(0, i, 3), [whole(*WIDE), index(4, 3, below=4)], NUMBERS, inplace=True),
    Case(
        "ScatterAdd",
        lambda a, i, b: a.scatter_add(1, i, b),
        [whole(*WIDE), index(4, 3, below=6), whole(*WIDE)],
        [torch.float32, torch.int32, torch.int64],
    ),
    Case(
        "IndexAdd",
        lambda a, i, b: a.index_add(0, i, b, alpha=2),
        [whole(*WIDE), index(3, below=4), whole(3, 6)],
        [torch.float32, torch.int32],
    ),
    Case("InplaceIndexFill", lambda a, i: a.index_fill_(1, i, 2), [whole(*WIDE), index(2, below=6)], NUMBERS, inplace=True),
    Case("IndexFillTensor", lambda a, i: a.index_fill(1, i, 2), [whole(*WIDE), index(2, below=6)], NUMBERS, graph=False),
]

REDUCTIONS = [
    Case("ArgMin", lambda a: a.argmin(1), [distinct(*WIDE)], FLOATS),
    Case("Median", lambda a: a.median(), [distinct(3, 5)], HALVES_AND_FLOAT),
    Case("Prod", lambda a: a.prod(), [real(2, 3)], FLOAT32),
    Case("ProdDim", lambda a: a.prod(1, keepdim=True), [real(*WIDE)], FLOAT32),
    Case("LogSumExp", lambda a: a.logsumexp((0, 1)), [real(*WIDE)], HALVES_AND_FLOAT),
    Case("Trace", torch.trace, [real(4, 4)], FLOAT32),
    Case("Std", lambda a: a.std(1), [real(*WIDE)], HALVES_AND_FLOAT),
    Case("VarMean", lambda a: torch.var_mean(a, 1), [real(*WIDE)], HALVES_AND_FLOAT),
    Case("StdMeanCorrection", lambda a: torch.std_mean(a, 1), [real(*WIDE)], HALVES_AND_FLOAT),
]


def three_reductions(operator: str, function, inputs) -> list[Case]:
    return [
        Case(operator, lambda *a, r=r: function(*a, reduction=r), inputs, FLOAT32, label=r) for r in ("mean", "sum", "none")
    ]


LOSSES = [
    *three_reductions("MseLoss", F.mse_loss, [real(*WIDE)] * 2),
    *three_reductions("SmoothL1Loss", F.smooth_l1_loss, [real(*WIDE)] * 2),
    *three_reductions("BinaryCrossEntropyWithLogits", F.binary_cross_entropy_with_logits, [real(*WIDE), unit(*WIDE)]),
    *three_reductions("KlDiv", F.kl_div, [real(*WIDE), unit(*WIDE)]),
    Case("MseLossBackward", gradients(F.mse_loss), [real(*WIDE)] * 2, FLOAT32),
]


def swiglu(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return F.silu(first) * second


ACTIVATIONS = [
    unary("LeakyRelu", lambda a: F.leaky_relu(a, 0.2)),
    Case("LeakyReluBackward", gradients(lambda a: F.leaky_relu(a, 0.2)), [real(*WIDE)], FLOAT32),
    unary("Elu", lambda a: F.elu(a, 1.5), dtypes=HALVES_AND_FLOAT),
    unary("Softplus", lambda a: F.softplus(a, 2, 4), dtypes=HALVES_AND_FLOAT),
    unary("Threshold", lambda a: F.threshold(a, 0.5, -1), dtypes=HALVES_AND_FLOAT),
    Case("Hardtanh", lambda a: torch._C._nn.hardtanh(a, -1, 2, out=torch.empty_like(a)), [real(*WIDE)], HALVES_AND_FLOAT),
    unary("Hardswish", F.hardswish, dtypes=HALVES_AND_FLOAT),
    unary("Mish", F.mish, dtypes=HALVES_AND_FLOAT),
    unary("LogSigmoidForward", F.logsigmoid, dtypes=HALVES_AND_FLOAT),
    Case("Glu", lambda a: F.glu(a, 1), [real(4, 6)], HALVES_AND_FLOAT),
    Case("Prelu", F.prelu, [real(4, 3), real(3)], FLOAT32),
    Case("SwiGlu", lambda a: torch_npu.npu_swiglu(a, dim=-1), [real(4, 6)], reference=in_float(swiglu), tolerance=LOOSE),
    Case(
        "SwiGluGrad",
        gradients(lambda a: torch_npu.npu_swiglu(a, dim=-1)),
        [real(4, 6)],
        FLOAT32,
        reference=gradients(swiglu),
        tolerance=FOR_GRADIENTS,
    ),
]


def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w


def add_rms(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor):
    x = a + b
    return rms(x, w), (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt(), x


def rotary(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor, neighbours: bool = False) -> torch.Tensor:
    """Each pair (a, b) turned by its angle, pair by pair."""
    size = x.shape[-1]
    if size != cosine.shape[-1]:
        raise ValueError(f"x and cosine must be of one size, got {size} and {cosine.shape[-1]}")
    first = torch.arange(0, size, 2) if neighbours else torch.arange(size // 2)
    second = first + (1 if neighbours else size // 2)
    result = torch.empty_like(x)
    result[..., first] = x[..., first] * cosine[..., first] - x[..., second] * sine[..., first]
    result[..., second] = x[..., second] * cosine[..., second] + x[..., first] * sine[..., second]
    return result


ROTARY_INPUTS = [real(2, 3, 5, 64), real(1, 1, 5, 64), real(1, 1, 5, 64)]
ROTARY = [
    Case(
        f"RotaryPositionEmbedding{'Grad' if grad else ''}",
        (gradients if grad else lambda f: f)(lambda x, c, s, mode=mode: torch_npu.npu_rotary_mul(x, c, s, mode)),
        ROTARY_INPUTS,
        FLOAT32,
        reference=(gradients if grad else lambda f: f)(lambda x, c, s, mode=mode: rotary(x, c, s, mode == "interleave")),
        tolerance=FOR_GRADIENTS,
        layouts=False,
        label=mode,
    )
    for mode in ("half", "interleave")
    for grad in (False, True)
]
NORMALIZATION = [
    Case(
        "RmsNormGrad",
        gradients(lambda x, w: torch_npu.npu_rms_norm(x, w)[0]),
        [real(4, 6), real(6)],
        FLOAT32,
        reference=gradients(rms),
        tolerance=FOR_GRADIENTS,
    ),
    Case(
        "AddRmsNorm",
        lambda a, b, w: torch_npu.npu_add_rms_norm(a, b, w),
        [real(4, 6), real(4, 6), real(6)],
        FLOAT32,
        reference=add_rms,
    ),
    Case("GroupNorm", lambda x, w, b: F.group_norm(x, 2, w, b), [real(2, 4, 3, 3), real(4), real(4)], FLOAT32),
    Case(
        "GroupNormBackward",
        gradients(lambda x, w, b: F.group_norm(x, 2, w, b)),
        [real(2, 4, 3, 3), real(4), real(4)],
        FLOAT32,
        tolerance=FOR_GRADIENTS,
    ),
    Case("AvgPool2d", lambda x: F.avg_pool2d(x, 3, 2, 1), [real(2, 3, 7, 7)], FLOAT32),
    Case("AvgPool2d", lambda x: F.avg_pool2d(x, 2, divisor_override=3), [real(2, 3, 6, 6)], FLOAT32, label="divisor"),
    Case("AvgPool2dBackward", gradients(lambda x: F.avg_pool2d(x, 3, 2, 1)), [real(2, 3, 7, 7)], FLOAT32),
    Case("AdaptiveAvgPool2d", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), [real(2, 3, 7, 7)], FLOAT32),
    Case("AdaptiveAvgPool2dBackward", gradients(lambda x: F.adaptive_avg_pool2d(x, (2, 3))), [real(2, 3, 7, 7)], FLOAT32),
]


def copied(sources: list[torch.Tensor]) -> list[torch.Tensor]:
    targets = [torch.zeros_like(x) for x in sources]
    torch._foreach_copy_(targets, sources)
    return targets


def zeroed(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    copies = [x.clone() for x in tensors]
    torch._foreach_zero_(copies)
    return copies


def unscaled(spoiled: bool):
    """Unscaling of two gradients, one of them with an infinity or not, and whether it was found."""

    def call(a: torch.Tensor, scale: torch.Tensor) -> list[torch.Tensor]:
        gradients = [a.clone(), a.t().contiguous() / (0 if spoiled else 1)]
        found = torch.zeros(1, device=a.device)
        torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, scale)
        return [*gradients[:1], found]

    return call


def scale_after(found: float, steps: int):
    """The scale and the count of good steps after an update."""

    def call(scale: torch.Tensor) -> list[torch.Tensor]:
        scale = scale.clone()
        tracker = torch.full((1,), steps, dtype=torch.int32, device=scale.device)
        flag = torch.full((1,), found, device=scale.device)
        torch._amp_update_scale_(scale, tracker, flag, 2.0, 0.5, 3)
        return [scale, tracker]

    return call


FOREACH = [
    Case("ForeachNonFiniteCheckAndUnscale", unscaled(False), [real(4, 6), typed(unit(1), torch.float32)], HALVES_AND_FLOAT, layouts=False),
    Case("ForeachNonFiniteCheckAndUnscale", unscaled(True), [real(4, 6), typed(unit(1), torch.float32)], HALVES_AND_FLOAT, layouts=False, label="inf"),
    *[
        Case("AmpUpdateScale", scale_after(found, steps), [positive(1)], FLOAT32, layouts=False, label=f"{found:.0f}-{steps}")
        for found, steps in ((0.0, 0), (0.0, 2), (1.0, 2))
    ],
    Case("ForeachAddScalarList", lists(lambda a: torch._foreach_add(a, [3.0, 7.0]), 1), [real(4, 6)]),
    Case("ForeachMulScalarList", lists(lambda a: torch._foreach_mul(a, [3.0, 7.0]), 1), [real(4, 6)]),
    Case("ForeachSubListV2", lists(lambda a, b: torch._foreach_sub(a, b, alpha=2), 2), [real(4, 6)] * 2, tolerance=LOOSE),
    Case("ForeachMulList", lists(torch._foreach_mul, 2), [real(4, 6)] * 2),
    Case("ForeachDivList", lists(torch._foreach_div, 2), [real(4, 6), positive(4, 6)]),
    Case("ForeachMaximumList", lists(torch._foreach_maximum, 2), [real(4, 6)] * 2),
    Case("ForeachPowScalarV2", lists(lambda a: torch._foreach_pow(a, 2), 1), [real(4, 6)]),
    Case("ForeachAbs", lists(torch._foreach_abs, 1), [real(4, 6)]),
    Case("ForeachSign", lists(torch._foreach_sign, 1), [real(4, 6)]),
    Case("ForeachReciprocal", lists(torch._foreach_reciprocal, 1), [positive(4, 6)]),
    Case("ForeachCopy", lists(copied, 1), [real(4, 6)]),
    Case("ForeachZeroInplace", lists(zeroed, 1), [real(4, 6)]),
    Case("ForeachLerpList", lists(torch._foreach_lerp, 3), [real(4, 6), real(4, 6), unit(4, 6)], tolerance=LOOSE),
    Case(
        "ForeachAddcdivScalarV2",
        lists(lambda a, b, c: torch._foreach_addcdiv(a, b, c, 2), 3),
        [real(4, 6), real(4, 6), positive(4, 6)],
        tolerance=LOOSE,
    ),
]

CASES = [*ELEMENTWISE, *TENSORS, *REDUCTIONS, *LOSSES, *ACTIVATIONS, *NORMALIZATION, *ROTARY, *FOREACH]
