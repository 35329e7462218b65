# SPDX-License-Identifier: Apache-2.0
"""Cases of the fused attention of inference: sequences of unlike lengths, grouped heads, masks, pages."""

from __future__ import annotations

import torch
import torch_npu
from op_case import Case, mask, real

HALVES = (torch.float16, torch.bfloat16)
LOOSE = {"rtol": 2e-2, "atol": 2e-2}
BATCH, HEADS, KEY_HEADS, QUERIES, KEYS, SIZE = 2, 4, 2, 5, 7, 16
SCALE = 0.3
LENGTHS, KEY_LENGTHS = [3, 5], [7, 2]
BLOCK = 4  # tokens of a page
PAGES = [[5, 1], [0, 3]]  # of the two sequences
TRIANGLE = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
INPUTS = [real(BATCH, HEADS, QUERIES, SIZE), real(BATCH, KEY_HEADS, KEYS, SIZE), real(BATCH, KEY_HEADS, KEYS, SIZE)]


def attend(q, k, v, hidden=None, pse=None):
    """One sequence, [heads, tokens, size]: the result and the logarithm of each row's sum, in fp64."""
    group = q.shape[0] // k.shape[0]
    k, v = k.double().repeat_interleave(group, 0), v.double().repeat_interleave(group, 0)
    score = SCALE * (q.double() @ k.transpose(-1, -2))
    score = score + pse.double() if pse is not None else score
    score = score.masked_fill(hidden, float("-inf")) if hidden is not None else score
    sums = score.logsumexp(-1, keepdim=True)
    return torch.nan_to_num(torch.softmax(score, -1)) @ v, sums.masked_fill(sums == float("-inf"), float("inf"))


def expected(lengths=None, key_lengths=None, hidden=None):
    """Of (batch, heads, tokens, size); what lies behind a length is 0 and infinity."""

    def call(q, k, v, m=None, pse=None):
        sums = torch.full((*q.shape[:3], 1), float("inf"), dtype=torch.float64)
        if not q.numel():
            return torch.empty_like(q), sums.float()
        out = torch.zeros(*q.shape[:3], v.shape[-1], dtype=torch.float64)
        for i in range(q.shape[0]):
            queries = lengths[i] if lengths else q.shape[2]
            keys = key_lengths[i] if key_lengths else k.shape[2]
            unseen = m[i, 0, :queries, :keys] if m is not None else hidden(queries, keys) if hidden else None
            shift = pse[i, :, :queries, :keys] if pse is not None else None
            out[i, :, :queries], sums[i, :, :queries] = attend(q[i, :, :queries], k[i, :, :keys], v[i, :, :keys], unseen, shift)
        return out.to(q.dtype), sums.float()

    return call


def arranged(layout: str, tensor: torch.Tensor) -> torch.Tensor:
    turned = {"BNSD": tensor, "BSND": tensor.transpose(1, 2), "BSH": tensor.transpose(1, 2).flatten(2)}
    return turned[layout].contiguous()


