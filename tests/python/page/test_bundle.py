# SPDX-License-Identifier: Apache-2.0
"""The checked-in template is what its sources make, and the sources hold to their rules."""

from __future__ import annotations

import shutil
import subprocess

import pages

WEB = pages.ROOT / "web"


def test_the_template_is_up_to_date(tmp_path):
    assert (WEB / "node_modules" / "esbuild").is_dir(), "the page's tools are missing: tools/page.sh --tools"
    made = tmp_path / "page.html"
    subprocess.run(["node", WEB / "build.mjs", made], check=True)
    kept = pages.ROOT / "csrc" / "report" / "page" / "page.html"
    assert made.read_bytes() == kept.read_bytes(), "the page's sources have changed: make page"


def test_the_template_does_not_depend_on_where_it_is_made(tmp_path):
    elsewhere = tmp_path / "web"
    shutil.copytree(WEB, elsewhere, ignore=shutil.ignore_patterns("node_modules"))
    (elsewhere / "node_modules").symlink_to(WEB / "node_modules")
    subprocess.run(["node", elsewhere / "build.mjs", tmp_path / "page.html"], check=True)
    assert (tmp_path / "page.html").read_bytes() == (pages.ROOT / "csrc/report/page/page.html").read_bytes()


def test_both_languages_have_every_word():
    """The compiler sees that no key is missing; this sees that none was left as it was."""
    source = (WEB / "src" / "texts.ts").read_text(encoding="utf-8")
    english, chinese = source.split("const CHINESE")[0], source.split("const CHINESE")[1]
    entries = [
        dict(
            line.strip().rstrip(",").split(": ", 1)
            for line in part.splitlines()
            if line.startswith("  ") and '": "' not in line and ': "' in line
        )
        for part in (english, chinese)
    ]
    same = {key for key, value in entries[0].items() if entries[1][key] == value}
    assert same == {"grad", "nan", "pos_inf", "neg_inf", "md5"}
    for key, value in entries[0].items():
        assert {f"{{{i}}}" in value for i in range(3)} and all(
            (f"{{{i}}}" in value) == (f"{{{i}}}" in entries[1][key]) for i in range(3)
        ), key
