# SPDX-License-Identifier: Apache-2.0
"""Runs the tests in inside/ on hostnpu: each file in a process of its own, since a process has one CANN."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_on_hostnpu import run_on_hostnpu

INSIDE = Path(__file__).parent / "inside"
FILES = sorted(path.name for path in INSIDE.glob("test_*.py"))
# Files whose expectations differ between CANN versions.
LATER_CANN = [
    (name, version) for name in ("test_c_capture_calls.py", "test_c_capture_lifecycle.py") for version in ("9.0.0", "9.1.0")
]


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path) -> None:
    run_on_hostnpu(INSIDE / name, tmp_path, "--devices", "2", "--memory", "4")


@pytest.mark.parametrize(("name", "version"), LATER_CANN)
def test_file_with_later_cann(name: str, version: str, tmp_path: Path) -> None:
    run_on_hostnpu(INSIDE / name, tmp_path, "--devices", "2", "--memory", "4", "--cann", version)
