# SPDX-License-Identifier: Apache-2.0
"""Inductor with tensors that it generates no code for: complex numbers, scales of eight bits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from msprobe.pytorch import AclGraphDumper, acl_save, flush

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


@pytest.fixture(autouse=True)
def fresh_compiler() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128, torch.float8_e8m0fnu], ids=str)
def test_acl_save_of_dtypes_without_code(tmp_path: Path, dtype: torch.dtype) -> None:
    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        acl_save(x, str(tmp_path / "x.pt"))
        return y + 1

    region = torch.compile(forward, backend="inductor", fullgraph=True)
    inputs = [torch.randint(0, 255, (64,), dtype=torch.uint8).view(dtype) for _ in range(2)]
    for x in inputs:
        assert region(x, torch.zeros(2)).tolist() == [1.0, 1.0]
    flush()
    for index, x in enumerate(inputs):
        saved = torch.load(tmp_path / f"x_{index}.pt")
        assert saved.dtype == dtype
        assert torch.equal(saved.view(torch.uint8), x.view(torch.uint8))


class Rotary(nn.Module):
    """Turns pairs of numbers as complex ones, as many models turn queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.Identity()

    def forward(self, x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        turned = torch.view_as_complex(x) * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(self.turn(turned)) * 2


@pytest.mark.parametrize("task", ["statistics", "tensor"])
@pytest.mark.parametrize("level", ["L0", "mix"])
def test_a_dumper_of_complex_tensors(make_config: MakeConfig, read_dump: ReadDump, level: str, task: str) -> None:
    model = Rotary()
    x, angles = torch.randn(4, 2), torch.randn(4)
    wanted = torch.view_as_complex(x) * torch.polar(torch.ones_like(angles), angles)
    with AclGraphDumper(make_config(level=level, task=task)) as dumper:
        dumper.start(model)
        result = torch.compile(model, backend="inductor", fullgraph=True)(x, angles)
        dumper.step()
    torch.testing.assert_close(result, torch.view_as_real(wanted) * 2)
    (record,) = read_dump(0)["data"]["Module.turn.Identity.forward.0"]["output"]
    assert (record["dtype"], record["shape"]) == ("torch.complex64", [4])
    assert record["Norm"] == pytest.approx(torch.linalg.vector_norm(wanted.to(torch.complex128)).item(), rel=1e-5)
    assert ("Aten.polar.0.forward" in read_dump(0)["data"]) == (level == "mix")


def test_who_does_not_compile_does_not_import_inductor(tmp_path: Path) -> None:
    program = f"""
import sys, torch
from msprobe.pytorch import acl_save
acl_save(torch.ones(1), {str(tmp_path / "x.pt")!r})
print("torch._inductor.pattern_matcher" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    assert result.stdout.split() == ["False"]
