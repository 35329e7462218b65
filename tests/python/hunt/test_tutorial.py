# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md and tutorial.zh.md show what the hunts print and what their pages look like. What the documents ought to be lies in
out/tutorial/docs afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.append(str(HERE.parent / "page"))

import pages  # noqa: E402

DOCUMENTS = {"tutorial.md": "en-US", "tutorial.zh.md": "zh-CN"}
FRESH = ROOT / "out" / "tutorial" / "docs"
BLOCK = re.compile(r"<!-- begin: hunt (\w+) -->\n(.*?)<!-- end: hunt \1 -->", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\((pictures/(\w+)(?:\.zh)?\.png)\)")
UPDATE = f"what it should be lies in {FRESH}: cp -r {FRESH} {ROOT}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which all hunts have been run; their output is in `printed`."""
    folder = tmp_path_factory.mktemp("tutorial")
    command = [sys.executable, "-m", "msprobe.hostnpu", "run", str(ROOT / "examples" / "hunt" / "hunt.py")]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    (folder / "printed").write_text(answer.stdout, encoding="utf-8")
    (FRESH / "pictures").mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[pages.Browser]:
    browser = pages.Browser()
    yield browser
    browser.close()


def text_of(document: str) -> str:
    return (ROOT / "docs" / document).read_text(encoding="utf-8")


def without_chance(output: str) -> str:
    """What does not depend on the machine: no addresses, times, last digits, nor the tokens of a model that is wrong."""
    output = re.sub(r"0x[0-9a-f]+|_\d{14}", "...", output)
    output = re.sub(r"^tokens .*\n(?: +\* golden takes.*\n)?", "tokens", output, flags=re.MULTILINE)
    output = re.sub(r"furthest apart at .*", "furthest apart", output)
    return " ".join(re.sub(r"-?\d+\.?\d*e[+-]\d+|-?\d*\.\d+|\b1\b", "N", output).split())


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_output_is_real(run: Path, document: str) -> None:
    printed = dict(
        re.findall(r"^== (\w+)(.*?)(?=^== |\Z)", (run / "printed").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )

    def fresh(block: re.Match[str]) -> str:
        name = block[1]
        return f"<!-- begin: hunt {name} -->\n```text\n== {name}{printed[name].rstrip()}\n```\n<!-- end: hunt {name} -->"

    shown = text_of(document)
    assert [name for name, _ in BLOCK.findall(shown)] == list(printed), "each hunt, in the order of the program"
    renewed = BLOCK.sub(fresh, shown)
    (FRESH / document).write_text(renewed, encoding="utf-8")
    assert without_chance(shown) == without_chance(renewed), UPDATE


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_pictures_are_of_the_pages(run: Path, browser: pages.Browser, document: str) -> None:
    pictures = PICTURE.findall(text_of(document))
    assert len(pictures) == 3
    others = []
    for picture, name in pictures:
        (page,) = (run / "out" / "hunt" / name).glob("*.html")
        browser.show(page, viewport={"width": 1280, "height": 900}, locale=DOCUMENTS[document])
        assert browser.told()["errors"] == []
        if name == "rebound":
            browser.click(selector=".verdict button")  # leads to the row
        browser.picture(path=str(FRESH / picture), full=False)
        if not alike(FRESH / picture, ROOT / "docs" / picture):
            others.append(picture)
    assert not others, UPDATE


def alike(fresh: Path, shown: Path) -> bool:
    """The same at a glance: times and last digits differ, and another machine has other fonts."""
    if not shown.exists():
        return False
    with Image.open(fresh) as new, Image.open(shown) as old:
        glances = [picture.convert("L").resize((64, 45), Image.Resampling.BOX) for picture in (new, old)]
        difference: float = ImageStat.Stat(ImageChops.difference(*glances)).mean[0]
        return new.size == old.size and difference < 3  # of 255


def test_both_documents_show_the_same_pictures() -> None:
    one, other = DOCUMENTS
    assert [name for _, name in PICTURE.findall(text_of(one))] == [name for _, name in PICTURE.findall(text_of(other))]


def test_nothing_lies_about_among_the_pictures() -> None:
    shown = {picture for document in DOCUMENTS for picture, _ in PICTURE.findall(text_of(document))}
    assert {f"pictures/{path.name}" for path in (ROOT / "docs" / "pictures").iterdir()} == shown
