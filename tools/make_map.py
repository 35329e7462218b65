# SPDX-License-Identifier: Apache-2.0
"""Writes the list of files in docs/map.md from what each file says of itself in its first lines; `--check` only compares.

Run by `make map`. A test runs it with --check, so the map cannot fall behind the tree.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = ROOT / "docs" / "map.md"
BEGIN = "<!-- The rest is made by `make map` from the first lines of the files. -->"

# What a folder is for: files cannot say it.
FOLDERS = {
    ".": "What the project is made with, and what to read first",
    ".ci": "Continuous integration",
    "bench": "Benchmarks; each checks its answer before it times it",
    "bench/compare": "Benchmarks of comparing dumps",
    "bench/dumper": "Benchmarks of the dumper, in eager mode and at replay",
    "bench/save": "Benchmarks of writing saved tensors",
    "bench/stats": "Benchmarks of the statistics kernels",
    "cmake": "Parts of the build that several folders need",
    "csrc": "msprobe's C++",
    "csrc/base": "Errors, files that appear complete or not at all",
    "csrc/cli": "The program `msprobe`, and the library behind `msprobe.compare`",
    "csrc/compare": "Matches and judges the rows of two dumps, and finds where two runs part",
    "csrc/compare/simd": "The metrics' fast kernels, one file an instruction set",
    "csrc/device": "Where a vendor's runtime is known: one file a device",
    "csrc/dump": "What is written for the user: dump.json, saved tensors",
    "csrc/format": "The contract of dump.json: dtypes and field names, spelled once",
    "csrc/log": "What was recorded, in the order of execution, in host memory",
    "csrc/ops": "The torch operators that are put into graphs",
    "csrc/read": "Reads what a comparison needs: dumps, saved tensors, maps, folders",
    "csrc/report": "Writes what a comparison found: tables, workbooks, pages, the summary",
    "csrc/report/page": "The page's template, which becomes part of the program",
    "csrc/stats": "Statistics of a tensor in one pass over its memory",
    "csrc/stats/simd": "The fast kernels, one file an instruction set",
    "docs": "What users and contributors read beside the README",
    "docs/decisions": "Why things are as they are, one decision a page",
    "examples": "Programs to copy from; the tests run them",
    "examples/hunt": "From a wrong token to the culprit: a decoder with a planted fault, dumped, compared, looked at closely",
    "examples/serving": "A small serving engine that dumps every batch; docs/serving.md explains it",
    "fuzz": "Fuzzers of the core",
    "hostnpu": "hostnpu: CANN's libraries over host memory, so that the real torch_npu runs without an NPU",
    "hostnpu/hccl": "Collective communication",
    "hostnpu/opapi": "The aclnn operators, over ATen on the CPU",
    "hostnpu/runtime": "Devices, memory, streams, events, callbacks, capture and replay",
    "hostnpu/stubs": "Symbols that torch_npu links and nothing calls",
    "python": "The Python package",
    "python/msprobe": "The package",
    "python/msprobe/hostnpu": "`msprobe hostnpu`: the launcher",
    "python/msprobe/lib": "The loader of the compiled libraries, which are installed beside it",
    "python/msprobe/pytorch": "The user's API for PyTorch",
    "tests": "Tests",
    "tests/cpp": "Tests of the core, by folder of csrc",
    "tests/cpp/base": "Tests of csrc/base",
    "tests/cpp/cli": "Tests of csrc/cli",
    "tests/cpp/compare": "Tests of csrc/compare",
    "tests/cpp/dump": "Tests of csrc/dump",
    "tests/cpp/format": "Tests of csrc/format",
    "tests/cpp/log": "Tests of csrc/log",
    "tests/cpp/read": "Tests of csrc/read",
    "tests/cpp/report": "Tests of csrc/report",
    "tests/cpp/stats": "Tests of csrc/stats",
    "tests/python": "Tests of everything else",
    "tests/python/compare": "Tests of the comparison, through the program and msprobe.compare",
    "tests/python/compare/inside": "Tests that run on hostnpu, started by the tests above",
    "tests/python/hunt": "Tests of examples/hunt, and of other models of transformers",
    "tests/python/hunt/inside": "Tests that run on hostnpu, started by the tests above",
    "tests/python/hostnpu": "Tests of hostnpu",
    "tests/python/hostnpu/inside": "Tests that run on hostnpu, started by the tests above",
    "tests/python/page": "Tests of the HTML pages, in Chromium",
    "tests/python/pytorch": "Tests of AclGraphDumper and its operators",
    "tests/python/pytorch/any_device": "Tests that run on the CPU and on hostnpu",
    "tests/python/pytorch/npu_only": "Tests that run on hostnpu",
    "tests/python/pytorch/cann9": "Tests that run on hostnpu with a CANN of 9.0",
    "tools": "What the Makefile and CI run",
    "tools/build_backend": "What the wheel's build asks of its environment",
    "tools/requirements": "Pinned Python packages, by what needs them",
    "tools/torch_npu_tests": "Runs torch_npu's own tests on hostnpu and weighs what came out",
    "web": "The HTML page's sources and what bundles them; only who changes them needs node",
    "web/src": "The page's TypeScript and style",
}
# What lies below these is data; it is not listed file by file.
DATA_FOLDERS = {
    "docs/pictures": "Pages as the tutorial shows them, taken by its test",
    "tests/cpp/compare/tables": "Small dumps, each pair with the table that comes out of it",
}
# Files that have no place for a comment.
FILES = {
    ".gitignore": "What is made here and not kept",
    "CMakePresets.json": "The builds by name: core, asan, tsan, bench, fuzz, all",
    "LICENSE": "Apache License 2.0",
    "csrc/ops/build_info.json.in": "Which torch, torch_npu and compiler the operators were built with; filled in by CMake",
    "examples/acl_config.json": "The quick start's configuration",
    "python/msprobe/config.json": "The configuration that counts when none is given",
    "python/msprobe/py.typed": "Tells type checkers that the package is typed",
    "web/package-lock.json": "The exact packages that bundle, check and test the page",
    "web/package.json": "What bundles, checks and tests the page",
    "web/tsconfig.json": "How strictly TypeScript looks",
}
COMMENT_MARK = re.compile(r"^\s*(//|#|<!--|/\*)\s?")


def repository_files() -> list[str]:
    """All files that are kept or about to be kept: not what .gitignore names. Without git, the tree as it lies there."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        kept = {".ci", ".clang-format", ".clang-tidy", ".gitignore", ".shellcheckrc"}
        made = {"build", "dist", "out", "__pycache__", "node_modules"}
        names = [
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob("*")
            if path.is_file()
            and not any(part in made or (part[0] == "." and part not in kept) for part in path.relative_to(ROOT).parts)
        ]
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def first_sentence(text: str) -> str:
    """A comment's first sentence, without its full stop."""
    return re.split(r"(?<=[^.\s])\.(?:\s|$)", text, maxsplit=1)[0].strip()


