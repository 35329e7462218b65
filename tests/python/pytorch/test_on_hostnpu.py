# SPDX-License-Identifier: Apache-2.0
"""The tests of any_device/ with the NPU, those of npu_only/, and those of cann9/ with a later CANN: each file in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_on_hostnpu import run_on_hostnpu

HERE = Path(__file__).parent
OPTIONS = {"any_device": [], "npu_only": [], "cann9": ["--cann", "9.0.0"]}
FILES = sorted(str(path.relative_to(HERE)) for folder in OPTIONS for path in (HERE / folder).glob("test_*.py"))


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path) -> None:
    run_on_hostnpu(HERE / name, tmp_path, "--devices", "2", *OPTIONS[Path(name).parts[0]])
