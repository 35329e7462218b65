# SPDX-License-Identifier: Apache-2.0
"""A small decoder as serving engines have them: tokens of several requests in one batch, a cache of keys and values by slot, and an inner
module that compiles itself when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Sizes:
    words: int = 64
    width: int = 32
    heads: int = 4
    layers: int = 2
    slots: int = 4  # requests that are served at a time; one more slot takes what padding writes
    length: int = 32  # tokens that a slot has room for


@torch.library.custom_op("serving::attend", mutates_args=("keys", "values", "output"))
def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    slots: torch.Tensor,
    positions: torch.Tensor,
    output: torch.Tensor,
) -> None:
    """Writes each row's key and value to its slot and position, and fills `output` with its attention to all that stands before.

    q, k, v, output: (rows, heads, width of a head). keys, values: (slots, length, heads, width of a head). slots, positions: (rows,).
    An operator of its own, since the graphs are cut here; it writes where it is told to, since the graph behind it reads there.
    """
    keys[slots, positions] = k
    values[slots, positions] = v
    scores = (q.unsqueeze(1) * keys[slots]).sum(-1) / q.shape[-1] ** 0.5
    later = torch.arange(keys.shape[1], device=q.device) > positions.unsqueeze(1)
    weights = scores.masked_fill(later.unsqueeze(-1), float("-inf")).softmax(1)
    output.copy_((weights.unsqueeze(-1) * values[slots]).sum(1))


@attend.register_fake
def _(q: Any, k: Any, v: Any, keys: Any, values: Any, slots: Any, positions: Any, output: Any) -> None:
    """Nothing is returned, so there is nothing to describe."""


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):
    """The cache is no buffer of the module: it is no weight, and changes at every step."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.qkv = nn.Linear(sizes.width, 3 * sizes.width, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def make_cache(self, sizes: Sizes, device: torch.device) -> None:
        shape = (sizes.slots + 1, sizes.length, sizes.heads, sizes.width // sizes.heads)
        self.keys = torch.zeros(shape, device=device)
        self.values = torch.zeros(shape, device=device)

    def forward(self, x: torch.Tensor, slots: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (self.heads, -1)) for part in self.qkv(x).chunk(3, dim=-1))
        output = torch.zeros_like(q)
        torch.ops.serving.attend(q, k, v, self.keys, self.values, slots, positions, output)
        return self.out(output.flatten(1))


class Layer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(sizes.width)
        self.attention = Attention(sizes)
        self.norm = RMSNorm(sizes.width)
        self.up = nn.Linear(sizes.width, 4 * sizes.width, bias=False)
        self.down = nn.Linear(2 * sizes.width, sizes.width, bias=False)

    def forward(self, x: torch.Tensor, slots: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), slots, positions)
        gate, value = self.up(self.norm(x)).chunk(2, dim=-1)
        return x + self.down(nn.functional.silu(gate) * value)


class Decoder(nn.Module):
    """Compiles its forward when it is made, and is called through what came of that: nobody calls its forward."""

    def __init__(self, sizes: Sizes, backend: Any) -> None:
        """`backend`: of torch.compile; None runs as it is."""
        super().__init__()
        self.embed = nn.Embedding(sizes.words, sizes.width)
        self.places = nn.Embedding(sizes.length, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = RMSNorm(sizes.width)
        self.compiled = None
        if backend is not None:
            self.compiled = torch.compile(self.forward, backend=backend, fullgraph=True, dynamic=False)

    def __call__(self, *args: torch.Tensor) -> torch.Tensor:
        if self.compiled is None:
            return super().__call__(*args)
        for rows in args:
            if len(rows) > 1:  # compiled once for all numbers of rows; one row alone is a case of its own to PyTorch
                torch._dynamo.mark_dynamic(rows, 0)
        return self.compiled(*args)

    def forward(self, tokens: torch.Tensor, slots: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens) + self.places(positions)
        for layer in self.layers:
            x = layer(x, slots, positions)
        return self.norm(x)


class Model(nn.Module):
    """Rows in, hidden states out; the words of chosen rows are asked for separately. tokens, slots, positions: (rows,), int64."""

    def __init__(self, sizes: Sizes, backend: Any = None) -> None:
        super().__init__()
        self.sizes = sizes
        self.model = Decoder(sizes, backend)
        self.head = nn.Linear(sizes.width, sizes.words, bias=False)

    def make_cache(self, device: torch.device) -> None:
        for layer in self.model.layers:
            layer.attention.make_cache(self.sizes, device)

    def clear_cache(self) -> None:
        for layer in self.model.layers:
            layer.attention.keys.zero_()
            layer.attention.values.zero_()

    def forward(self, tokens: torch.Tensor, slots: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return self.model(tokens, slots, positions)

    def compute_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.head(hidden)
