# SPDX-License-Identifier: Apache-2.0
"""Names, order and numbers of eager dumps against values computed without msprobe: levels, dtypes, layouts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import TOLERANCE, assert_dump, assert_record, expected, record_of, renamed_api
from models import Transformer

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

CONTEXTS = {"train": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("mode", list(CONTEXTS))
def test_every_call_with_its_numbers(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str, mode: str
) -> None:
    model = Transformer().to(device)
    bare = copy.deepcopy(model)
    first, second = (torch.randint(0, 30, (2, 5)).to(device) for _ in range(2))

    def run(m: torch.nn.Module) -> Any:
        m(first)
        return m(second, extra={"unused": [1, None]})

    # In inference mode a plain dispatch mode sees composite operators whole; msprobe takes them apart as they are elsewhere. (Where
    # matmul itself asks for the mode, what is `view` in it is `_unsafe_view` outside.)
    with CONTEXTS["no_grad" if mode == "inference" else mode]():
        wanted = expected(bare, level, run)
        wanted_output = bare(second)
    if mode == "inference":
        wanted = renamed_api(wanted, "Aten._unsafe_view", "Aten.view")
        if device.type == "npu":  # torch_npu has a softmax of its own, which only inference mode lets through
            wanted = renamed_api(wanted, "Aten._softmax", "Aten.softmax")
    with AclGraphDumper(make_config(level=level)) as dumper, CONTEXTS[mode]():
        dumper.start(model)
        output = run(model)
        dumper.step()
    dump = read_dump(0)
    if mode == "inference":
        dump["data"] = renamed_api(dump["data"], "Aten._unsafe_view", "Aten.view")
    assert dump["task"] == "statistics"
    assert dump["level"] == level
    assert dump["framework"] == "pytorch"
    assert dump["dump_data_dir"] is None
    assert_dump(dump, wanted, device)
    assert torch.equal(output["logits"], wanted_output["logits"])


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
CPU_ONLY = [
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.complex64,
    torch.complex128,
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
]


def sample(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """200 values of a dtype, extremes included."""
    values = host_sample(dtype)
    if device.type == "npu" and dtype == torch.int64:
        values.clamp_(-(2**40), 2**40)  # the float32 sum of squares would overflow
    return values.to(device)


def host_sample(dtype: torch.dtype) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.rand(200) > 0.7
    if dtype.is_floating_point or dtype.is_complex:
        return (torch.randn(200, dtype=torch.complex64 if dtype.is_complex else torch.float32) * 3).to(dtype)
    info = torch.iinfo(dtype)
    values = torch.randint(max(info.min, -1000), min(info.max, 1000), (200,)).to(dtype).numpy()
    values[3], values[77] = info.max, info.min
    return torch.from_numpy(values)


@pytest.mark.parametrize("dtype", FLOATS + INTS + CPU_ONLY, ids=str)
def test_every_dtype(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, dtype: torch.dtype) -> None:
    if device.type == "npu" and dtype in CPU_ONLY:
        return  # npu_only/test_dtypes.py says what becomes of these
    base = sample(dtype, device)
    layouts = {
        "plain": base,
        "transposed": base.view(10, 20).t(),
        "sliced": base.view(10, 20)[1:, ::3],
        "expanded": base[:7, None].expand(7, 5),
        "offset": base[11:],
        "scalar": base[5],
        "empty": base.view(10, 20)[:, :0],
        "one": base[:1],
    }
    with AclGraphDumper(make_config()) as dumper:
        identity = torch.nn.Identity()
        dumper.start(identity)
        for value in layouts.values():
            identity(value)
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == len(layouts)
    for index, (name, value) in enumerate(layouts.items()):
        entry = data[f"Module.__root__.Identity.forward.{index}"]
        assert_record(entry["input_args"][0], record_of(value), name, TOLERANCE[device.type])
        assert_record(entry["output"][0], record_of(value), name, TOLERANCE[device.type])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "special", [(float("nan"),), (float("inf"),), (-float("inf"),), (float("inf"), -float("inf")), (0.0, -0.0)], ids=str
)
def test_special_values(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, dtype: torch.dtype, special: tuple[float, ...]
) -> None:
    x = host_sample(dtype)
    x[: len(special)] = torch.tensor(special, dtype=dtype)
    with AclGraphDumper(make_config()) as dumper:
        identity = torch.nn.Identity()
        dumper.start(identity)
        identity(x.to(device))
        dumper.step()
    leaf = read_dump(0)["data"]["Module.__root__.Identity.forward.0"]["output"][0]
    assert_record(leaf, record_of(x), "special", TOLERANCE[device.type])
    if device.type == "cpu":
        assert leaf["Counts"] == {
            "nan": int(x.isnan().sum()),
            "pos_inf": int(x.isposinf().sum()),
            "neg_inf": int(x.isneginf().sum()),
            "zero": int((x == 0).sum()),
        }


def test_int64_extremes_are_exact(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    x = torch.tensor([2**63 - 1, -(2**63), 2**53 + 1, 0], device=device)
    with AclGraphDumper(make_config()) as dumper:
        identity = torch.nn.Identity()
        dumper.start(identity)
        identity(x)
        identity(x[2:])
        dumper.step()
    data = read_dump(0)["data"]
    first, second = (data[f"Module.__root__.Identity.forward.{i}"]["output"][0] for i in range(2))
    assert (first["Max"], first["Min"]) == (2**63 - 1, -(2**63))
    assert second["Max"] == 2**53 + 1
