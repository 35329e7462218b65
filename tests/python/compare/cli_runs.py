# SPDX-License-Identifier: Apache-2.0
"""Runs the installed program (MSPROBE_PROGRAM names another one) on small dumps that are written here."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

PROGRAM = Path(os.environ.get("MSPROBE_PROGRAM", Path(sysconfig.get_paths()["scripts"]) / "msprobe"))


def tensor(norm: float = 1.0, *, maximum: float | None = 0.5, **changes: Any) -> dict[str, Any]:
    """A record of a float32 tensor, as a dumper writes it."""
    return {
        "type": "torch.Tensor",
        "dtype": "torch.float32",
        "shape": [2, 8],
        "Max": maximum,
        "Min": -0.5,
        "Mean": 0.1,
        "Norm": norm,
        "requires_grad": False,
    } | changes


def entry(given: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"input_args": [given], "input_kwargs": {}, "output": [result]}


def write_dump(path: Path, data: dict[str, Any], task: str = "statistics") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {"task": task, "level": "L0", "framework": "pytorch", "dump_data_dir": None, "data": data}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def healthy(calls: int = 3) -> dict[str, Any]:
    """`calls` modules, one behind the other."""
    return {f"Module.layers.{i}.Linear.forward.0": entry(tensor(1.0 + i), tensor(2.0 + i)) for i in range(calls)}


def pair(folder: Path, target: dict[str, Any] | None = None, golden: dict[str, Any] | None = None) -> list[str]:
    """The words that name two dumps."""
    words = []
    for option, side, data in (("-tp", "target", target), ("-gp", "golden", golden)):
        words += [option, str(write_dump(folder / side / "dump.json", healthy() if data is None else data))]
    return words


def run(
    *words: str | Path, cwd: Path | None = None, timeout: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=timeout,
        env=os.environ | environment,
    )


def compare(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return run("compare", *words, **options)


def only_file(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}; there is {sorted(folder.iterdir())}"
    return found[0]
