# SPDX-License-Identifier: Apache-2.0
"""Random operators: the right distribution, the same numbers for the same seed, new ones at every replay of a graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
import torch_npu
from op_calls import calls

COUNT = 40_000
DEVICE = "npu"


def empty(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(COUNT, dtype=dtype, device=DEVICE)


WEIGHTS = torch.tensor([[0.1, 0.2, 0.7]], device=DEVICE)


def kept_of_attention() -> torch.Tensor:
    """The share of a sum over ones that dropout lets through, each head and query apart."""
    q = torch.zeros(2, 4, 64, 8, device=DEVICE)
    k, v = torch.zeros(2, 4, 256, 8, device=DEVICE), torch.ones(2, 4, 256, 8, device=DEVICE)
    return F.scaled_dot_product_attention(q, k, v, dropout_p=0.25).mean(-1)


# operator in eager mode, operator in a graph (None: torch_npu has no way of capturing it), call, mean, standard deviation
DRAWS: dict[str, tuple[str, str | None, Callable[[], torch.Tensor], float, float]] = {
    "normal": ("InplaceNormal", "InplaceNormalTensor", lambda: empty().normal_(2, 3), 2, 3),
    "normal-bf16": ("InplaceNormal", "InplaceNormalTensor", lambda: empty(torch.bfloat16).normal_(0, 1), 0, 1),
    "uniform": ("InplaceUniform", "InplaceUniformTensor", lambda: empty().uniform_(-1, 3), 1, 4 / 12**0.5),
    "uniform-fp16": ("InplaceUniform", "InplaceUniformTensor", lambda: empty(torch.float16).uniform_(), 0.5, 1 / 12**0.5),
    "normal-of-tensors": ("NormalTensorTensor", None, lambda: torch.normal(empty().fill_(2), empty().fill_(3)), 2, 3),
    "normal-of-numbers": ("NormalFloatFloat", None, lambda: torch.normal(2.0, 3.0, (COUNT,), device=DEVICE), 2, 3),
    "exponential": ("SimThreadExponential", None, lambda: torch_npu.npu_sim_exponential_(empty(), 0.5), 2, 2),
    "permutation": ("Randperm", None, lambda: torch.randperm(COUNT, device=DEVICE), (COUNT - 1) / 2, COUNT / 12**0.5),
    "random": ("InplaceRandom", "InplaceRandomTensor", lambda: empty(torch.int32).random_(0, 10), 4.5, 8.25**0.5),
    "bernoulli": ("InplaceBernoulli", None, lambda: empty().bernoulli_(0.3), 0.3, 0.21**0.5),
    "bernoulli-tensor": ("InplaceBernoulliTensor", None, lambda: torch.bernoulli(empty().fill_(0.3)), 0.3, 0.21**0.5),
    "multinomial": (
        "Multinomial",
        "MultinomialTensor",
        lambda: torch.multinomial(WEIGHTS, COUNT, replacement=True),
        1.6,
        0.44**0.5,
    ),
    "dropout": (
        "DropoutGenMaskV2 DropoutDoMask",
        "DropoutGenMaskV2Tensor DropoutDoMask",
        lambda: F.dropout(empty().fill_(1), 0.2),
        1,
        0.5,
    ),
    "attention": (
        "DropoutGenMaskV2 FlashAttentionScore",
        "FlashAttentionScore",
        kept_of_attention,
        1,
        (0.25 / 0.75 / 256) ** 0.5,
    ),
    "mask": (
        "DropoutGenMask",
        None,
        lambda: bits(torch_npu.npu_dropout_gen_mask([COUNT], 0.2, dtype=torch.float32, device=DEVICE))[:COUNT],
        0.8,
        0.4,
    ),
}


def bits(mask: torch.Tensor) -> torch.Tensor:
    return (mask.cpu().unsqueeze(-1) >> torch.arange(8, dtype=torch.uint8) & 1).flatten()


@pytest.mark.parametrize("name", DRAWS)
def test_distribution_and_seed(name: str) -> None:
    operators, _, draw, mean, deviation = DRAWS[name]
    torch.npu.manual_seed(7)
    before = {operator: calls(operator) for operator in operators.split()}
    first = draw().cpu().double()
    for operator, count in before.items():
        assert calls(operator) > count, f"aclnn{operator} did not run"
    # Five standard errors: a right sampler fails once in two million.
    error = 5 * deviation / first.numel() ** 0.5
    assert first.mean().item() == pytest.approx(mean, abs=error + 1e-3)
    assert first.std().item() == pytest.approx(deviation, rel=0.05)
    second = draw().cpu().double()
    assert not torch.equal(first, second)
    torch.npu.manual_seed(7)
    assert torch.equal(first, draw().cpu().double())
    torch.npu.manual_seed(8)
    assert not torch.equal(first, draw().cpu().double())


@pytest.mark.parametrize("name", [name for name, draw in DRAWS.items() if draw[1]])
def test_a_replay_draws_anew(name: str) -> None:
    _, operators, draw, mean, deviation = DRAWS[name]
    draw()
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result, other = draw(), draw()
    seen = []
    for _ in range(3):
        before = {operator: calls(operator) for operator in operators.split()}
        graph.replay()
        torch.npu.synchronize()
        for operator, count in before.items():
            assert calls(operator) == count + 2, f"aclnn{operator} did not run twice in a replay"
        seen += [result.cpu().double(), other.cpu().double()]
    for position, values in enumerate(seen):
        assert values.mean().item() == pytest.approx(mean, abs=5 * deviation / values.numel() ** 0.5 + 1e-3)
        for later in seen[position + 1 :]:
            assert not torch.equal(values, later)


FILLS: dict[str, tuple[Callable[[torch.Tensor], object], float, float]] = {
    "normal": (lambda x: x.normal_(2, 3), 2, 3),
    "uniform": (lambda x: x.uniform_(-1, 3), 1, 4 / 12**0.5),
    "random": (lambda x: x.random_(0, 10), 4.5, 8.25**0.5),
    "bernoulli": (lambda x: x.bernoulli_(0.3), 0.3, 0.21**0.5),
    "exponential": (lambda x: torch_npu.npu_sim_exponential_(x, 0.5), 2, 2),
}


@pytest.mark.parametrize("name", FILLS)
def test_fills_what_lies_apart_and_nothing_else(name: str) -> None:
    fill, mean, deviation = FILLS[name]
    whole = torch.full((2 * COUNT, 3), -77.0, device=DEVICE)
    fill(whole[::2, 1])
    filled, values = whole.cpu(), whole[::2, 1].cpu()
    assert values.mean().item() == pytest.approx(mean, abs=5 * deviation / COUNT**0.5 + 1e-3)
    assert values.std().item() == pytest.approx(deviation, rel=0.05)
    filled[::2, 1] = -77
    assert torch.equal(filled, torch.full_like(filled, -77))


@pytest.mark.parametrize("name", FILLS)
def test_fills_nothing(name: str) -> None:
    nothing = torch.empty(0, 3, device=DEVICE)
    FILLS[name][0](nothing)
    torch.npu.synchronize()
    assert nothing.shape == (0, 3)


def test_sampling_without_replacement_takes_each_once() -> None:
    drawn = torch.multinomial(torch.ones(1000, device=DEVICE), 1000).cpu()
    assert sorted(drawn.tolist()) == list(range(1000))
    assert drawn.tolist() != list(range(1000))


def test_dropout_keeps_and_scales() -> None:
    x = torch.randn(37, 11, device=DEVICE, requires_grad=True)
    result = F.dropout(x, 0.4)
    result.sum().backward()
    kept = (result != 0).cpu()
    torch.testing.assert_close(result.cpu()[kept], x.detach().cpu()[kept] / 0.6)
    torch.testing.assert_close(x.grad.cpu(), kept.float() / 0.6)


def test_attention_dropout_has_the_gradient_of_what_it_kept() -> None:
    torch.npu.manual_seed(3)
    q, k = torch.zeros(1, 2, 6, 8, device=DEVICE), torch.zeros(1, 2, 16, 8, device=DEVICE)
    v = torch.eye(16, 8, device=DEVICE).expand(1, 2, 16, 8).clone().requires_grad_()
    result = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    result.sum().backward()
    # Every weight is 1/16, doubled or dropped: row j of v gets the sum over queries of weight (query, j), which for the first
    # eight rows of the unit matrix is the sum over queries of the result's column j.
    expected = result.detach().sum(2).cpu()
    assert len(set(expected.flatten().tolist())) > 1
    torch.testing.assert_close(v.grad.cpu()[:, :, :8], expected[..., None].expand(1, 2, 8, 8))
