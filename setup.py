# SPDX-License-Identifier: Apache-2.0
"""`python3 setup.py bdist_wheel --include-mod=aclgraph_dump --no-check`: builds the wheel into dist/ through scikit-build-core.

`pip install .` does not come here: pip reads pyproject.toml.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools" / "build_backend"))
import build_environment  # noqa: E402

MODULES = ("aclgraph_dump",)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="setup.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    wheel = commands.add_parser("bdist_wheel", help="build the wheel")
    wheel.add_argument(
        "--include-mod",
        default="",
        metavar="NAMES",
        help=f"compiled modules to put into the wheel, separated by commas: {', '.join(MODULES)}. Default: none",
    )
    wheel.add_argument(
        "--no-check", action="store_true", help="build without looking whether torch_npu and the tools are there"
    )
    wheel.add_argument("-d", "--dist-dir", default="dist", metavar="FOLDER", help="where the wheel goes (default: dist)")
    parsed = parser.parse_args(arguments)
    parsed.modules = [name for name in parsed.include_mod.split(",") if name]
    for name in parsed.modules:
        if name not in MODULES:
            parser.error(f"--include-mod: there is no module {name!r}; there is {', '.join(MODULES)}")
    return parsed


def missing_for(modules: list[str]) -> list[str]:
    """What the environment lacks to build these modules, each with its remedy."""
    missing: list[str] = []
    if not sys.platform.startswith("linux"):
        missing.append(f"Linux: this system is {sys.platform}, and msprobe is built on Linux only")
    missing += [
        f"{tool}: install it (Debian: apt-get install {package})"
        for tool, package in (("cmake", "cmake"), ("ninja", "ninja-build"), ("g++", "g++"))
        if shutil.which(tool) is None
    ]
    if not modules:
        return missing
    if build_environment.torch_version() is None:
        missing.append(f"torch: {sys.executable} -m pip install torch=={build_environment.DEFAULT_TORCH}")
    if build_environment.package_folder("torch_npu") is None:
        missing.append("torch_npu: install the release that fits your torch and CANN; without it the wheel has no NPU code")
    return missing


def check_environment(modules: list[str]) -> None:
    """Stops before a long build that would end in an error or in a wheel without NPU code."""
    problems = missing_for(modules)
    clash = build_environment.name_clash()
    if clash:
        problems.append(clash)
    if problems:
        sys.exit(
            "setup.py: the environment is not ready:\n  "
            + "\n  ".join(problems)
            + "\nPut that right, or build all the same with --no-check."
        )


def build_wheel(options: argparse.Namespace) -> Path:
    if importlib.util.find_spec("scikit_build_core") is None:
        sys.exit(
            "setup.py: scikit-build-core is missing, which builds the wheel. Install it with:\n"
            f"  {sys.executable} -m pip install 'scikit-build-core>=1.1'"
        )
    from scikit_build_core import build  # noqa: PLC0415  (only here is it known to be there)

    if not options.modules:
        os.environ[build_environment.WITHOUT_ACLGRAPH_DUMP] = "1"
    settings: dict[str, str | list[str]] = {"cmake.define.MSPROBE_OPS": "ON"} if options.modules else {}
    folder = Path(options.dist_dir).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    name: str = build.build_wheel(str(folder), settings)
    return folder / name


def main(arguments: list[str]) -> None:
    options = parse_arguments(arguments)
    if options.no_check:
        os.environ[build_environment.NO_CHECK] = "1"
        clash = build_environment.name_clash()
        if clash:
            print(f"setup.py: warning: {clash}", file=sys.stderr)
    else:
        check_environment(options.modules)
    wheel = build_wheel(options)
    if "aclgraph_dump" not in options.modules:
        print(
            "setup.py: this wheel has no aclgraph_dump, so AclGraphDumper and acl_save will not work; "
            "--include-mod=aclgraph_dump puts it in.",
            file=sys.stderr,
        )
    print(wheel)


if __name__ == "__main__":
    main(sys.argv[1:])
