# SPDX-License-Identifier: Apache-2.0
"""The operators by themselves: torch's own opcheck on a table of samples, errors, autograd, compiled graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import AclGraphDumper, flush, ops

ALL_UTILS = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
TAG = "m|Module.x.X|args|#0|^$"


@pytest.fixture
def handle() -> Any:
    aclgraph_dump_ext.load_npu()
    number = aclgraph_dump_ext.open_dumper("L0")
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
    # opcheck's test of the autograd registration knows no NPU; the CPU's run of this test covers it.
    utils = [u for u in ALL_UTILS if device.type == "cpu" or u != "test_autograd_registration"]
    torch.library.opcheck(torch.ops.msprobe.stat_.default, (samples(device)[name], token, handle, TAG), test_utils=utils)


def test_opcheck_commit(handle: int, device: torch.device) -> None:
    token = torch.zeros(1, dtype=torch.uint8, device=device)
    for operator in (torch.ops.msprobe.commit_, torch.ops.msprobe.commit_part_):
        torch.library.opcheck(operator.default, (token, handle))


@pytest.mark.parametrize("name", list(samples(torch.device("cpu"))))
def test_opcheck_save(tmp_path: Path, device: torch.device, name: str) -> None:
    aclgraph_dump_ext.load_npu()
    token = torch.zeros(1, dtype=torch.uint8, device=device)
    utils = [u for u in ALL_UTILS if device.type == "cpu" or u != "test_autograd_registration"]
    base = str(tmp_path / "x")
    torch.library.opcheck(torch.ops.msprobe.save_.default, (samples(device)[name], token, base), test_utils=utils)
    flush()
    assert (tmp_path / "x_0.pt").exists()


def test_a_handle_that_nobody_gave(device: torch.device) -> None:
    for wrong in (0, -1, 10**12):
        with pytest.raises(RuntimeError, match=f"no dumper has the handle {wrong}"):
            ops.stat(torch.ones(1, device=device), wrong, TAG)


def test_a_tag_that_is_none(handle: int, device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="tag 'nonsense': must have 5 fields"):
        ops.stat(torch.ones(1, device=device), handle, "nonsense")


def test_a_closed_dumper_takes_nothing(device: torch.device) -> None:
    number = aclgraph_dump_ext.open_dumper("L0")
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


@pytest.fixture(scope="module")
def my_ns() -> Any:
    """An operator of somebody else's, with two results and an `out`-like in-place argument."""
    with torch.library._scoped_library("my_ns", "DEF") as library:
        library.define("my_op(Tensor x, Tensor[] more, *, Tensor? scale=None) -> (Tensor, Tensor)")
        library.impl("my_op", lambda x, more, *, scale=None: (x + more[0], x * 2), "CompositeExplicitAutograd")
        yield library


def test_names_of_apis(my_ns: Any, device: torch.device, tmp_path: Path) -> None:
    class Calls(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            y = torch.empty_like(x)
            torch.add(x, 1, out=y)
            x.mul_(3)
            return torch.ops.my_ns.my_op(x, [y, y], scale=y)

    (tmp_path / "c.json").write_text(json.dumps({"dump_path": str(tmp_path / "d"), "level": "L1"}))
    with AclGraphDumper(tmp_path / "c.json") as dumper, torch.no_grad():
        model = Calls()
        dumper.start(model)
        model(torch.ones(2, device=device))
        dumper.step()
    (path,) = (tmp_path / "d").rglob("dump.json")
    data = json.loads(path.read_text())["data"]
    assert list(data)[:3] == ["Aten.add.0.forward", "Aten.mul_.0.forward", "Torch.my_ns.my_op.0.forward"]
    add, mul, mine = list(data.values())[:3]
    assert [r["Max"] for r in add["input_args"]] == [1.0]
    assert add["input_kwargs"] == {}  # out= only receives
    assert (mul["input_args"][0]["Max"], mul["output"][0]["Max"]) == (1.0, 3.0)  # before and after
    assert [r["Max"] for r in mine["input_args"][1]] == [2.0, 2.0]
    assert mine["input_kwargs"]["scale"]["Max"] == 2.0
    assert [r["Max"] for r in mine["output"]] == [5.0, 6.0]