def back(layout: str, tensor: torch.Tensor) -> torch.Tensor:
    if layout == "BSH":
        tensor = tensor.unflatten(-1, (HEADS, tensor.shape[-1] // HEADS))
    return tensor if layout == "BNSD" else tensor.transpose(0, 1) if layout == "NBSD" else tensor.transpose(1, 2)


def score(second: bool, *inputs, layout: str, key_heads: int, lengths=None, key_lengths=None, **more):
    """Both versions of torch_npu's call by the names of the first."""
    more = {name: value.to(inputs[0].device) if isinstance(value, torch.Tensor) else value for name, value in more.items()}
    if second:
        return torch_npu.npu_fused_infer_attention_score_v2(
            *inputs, num_query_heads=HEADS, num_key_value_heads=key_heads, softmax_scale=SCALE, input_layout=layout,
            actual_seq_qlen=lengths, actual_seq_kvlen=key_lengths, return_softmax_lse=True, **more,
        )  # fmt: skip
    return torch_npu.npu_fused_infer_attention_score(
        *inputs, num_heads=HEADS, num_key_value_heads=key_heads, scale=SCALE, input_layout=layout,
        actual_seq_lengths=lengths, actual_seq_lengths_kv=key_lengths, softmax_lse_flag=True, **more,
    )  # fmt: skip


def fused(second: bool, layout: str = "BNSD", out_layout: str = "", **more):
    def call(q, k, v, m=None, pse=None):
        options = dict(more)
        if m is not None:
            options["atten_mask"] = m
        if pse is not None:
            options["pse_shift"] = pse
        inputs = [arranged(layout, x) for x in (q, k, v)]
        name = f"{layout}_{out_layout}" if out_layout else layout
        out, sums = score(second, *inputs, layout=name, key_heads=k.shape[1], **options)
        return back(out_layout or layout, out), sums

    return call


def packed(second: bool):
    """The valid tokens of all sequences behind one another."""

    def call(q, k, v):
        inputs = [
            torch.cat([x[i, :, :n].transpose(0, 1) for i, n in enumerate(lengths)]).contiguous()
            for x, lengths in ((q, LENGTHS), (k, KEY_LENGTHS), (v, KEY_LENGTHS))
        ]
        ends, key_ends = (torch.tensor(lengths).cumsum(0).tolist() for lengths in (LENGTHS, KEY_LENGTHS))
        out, sums = score(second, *inputs, layout="TND", key_heads=KEY_HEADS, lengths=ends, key_lengths=key_ends)
        whole, all_sums = torch.zeros_like(q), torch.full((*q.shape[:3], 1), float("inf"), device=q.device)
        for i, (start, end) in enumerate(zip([0, *ends], ends)):
            whole[i, :, : end - start] = out[start:end].transpose(0, 1)
            all_sums[i, :, : end - start] = sums[start:end].transpose(0, 1)
        return whole, all_sums

    return call


def paged(second: bool, flat: bool):
    """Keys and values lie in pages of a cache, which a table finds; `flat`: with the heads of a token side by side."""

    def call(q, k, v):
        table = torch.tensor(PAGES, dtype=torch.int32)
        caches = []
        for x in (k, v):
            cache = torch.full((6, KEY_HEADS, BLOCK, SIZE), 99.0, dtype=q.dtype, device=q.device)
            for i, pages in enumerate(PAGES):
                for number, page in enumerate(pages):
                    part = x[i, :, number * BLOCK : (number + 1) * BLOCK]
                    cache[page, :, : part.shape[1]] = part
            caches.append(cache.transpose(1, 2).flatten(2).contiguous() if flat else cache)
        return score(
            second, q.contiguous(), *caches, layout="BNSD", key_heads=KEY_HEADS, lengths=LENGTHS, key_lengths=KEY_LENGTHS,
            block_table=table.to(q.device), block_size=BLOCK,
        )  # fmt: skip

    return call


def from_the_end(queries: int, keys: int) -> torch.Tensor:
    return torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)


def cases(second: bool) -> list[Case]:
    operator = f"FusedInferAttentionScoreV{4 if second else 3}"

    def case(label: str, call, reference, inputs=INPUTS) -> Case:
        whole = label not in ("packed", "pages", "flat-pages")
        return Case(
            operator, call, inputs, HALVES, reference=reference, tolerance=LOOSE, label=label, graph=label == "BNSD", zero_size=whole
        )

    lengths = dict(lengths=LENGTHS, key_lengths=KEY_LENGTHS)
    decode = [real(BATCH, HEADS, 1, SIZE), *INPUTS[1:]]
    return [
        *[case(layout, fused(second, layout), expected()) for layout in ("BNSD", "BSND", "BSH")],
        case("turned-output", fused(second, "BNSD", "BSND"), expected()),
        case("lengths", fused(second, **lengths), expected(**lengths)),
        case("one-query", fused(second, lengths=[9], key_lengths=[4]), expected(key_lengths=[4, 4]), decode),
        case("mask", fused(second, sparse_mode=1), expected(), [*INPUTS, mask(BATCH, 1, QUERIES, KEYS)]),
        case(
            "causal", fused(second, sparse_mode=3, atten_mask=TRIANGLE, **lengths), expected(**lengths, hidden=from_the_end)
        ),
        case(
            "shift",
            lambda q, k, v, pse: fused(second)(q, k, v, pse=pse),
            lambda q, k, v, pse: expected()(q, k, v, pse=pse),
            [*INPUTS, real(BATCH, HEADS, QUERIES, KEYS)],
        ),
        case("packed", packed(second), expected(**lengths)),
        case("pages", paged(second, flat=False), expected(**lengths)),
        case("flat-pages", paged(second, flat=True), expected(**lengths)),
    ]


CASES = [*cases(second=False), *cases(second=True)]
