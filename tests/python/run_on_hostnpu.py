# SPDX-License-Identifier: Apache-2.0
"""Runs pytest files in a process that has torch_npu on hostnpu: a process has one CANN, and the plain test run has none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def run_on_hostnpu(path: Path, folder: Path, *options: str) -> None:
    """Fails with the file's whole output unless its tests ran and passed.

    `folder` is the working directory, where torch_npu leaves files of its own; `options` go to `msprobe hostnpu run`.
    """
    command = [sys.executable, "-m", "msprobe.hostnpu", "run", *options]
    pytest_options = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(path)]
    result = subprocess.run([*command, *pytest_options], cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    output = result.stdout + result.stderr
    assert result.returncode == 0, output[-20000:]
    assert re.search(r"^\d+ passed", result.stdout, re.MULTILINE), output[-5000:]