def head_comment(lines: list[str]) -> str:
    """The comment or docstring that a file begins with, after its `#!` and SPDX lines."""
    lines = [line for line in lines if not line.startswith("#!") and "SPDX-License-Identifier" not in line]
    text: list[str] = []
    if lines and lines[0].startswith('"""'):
        for line in [lines[0].removeprefix('"""'), *lines[1:]]:
            before, closing, _ = line.partition('"""')
            text.append(before)
            if closing or not before.strip():
                break
        return " ".join(text).strip()
    for line in lines:
        mark = COMMENT_MARK.match(line)
        if not mark:
            break
        text.append(line[mark.end() :].removesuffix("-->").removesuffix("*/"))
    return " ".join(text).strip()


def purpose(name: str) -> str:
    """What a file says of itself."""
    if name in FILES:
        return FILES[name]
    lines = (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()
    if name.endswith(".md"):
        return next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")
    default = "How this folder is built" if name.endswith("CMakeLists.txt") else ""
    return first_sentence(head_comment(lines)) or default


def rendered() -> str:
    """The list, a table for each folder."""
    by_folder: dict[str, list[str]] = {}
    for name in repository_files():
        data = next((folder for folder in DATA_FOLDERS if name.startswith(folder + "/")), None)
        if data:
            by_folder.setdefault(data, [])
        else:
            by_folder.setdefault(Path(name).parent.as_posix(), []).append(name)
    # Folders that hold only folders are named too.
    for folder in list(by_folder):
        for parent in Path(folder).parents:
            by_folder.setdefault(parent.as_posix(), [])
    purposes = FOLDERS | DATA_FOLDERS
    problems = [f"{folder}/ has no line in FOLDERS of tools/make_map.py" for folder in by_folder if folder not in purposes]
    parts = []
    for folder in sorted(by_folder, key=lambda name: "" if name == "." else name):
        title = "The root" if folder == "." else f"`{folder}/`"
        parts.append(f"\n### {title}\n{purposes.get(folder, '')}.\n")
        if by_folder[folder]:
            parts.append("| file | what it does |\n| --- | --- |")
        for name in by_folder[folder]:
            text = purpose(name)
            if not text:
                problems.append(f"{name} does not say what it does in its first lines")
            text = text.replace("|", "\\|")
            parts.append(f"| `{Path(name).name}` | {text} |")
    if problems:
        sys.exit("\n".join(problems))
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: make_map.py [--check]", file=sys.stderr)
        return 2
    old = MAP.read_text(encoding="utf-8")
    head, found, _ = old.partition(BEGIN)
    if not found:
        sys.exit(f"{MAP} has lost its line: {BEGIN}")
    new = head + BEGIN + "\n" + rendered()
    if arguments == ["--check"]:
        if new != old:
            print("docs/map.md is not what the tree holds: run `make map`", file=sys.stderr)
            return 1
        return 0
    MAP.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
