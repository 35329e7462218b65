# SPDX-License-Identifier: Apache-2.0
"""What must be true before a program is started: matching versions, and no real CANN that hostnpu would hide."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from msprobe.hostnpu.errors import HostnpuError
from msprobe.hostnpu.places import GET_TORCH_NPU, BuildInfo, torch_npu_home, torch_npu_version, torch_version

REBUILD = "rebuild msprobe in the environment it shall run in (`pip install --force-reinstall --no-deps .`, or `make demo`)"
NOT_BUILT = f"this msprobe was built without torch_npu, so it has no hostnpu libraries: {GET_TORCH_NPU}, then {REBUILD}"
LIBRARY = "libascendcl.so"
# Where the libraries are below an installed toolkit's folder.
LIBRARY_FOLDERS = ("", "lib64", "runtime/lib64", "x86_64-linux/lib64", "aarch64-linux/lib64")


def require_built(info: BuildInfo | None) -> BuildInfo:
    if info is None:
        raise HostnpuError(NOT_BUILT)
    return info


def _public(version: str) -> str:
    """Without what stands behind "+": torch 2.13.0+cpu and 2.13.0+cu130 have the same interface."""
    return version.partition("+")[0]


def version_problems(info: BuildInfo, environment: Mapping[str, str]) -> list[str]:
    """One sentence for each package that is missing or another than the libraries were built for."""
    home = torch_npu_home(environment)
    found = {"torch": (torch_version(), info.torch), "torch_npu": (torch_npu_version(home), info.torch_npu)}
    problems = []
    for name, (version, needed) in found.items():
        if version is None:
            remedy = GET_TORCH_NPU if name == "torch_npu" else f"install torch {needed}"
            where = environment.get("MSPROBE_TORCH_NPU_PATH") if name == "torch_npu" else None
            place = f" in MSPROBE_TORCH_NPU_PATH ({where})" if where else ""
            problems.append(f"{name} {needed} is needed and no {name} is found{place}: {remedy}")
        elif _public(version) != _public(needed):
            problems.append(f"hostnpu was built for {name} {needed}, found {version}: install {name} {needed}, or {REBUILD}")
    return problems


def _toolkit_libraries(root: Path) -> Iterator[Path]:
    for folder in LIBRARY_FOLDERS:
        yield root / folder / LIBRARY


def _candidates(environment: Mapping[str, str], system_root: Path) -> Iterator[Path]:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        if environment.get(name):
            yield from _toolkit_libraries(Path(environment[name]))
    for folder in environment.get("LD_LIBRARY_PATH", "").split(":"):
        if folder:
            yield Path(folder) / LIBRARY
    for toolkit in ("ascend-toolkit/latest", "ascend-toolkit", "cann", "latest", "nnae/latest", "nnrt/latest"):
        yield from _toolkit_libraries(system_root / "usr/local/Ascend" / toolkit)


def _linker_cache() -> Iterator[Path]:
    """The libascendcl.so that the dynamic linker finds by itself."""
    for program in ("ldconfig", "/sbin/ldconfig"):
        try:
            output = subprocess.run([program, "-p"], capture_output=True, text=True, timeout=10, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            continue
        for line in output.splitlines():
            name, _, path = line.strip().partition(" => ")
            if name.startswith(LIBRARY):
                yield Path(path)
        return


def find_real_cann(lib: Path, environment: Mapping[str, str], system_root: Path = Path("/")) -> Path | None:
    """A libascendcl.so that is not hostnpu's; None when there is none."""
    ours = {path.resolve() for path in (lib / LIBRARY, lib / "cann9" / LIBRARY)}
    for path in (*_candidates(environment, system_root), *_linker_cache()):
        if path.is_file() and path.resolve() not in ours and not (path.parent / "build_info.json").is_file():
            return path
    return None
