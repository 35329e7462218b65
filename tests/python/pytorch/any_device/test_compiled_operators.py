# SPDX-License-Identifier: Apache-2.0
"""Custom operators in compiled regions at the API level: recorded as in eager code, and still there for a backend that looks for them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


@pytest.fixture(autouse=True)
def fresh_compiler() -> Any:
    torch._dynamo.reset()
    with torch.no_grad():
        yield


@torch.library.custom_op("msprobe_test::fill", mutates_args=("output",))
def fill(x: torch.Tensor, output: torch.Tensor, *, factor: float = 1.0) -> None:
    output.copy_(x * factor)


@fill.register_fake
def _(x: Any, output: Any, *, factor: float = 1.0) -> None:
    return None


@torch.library.custom_op("msprobe_test::joined", mutates_args=())
def joined(parts: Sequence[torch.Tensor], scale: torch.Tensor | None = None) -> torch.Tensor:
    return torch.cat(list(parts), dim=-1) * (1.0 if scale is None else scale)


@joined.register_fake
def _(parts: Any, scale: Any = None) -> torch.Tensor:
    return torch.cat(list(parts), dim=-1)


@torch.library.custom_op("msprobe_test::halves", mutates_args=())
def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = x.chunk(2, dim=-1)
    return first.clone(), second.clone()


@halves.register_fake
def _(x: Any) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = x.chunk(2, dim=-1)
    return first.clone(), second.clone()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        output = torch.zeros_like(x)
        torch.ops.msprobe_test.fill(x, output, factor=2.0)
        one, two = torch.ops.msprobe_test.halves.default(output)
        x = torch.ops.msprobe_test.joined([two, one], scale=x.mean())
        return self.second(torch.ops.msprobe_test.joined([x]) + 1)


@pytest.mark.parametrize("level", ["L1", "mix"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_they_are_recorded_as_in_eager_code(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, backend: str, level: str
) -> None:
    if device.type == "npu" and backend == "inductor":
        backend = "npugraph_ex"
    model = Model().to(device)
    bare = copy.deepcopy(model)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        run = torch.compile(model, backend=backend, fullgraph=True)
        for step in range(2):
            x = torch.randn(3, 8).to(device)
            assert torch.allclose(run(x), bare(x), atol=1e-6)
            dumper.step()
            wanted = expected(bare, level, lambda m, x=x: m(x))
            assert {name.split(".")[2] for name in wanted if "msprobe_test" in name} == {"fill", "halves", "joined"}
            assert_dump(read_dump(step), wanted, device, rounding=1e-6)


@pytest.mark.parametrize("wanted", [[], ["linear", "fill"], ["linear"]], ids=str)
def test_a_backend_finds_them(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, wanted: list[str]) -> None:
    """Whether they are recorded or not."""
    targets = []

    def backend(graph_module: torch.fx.GraphModule, _: Any) -> Any:
        targets.extend(node.target for node in graph_module.graph.nodes if node.op == "call_function")
        graph_module.graph.eliminate_dead_code()  # what records is no dead code
        graph_module.recompile()
        return graph_module

    model = Model().to(device)
    x = torch.randn(3, 8).to(device)
    with AclGraphDumper(make_config(level="mix", statistics={"list": wanted})) as dumper:
        dumper.start(model)
        torch.compile(model, backend=backend, fullgraph=True)(x)
        dumper.step()
    assert targets.count(torch.ops.msprobe_test.fill) == 1
    assert targets.count(torch.ops.msprobe_test.joined) == 2
    entries = [name for name in read_dump(0)["data"] if name.startswith("Torch.msprobe_test")]
    assert ("Torch.msprobe_test.fill.0.forward" in entries) == (wanted != ["linear"])
    assert len(entries) == {0: 4, 1: 0, 2: 1}[len(wanted)]
