# SPDX-License-Identifier: Apache-2.0
"""Cases of fused attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F
import torch_npu
from op_case import HALVES_AND_FLOAT, Case, mask, real
from op_cases_network import gradients, in_float

LOOSE = {"rtol": 2e-2, "atol": 2e-2}
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
BATCH, HEADS, KEY_HEADS, QUERIES, KEYS, SIZE = 2, 4, 2, 5, 7, 8
FULL = [real(BATCH, HEADS, QUERIES, SIZE), real(BATCH, HEADS, KEYS, SIZE), real(BATCH, HEADS, KEYS, SIZE)]
GROUPED = [FULL[0], real(BATCH, KEY_HEADS, KEYS, SIZE), real(BATCH, KEY_HEADS, KEYS, SIZE)]
SCALE = 0.3


def plain(q, k, v, hidden=None, pse=None, scale=SCALE):
    """softmax(scale * (pse + q k)) v, step by step; a row that sees nothing gives zeros."""
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    score = q @ k.transpose(-1, -2)
    score = (score + pse if pse is not None else score) * scale
    if hidden is not None:
        score = score.masked_fill(hidden, float("-inf"))
    return torch.nan_to_num(torch.softmax(score, -1)) @ v


def distance(q, k, from_the_end: bool):
    """How far each key lies after each query."""
    rows, columns = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
    return columns - rows - (k.shape[2] - q.shape[2] if from_the_end else 0)


def arranged(layout: str, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of (batch, heads, sequence, size) in the layout."""
    if layout == "BNSD":
        return tensor
    if layout == "BSND":
        return tensor.transpose(1, 2)
    if layout == "BSH":
        return tensor.transpose(1, 2).flatten(2)
    return tensor.permute(2, 0, 1, 3).flatten(2)


def fused(layout: str = "BNSD", **more):
    """npu_fusion_attention on (batch, heads, sequence, size), giving its result in the same order."""

    def call(q, k, v, pse=None):
        inputs = [arranged(layout, x).contiguous() for x in (q, k, v)]
        options = {name: value.to(q.device) if isinstance(value, torch.Tensor) else value for name, value in more.items()}
        options.setdefault("scale", SCALE)
        if pse is not None:
            options["pse"] = pse
        result = torch_npu.npu_fusion_attention(*inputs, q.shape[1], layout, **options)[0]
        if layout in ("BNSD", "BSND"):
            return result if layout == "BNSD" else result.transpose(1, 2)
        split = result.unflatten(-1, (q.shape[1], -1))
        return split.transpose(1, 2) if layout == "BSH" else split.permute(1, 2, 0, 3)

    return call


TRIANGLE = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
PATTERNS = {
    "causal": (dict(sparse_mode=2, atten_mask=TRIANGLE, next_tockens=0), lambda q, k: distance(q, k, False) > 0),
    "causal-from-the-end": (dict(sparse_mode=3, atten_mask=TRIANGLE, next_tockens=0), lambda q, k: distance(q, k, True) > 0),
    "band": (
        dict(sparse_mode=4, atten_mask=TRIANGLE, pre_tockens=1, next_tockens=1),
        lambda q, k: distance(q, k, True).abs() > 1,
    ),
}

CASES = [
    Case(
        "FlashAttentionScore",
        F.scaled_dot_product_attention,
        FULL,
        reference=in_float(F.scaled_dot_product_attention),
        tolerance=LOOSE,
    ),
    Case(
        "FlashAttentionScore",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        FULL,
        reference=in_float(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
        tolerance=LOOSE,
        label="causal",
        graph=False,  # torch_npu makes the mask on the CPU
    ),
    Case(
        "FlashAttentionScore",
        F.scaled_dot_product_attention,
        [*FULL, mask(BATCH, 1, QUERIES, KEYS)],
        reference=in_float(lambda q, k, v, m: plain(q, k, v, ~m.bool(), scale=SIZE**-0.5)),
        tolerance=LOOSE,
        label="mask",
    ),
    Case(
        "FlashAttentionScore",
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m & m[..., :1]),
        [*FULL, mask(BATCH, 1, QUERIES, KEYS)],
        [torch.float32],
        reference=lambda q, k, v, m: plain(q, k, v, ~(m & m[..., :1]), scale=SIZE**-0.5),
        label="rows-that-see-nothing",
    ),
    Case(
        "FlashAttentionScoreGrad",
        gradients(F.scaled_dot_product_attention),
        FULL,
        [torch.float32],
        reference=gradients(lambda q, k, v: plain(q, k, v, scale=SIZE**-0.5)),
        tolerance=CLOSE,
        label="sdpa",
    ),
    Case(
        "FlashAttentionScore",
        fused(),
        [*FULL, real(BATCH, HEADS, QUERIES, KEYS)],
        reference=in_float(lambda q, k, v, pse: plain(q, k, v, pse=pse)),
        tolerance=LOOSE,
        label="pse",
        graph=False,
    ),
    *[
        Case(
            "FlashAttentionScore", fused(layout), GROUPED, reference=in_float(plain), tolerance=LOOSE, label=layout, graph=False
        )
        for layout in ("BNSD", "BSH", "SBH", "BSND")
    ],
    *[
        Case(
            "FlashAttentionScore",
            fused(**options),
            FULL,
            reference=in_float(lambda q, k, v, hidden=hidden: plain(q, k, v, hidden(q, k))),
            tolerance=LOOSE,
            label=name,
            graph=False,
        )
        for name, (options, hidden) in PATTERNS.items()
    ],
    *[
        Case(
            "FlashAttentionScoreGrad",
            gradients(fused(layout)),
            GROUPED,
            HALVES_AND_FLOAT,
            reference=in_float(gradients(plain)),
            tolerance=LOOSE,
            label=layout,
            graph=False,
        )
        for layout in ("BNSD", "BSH", "SBH", "BSND")
    ],
    *[
        Case(
            "FlashAttentionScoreGrad",
            gradients(fused(**options)),
            FULL,
            [torch.float32],
            reference=gradients(lambda q, k, v, hidden=hidden: plain(q, k, v, hidden(q, k))),
            tolerance=CLOSE,
            label=name,
            graph=False,
        )
        for name, (options, hidden) in PATTERNS.items()
    ],
    Case(
        "FlashAttentionScoreGrad",
        gradients(fused()),
        [*FULL, real(BATCH, HEADS, QUERIES, KEYS)],
        [torch.float32],
        reference=gradients(lambda q, k, v, pse: plain(q, k, v, pse=pse)),
        tolerance=CLOSE,
        label="pse",
        graph=False,
    ),
]
