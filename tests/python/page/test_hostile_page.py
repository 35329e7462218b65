# SPDX-License-Identifier: Apache-2.0
"""What a dump's author may write into names, types and shapes stays text on the page."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from urllib.parse import quote

import cli_runs
import pages
import pytest

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
        result = record | {"value": evil, "data_name": f"{number}{evil}.pt", "note": evil, "Max": evil}
        data[f"Module.{evil}.{number}.Linear.forward.0"] = cli_runs.entry(record, result)
    return data


def write_hostile(folder):
    """Both sides of a comparison, with a stack beside the target."""
    data = hostile()
    cli_runs.write_dump(folder / "target" / "dump.json", data)
    stack = {str(i): [[name], [EVIL[i % len(EVIL)], "</pre><script>alert(1)</script>"]] for i, name in enumerate(data)}
    (folder / "target" / "stack.json").write_text(json.dumps(stack))
    cli_runs.write_dump(folder / "golden" / "dump.json", data | {f"Module.{EVIL[2]}.x.forward.0": {"input_args": 3}})


TAKEN = "document.querySelectorAll('#page img, #page script, #page svg, #page b:not(.tile b)').length"


def test_a_hostile_dump_is_harmless(browser, tmp_path):
    evil = tmp_path / "<b>&amp;"
    write_hostile(evil)
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
        assert browser.evaluate(code=TAKEN) == 0
        assert browser.evaluate(code="document.documentElement.scrollWidth <= innerWidth"), "long names do not widen the page"
        told = browser.told()
        assert told["errors"] == [] and len(told["requests"]) == 1


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_everything_of_a_hostile_dump_is_shown_as_text(browser, tmp_path, locale):
    """All columns, stacks, messages and filters; each row chosen once."""
    write_hostile(tmp_path)
    browser.show(pages.compared(tmp_path), locale=locale)
    browser.evaluate(code="document.querySelectorAll('.choice input:not(:checked)').forEach(box => box.click())")
    shown = "".join("".join(row) for row in browser.rows())
    assert shown.count(EVIL[2]) > 5
    browser.evaluate(code="document.querySelectorAll('[role=columnheader] button').forEach(head => head.click())")
    browser.evaluate(code="location.hash = ''")
    stacks = 0
    for row in range(2 * len(EVIL)):
        browser.evaluate(code=f"location.hash = '#row={row}'")
        browser.wait(code=f"document.querySelector('.row[aria-selected=true]')?.id === 'row-{row}'")
        stacks += browser.evaluate(
            code="(pre => pre !== null && pre.textContent.includes('</pre><script>'))(document.querySelector('.detail pre'))"
        )
    assert stacks == len(EVIL) - 1, "inputs have them; the longest name is refused as a broken entry"
    for choice in browser.evaluate(code="[...document.querySelector('.filters select').options].map(option => option.value)"):
        browser.choose(selector=".filters select", value=choice)
    assert browser.evaluate(code=TAKEN) == 0 and browser.evaluate(code="document.title").startswith("msprobe")
    told = browser.told()
    assert told["errors"] == [] and len(told["requests"]) == 1


EVIL_FRAGMENTS = [
    "#text=" + quote(EVIL[2]) + "&module=" + quote(EVIL[0]) + "&name=" + quote(EVIL[1]),
    "#dtype=__proto__&sort=constructor&columns=__proto__,constructor,toString&by=__proto__&chart=valueOf&result=toString",
    "#pair=-1&row=1e9&by=distance&chart=distance&sort=-&columns=,,,",
    "#pair=99999999999999999999&row=999999999999999&name=" + "a" * 20000,
    "#" + quote(EVIL[0]) + "=" + quote(EVIL[0]) + "&row=%00&text=%ff%fe",
    "#javascript:document.title='taken'",
]


@pytest.mark.parametrize("fragment", EVIL_FRAGMENTS)
def test_a_hostile_address_is_harmless(browser, page, fragment):
    browser.show(page, fragment, locale="zh-CN")
    assert browser.text(selector=".verdict p")[0].startswith("首个故障")
    assert browser.evaluate(code=TAKEN) == 0 and browser.evaluate(code="document.title").startswith("msprobe")
    browser.evaluate(code="location.hash = ''")
    browser.wait(code="document.querySelectorAll('.row').length > 20")
    assert browser.told()["errors"] == []


def test_no_formula_is_copied(browser, tmp_path):
    """As in the program's CSV, in columns of numbers too, where a dump may hold any text."""
    formulas = ["=1+1", "+1", "@SUM(A1)", "-2+3", "a;=1", "\uff1d1", "\t=1"]
    data = {}
    for number, formula in enumerate(formulas):
        record = cli_runs.tensor(dtype=formula, Max=formula)
        data[f"{formula}.{number}.forward"] = cli_runs.entry(record, cli_runs.tensor())
    for side in ("target", "golden"):
        cli_runs.write_dump(tmp_path / side / "dump.json", data)
    browser.show(pages.compared(tmp_path))
    browser.evaluate(code="navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
    browser.evaluate(code="document.querySelectorAll('.choice input:not(:checked)').forEach(box => box.click())")
    browser.click(selector=".filters > button:last-of-type")
    browser.wait(code="window.copied !== undefined")
    table = list(csv.reader(io.StringIO(browser.evaluate(code="window.copied"), newline="")))
    cells = [cell for row in table[1:] for cell in row]
    number = re.compile(r"-?[\d.]+(e[+-]?\d+)?%?|-inf")
    risky = [cell for cell in cells if re.match(r"[=+\-@\t\r\n\uff1d]", cell) and not number.fullmatch(cell)]
    assert risky == [] and not [cell for cell in cells if ";=" in cell]
    assert sum(cell.startswith("'") for cell in cells) > 20


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
