# SPDX-License-Identifier: Apache-2.0
"""On the CPU: an operator against the ATen passes it replaces, a hook in eager mode, start() on 20,000 modules, step() on 10,000
records."""

from __future__ import annotations

import json
import math
import statistics
import tempfile
import time
from pathlib import Path

import torch
from timing import against, interleaved, show

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import AclGraphDumper, ops

# How many times longer the passes must take at least.
BARS = {
    (torch.float32, 10_000_000): 3.0,
    (torch.bfloat16, 10_000_000): 8.0,
    (torch.float32, 1_000): 2.5,
    (torch.bfloat16, 1_000): 2.5,
}
TAG = "m|Module.x.X|args|#0|^$"


def passes(x: torch.Tensor) -> torch.Tensor:
    """The numbers by ATen's own operators: cast, max, min, mean, norm, put together."""
    y = x.float()
    return torch.stack([y.amax(), y.amin(), y.mean(), torch.linalg.vector_norm(y)])


def check_answer(folder: Path, x: torch.Tensor) -> None:
    handle = aclgraph_dump_ext.open_dumper("L0")
    ops.stat(x, handle, TAG)
    aclgraph_dump_ext.set_folder(handle, str(folder))
    aclgraph_dump_ext.write(handle, empty=False, next_folder=str(folder), next_recording=True)
    aclgraph_dump_ext.close(handle)
    (entry,) = json.loads((folder / "dump.json").read_text())["data"].values()
    record = entry["input_args"][0]
    y = x.double()
    for key, wanted in (("Max", y.max()), ("Min", y.min()), ("Mean", y.mean()), ("Norm", y.norm())):
        assert math.isclose(record[key], wanted.item(), rel_tol=1e-6, abs_tol=1e-9), key


def operator(folder: Path) -> None:
    lines = {}
    for dtype in (torch.float32, torch.bfloat16):
        for count in (1_000, 100_000, 10_000_000):
            x = torch.randn(count).to(dtype)
            check_answer(folder, x)
            handle = aclgraph_dump_ext.open_dumper("L0")
            times = interleaved(
                {
                    "stat_": lambda x=x, handle=handle: ops.stat(x, handle, TAG),
                    "passes": lambda x=x: passes(x),
                    "sum": lambda x=x: x.sum(),
                },
                rounds=21 if count > 1_000_000 else 501,
            )
            aclgraph_dump_ext.close(handle)
            ours, bar = times["stat_"], BARS.get((dtype, count))
            longer = times["passes"] / ours
            lines[f"{dtype} {count}"] = f"{ours * 1e6:10.1f} us  {ours / times['sum']:5.2f} x sum()  passes " + (
                f"{longer:.2f} x ours" if bar is None else against(longer, " x ours", at_least=bar)
            )
    show(f"one operator, {torch.get_num_threads()} threads", lines)


def hook(folder: Path) -> None:
    bare, hooked = (torch.nn.Sequential(*(torch.nn.Identity() for _ in range(100))) for _ in range(2))
    (folder / "config.json").write_text(json.dumps({"dump_path": str(folder / "dumps")}))
    x = torch.randn(16)
    tensors = 2 * 101
    handle = aclgraph_dump_ext.open_dumper("L0")

    def operators() -> None:
        for _ in range(tensors):
            ops.stat(x, handle, TAG)

    with AclGraphDumper(folder / "config.json") as dumper:
        dumper.start(hooked)
        times = interleaved({"bare": lambda: bare(x), "hooked": lambda: hooked(x), "operators": operators}, rounds=101)
    aclgraph_dump_ext.close(handle)
    each = (times["hooked"] - times["bare"] - times["operators"]) / tensors
    show(
        "hooks in eager mode, 16 elements",
        {
            "python cost a tensor": against(each * 1e6, " us", at_most=12),
            "operator": f"{times['operators'] / tensors * 1e6:.2f} us",
        },
    )


def start(folder: Path) -> None:
    modules = 20_000
    model = torch.nn.Sequential(*(torch.nn.Linear(1, 1) for _ in range(modules - 1)))
    (folder / "config.json").write_text(json.dumps({"dump_path": str(folder / "dumps")}))
    seconds = []
    for _ in range(3):
        with AclGraphDumper(folder / "config.json") as dumper:
            begin = time.perf_counter()
            dumper.start(model)
            seconds.append(time.perf_counter() - begin)
    show(f"start() on {modules} modules", {"start": against(statistics.median(seconds), " s", at_most=1)})


def step(folder: Path) -> None:
    records = 10_000
    handle = aclgraph_dump_ext.open_dumper("L0")
    aclgraph_dump_ext.set_folder(handle, str(folder))
    x = torch.randn(2, 8)

    def fill() -> None:
        for index in range(records // 2):
            ops.stat(x, handle, f"m|Module.layers.{index}.mlp.Linear|args|#0|^")
            ops.stat(x, handle, f"m|Module.layers.{index}.mlp.Linear|out|#0|$")

    def write() -> None:
        entries = aclgraph_dump_ext.write(handle, empty=False, next_folder=str(folder), next_recording=True)
        assert entries == records // 2

    def fill_and_write() -> None:
        fill()
        write()

    def fill_and_discard() -> None:
        fill()
        aclgraph_dump_ext.discard(handle)

    times = interleaved({"write": fill_and_write, "discard": fill_and_discard}, rounds=21)
    aclgraph_dump_ext.close(handle)
    show("step() on 10,000 records", {"write": against((times["write"] - times["discard"]) * 1e3, " ms", at_most=20)})


def main() -> None:
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        operator(Path(name))
        hook(Path(name))
        start(Path(name))
        step(Path(name))


if __name__ == "__main__":
    main()
