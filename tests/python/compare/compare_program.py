# SPDX-License-Identifier: Apache-2.0
"""Runs `msprobe compare` as built in build/core (MSPROBE_PROGRAM names another one) and reads its CSV with pandas."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pandas

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("MSPROBE_PROGRAM", ROOT / "build" / "core" / "bin" / "msprobe"))


def run(*arguments: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    if not PROGRAM.exists():
        raise FileNotFoundError(f"{PROGRAM} is not built: cmake --preset core && cmake --build --preset core, or make test")
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    return done


def compare(target: Path, golden: Path, folder: Path, *arguments: str) -> Path:
    """The CSV of two dumps; `folder` is made anew for it."""
    folder.mkdir()
    run("compare", "-tp", target, "-gp", golden, "-o", folder, *arguments)
    (table,) = folder.glob("*.csv")
    return table


def read_csv(path: Path) -> pandas.DataFrame:
    """All cells as the texts that they are."""
    return pandas.read_csv(path, dtype=str, keep_default_na=False)


def write_dump(folder: Path, data: dict[str, object], task: str = "statistics") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "dump.json"
    path.write_text(json.dumps({"task": task, "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": data}))
    return path


def tensor(maximum=1.0, minimum=-1.0, mean=0.25, norm=4.0, dtype="torch.float32", shape=(2, 8), requires_grad=True, **more):
    """A tensor's record."""
    record = {"type": "torch.Tensor", "dtype": dtype, "shape": list(shape)}
    record |= {"Max": maximum, "Min": minimum, "Mean": mean, "Norm": norm}
    return record | {"requires_grad": requires_grad} | more
