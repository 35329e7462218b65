# SPDX-License-Identifier: Apache-2.0
"""A compiled model on the CPU: one graph, no recompilation, the records of the eager model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from models import Transformer

from msprobe.pytorch import AclGraphDumper, acl_save, flush


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_records_equal_eager_ones(
    make_config: Callable[..., Path], read_dump: Callable[[int], dict[str, Any]], backend: str
) -> None:
    torch._dynamo.reset()
    model = Transformer(blocks=1)
    bare = copy.deepcopy(model)
    batches = [torch.randint(0, 30, (2, 5)) for _ in range(3)]
    counters = torch._dynamo.utils.counters
    counters.clear()
    with AclGraphDumper(make_config()) as dumper, torch.no_grad():
        dumper.start(model)
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for batch in batches:
            compiled(batch)
            dumper.step()
    assert counters["stats"]["unique_graphs"] == 1
    assert not counters["graph_break"]
    for step, batch in enumerate(batches):
        with torch.no_grad():
            wanted = expected(bare, "L0", lambda m, batch=batch: m(batch))
        # Fused kernels may round differently from the eager ones that the numbers here come from.
        dump = read_dump(step)
        assert list(dump["data"]) == list(wanted)
        if backend != "inductor":
            assert_dump(dump, wanted, torch.device("cpu"))
        else:
            last = dump["data"]["Module.head.Linear.forward.0"]["output"][0]
            assert last["Norm"] == pytest.approx(wanted["Module.head.Linear.forward.0"]["output"][0]["Norm"], rel=1e-5)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("train", [False, True])
def test_acl_save_in_a_compiled_region(tmp_path: Path, backend: str, train: bool) -> None:
    torch._dynamo.reset()
    linear = torch.nn.Linear(8, 4)

    def run(x: torch.Tensor) -> torch.Tensor:
        y = linear(x)
        acl_save(y, str(tmp_path / "before.pt"))
        y = y.relu() + 1
        acl_save(y, str(tmp_path / "after.pt"))
        return y

    compiled = torch.compile(run, backend=backend, fullgraph=True)
    batches = [torch.randn(2, 8) for _ in range(3)]
    with torch.set_grad_enabled(train):
        for x in batches:
            output = compiled(x)
            if train:
                output.sum().backward()
    flush()
    assert len(list(tmp_path.iterdir())) == 2 * len(batches)
    for index, x in enumerate(batches):
        y = linear(x).detach()
        torch.testing.assert_close(torch.load(tmp_path / f"before_{index}.pt"), y)
        torch.testing.assert_close(torch.load(tmp_path / f"after_{index}.pt"), y.relu() + 1)
