# SPDX-License-Identifier: Apache-2.0
"""Captures models by hand; a model that does so in its own forward."""

from __future__ import annotations

from typing import Any

import torch
from models import mlp
from torch import nn


def capture(model: nn.Module, *inputs: Any, pool: Any = None, stream: Any = None) -> tuple[torch.npu.NPUGraph, Any]:
    """The graph of one call, and its output."""
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, pool=pool, stream=stream):
        output = model(*inputs)
    return graph, output


class GraphedInside(nn.Module):
    """Replays a captured graph of its first part inside an eager forward, as a compiled inner module does."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = mlp(), nn.Linear(8, 4)
        self.graph: torch.npu.NPUGraph | None = None
        self.static = torch.zeros(2, 8, device="npu:0")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.static.copy_(x)
        if self.graph is None:
            self.graph, self.inner = capture(self.first, self.static)
        self.graph.replay()
        y: torch.Tensor = self.second(self.inner)
        return y
