# SPDX-License-Identifier: Apache-2.0
"""Dumps of all kinds for the tests of pages: saved tensors, checksums, other dtypes, an order of execution, broken ones."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import cli_runs
import pages
import torch

CALLS = 12
FAULT_AT = 7  # of the calls of tensor_sides


def both(folder: Path, make: Any, task: str = "statistics") -> None:
    for side in ("target", "golden"):
        cli_runs.write_dump(folder / side / "dump.json", make(side), task)


def records(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Every record of a dump."""
    return [record for entry in data.values() for record in (*entry["input_args"], *entry["output"])]


def half_sides(folder: Path, *, fault_at: int | None, dtype: str = "torch.bfloat16") -> None:
    """A float32 golden run against one of another type."""

    def make(side: str) -> dict[str, Any]:
        data = pages.model(side, fault_at=fault_at)
        for record in records(data) if side == "target" else []:
            record["dtype"] = dtype
        return data

    both(folder, make)


def checksum_sides(folder: Path, *, other_from: int | None) -> None:
    """Checksums in place of numbers; from one call on they are others."""

    def make(side: str) -> dict[str, Any]:
        data = pages.model(side, fault_at=None)
        for number, (name, entry) in enumerate(data.items()):
            other = side == "target" and other_from is not None and number >= other_from
            for record in (*entry["input_args"], *entry["output"]):
                for key in ("Max", "Min", "Mean", "Norm", "Counts"):
                    del record[key]
                record["md5"] = f"{zlib.crc32(name.encode()) ^ other:08x}"
        return data

    both(folder, make)


def save(folder: Path, name: str, tensor: torch.Tensor) -> dict[str, Any]:
    """The record of a tensor that is saved beside its dump."""
    (folder / "dump_tensor_data").mkdir(parents=True, exist_ok=True)
    torch.save(tensor, folder / "dump_tensor_data" / f"{name}.pt")
    numbers = tensor.double()
    statistics = {
        "Max": numbers.max().item(),
        "Min": numbers.min().item(),
        "Mean": numbers.mean().item(),
        "Norm": numbers.norm().item(),
    }
    described = {"type": "torch.Tensor", "dtype": str(tensor.dtype), "shape": list(tensor.shape), "requires_grad": False}
    return described | statistics | {"data_name": f"{name}.pt"}


def tensor_sides(folder: Path) -> None:
    """Saved float32 tensors: noise of 1e-7, one wrong element from FAULT_AT on, an element of NaN in the last but one, a file without
    a tensor in it in the last."""

    def make(side: str) -> dict[str, Any]:
        generator = torch.Generator().manual_seed(3)
        data = {}
        for call in range(CALLS):
            given, made = torch.randn(2, 6, 32, generator=generator).unbind()
            noise = torch.randn(6, 32, generator=generator) * 1e-7
            name = f"Module.layers.{call}.Linear.forward.0"
            if side == "target":
                made = made * (1 + noise)
                if call >= FAULT_AT:
                    made[2, 5] = golden_element(call) + 0.75
                if call == CALLS - 2:
                    made[0, 0] = float("nan")
            data[name] = cli_runs.entry(
                save(folder / side, f"{name}.input.0", given), save(folder / side, f"{name}.output.0", made)
            )
            if side == "target" and call == CALLS - 2:
                data[name]["output"][0] |= {"Max": None, "Min": None, "Mean": None, "Norm": None} | {
                    "Special": {"Max": "nan", "Min": "nan", "Mean": "nan", "Norm": "nan"}
                }
            if side == "target" and call == CALLS - 1:
                (folder / side / "dump_tensor_data" / f"{name}.output.0.pt").write_bytes(b"no tensor")
        return data

    both(folder, make, "tensor")


def golden_element(call: int) -> float:
    """Element [2, 5] of golden's output of a call of tensor_sides."""
    generator = torch.Generator().manual_seed(3)
    for _ in range(call + 1):
        made = torch.randn(2, 6, 32, generator=generator)[1]
        torch.randn(6, 32, generator=generator)
    return float(made[2, 5])


def ordered_sides(folder: Path) -> None:
    """A model with an order of execution: what encloses a call stands before it in the file, and its output comes after it."""

    def make(side: str) -> dict[str, Any]:
        def tensor(off: bool = False) -> dict[str, Any]:
            factor = 3.0 if off and side == "target" else 1.0
            return cli_runs.tensor(4.0 * factor, maximum=2.0 * factor, Min=-2.0 * factor, Mean=0.25 * factor)

        def call(given: bool, made: bool, first: int, last: int) -> dict[str, Any]:
            return cli_runs.entry(tensor(given), tensor(made)) | {"Order": {"first": first, "last": last}}

        return {
            "Module.__root__.Model.forward.0": call(False, True, 0, 7),
            "Module.a.Block.forward.0": call(False, False, 1, 2),
            "Module.b.Block.forward.0": call(False, True, 3, 6),
            "Module.b.fc.Linear.forward.0": call(False, True, 4, 5),
        }

    both(folder, make)


def broken_sides(folder: Path) -> None:
    """Three ranks: one is fine, the target's dump of one is cut off, one has an op that is none."""
    for rank in range(3):
        pages.write_sides(folder, f"rank{rank}", fault_at=None)
    whole = folder / "target" / "rank1" / "dump.json"
    whole.write_bytes(whole.read_bytes()[:1000])
    data = pages.model("target", fault_at=None) | {"Module.layers.4.mlp.MLP.forward.0": "no entry"}
    cli_runs.write_dump(folder / "target" / "rank2" / "dump.json", data)
