# SPDX-License-Identifier: Apache-2.0
"""Small models with everything that has to be found: nested and keyword arguments, several outputs, repeated calls, ints and masks."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Attention(nn.Module):
    """Takes a mask by keyword, returns a tuple."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, *, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2) / x.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask, -1e4)
        weights = scores.softmax(-1)
        return self.out(weights @ v), weights


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width)
        self.activation = nn.ReLU()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = x + self.attention(self.norm(x), mask=mask)[0]
        return x + self.down(self.activation(self.up(self.norm(x))))  # norm is called twice


class Transformer(nn.Module):
    """Token ids in, a mapping out."""

    def __init__(self, width: int = 16, blocks: int = 2, words: int = 30) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, words)

    def forward(self, ids: torch.Tensor, extra: Any = None) -> dict[str, Any]:
        x = self.embed(ids)
        size = ids.shape[-1]
        mask = torch.ones(size, size, dtype=torch.bool, device=ids.device).triu(1)
        hidden = []
        for block in self.blocks:
            x = block(x, mask)
            hidden.append(x)
        return {"logits": self.head(x), "hidden": hidden}


def mlp(width: int = 8) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))


class Small(nn.Module):
    """Attention and a feed-forward part with operators of several results, in 8 columns; one tensor in, one out."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width)
        self.up = nn.Linear(width, 2 * width)
        self.gate = nn.SiLU()
        self.down = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x))[0]
        value, gate = self.up(x).chunk(2, dim=-1)
        best, _ = value.max(dim=-1, keepdim=True)
        return x + self.down(value * self.gate(gate) + best)
