# SPDX-License-Identifier: Apache-2.0
"""The ways in which models run: a few steps, with or without training, in each; what came out is compared between a bare and a hooked
model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from models import Small
from torch import nn

# compile: one region of the whole model. blocks: each block of it compiled by itself.
CPU_MODES = ["eager", "compile-eager", "compile-aot_eager", "compile-inductor", "blocks-aot_eager"]
NPU_MODES = ["eager", "graph", "compile-npugraphs", "compile-npugraph_ex", "blocks-npugraphs"]
STEPS = 3
RATE = 0.05


@dataclass
class Ran:
    """What a run leaves: everything that must be the same with and without a dumper."""

    outputs: list[torch.Tensor] = field(default_factory=list)
    gradients: list[torch.Tensor] = field(default_factory=list)
    parameters: list[torch.Tensor] = field(default_factory=list)
    random: list[torch.Tensor] = field(default_factory=list)
    breaks: int = 0
    recompiles: int = 0
    graphs: int = 0


def assert_same(ours: Ran, bare: Ran) -> None:
    """Bit for bit."""
    for name in ("outputs", "gradients", "parameters", "random"):
        left, right = getattr(ours, name), getattr(bare, name)
        assert len(left) == len(right), name
        for index, (a, b) in enumerate(zip(left, right, strict=True)):
            assert torch.equal(a, b), (name, index, (a - b).abs().max().item())
    assert (ours.breaks, ours.recompiles, ours.graphs) == (bare.breaks, bare.recompiles, bare.graphs)


def compiled(model: nn.Module, mode: str, **options: Any) -> nn.Module:
    """The model as `compile-*` and `blocks-*` modes run it."""
    kind, backend = mode.split("-")
    options = {"backend": backend, "fullgraph": True, **options}
    if kind == "compile":
        return torch.compile(model, **options)  # type: ignore[return-value]
    for child in model.children():
        if isinstance(child, Small):
            child.compile(**options)
    return model


def run(
    model: nn.Module,
    inputs: list[torch.Tensor],
    mode: str,
    *,
    train: bool,
    after_warm_up: Callable[[], None] = lambda: None,
    after_step: Callable[[], None] = lambda: None,
) -> Ran:
    """Runs each input once. `after_warm_up` is called before the first that counts, `after_step` after each."""
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()
    torch.manual_seed(7)
    ran = Ran()
    if mode == "graph":
        _run_graph(model, inputs, ran, train=train, after_warm_up=after_warm_up, after_step=after_step)
    else:
        _run_calls(
            model if mode == "eager" else compiled(model, mode),
            inputs,
            ran,
            # npugraphs records at its second call, and frees results at the next.
            warm_up=2 if "npugraph" in mode else 0,
            train=train,
            after_warm_up=after_warm_up,
            after_step=after_step,
        )
    ran.parameters = [parameter.detach().clone() for parameter in model.parameters()]
    ran.random = [torch.rand(4), torch.rand(4, device=inputs[0].device)]
    ran.breaks = sum(counters["graph_break"].values())
    ran.recompiles = sum(counters["recompiles"].values())
    ran.graphs = counters["stats"]["unique_graphs"]
    return ran


def _run_calls(
    run_model: nn.Module,
    inputs: list[torch.Tensor],
    ran: Ran,
    *,
    warm_up: int,
    train: bool,
    after_warm_up: Callable[[], None],
    after_step: Callable[[], None],
) -> None:
    optimiser = torch.optim.SGD(run_model.parameters(), lr=RATE)
    with torch.set_grad_enabled(train):
        for index, x in enumerate([inputs[0]] * warm_up + inputs):
            if index == warm_up:
                after_warm_up()
            output = run_model(x)
            ran.outputs.append(output.detach().clone())
            if train:
                optimiser.zero_grad()
                output.pow(2).mean().backward()
                ran.gradients += [parameter.grad.clone() for parameter in run_model.parameters() if parameter.grad is not None]
                optimiser.step()
            if index >= warm_up:
                after_step()


def _run_graph(
    model: nn.Module,
    inputs: list[torch.Tensor],
    ran: Ran,
    *,
    train: bool,
    after_warm_up: Callable[[], None],
    after_step: Callable[[], None],
) -> None:
    static = torch.zeros_like(inputs[0])
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE)
    parameters = list(model.parameters())

    def step() -> torch.Tensor:
        output: torch.Tensor = model(static)
        if train:
            for parameter in parameters:
                parameter.grad = None
            output.pow(2).mean().backward()
            optimiser.step()
        return output

    npu: Any = torch.npu
    with torch.set_grad_enabled(train):
        stream = npu.Stream()
        stream.wait_stream(npu.current_stream())
        with npu.stream(stream):
            step()
        npu.current_stream().wait_stream(stream)
        graph = npu.NPUGraph()
        with npu.graph(graph):
            output = step()
        after_warm_up()
        for x in inputs:
            static.copy_(x)
            graph.replay()
            ran.outputs.append(output.detach().clone())
            ran.gradients += [parameter.grad.clone() for parameter in parameters if parameter.grad is not None]
            after_step()
