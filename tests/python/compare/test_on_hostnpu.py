# SPDX-License-Identifier: Apache-2.0
"""Where it starts, once more with dumps of runs on the NPU, and what only the NPU has: a process has one CANN, and this one has none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from run_on_hostnpu import run_on_hostnpu  # noqa: E402


@pytest.mark.parametrize("name", ["test_where_it_starts.py", "inside/test_where_graphs_part.py"])
def test_file(name: str, tmp_path: Path) -> None:
    run_on_hostnpu(HERE / name, tmp_path)
