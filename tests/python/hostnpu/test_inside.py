# SPDX-License-Identifier: Apache-2.0
"""Runs the tests in inside/ on hostnpu: each file in a process of its own, since a process has one CANN."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

INSIDE = Path(__file__).parent / "inside"
FILES = sorted(path.name for path in INSIDE.glob("test_*.py"))
# Files whose expectations differ between CANN versions.
LATER_CANN = [
    (name, version) for name in ("test_c_capture_calls.py", "test_c_capture_lifecycle.py") for version in ("9.0.0", "9.1.0")
]


def run_inside(name: str, *options: str) -> None:
    command = [sys.executable, "-m", "msprobe.hostnpu", "run", "--devices", "2", "--memory", "4", *options]
    pytest_options = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(INSIDE / name)]
    result = subprocess.run([*command, *pytest_options], capture_output=True, text=True, timeout=900, check=False)
    output = result.stdout + result.stderr
    assert result.returncode == 0, output[-20000:]
    assert re.search(r"^\d+ passed", result.stdout, re.MULTILINE), output[-5000:]


@pytest.mark.parametrize("name", FILES)
def test_file(name: str) -> None:
    run_inside(name)


@pytest.mark.parametrize(("name", "version"), LATER_CANN)
def test_file_with_later_cann(name: str, version: str) -> None:
    run_inside(name, "--cann", version)
