# SPDX-License-Identifier: Apache-2.0
"""The rules of the source tree that no compiler checks: layers, vendors, the one throw point, heads and lengths of files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What each folder of csrc may include, itself apart. The torch-free core is a chain; the operators stand beside its end.
CORE = ["base", "format", "stats", "log", "dump", "read", "compare", "report", "cli"]
MAY_INCLUDE = {folder: set(CORE[:index]) for index, folder in enumerate(CORE)}
MAY_INCLUDE["device"] = {"base", "format", "stats", "log", "dump"}
MAY_INCLUDE["ops"] = {"base", "format", "stats", "log", "dump", "device"}

TORCH_HEADER = re.compile(r"(torch|ATen|c10|caffe2)/")
VENDOR_HEADER = re.compile(r"(torch_npu|acl|aclnn|aclnnop|hccl|third_party|op_plugin)/|cuda")

CODE_SUFFIXES = {".h", ".cpp", ".c", ".inc", ".py", ".sh", ".ts", ".mjs"}
CODE_FOLDERS = ["csrc", "hostnpu", "python", "tests", "tools", "fuzz", "bench", "examples", "web"]
MAX_LINES = 400
# path: why it is longer
LONG_FILES: dict[str, str] = {}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
# Comments and literals, replaced before code is searched; a raw string comes first, since it may hold quotes.
NOT_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)

THROWING = re.compile(r"\bthrow\b(?!\s*;)")  # `throw;` passes on an error that has its message already
ENDING = re.compile(r"\b(?:abort|exit|_exit|quick_exit|terminate)\s*\(")
PRINTING = re.compile(r"\bstd::(?:cout|cerr|clog)\b|\b(?:printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror)\s*\(")
THROW_POINTS = {"csrc/base/error.h", "csrc/base/error.cpp"}


def code_only(text: str) -> str:
    """C++ without comments and the contents of literals, lines kept."""
    return NOT_CODE.sub(lambda match: '""' + "\n" * match.group().count("\n"), text)


def cpp_files(*folders: str) -> list[Path]:
    return sorted(
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".h", ".cpp", ".c", ".inc"}
    )


def code_files() -> list[Path]:
    found = [ROOT / "setup.py", ROOT / ".ci" / "run"]
    for folder in CODE_FOLDERS:
        found += [
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in CODE_SUFFIXES and not {"__pycache__", "node_modules"} & set(path.parts)
        ]
    return sorted(found)


def layer_violations(layer: str, text: str) -> list[str]:
    """The includes of a file in csrc/<layer> that the layers forbid."""
    broken = []
    for bracket, header in INCLUDE.findall(text):
        if TORCH_HEADER.match(header):
            if layer not in {"ops", "device"}:
                broken.append(f"{header}: only csrc/ops and csrc/device know torch")
        elif VENDOR_HEADER.match(header):
            if layer != "device":
                broken.append(f"{header}: only csrc/device knows a vendor")
        elif bracket == '"':
            target = header.split("/")[0]
            if "/" not in header or target not in MAY_INCLUDE:
                broken.append(f'{header}: includes of our own are written "folder/file.h", from csrc')
            elif target != layer and target not in MAY_INCLUDE[layer]:
                broken.append(f"{header}: {layer} may include {', '.join(sorted(MAY_INCLUDE[layer])) or 'nothing'}")
    return broken


def forbidden_calls(relative: str, text: str) -> list[str]:
    """Throws, exits and prints in a file of csrc that may not have them."""
    code = code_only(text)
    rules = []
    if relative not in THROW_POINTS:
        rules.append((THROWING, "throws go through msprobe::fail (csrc/base/error.h); operators use TORCH_CHECK"))
    if not relative.startswith("csrc/cli/"):
        rules += [(ENDING, "a library never ends its process"), (PRINTING, "a library never prints")]
    broken = []
    for number, line in enumerate(code.splitlines(), 1):
        broken += [f"{relative}:{number}: {line.strip()}: {why}" for pattern, why in rules if pattern.search(line)]
    return broken


def test_there_is_something_to_check():
    assert len(cpp_files("csrc")) > 10
    assert len(code_files()) > 40


def test_every_folder_of_csrc_is_a_layer():
    folders = {path.name for path in (ROOT / "csrc").iterdir() if path.is_dir()}
    assert folders <= set(MAY_INCLUDE), "a new folder needs its place in MAY_INCLUDE, docs/map.md and csrc/CMakeLists.txt"


def test_includes_follow_the_layers():
    broken = []
    for path in cpp_files("csrc"):
        relative = path.relative_to(ROOT)
        broken += [f"{relative}: {why}" for why in layer_violations(relative.parts[1], path.read_text(encoding="utf-8"))]
    assert not broken, "\n".join(broken)


def test_hostnpu_and_msprobe_do_not_know_each_other():
    """hostnpu stands in for CANN; it would prove nothing if it shared code with what runs on it."""
    own_headers = {path.relative_to(ROOT / "hostnpu").as_posix() for path in cpp_files("hostnpu")}
    broken = [
        f"{path.relative_to(ROOT)} includes {header}"
        for path in cpp_files("hostnpu")
        for bracket, header in INCLUDE.findall(path.read_text(encoding="utf-8"))
        if bracket == '"' and header.split("/")[0] in MAY_INCLUDE and header not in own_headers
    ]
    broken += [
        f"{path.relative_to(ROOT)} speaks of hostnpu"
        for path in cpp_files("csrc")
        # The program has a command of that name, which starts Python.
        if path.relative_to(ROOT).parts[1] != "cli" and "hostnpu" in code_only(path.read_text(encoding="utf-8")).lower()
    ]
    assert not broken, "\n".join(broken)


def test_one_throw_point_and_no_output_from_the_library():
    broken = []
    for path in cpp_files("csrc"):
        broken += forbidden_calls(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    assert not broken, "\n".join(broken)


def test_heads_of_files():
    """Line 1 has the licence, line 2 says what the file does; a script's `#!` stands before both."""
    broken = []
    for path in code_files():
        lines = path.read_text(encoding="utf-8").splitlines()
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        if not lines or "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            broken.append(f"{path.relative_to(ROOT)}: the first line is not the SPDX line")
        elif len(lines) < 2 or not re.match(r'(//|#|""")\s*\S.{10,}', lines[1]):
            broken.append(f"{path.relative_to(ROOT)}: the second line does not say what the file does")
    assert not broken, "\n".join(broken)


