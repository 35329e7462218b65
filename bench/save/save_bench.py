# SPDX-License-Identifier: Apache-2.0
"""On an NPU or hostnpu: 64 tensors of 16 MiB saved from a graph, against `cp` of the same bytes to the same disk, and what a replay
waits for against the bare copy of the bytes. Neither side syncs the disk."""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from msprobe.pytorch import acl_save, flush

TENSORS = 64
ELEMENTS = 4 << 20  # 16 MiB of float32
ROUNDS = 5
IN_USE = 4 << 30  # bytes that a round has in use at most: the queue, page cache of both sides


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def fetch_memory() -> None:
    """Touches what the rounds need. A virtual machine gives memory that lay idle back to its host, and its first touch then takes fifty
    times as long (seen: 2.3 s a GiB, then 0.05): whichever side comes first would pay for both."""
    torch.ones(IN_USE, dtype=torch.uint8)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else None  # the disk to write to
    device = torch.device("npu:0")
    static = torch.arange(ELEMENTS, dtype=torch.float32, device=device)
    # As many destinations as there are tensors: one that stays in the cache would be no copy of the bytes. Touched once before.
    hosts = [torch.zeros(ELEMENTS, dtype=torch.float32) for _ in range(TENSORS)]
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = Path(name)
        (folder / "saved").mkdir()
        (folder / "golden").mkdir()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            for index in range(TENSORS):
                acl_save(static, str(folder / "saved" / f"t{index}.pt"))

        def replay() -> None:
            graph.replay()
            torch.npu.synchronize()

        def copies() -> None:
            for host in hosts:
                host.copy_(static)

        def clear(which: str) -> None:
            shutil.rmtree(folder / which)
            (folder / which).mkdir()

        before = peak_bytes()
        replay()
        flush()
        grown = peak_bytes() - before
        for path in (folder / "saved").iterdir():
            assert torch.equal(torch.load(path), static.cpu()), path
            shutil.move(path, folder / "golden")
        saved, copied, waited, bare = [], [], [], []
        for _ in range(ROUNDS):
            clear("saved")
            fetch_memory()
            begin = time.perf_counter()
            replay()
            waited.append(time.perf_counter() - begin)
            flush()
            saved.append(time.perf_counter() - begin)
            clear("saved")
            copied.append(timed(lambda: subprocess.run(["cp", "-r", folder / "golden", folder / "saved"], check=True)))
            bare.append(timed(copies))
    wall, cp, wait, memory = (statistics.median(values) for values in (saved, copied, waited, bare))
    total = TENSORS * ELEMENTS * 4
    print(f"{TENSORS} tensors of {ELEMENTS * 4 >> 20} MiB from a graph")
    print(f"  saved     {wall:.3f} s, {total / wall / 1e9:.2f} GB/s, {wall / cp:.2f} x cp")
    print(f"  replay    {wait:.3f} s, {wait / memory:.2f} x the bare copies of the bytes")
    print(f"  memory    {grown / 2**20:.0f} MiB more at the peak")


if __name__ == "__main__":
    main()
