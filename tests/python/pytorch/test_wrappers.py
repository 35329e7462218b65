# SPDX-License-Identifier: Apache-2.0
"""Models under DDP over gloo (also compiled) and under FSDP2 on the CPU: same results, and every rank's records."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "wrapped_worker.py"
RANKS = 2


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.mark.parametrize("how", ["ddp", "ddp-compiled", "fsdp2"])
def test_distributed_wrappers(tmp_path: Path, how: str) -> None:
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(RANKS)}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(WORKER), how, "mix", str(tmp_path)],
            env={**environment, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(RANKS)
    ]
    outputs = [rank.communicate(timeout=300)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * RANKS, "\n".join(outputs)
    for rank in range(RANKS):
        for step in range(2):
            data = json.loads((tmp_path / "dumps" / f"step{step}" / f"rank{rank}" / "dump.json").read_text())["data"]
            modules = [name for name in data if name.startswith("Module.")]
            assert [name.split(".")[1] for name in modules] == ["__root__", "0", "1", "2"]
            assert all(name.endswith(".forward.0") for name in modules)
            apis = [name.split(".")[1] for name in data if name.startswith("Aten.")]
            assert [name for name in apis if name in ("addmm", "relu")] == ["addmm", "relu", "addmm"]
            assert data["Module.1.ReLU.forward.0"]["output"][0]["Min"] == 0.0
