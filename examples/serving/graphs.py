# SPDX-License-Identifier: Apache-2.0
"""Captured graphs for several batch sizes in one pool: of the whole model, or of the pieces between its attentions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.split_module import split_module


class Graphs:
    """What all graphs of an engine share: the pool, and which size is to be captured or replayed at the moment."""

    def __init__(self) -> None:
        self.pool = torch.npu.graph_pool_handle()
        self.size: int | None = None  # None: what is called runs as it is
        self.captures = False

    @contextmanager
    def of_size(self, size: int | None, *, captures: bool = False) -> Iterator[None]:
        self.size, self.captures = size, captures
        try:
            yield
        finally:
            self.size, self.captures = None, False


class Graphed:
    """A callable with a graph for each size, captured at its first call in `Graphs.of_size(size, captures=True)`."""

    def __init__(self, graphs: Graphs, work: Callable[..., Any]) -> None:
        self.graphs = graphs
        self.work = work
        self.entries: dict[
            int, tuple[torch.npu.NPUGraph, list[int], Any]
        ] = {}  # graph, addresses that it reads, what it writes

    def __call__(self, *args: Any) -> Any:
        size = self.graphs.size
        if size is None:
            return self.work(*args)
        addresses = [x.data_ptr() for x in args if isinstance(x, torch.Tensor)]
        if self.graphs.captures:
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph, pool=self.graphs.pool):
                output = self.work(*args)
            self.entries[size] = graph, addresses, output
            return output
        graph, captured, output = self.entries[size]
        if addresses != captured:
            raise RuntimeError(
                f"the graph of {size} rows reads {captured}, its inputs lie at {addresses}: fill the static buffers"
            )
        graph.replay()
        return output


class WholeGraph(Graphed):
    """The model with graphs of all of it. It is no module, but has the attributes of the model."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["work"], name)


class Piece(nn.Module):
    def __init__(self, graphs: Graphs, module: nn.Module) -> None:
        super().__init__()
        self.graphed = Graphed(graphs, module)

    def forward(self, *args: Any) -> Any:
        return self.graphed(*args)


def piecewise(graphs: Graphs) -> Callable[..., Any]:
    """A backend of torch.compile that cuts what it is given at attentions; these run eagerly, what lies between has graphs."""

    def compile_pieces(graph_module: fx.GraphModule, _example_inputs: Any) -> Callable[..., Any]:
        numbers: dict[fx.Node, int] = {}
        number = 0
        attentions = set()
        for node in graph_module.graph.nodes:
            if _is_attention(node):
                attentions.add(number + 1)
                numbers[node] = number + 1
                number += 2
            else:
                numbers[node] = number
        pieces = split_module(graph_module, graph_module, numbers.__getitem__, keep_original_order=True)
        for name, piece in list(pieces.named_children()):
            if int(name.removeprefix("submod_")) not in attentions:
                pieces.set_submodule(name, Piece(graphs, piece))
        return pieces

    return compile_pieces


def _is_attention(node: fx.Node) -> bool:
    return node.op == "call_function" and node.target in (torch.ops.serving.attend, torch.ops.serving.attend.default)
