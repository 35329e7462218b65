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

from msprobe.pytorch import AclGraphDumper


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