def test_lengths_of_files():
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in code_files()}
    too_long = {name: lines for name, lines in lengths.items() if lines > MAX_LINES and name not in LONG_FILES}
    assert not too_long, f"files above {MAX_LINES} lines; split them, or list them with a reason: {too_long}"
    not_needed = [name for name in LONG_FILES if lengths.get(name, 0) <= MAX_LINES]
    assert not not_needed, f"listed as long, but they are not: {not_needed}"


# --- the rules themselves, on text that breaks them ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "include", "allowed"),
    [
        ("stats", '#include "format/dtype.h"', True),
        ("stats", '#include "stats/partial.h"', True),
        ("stats", "#include <vector>", True),
        ("format", '#include "stats/stats.h"', False),
        ("dump", '#include "ops/schema.h"', False),
        ("ops", '#include "dump/dump_json.h"', True),
        ("ops", '#include "compare/match.h"', False),
        ("log", "#include <torch/library.h>", False),
        ("ops", "#include <torch/library.h>", True),
        ("base", "  #  include <ATen/ATen.h>", False),
        ("ops", "#include <acl/acl_rt.h>", False),
        ("device", "#include <acl/acl_rt.h>", True),
        ("device", '#include "torch_npu/csrc/core/npu/NPUStream.h"', True),
        ("dump", '#include "json.h"', False),
    ],
)
def test_layer_rule(layer, include, allowed):
    assert (layer_violations(layer, include) == []) == allowed


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("throw Error(text);", False),
        ("catch (...) { throw; }", True),
        ("// throw away\n/* std::cout << 1; */", True),
        ('fail("cannot abort(", x);', True),
        ("std::abort();", False),
        ("std::cerr << text;", False),
        ("snprintf(buffer, size, format);", True),
        ("std::printf(format);", False),
        ('auto text = R"x(" throw 1 )x"; f();', True),
    ],
)
def test_call_rule(code, allowed):
    assert (forbidden_calls("csrc/log/example.cpp", code) == []) == allowed
