# SPDX-License-Identifier: Apache-2.0
"""The documents say what is so: links, commands, keys, the map, the two READMEs, the guide's quick start."""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
CODE_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def without_code(document: str) -> str:
    return CODE_BLOCK.sub("", document)


def code_blocks(document: str, language: str) -> list[str]:
    return [code for found, code in CODE_BLOCK.findall(document) if found == language]


def test_documents_are_found():
    assert {"README.md", "README.zh.md", "CONTRIBUTING.md", "map.md", "formats.md"} <= {path.name for path in DOCUMENTS}


def test_links_lead_somewhere():
    broken = []
    for document in DOCUMENTS:
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code(document.read_text(encoding="utf-8"))):
            path, _, anchor = target.partition("#")
            if "://" in target:
                continue
            if not (document.parent / path).exists():
                broken.append(f"{document.relative_to(ROOT)}: {target}")
            elif anchor:
                broken.append(f"{document.relative_to(ROOT)}: {target}: anchors are not used here, since nothing checks them")
    assert not broken, "\n".join(broken)


def test_modes_are_backed_by_tests():
    page = text("docs/modes.md")
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/python/pytorch").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named and not [name for name in named if f"def {name}(" not in sources]
    matrix = page[page.index("## The matrix") : page.index("## More ways")]
    cases = re.findall(r"`([\w-]+)`", "".join(line.rpartition(" | ")[2] for line in matrix.splitlines() if " | yes | " in line))
    running = text("tests/python/pytorch/running.py")
    lists = re.findall(r"^(?:CPU|NPU)_MODES = \[(.*)\]$", running, re.MULTILINE)
    assert set(cases) == set(re.findall(r'"([\w-]+)"', "".join(lists)))


TRANSLATED = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS if path.with_suffix(".zh.md").exists()]


def test_translated_documents_are_found():
    assert {"README.md", "docs/page.md", "docs/serving.md"} <= set(TRANSLATED)


@pytest.mark.parametrize("name", TRANSLATED)
def test_both_languages_have_one_structure(name):
    english, chinese = text(name), text(name.replace(".md", ".zh.md"))

    def shape(document: str) -> list[str]:
        prose = without_code(document)
        return [
            re.match(r"#+|\||\*\*|-|\d\.", line).group() for line in prose.splitlines() if re.match(r"#|\||\*\*|- |\d\. ", line)
        ]

    assert CODE_BLOCK.findall(english) == CODE_BLOCK.findall(chinese)
    assert shape(english) == shape(chinese)


@pytest.mark.parametrize(("index", "name"), [(0, "quick_start.py"), (1, "single_point.py")])
def test_readme_programs_are_the_examples(index, name):
    guide = code_blocks(text("README.md"), "diff")[index]
    program = "".join(line[2:] + "\n" if line.strip() else "\n" for line in guide.splitlines())
    example = text(f"examples/{name}")
    assert example.split("\n\n", 1)[1] == program, "after its head the example is the README's program to the letter"


def test_readme_quick_start_adds_four_lines():
    guide = code_blocks(text("README.md"), "diff")[0]
    added = [line[2:].strip() for line in guide.splitlines() if line.startswith("+")]
    assert [line for line in added if not line.startswith("#")] == [
        "from msprobe.pytorch import AclGraphDumper",
        "dumper = AclGraphDumper('./acl_config.json')",
        "dumper.start(model)",
        "dumper.step()",
    ]


def test_readme_configuration_is_the_example():
    assert code_blocks(text("README.md"), "json")[0] == text("examples/acl_config.json")
    assert code_blocks(text("docs/formats.md"), "json")[0] == text("examples/acl_config.json")


def test_make_commands_exist():
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z]+)", path.read_text(encoding="utf-8"))}
    assert named <= targets
    assert {"demo", "test", "bench", "lint"} <= named
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert targets == set(re.findall(r"^  make (\w+)", told, re.MULTILINE))


def test_formats_name_every_field():
    fields = dict(re.findall(r'string_view (k\w+) = "([^"]+)"', text("csrc/format/fields.h")))
    assert len(fields) > 20
    formats = text("docs/formats.md")
    missing = [
        word
        for name, word in fields.items()
        if f'"{word}"' not in formats and f"`{word}`" not in formats and name != "kForward"
    ]
    assert not missing


def test_formats_tell_what_the_numbers_of_each_dtype_are():
    names = re.findall(r'"torch\.(\w+)"', text("csrc/format/dtype.cpp"))
    assert len(names) > 20
    table = text("docs/formats.md").split("| dtype | numbers |", 1)[1].split("\n\n", 1)[0]
    patterns = [
        pattern for row in table.splitlines() for pattern in re.findall(r"`([^`]+)`", row.split("|")[1] if "|" in row else "")
    ]
    patterns += ["int*", "uint*"] if "| integers |" in table else []
    assert not [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def test_map_is_current():
    answer = subprocess.run(
        [sys.executable, "tools/make_map.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr


def test_map_names_every_file_and_no_other():
    """Independent of the script that writes the map."""
    tables = re.split(r"^### ", text("docs/map.md"), flags=re.MULTILINE)[1:]
    mapped = set()
    for table in tables:
        title = table.splitlines()[0].strip()
        folder = ROOT if title == "The root" else ROOT / title.strip("`")
        assert folder.is_dir(), f"docs/map.md: {title} is not there"
        mapped |= {folder / name for name in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)}
    gone = [str(path.relative_to(ROOT)) for path in mapped if not path.is_file()]
    assert not gone, f"docs/map.md names files that are not there: {gone}"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
    # Folders of data are named as a whole.
    data = ("tests/cpp/compare/tables/", "docs/pictures/")
    tracked = {ROOT / name for name in listed if name and (ROOT / name).is_file() and not name.startswith(data)}
    assert tracked <= mapped, f"docs/map.md lacks {sorted(str(path.relative_to(ROOT)) for path in tracked - mapped)}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("0*.md")), ids=lambda path: path.stem)
def test_decisions_are_listed_and_complete(page):
    assert f"({page.name})" in text("docs/decisions/README.md")
    content = page.read_text(encoding="utf-8")
    assert content.startswith("# ")
    assert "**Decision.**" in content
