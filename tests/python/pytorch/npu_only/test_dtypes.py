# SPDX-License-Identifier: Apache-2.0
"""Types that an NPU has no reductions for: recorded as what they can be, with a note, in eager and in graphs; never an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from msprobe.pytorch import AclGraphDumper

NPU = torch.device("npu:0")
BYTES = [torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int16, torch.bool, *BYTES], ids=str
)
def test_dtype(
    make_config: Callable[..., Path], read_dump: Callable[[int], dict[str, Any]], dtype: torch.dtype, captured: bool
) -> None:
    host = (torch.rand(64) > 0.5) if dtype == torch.bool else torch.arange(-32, 32, dtype=torch.float32).to(dtype)
    x = torch.empty(64, dtype=dtype, device=NPU)
    x.copy_(host)
    identity = nn.Identity()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(identity)
        if captured:
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph):
                identity(x)
            graph.replay()
        else:
            identity(x)
        dumper.step()
    leaf = read_dump(0)["data"]["Module.__root__.Identity.forward.0"]["output"][0]
    numbers = host.view(torch.uint8) if dtype in BYTES else host
    assert leaf["dtype"] == str(dtype)
    assert leaf["Max"] == numbers.double().max().item()
    assert leaf["Min"] == numbers.double().min().item()
    assert leaf["Mean"] == pytest.approx(numbers.double().mean().item(), rel=1e-6)
    assert leaf["Norm"] == pytest.approx(numbers.double().norm().item(), rel=1e-6)
    assert ("uint8" in leaf.get("Note", "")) == (dtype in BYTES)
