# SPDX-License-Identifier: Apache-2.0
"""What a dump tells of its graphs, and of memory that a graph reads although the model no longer holds it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_npu
from models import mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

NPU = torch.device("npu:0")


pytestmark = pytest.mark.usefixtures("without_gradients")


def capture(model: nn.Module, x: torch.Tensor) -> torch.npu.NPUGraph:
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        model(x)
    return graph


@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_graphs_and_their_replays_are_counted(make_config: MakeConfig, read_dump: ReadDump, task: str) -> None:
    model = mlp().to(NPU)
    small, large = (torch.ones(size, 8, device=NPU) for size in (1, 4))
    with AclGraphDumper(make_config(task=task)) as dumper:
        dumper.start(model)
        graphs = [capture(model, small), capture(model, large)]
        for replays in ((2, 1), (0, 3)):
            for graph, count in zip(graphs, replays, strict=True):
                for _ in range(count):
                    graph.replay()
            dumper.step()
    sites = 2 * len(list(model.modules()))
    for step, replays in enumerate(((2, 1), (0, 3))):
        wanted = [{"id": index, "sites": sites, "replays": count} for index, count in enumerate(replays)]
        assert read_dump(step)["Run"]["graphs"] == wanted
        assert read_dump(step)["Run"]["Account"]["dropped"] == 0


def test_a_graph_that_is_not_replayed_leaves_its_sites_silent(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp().to(NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        graph = capture(model, torch.ones(1, 8, device=NPU))
        dumper.step()
        graph.replay()
        dumper.step()
    silent = read_dump(0)["Run"]["Account"]["silent"]
    assert len(silent) == len(list(model.modules()))
    assert all(reason.startswith("captured, but its graph has not been replayed") for reason in silent.values())
    assert read_dump(1)["Run"]["Account"]["silent"] == {}


def rebind(model: nn.Sequential) -> None:
    model[0].weight = nn.Parameter(model[0].weight.clone())


def move_data(model: nn.Sequential) -> None:
    model[0].weight.data = model[0].weight.data.clone()


def load_in_place(model: nn.Sequential) -> None:
    model.load_state_dict({name: tensor.clone() for name, tensor in model.state_dict().items()})


@pytest.mark.parametrize(("change", "told"), [(rebind, True), (move_data, True), (load_in_place, False)])
def test_a_weight_that_was_rebound_after_the_capture_is_told_once(
    make_config: MakeConfig, change: Callable[[nn.Sequential], None], told: bool
) -> None:
    model = mlp().to(NPU)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        old = model[0].weight.data_ptr()
        graph = capture(model, torch.ones(1, 8, device=NPU))
        kept = model[0].weight.data  # the old memory must not be given to the new weight
        graph.replay()
        dumper.step()
        change(model)
        graph.replay()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            dumper.step()
            dumper.step()
    texts = [str(warning.message) for warning in caught if "captured graph reads" in str(warning.message)]
    assert len(texts) == told
    if told:
        assert f"Module.0.Linear.weight: a captured graph reads {old:#x} ({kept.nbytes} bytes)" in texts[0]
        assert f"the module now holds {model[0].weight.data_ptr():#x}" in texts[0]


def test_identity_can_be_switched_off(make_config: MakeConfig) -> None:
    model = mlp().to(NPU)
    with AclGraphDumper(make_config(identity=False)) as dumper:
        dumper.start(model)
        graph = capture(model, torch.ones(1, 8, device=NPU))
        rebind(model)
        graph.replay()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dumper.step()


class Workspace(nn.Module):
    """Keeps the address of an intermediate that is freed, and goes on using it."""

    def __init__(self, keep_alive: bool) -> None:
        super().__init__()
        self.work, self.use = nn.Identity(), nn.Identity()
        self.keep_alive = keep_alive

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        intermediate = x * 2
        storage = torch_npu._C._construct_storage_from_data_pointer(intermediate.data_ptr(), x.device, intermediate.nbytes)
        workspace = torch.empty(0, device=x.device).set_(storage, 0, x.shape)
        kept = intermediate if self.keep_alive else None
        del intermediate  # the pool gives its bytes to what comes next
        y = self.work(x + 1)
        z = self.use(workspace)
        return y + z if kept is None else y + z + kept


@pytest.mark.parametrize("identity", [True, False])
def test_a_workspace_that_shares_bytes_with_a_freed_intermediate_is_noted(
    make_config: MakeConfig, read_dump: ReadDump, identity: bool
) -> None:
    notes = {}
    for keep_alive in (False, True):
        model = Workspace(keep_alive).to(NPU)
        with AclGraphDumper(make_config(identity=identity)) as dumper:
            dumper.start(model)
            graph = capture(model, torch.ones(64, 64, device=NPU))
            graph.replay()
            dumper.step()
        data = read_dump(0)["data"]
        notes[keep_alive] = [
            data[f"Module.{name}.Identity.forward.0"]["input_args"][0].get("Note", "") for name in ("work", "use")
        ]
    assert notes[True] == ["", ""], "memory that is still held is shared with nobody who was recorded"
    if identity:
        assert "shares memory with Module.use.Identity's input, which came while this was alive" in notes[False][0]
        assert "shares memory with Module.work.Identity's input, which was alive" in notes[False][1]
    else:
        assert notes[False] == ["", ""]
