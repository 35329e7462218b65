# SPDX-License-Identifier: Apache-2.0
"""What a dump's author may write into names, types and shapes stays text on the page."""

from __future__ import annotations

import base64
import hashlib
import re

import cli_runs
import pages

EVIL = [
    "</script><script>document.title='taken'</script>",
    "<!--<script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "\" onmouseover=\"document.title='taken'",
    "]]></style><svg onload=document.title='taken'>",
    "\u2028\u2029\u202e\x00\n'); import os #",
    "__proto__",
    "constructor",
    "a" * 5000,
    ".".join(["deep"] * 300),
]


def hostile():
    data = {}
    for number, evil in enumerate(EVIL):
        record = cli_runs.tensor(2.0 + number, dtype=evil, shape=[evil])
        data[f"Module.{evil}.{number}.Linear.forward.0"] = cli_runs.entry(record, record | {"value": evil})
    return data


def test_a_hostile_dump_is_harmless(browser, tmp_path):
    evil = tmp_path / "<b>&amp;"
    cli_runs.write_dump(evil / "target" / "dump.json", hostile())
    cli_runs.write_dump(evil / "golden" / "dump.json", hostile() | {f"Module.{EVIL[2]}.x.forward.0": {"input_args": 3}})
    for page in (pages.compared(evil), pages.viewed(evil, evil / "target")):
        browser.show(page, locale="en-US")
        names = [row[0] for row in browser.rows()]
        for text in EVIL[:4]:
            assert any(text in name for name in names), text
        for row in range(0, 2 * len(EVIL), 2):
            browser.evaluate(code=f"location.hash = '#row={row}'")
            browser.wait(code="document.querySelector('.save code') !== null")
            (code,) = browser.text(selector=".save code")
            assert re.fullmatch(
                r'x = acl_save\(x, "\./acl_save/[A-Za-z0-9._-]+\.pt"\)  ?# from msprobe\.pytorch import acl_save', code
            )
        browser.fill(selector=".modules input", value="script")
        browser.wait(code="document.querySelector('[role=treeitem] .name').textContent.includes('script')")
        browser.picture_of("hostile")
        assert browser.evaluate(code="document.title").startswith("msprobe")
        assert (
            browser.evaluate(
                code="document.querySelectorAll('#page img, #page script, #page svg, #page b:not(.tile b)').length"
            )
            == 0
        )
        told = browser.told()
        assert told["errors"] == [] and len(told["requests"]) == 1


def test_injected_code_would_not_run(browser, page, tmp_path):
    """The policy of the page, with markup that a bug might let through: no script, no handler, no style, no request."""
    text = page.read_text(encoding="utf-8")
    evil = "<script>document.title='taken'</script><img src='https://example.com/x.png' onerror=\"document.title='taken'\">"
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace("<main", evil + "<main", 1), encoding="utf-8")
    browser.show(changed)
    assert browser.evaluate(code="document.title").startswith("msprobe")
    told = browser.told()
    assert len(told["errors"]) >= 2, "the browser tells what it refused"
    assert [url for url in told["requests"] if not url.startswith("file:")] == told["refused"]


def test_the_policy_names_script_and_style_by_their_hashes(page):
    text = page.read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    for kind, content in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.findall(r"https?://(?!github\.com/leeoniya)[^\s\"']+", re.sub(r"http://www\.w3\.org/\S+", "", style))
