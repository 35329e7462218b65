# SPDX-License-Identifier: Apache-2.0
"""Where hostnpu's libraries, torch and torch_npu are; found by looking at folders, never by importing."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

GET_TORCH_NPU = (
    "install torch-npu into a folder of its own (`pip install --no-deps --target .torch_npu torch-npu==2.13.0`), "
    "set MSPROBE_TORCH_NPU_PATH to that folder"
)


@dataclass(frozen=True)
class BuildInfo:
    """What the libraries were built for: build_info.json beside them."""

    lib: Path
    torch: str
    torch_npu: str
    cann: str
    operators: tuple[str, ...]


def library_folder(environment: Mapping[str, str]) -> Path:
    """The package's own folder, or a build tree's <build>/hostnpu/lib given by MSPROBE_HOSTNPU_LIB."""
    given = environment.get("MSPROBE_HOSTNPU_LIB")
    return Path(given).absolute() if given else Path(__file__).absolute().parent / "lib"


def build_info(environment: Mapping[str, str]) -> BuildInfo | None:
    """None: this msprobe was built without torch_npu."""
    lib = library_folder(environment)
    path = lib / "build_info.json"
    if not path.is_file() or not (lib / "libascendcl.so").is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return BuildInfo(lib, found["torch"], found["torch_npu"], found["cann"], tuple(found["operators"]))


def _package_folder(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _version_of(package: Path | None) -> str | None:
    """What a package's version.py says: `__version__ = '2.13.0+cpu'`."""
    if package is None or not (package / "version.py").is_file():
        return None
    text = (package / "version.py").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^__version__\s*(?::\s*\w+\s*)?=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return found.group(1) if found else None


def torch_version() -> str | None:
    """The version of the torch that this Python would import; None without one."""
    return _version_of(_package_folder("torch"))


def torch_npu_home(environment: Mapping[str, str]) -> Path | None:
    """The folder that holds torch_npu/: named by the user, beside the virtual environment, or on this Python's path."""
    given = environment.get("MSPROBE_TORCH_NPU_PATH")
    if given:
        return Path(given).absolute() if (Path(given) / "torch_npu").is_dir() else None
    beside = Path(sys.prefix).absolute().parent / ".torch_npu"
    if (beside / "torch_npu").is_dir():
        return beside
    package = _package_folder("torch_npu")
    return package.parent if package is not None else None


def torch_npu_version(home: Path | None) -> str | None:
    return None if home is None else _version_of(home / "torch_npu")


def find_script(script: str) -> None:
    """Raises OSError with the reason when the script cannot be read."""
    if os.path.isdir(script):
        # A folder (or zip file) with a __main__.py is a program too.
        os.stat(os.path.join(script, "__main__.py"))
        return
    with open(script, "rb"):
        pass
