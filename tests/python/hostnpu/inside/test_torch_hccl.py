# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes, through torch.distributed with the hccl backend."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("hccl_worker.py")


def run_ranks(world: int, *arguments: str) -> list[tuple[int, str]]:
    """Exit code and output of each rank."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(world), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(WORKER), *arguments],
            env={**common, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(world)
    ]
    results = []
    for process in processes:
        try:
            output, _ = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            output += "\n(killed: timeout)"
        results.append((process.returncode, output))
    return results


@pytest.mark.parametrize("world", [1, 2, 3])
def test_collectives(world: int) -> None:
    before = set(Path("/dev/shm").glob("hostnpu-*"))
    for code, output in run_ranks(world):
        assert code == 0, output
        assert "all right" in output
    assert set(Path("/dev/shm").glob("hostnpu-*")) <= before


def test_rank_that_ends_is_an_error_for_the_others() -> None:
    (code, output), _ = run_ranks(2, "end_early")
    assert code == 3, output
    assert "has ended" in output
