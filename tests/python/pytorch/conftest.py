# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the dumper's tests.

The tests in any_device/ run twice: in the plain test run on the CPU, and once more, started by test_on_hostnpu.py, in a process that
has torch_npu; there the device is the NPU, and npu_only/ and cann9/ run too.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

HAS_NPU = importlib.util.find_spec("torch_npu") is not None
collect_ignore = [] if HAS_NPU else ["npu_only", "cann9"]


@pytest.fixture
def device() -> torch.device:
    return torch.device("npu:0" if HAS_NPU else "cpu")


@pytest.fixture(autouse=True)
def same_random_numbers_every_time() -> None:
    torch.manual_seed(20261129)


@pytest.fixture
def make_config(tmp_path: Path) -> Callable[..., Path]:
    """Writes a config.json into the test's folder; dumps go to its subfolder `dumps`."""

    def make(**settings: Any) -> Path:
        path = tmp_path / "config.json"
        path.write_text(json.dumps({"dump_path": str(tmp_path / "dumps"), **settings}))
        return path

    return make


@pytest.fixture
def read_dump(tmp_path: Path) -> Callable[[int], dict[str, Any]]:
    """The one dump.json of a step, read by Python's own json."""

    def read(step: int) -> dict[str, Any]:
        (path,) = (tmp_path / "dumps" / f"step{step}").glob("*/dump.json")
        content: dict[str, Any] = json.loads(path.read_text())
        return content

    return read


@pytest.fixture
def slow_disk(tmp_path: Path) -> dict[str, str]:
    """The environment of a program whose disk takes 64 MiB/s a writer."""
    library = tmp_path / "slow_disk.so"
    source = Path(__file__).parent / "slow_disk.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB; mounting takes root, as CI has it."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def without_gradients() -> Iterator[None]:
    """For whole files: `pytestmark = pytest.mark.usefixtures("without_gradients")`."""
    with torch.no_grad():
        yield
