# SPDX-License-Identifier: Apache-2.0
"""LeakSanitizer over a program that captures, replays and destroys graphs on hostnpu: no memory that our library allocated is lost.

The detector is GCC's liblsan, loaded before the unchanged Python and hostnpu. Python, torch and torch_npu lose memory of their own;
a leak is ours if our library is nearer to the allocation than Python is. By hand:

    LD_PRELOAD="$(gcc -print-file-name=liblsan.so)" LSAN_OPTIONS=fast_unwind_on_malloc=0 \\
        msprobe hostnpu run tests/python/hostnpu/inside/leaks_program.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

INSIDE = Path(__file__).parent / "inside"
OURS = "libascendcl.so"
FOUND = 23  # the exit code when anything leaked at all


def detector() -> str:
    path = subprocess.run(["gcc", "-print-file-name=liblsan.so"], capture_output=True, text=True, check=True).stdout.strip()
    assert Path(path).is_absolute(), "there is no liblsan.so: apt-get install gcc"
    return path


def leaks(folder: Path, *arguments: str) -> tuple[str, list[str]]:
    """What the program printed, and the reports of the leaks that are ours."""
    options = f"exitcode={FOUND}:fast_unwind_on_malloc=0:max_leaks=0"
    result = subprocess.run(
        [sys.executable, "-m", "msprobe.hostnpu", "run", str(INSIDE / "leaks_program.py"), *arguments],
        cwd=folder,
        env={**os.environ, "LD_PRELOAD": detector(), "LSAN_OPTIONS": options},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode in (0, FOUND), result.stderr[-5000:]
    reports = re.split(r"\n(?=(?:Direct|Indirect) leak of)", result.stderr)[1:]
    return result.stdout, [report for report in reports if is_ours(report)]


def is_ours(report: str) -> bool:
    for frame in report.splitlines()[1:]:
        if OURS in frame:
            return True
        if "python" in frame:
            return False
    return False


def test_nothing_of_ours_is_lost(tmp_path: Path) -> None:
    printed, ours = leaks(tmp_path)
    assert "all ways done" in printed
    assert not ours, "\n".join(ours)


def test_the_detector_sees_a_forgotten_tensor(tmp_path: Path) -> None:
    _, ours = leaks(tmp_path, "leak")
    assert any("aclCreateTensor" in report for report in ours)
