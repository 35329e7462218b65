# SPDX-License-Identifier: Apache-2.0
"""Cases of the operators that networks and their training are made of."""

from __future__ import annotations

import torch
import torch.nn.functional as F
import torch_npu
from op_case import FLOATS, HALVES_AND_FLOAT, Case, index, positive, real, typed, unit

FLOAT_AND_DOUBLE = (torch.float32, torch.float64)
LOOSE = {"rtol": 2e-2, "atol": 2e-2}  # fp16 and bf16 where the CPU rounds between the steps of what is one operator here
FOR_GRADIENTS = {"rtol": 1e-4, "atol": 1e-5}


def gradients(function):
    """The gradients of all floating inputs of a function, weighted so that no two elements of a row count the same."""

    def call(*inputs: torch.Tensor) -> list[torch.Tensor]:
        leaves = [x.detach().requires_grad_() if x.is_floating_point() else x for x in inputs]
        with torch.enable_grad():
            result = function(*leaves)
            weight = torch.ones_like(result).cumsum(-1) / 8
            wanted = [x for x in leaves if x.requires_grad]
            return list(torch.autograd.grad(result, wanted, weight))

    return call


MATMUL = [
    Case("Mm", torch.mm, [real(4, 6), real(6, 5)], FLOATS),
    Case("Matmul", torch.matmul, [real(4, 6), real(6, 5)], FLOATS, label="2d"),
    Case("Matmul", torch.matmul, [real(2, 4, 6), real(6, 5)], HALVES_AND_FLOAT),
    Case("BatchMatMul", torch.bmm, [real(2, 4, 6), real(2, 6, 5)], HALVES_AND_FLOAT),
    Case("Addmm", lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), [real(5), real(4, 6), real(6, 5)], tolerance=LOOSE),
    Case("InplaceAddmm", lambda a, b, c: a.addmm_(b, c), [real(4, 5), real(4, 6), real(6, 5)], inplace=True, tolerance=LOOSE),
    Case("Baddbmm", torch.baddbmm, [real(2, 4, 5), real(2, 4, 6), real(2, 6, 5)], tolerance=LOOSE),
]

SOFTMAX_AND_LOSS = [
    Case("Softmax", lambda a: a.softmax(-1), [real(4, 6)], FLOATS),
    Case("Softmax", lambda a: a.softmax(0), [real(4, 6)], FLOATS, label="first"),
    Case("LogSoftmax", lambda a: a.log_softmax(-1), [real(4, 6)], FLOATS),
    Case("SoftmaxBackward", gradients(lambda a: a.softmax(-1)), [real(4, 6)], FLOATS),
    Case("LogSoftmaxBackward", gradients(lambda a: a.log_softmax(-1)), [real(4, 6)], FLOATS),
    Case("NLLLoss", lambda a, t: F.nll_loss(a, t), [real(4, 6), index(4, below=6)], [torch.float32]),
    Case(
        "NLLLoss",
        lambda a, t: F.nll_loss(a, t, reduction="none"),
        [real(4, 6), index(4, below=6)],
        [torch.float32],
        label="none",
    ),
    Case(
        "NLLLoss",
        lambda a, t, w: F.nll_loss(a, t, w, reduction="sum", ignore_index=2),
        [real(4, 6), index(4, below=6), positive(6)],
        [torch.float32],
        label="weighted",
    ),
    Case("NLLLossBackward", gradients(lambda a, t: F.nll_loss(a, t)), [real(4, 6), index(4, below=6)], [torch.float32]),
    Case(
        "NLLLossBackward",
        gradients(lambda a, t: F.nll_loss(a, t, reduction="none")),
        [real(4, 6), index(4, below=6)],
        [torch.float32],
        label="none",
    ),
    Case(
        "LogSoftmax NLLLoss",
        lambda a, t: F.cross_entropy(a, t, ignore_index=1),
        [real(4, 6), index(4, below=6)],
        HALVES_AND_FLOAT,
        tolerance=LOOSE,
    ),
]

