# SPDX-License-Identifier: Apache-2.0
"""The operators by themselves: torch's own opcheck on a table of samples, errors, autograd, compiled graphs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import ops

TAG = "m|Module.x.X|args|#0|^$"


@pytest.fixture
def handle() -> Any:
    aclgraph_dump_ext.load_npu()
    number = aclgraph_dump_ext.open_dumper("statistics", "L0")
    yield number
    aclgraph_dump_ext.close(number)


def samples(device: torch.device) -> dict[str, torch.Tensor]:
    base = torch.randn(4, 6).to(device)
    return {
        "plain": base,
        "transposed": base.t(),
        "sliced": base[::2, 1:],
        "expanded": base[:, :1].expand(4, 5),
        "scalar": base[0, 0],
        "empty": base[:0],
        "bfloat16": base.bfloat16(),
        "float16": base.half(),
        "int64": base.long(),
        "bool": base > 0,
        "requires_grad": base.clone().requires_grad_(),
        "not_a_leaf": base.clone().requires_grad_() * 2,
    }


@pytest.mark.parametrize("name", list(samples(torch.device("cpu"))))
def test_opcheck_stat(handle: int, device: torch.device, name: str) -> None:
    token = torch.zeros(1, dtype=torch.uint8, device=device)
    torch.library.opcheck(torch.ops.msprobe.stat_.default, (samples(device)[name], token, handle, TAG))


def test_opcheck_commit(handle: int, device: torch.device) -> None:
    token = torch.zeros(1, dtype=torch.uint8, device=device)
    torch.library.opcheck(torch.ops.msprobe.commit_.default, (token, handle))


def test_a_handle_that_nobody_gave(device: torch.device) -> None:
    for wrong in (0, -1, 10**12):
        with pytest.raises(RuntimeError, match=f"no dumper has the handle {wrong}"):
            ops.stat(torch.ones(1, device=device), wrong, TAG)


def test_a_tag_that_is_none(handle: int, device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="tag 'nonsense': must have 5 fields"):
        ops.stat(torch.ones(1, device=device), handle, "nonsense")


def test_a_closed_dumper_takes_nothing(device: torch.device) -> None:
    number = aclgraph_dump_ext.open_dumper("statistics", "L0")
    aclgraph_dump_ext.close(number)
    ops.stat(torch.ones(1, device=device), number, TAG)
    ops.commit(number, device)


def test_x_is_not_changed_and_keeps_its_version(handle: int, device: torch.device) -> None:
    x = torch.randn(5).to(device)
    before, version = x.clone(), x._version
    ops.stat(x, handle, TAG)
    assert torch.equal(x, before)
    assert x._version == version


def test_gradients_pass_by(handle: int, device: torch.device) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    y = x * 2
    ops.stat(y, handle, TAG)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
