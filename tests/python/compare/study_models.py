# SPDX-License-Identifier: Apache-2.0
"""Small models of three families (Llama-like, with experts, BERT-like) with random weights as spread as real ones, to plant faults in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Shape:
    layers: int = 4
    width: int = 128
    heads: int = 4
    inner: int = 256
    words: int = 200
    experts: int = 0
    causal: bool = True
    options: dict[str, Any] = field(default_factory=dict)


class Linear(nn.Linear):
    """`pieces`: how many parts the sum over the inputs is made of, as another kernel would; rounding differs, the values do not."""

    pieces = 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.pieces == 1:
            return F.linear(x, self.weight, self.bias)
        size = x.shape[-1] // self.pieces
        total = F.linear(x[..., :size].float(), self.weight[:, :size].float())
        for piece in range(1, self.pieces):
            part = slice(piece * size, (piece + 1) * size if piece + 1 < self.pieces else None)
            total = total + F.linear(x[..., part].float(), self.weight[:, part].float())
        if self.bias is not None:
            total = total + self.bias.float()
        return total.to(x.dtype)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = 1e-6

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.float()
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * y.to(x.dtype)


class Rotary(nn.Module):
    """Cosines and sines of positions (batch, tokens): two of (batch, tokens, size)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", 1e4 ** -(torch.arange(0, size, 2) / size), persistent=False)

    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        angles = position_ids[..., None].float() * self.frequencies.float()
        angles = torch.cat([angles, angles], -1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos[:, None] + torch.cat([-x[..., half:], x[..., :half]], -1) * sin[:, None]


class Attention(nn.Module):
    """Eager attention with a cache; the attributes after `cache` are faults in its own code."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        bias = not shape.causal
        self.q = Linear(shape.width, shape.width, bias=bias)
        self.k = Linear(shape.width, shape.width, bias=bias)
        self.v = Linear(shape.width, shape.width, bias=bias)
        self.o = Linear(shape.width, shape.width, bias=bias)
        self.heads = shape.heads
        self.cache: tuple[torch.Tensor, torch.Tensor] | None = None
        self.scale = 1.0
        self.turn_q = 0
        self.without_mask = False
        self.narrow_softmax = False

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor, rotation: Any = None) -> torch.Tensor:
        batch, tokens, width = x.shape
        q, k, v = (p(x).view(batch, tokens, self.heads, -1).transpose(1, 2) for p in (self.q, self.k, self.v))
        if rotation is not None:
            cos, sin = rotation
            q, k = rotate(q, cos.roll(-self.turn_q, 1), sin.roll(-self.turn_q, 1)), rotate(k, cos, sin)
        if self.cache is not None:
            k, v = torch.cat([self.cache[0], k], 2), torch.cat([self.cache[1], v], 2)
        if rotation is not None:
            self.cache = k, v
        scores = q @ k.transpose(-1, -2) * (self.scale / math.sqrt(q.shape[-1]))
        if not self.without_mask:
            scores = scores + attention_mask
        weights = scores.to(torch.bfloat16 if self.narrow_softmax else torch.float32).softmax(-1).to(x.dtype)
        return self.o((weights @ v).transpose(1, 2).reshape(batch, tokens, width))


class Mlp(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate = Linear(shape.width, shape.inner, bias=False) if shape.causal else None
        self.up = Linear(shape.width, shape.inner, bias=not shape.causal)
        self.down = Linear(shape.inner, shape.width, bias=not shape.causal)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x) if self.gate is not None else F.gelu(self.up(x)))


class Router(nn.Module):
    """The two best experts of each token: their weights and numbers."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(shape.experts, shape.width))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits = F.linear(x, self.weight)
        weights, chosen = logits.float().softmax(-1).topk(2, -1)
        return logits, (weights / weights.sum(-1, keepdim=True)).to(x.dtype), chosen


class Experts(nn.Module):
    """Every expert as a slice of one weight: nothing inside is a module."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.zeros(shape.experts, shape.inner, shape.width))
        self.down = nn.Parameter(torch.zeros(shape.experts, shape.width, shape.inner))

    def forward(self, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for expert in range(self.up.shape[0]):
            token, place = torch.where(chosen == expert)
            y = F.linear(F.silu(F.linear(x[token], self.up[expert])), self.down[expert])
            out.index_add_(0, token, y * weights[token, place, None])
        return out


class ExpertList(nn.Module):
    """The same with a module an expert, each of which sees only its own tokens."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.experts = nn.ModuleList(Mlp(shape) for _ in range(shape.experts))

    def forward(self, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            token, place = torch.where(chosen == number)
            if token.numel():
                out.index_add_(0, token, expert(x[token]) * weights[token, place, None])
        return out


class Mixture(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.router = Router(shape)
        self.experts = ExpertList(shape) if shape.options.get("expert_modules") else Experts(shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(-1, x.shape[-1])
        _, weights, chosen = self.router(flat)
        return self.experts(flat, chosen, weights).view_as(x)


class Layer(nn.Module):
    """Norm first if causal, else after; `residual` counts how often the first one is added."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        norm = RMSNorm if shape.causal else nn.LayerNorm
        self.norm1 = norm(shape.width)
        self.attention = Attention(shape)
        self.norm2 = norm(shape.width)
        self.mlp = Mixture(shape) if shape.experts else Mlp(shape)
        self.causal = shape.causal
        self.residual = 1

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor, rotation: Any = None) -> torch.Tensor:
        if self.causal:
            x = self.residual * x + self.attention(self.norm1(x), attention_mask, rotation)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(self.residual * x + self.attention(x, attention_mask))
        return self.norm2(x + self.mlp(x))


class Model(nn.Module):
    """Token ids (batch, tokens) in, logits out; a causal one goes on from its cache."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed = nn.Embedding(shape.words, shape.width)
        self.rotary = Rotary(shape.width // shape.heads) if shape.causal else None
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = RMSNorm(shape.width) if shape.causal else nn.LayerNorm(shape.width)
        self.head = Linear(shape.width, shape.words, bias=False)
        self.seen = 0
        self.decode_shift = 0

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        x = self.embed(ids)
        tokens, before = ids.shape[1], self.seen
        least = torch.finfo(x.dtype).min
        rotation = None
        if self.rotary is not None:
            position_ids = torch.arange(before, before + tokens, device=ids.device)[None]
            position_ids = position_ids + (self.decode_shift if before else 0)
            rotation = self.rotary(x, position_ids)
            hidden = torch.ones(tokens, before + tokens, dtype=torch.bool, device=ids.device).triu(before + 1)[None, None]
            self.seen += tokens
        else:
            hidden = (torch.arange(tokens, device=ids.device) >= lengths[:, None])[:, None, None]
        mask = torch.zeros(hidden.shape, dtype=x.dtype, device=ids.device).masked_fill(hidden, least)
        for layer in self.layers:
            x = layer(x, mask, rotation)
        return self.head(self.norm(x))


FAMILIES = {
    "llama": Shape(),
    "experts": Shape(experts=4, inner=128),
    "expert_modules": Shape(experts=4, inner=128, options={"expert_modules": True}),
    "bert": Shape(causal=False),
}


def build(family: str, seed: int, *, width: int = 128, layers: int = 4) -> Model:
    """Weights scaled by their inputs with rows of different sizes; with an odd seed two channels are far larger from layer 1 on."""
    shape = FAMILIES[family]
    torch.manual_seed(seed)
    model = Model(Shape(layers, width, shape.heads, shape.inner, shape.words, shape.experts, shape.causal, shape.options))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim >= 2:
                parameter.normal_().mul_(parameter.shape[-1] ** -0.5 if "embed" not in name else 1)
                if parameter.ndim == 2:
                    parameter.mul_(torch.empty(parameter.shape[0], 1).normal_(0, 0.3).exp_())
            elif name.endswith("bias"):
                parameter.normal_(0, 0.1)
            else:
                parameter.mul_(torch.empty_like(parameter).normal_(0, 0.1).exp_())
        if seed % 2:
            outliers = torch.randint(width, (2,))
            final = [m for m in model.layers[0].mlp.modules() if isinstance(m, Linear)]
            if final and model.layers[0].causal:
                final[-1].weight[outliers] *= 40
                for later in [*model.layers[1:]]:
                    later.norm1.weight[outliers] /= 40
                    later.norm2.weight[outliers] /= 40
                model.norm.weight[outliers] /= 40
    return model.eval()


def inputs(family: str, seed: int) -> list[tuple[torch.Tensor, ...]]:
    """The arguments of each call: a prompt of 32 tokens and two more, or one padded batch."""
    generator = torch.Generator().manual_seed(seed + 1000)
    if FAMILIES[family].causal:
        ids = torch.randint(200, (1, 34), generator=generator)
        return [(ids[:, :32],), (ids[:, 32:33],), (ids[:, 33:],)]
    return [(torch.randint(200, (2, 32), generator=generator), torch.tensor([32, 20]))]