ACTIVATION_GRADIENTS = [
    Case("ThresholdBackward", gradients(F.relu), [real(4, 6)], FLOATS),
    Case("SigmoidBackward", gradients(torch.sigmoid), [real(4, 6)], FLOATS),
    Case("TanhBackward", gradients(torch.tanh), [real(4, 6)], FLOATS),
    Case("SiluBackward", gradients(F.silu), [real(4, 6)], FLOATS),
    Case("GeluBackward", gradients(F.gelu), [real(4, 6)], reference=gradients(lambda a: F.gelu(a, approximate="tanh"))),
    Case("GeluV2", lambda a: torch_npu.npu_gelu(a, approximate="none"), [real(4, 6)], reference=F.gelu),
    Case(
        "GeluV2",
        lambda a: torch_npu.npu_gelu(a, approximate="tanh"),
        [real(4, 6)],
        reference=lambda a: F.gelu(a, approximate="tanh"),
        label="tanh",
    ),
]


def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], w, b)


def in_float(function):
    """The same in fp32, rounded at the end: what the NPU's kernels do with fp16 and bf16."""

    def call(*inputs: torch.Tensor):
        result = function(*[x.float() if x.is_floating_point() else x for x in inputs])
        dtype = inputs[0].dtype
        return [r.to(dtype) for r in result] if isinstance(result, (list, tuple)) else result.to(dtype)

    return call


def rms_norm(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wide = x.float()
    rstd = (wide.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()
    return (wide * rstd * w.float()).to(x.dtype), rstd


def batch_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, mean: torch.Tensor, var: torch.Tensor):
    mean, var = mean.clone(), var.clone()
    result = F.batch_norm(x, mean, var, w, b, training=True, momentum=0.3)
    return result, mean, var


CHANNELS = [typed(real(3), torch.float32), typed(real(3), torch.float32)]
STATISTICS = [typed(real(3), torch.float32), typed(positive(3), torch.float32)]
NORMALIZATION = [
    Case("LayerNorm", layer_norm, [real(4, 6), real(6), real(6)], HALVES_AND_FLOAT, tolerance=LOOSE),
    Case("LayerNorm", lambda x: F.layer_norm(x, (4, 6)), [real(2, 4, 6)], HALVES_AND_FLOAT, tolerance=LOOSE, label="plain"),
    Case(
        "LayerNormBackward",
        gradients(layer_norm),
        [real(4, 6), real(6), real(6)],
        reference=in_float(gradients(layer_norm)),
        tolerance=LOOSE,
    ),
    Case(
        "LayerNormBackward",
        gradients(lambda x: F.layer_norm(x, (6,))),
        [real(4, 6)],
        reference=in_float(gradients(lambda x: F.layer_norm(x, (6,)))),
        tolerance=LOOSE,
        label="plain",
    ),
    Case("RmsNorm", lambda x, w: torch_npu.npu_rms_norm(x, w), [real(4, 6), real(6)], reference=rms_norm),
    Case("BatchNorm", batch_norm, [real(2, 3, 4, 4), *CHANNELS, *STATISTICS], [torch.float32]),
    Case(
        "BatchNorm",
        lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b),
        [real(4, 3), *CHANNELS, *STATISTICS],
        [torch.float32],
        label="eval",
    ),
    Case(
        "BatchNormBackward",
        gradients(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)),
        [real(2, 3, 4, 4), *CHANNELS],
        [torch.float32],
        tolerance=FOR_GRADIENTS,
    ),
]

