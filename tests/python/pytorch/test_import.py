# SPDX-License-Identifier: Apache-2.0
"""What a user is told when the native half cannot be loaded. Each case is a copy of the installed package with something wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import msprobe


def without_lib(package: Path) -> None:
    shutil.rmtree(package / "lib")


def without_libraries(package: Path) -> None:
    for path in (package / "lib").glob("*"):
        if path.is_file() and path.suffix != ".py":
            path.unlink()


def for_another_torch(package: Path) -> None:
    info = package / "lib" / "build_info.json"
    content = json.loads(info.read_text()) | {"torch": "2.9.1"}
    info.unlink()
    info.write_text(json.dumps(content))


def with_a_broken_library(package: Path) -> None:
    library = package / "lib" / "libmsprobe_ops.so"
    library.unlink()
    library.write_bytes(b"not a library")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (without_lib, "No module named 'msprobe.lib'"),
        (without_libraries, "was built without its operators"),
        (for_another_torch, "were built for torch 2.9.1, but torch"),
        (with_a_broken_library, "cannot be loaded"),
    ],
)
def test_failed_import_tells_reason_and_remedy(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    package = tmp_path / "msprobe"
    shutil.copytree(Path(msprobe.__file__).parent, package, ignore=shutil.ignore_patterns("hostnpu"))
    spoil(package)
    program = "from msprobe.pytorch import AclGraphDumper"
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode == 1
    assert last.startswith("ImportError: Failed to import msprobe.lib.aclgraph_dump_ext: "), result.stderr
    assert reason in last
    assert "--include-mod=aclgraph_dump" in last
