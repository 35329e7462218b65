# SPDX-License-Identifier: Apache-2.0
"""What a build asks of its environment: which torch the wheel is for, and whether another package owns the name msprobe.

scikit-build-core calls this as its provider of dynamic metadata (pyproject.toml); setup.py uses the same answers.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sysconfig
from pathlib import Path
from typing import Any

# The torch that is fetched where the environment has none; tools/requirements/torch.txt names the same.
DEFAULT_TORCH = "2.13.0"
OLDEST_TORCH = "2.6"
WITHOUT_ACLGRAPH_DUMP = "MSPROBE_WITHOUT_ACLGRAPH_DUMP"
NO_CHECK = "MSPROBE_NO_CHECK"


def is_set(variable: str) -> bool:
    """Whether an environment variable is a yes."""
    return os.environ.get(variable, "").lower() in {"1", "on", "true", "yes"}


def package_folder(name: str) -> Path | None:
    """The folder of an installed package, found without importing it, as cmake/find_torch.cmake finds it.

    The environment that is built for comes first: pip's isolated builds put another one on the path.
    """
    home = Path(sysconfig.get_paths()["purelib"]) / name
    if home.is_dir():
        return home
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def torch_version() -> str | None:
    """The version of the torch that the operators are built with, or None where there is no torch."""
    folder = package_folder("torch")
    if folder is None or not (folder / "version.py").is_file():
        return None
    found = re.search(r"^__version__ *= *['\"]([^'\"]+)", (folder / "version.py").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else None


def name_clash() -> str | None:
    """Why msprobe must not be installed beside mindstudio-probe, where that is installed."""
    site_packages = Path(sysconfig.get_paths()["purelib"])
    for info in sorted(site_packages.glob("mindstudio_probe-*.dist-info")):
        version = info.name.removeprefix("mindstudio_probe-").removesuffix(".dist-info")
        return (
            f"mindstudio-probe {version} is installed in {site_packages}: it brings a package called msprobe too, and the "
            f"files of the two would overwrite each other. Run `pip uninstall mindstudio-probe` first, or set {NO_CHECK}=1 "
            "to build all the same."
        )
    return None


def get_requires_for_dynamic_metadata(_settings: dict[str, Any]) -> list[str]:
    """What pip puts into an isolated build environment beside scikit-build-core."""
    if is_set(WITHOUT_ACLGRAPH_DUMP) or torch_version() is not None:
        return []
    return [f"torch=={DEFAULT_TORCH}"]


def dynamic_wheel(_settings: dict[str, Any]) -> dict[str, bool]:
    """A wheel made from the sdist may depend on another torch than the sdist says."""
    return {"dependencies": True}


def dynamic_metadata(_settings: dict[str, Any], _project: dict[str, Any]) -> dict[str, Any]:
    """The wheel's dependencies. PyTorch promises no stable C++ ABI, so the libraries ask for the torch they were built with."""
    clash = name_clash()
    if clash and not is_set(NO_CHECK):
        raise RuntimeError(clash)
    version = torch_version()
    if is_set(WITHOUT_ACLGRAPH_DUMP) or version is None:
        return {"dependencies": [f"torch>={OLDEST_TORCH}"]}
    return {"dependencies": [f"torch=={version.split('+')[0]}"]}