CONVOLUTION = [
    Case(
        "Convolution",
        lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1),
        [real(2, 4, 6, 6), real(3, 4, 3, 3), real(3)],
        tolerance=LOOSE,
    ),
    Case(
        "Convolution",
        lambda x, w: F.conv2d(x, w, groups=2, dilation=2),
        [real(2, 4, 6, 6), real(4, 2, 2, 2)],
        tolerance=LOOSE,
        label="groups",
    ),
    Case("Convolution", lambda x, w: F.conv1d(x, w), [real(2, 4, 9), real(3, 4, 3)], tolerance=LOOSE, label="1d"),
    Case(
        "Convolution",
        lambda x, w: F.conv_transpose2d(x, w, stride=2),
        [real(2, 4, 3, 3), real(4, 3, 2, 2)],
        tolerance=LOOSE,
        label="transposed",
    ),
    Case(
        "ConvolutionBackward",
        gradients(lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1)),
        [real(2, 4, 6, 6), real(3, 4, 3, 3), real(3)],
        [torch.float32],
        tolerance=FOR_GRADIENTS,
    ),
    Case("MaxPool2dWithMask", lambda x: F.max_pool2d(x, 3, 2, 1), [real(2, 3, 7, 7)], HALVES_AND_FLOAT),
    Case("MaxPool2dWithMaskBackward", gradients(lambda x: F.max_pool2d(x, 3, 2, 1)), [real(2, 3, 7, 7)], [torch.float32]),
    Case(
        "EmbeddingDenseBackward",
        gradients(lambda w, i: F.embedding(i, w, padding_idx=1)),
        [real(5, 6), index(2, 3, below=5)],
        [torch.float32],
    ),
]


def lists(function, count: int):
    """Calls a function on `count` lists of two tensors each, cut from the rows of the inputs."""

    def call(*inputs: torch.Tensor):
        return function(*[[x[:1], x[1:].t().contiguous()] for x in inputs[:count]], *inputs[count:])

    return call


def adamw(amsgrad: bool, maximize: bool):
    """Two steps of the fused optimizer, or of the plain one on the CPU."""

    def call(parameter: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        leaf = parameter.detach().clone().requires_grad_()
        fused = leaf.device.type == "npu"
        optimizer = torch.optim.AdamW([leaf], lr=0.1, weight_decay=0.1, amsgrad=amsgrad, maximize=maximize, fused=fused)
        for scale in (1.0, -0.25):
            leaf.grad = gradient * scale
            optimizer.step()
        return leaf.detach()

    return call


OPTIMIZERS = [
    Case("ForeachAddListV2", lists(lambda a, b: torch._foreach_add(a, b, alpha=2), 2), [real(4, 6)] * 2),
    Case("ForeachAddScalarV2", lists(lambda a: torch._foreach_add(a, 2), 1), [real(4, 6)]),
    Case("ForeachMulScalarV2", lists(lambda a: torch._foreach_mul(a, 0.5), 1), [real(4, 6)]),
    Case("ForeachDivScalarV2", lists(lambda a: torch._foreach_div(a, 3.0), 1), [real(4, 6)]),
    Case("ForeachDivScalarList", lists(lambda a: torch._foreach_div(a, [3.0, 7.0]), 1), [real(4, 6)]),
    Case("ForeachSqrt", lists(torch._foreach_sqrt, 1), [positive(4, 6)]),
    Case("ForeachLerpScalar", lists(lambda a, b: torch._foreach_lerp(a, b, 0.3), 2), [real(4, 6)] * 2, tolerance=LOOSE),
    Case(
        "ForeachAddcmulScalarV2",
        lists(lambda a, b, c: torch._foreach_addcmul(a, b, c, 2), 3),
        [real(4, 6)] * 3,
        tolerance=LOOSE,
    ),
    Case("ForeachNorm", lists(lambda a: torch._foreach_norm(a, 2), 1), [real(4, 6)]),
    Case("ApplyAdamWV2", adamw(False, False), [real(4, 6), unit(4, 6)], [torch.float32], graph=False),
    Case("ApplyAdamWV2", adamw(True, False), [real(4, 6), unit(4, 6)], [torch.float32], graph=False, label="amsgrad"),
    Case("ApplyAdamWV2", adamw(False, True), [real(4, 6), unit(4, 6)], [torch.float32], graph=False, label="maximize"),
]

CASES = [
    *MATMUL,
    *SOFTMAX_AND_LOSS,
    *ACTIVATION_GRADIENTS,
    *NORMALIZATION,
    *CONVOLUTION,
    *OPTIMIZERS,
]
