# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison in a browser: verdict, chart, tree, table, chosen row, address, language, colours, paper."""

from __future__ import annotations

import csv
import io
import json

import cli_runs
import pages
import pytest
import test_cli_formats

CHART = ".chart .u-over"


def quiet(browser: pages.Browser, page) -> None:
    """No message in the console, and nothing was asked of any other place."""
    told = browser.told()
    assert told["errors"] == []
    assert [url.split("#")[0] for url in told["requests"]] == [page.resolve().as_uri()]


def row_of(browser: pages.Browser, name: str) -> str:
    browser.fill(selector=".filters input[type=search]", value=name)
    browser.wait(code=f"document.querySelectorAll('.row').length === 1 || '{name}' === ''")
    return browser.evaluate(code="document.querySelector('.row').id.slice(4)")


def test_opens_quietly_with_verdict_and_counts(browser, page):
    browser.show(page, locale="en-US")
    (verdict,) = browser.text(selector=".verdict p")
    summary = cli_runs.compare("-tp", page.parents[1] / "target", "-gp", page.parents[1] / "golden", "-o", page.parent / "csv")
    assert verdict.split(":")[0] == "First fault"
    assert "output 0 of Module.layers.9.attn.q.Linear.forward.0" in verdict
    assert verdict[:60] in summary.stdout
    with cli_runs.only_file(page.parent / "csv", "*.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    for result in ("pass", "warning", "error", "unmatched"):
        (told,) = browser.text(selector=f".tile.{result} b")
        assert int(told) == sum(row["Result"] == result for row in table)
    (dumps,) = browser.text(selector=".dumps")
    assert str(page.parents[1] / "target" / "dump.json") in dumps
    assert "torch.float32" in dumps and "written 20" in dumps
    browser.picture_of("compare")
    quiet(browser, page)


def same(mine: str, other: str) -> bool:
    """Words as they are; numbers by their value, since JavaScript prints them in another way than Python."""
    if mine == other or mine.strip().lower() == other.strip().lower():
        return True
    try:
        return float(mine.rstrip("%")) == float(other.rstrip("%")) and mine.endswith("%") == other.endswith("%")
    except ValueError:
        return False


@pytest.mark.parametrize("dumps", ["model", "awkward"])
def test_the_table_is_that_of_the_csv(browser, page, tmp_path, dumps):
    """Every cell, by way of Copy as CSV with all columns."""
    folder = page.parents[1]
    if dumps == "awkward":
        folder = tmp_path
        cli_runs.write_dump(folder / "target" / "dump.json", test_cli_formats.TARGET)
        cli_runs.write_dump(folder / "golden" / "dump.json", test_cli_formats.GOLDEN)
        page = pages.compared(folder)
    cli_runs.compare("-tp", folder / "target", "-gp", folder / "golden", "-o", tmp_path / "csv")
    with cli_runs.only_file(tmp_path / "csv", "*.csv").open(newline="", encoding="utf-8") as file:
        wanted = list(csv.reader(file))
    browser.show(page)
    browser.evaluate(code="navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
    browser.evaluate(code="document.querySelectorAll('.choice input:not(:checked)').forEach(box => box.click())")
    browser.click(selector=".filters > button:last-of-type")
    browser.wait(code="window.copied !== undefined")
    copied = list(csv.reader(io.StringIO(browser.evaluate(code="window.copied"), newline="")))
    columns = [copied[0].index(name) for name in wanted[0]]
    assert len(copied) == len(wanted) > 10
    for mine, other in zip(copied[1:], wanted[1:], strict=True):
        for column, cell in zip(columns, other, strict=True):
            assert same(mine[column], cell), (copied[0][column], mine[column], cell)


def test_filters_sorting_and_the_address(browser, page):
    browser.show(page, locale="en-US")
    browser.evaluate(code="document.querySelectorAll('.results input')[0].click()")
    assert browser.fragment() == {"result": "warning,error,unmatched"}
    assert all("pass" not in row[1] for row in browser.rows())
    browser.fill(selector=".filters input[type=search]", value="ATTN.q")
    browser.wait(code="location.hash.includes('text=')")
    assert browser.rows() and all(".attn.q." in row[0] for row in browser.rows())
    browser.click(selector="text=Clear filter")
    browser.click(selector="[role=columnheader]:nth-child(4) button")
    assert browser.fragment() == {"sort": "-norm_error"}
    assert (
        browser.evaluate(code="document.querySelector('[aria-sort=descending] button').firstChild.textContent")
        == "NormRelativeErr"
    )

    def numbers():
        return [float(row[3].rstrip("%")) for row in browser.rows() if row[3] not in ("Nan", "N/A")]

    descending = numbers()
    assert descending == sorted(descending, reverse=True) and descending[0] > 20
    browser.click(selector="[role=columnheader]:nth-child(4) button")
    ascending = numbers()
    assert ascending == sorted(ascending) and ascending[0] < 1
    browser.choose(selector=".filters select", value="torch.float32")
    assert browser.fragment()["dtype"] == "torch.float32"
    quiet(browser, page)


def test_an_address_brings_a_colleague_to_the_place(browser, page):
    browser.show(page, "#row=301&result=error&sort=-norm_error&columns=target_name,norm_error", locale="en-US")
    assert browser.evaluate(code="document.querySelectorAll('[role=columnheader]').length") == 2
    assert browser.evaluate(code="document.querySelector('.row[aria-selected=true]').id") == "row-301"
    name = browser.evaluate(code="document.querySelector('.row[aria-selected=true]').firstChild.textContent")
    (title,) = browser.text(selector=".detail h2")
    assert title.startswith(name)
    checked = "[...document.querySelectorAll('.results input')].map(box => box.checked)"
    assert browser.evaluate(code=checked) == [False, False, True, False]
    browser.evaluate(code="location.hash = '#row=2'")
    browser.wait(code="document.querySelector('.detail h2').textContent.includes('layers.0.norm1')")


@pytest.mark.parametrize(
    "fragment", ["#row=999999", "#pair=77", "#row=x&result=,&sort=nothing&columns=no&module=no.such", "#%%%"]
)
def test_an_address_that_leads_nowhere_does_no_harm(browser, page, fragment):
    browser.show(page, fragment)
    assert browser.text(selector=".verdict p")
    quiet(browser, page)


def test_the_chosen_row_has_both_records_and_the_line_to_paste(browser, page):
    browser.show(page, locale="en-US")
    browser.fill(selector=".filters input[type=search]", value="layers.20.mlp.down.Linear.forward.0.output")
    browser.wait(code="document.querySelectorAll('.row').length === 1")
    browser.click(selector=".row")
    cells = browser.evaluate(
        code="Object.fromEntries([...document.querySelectorAll('.records tbody tr')].map("
        "line => [line.children[0].textContent, [...line.children].slice(1).map(cell => cell.textContent)]))"
    )
    golden = json.loads((page.parents[1] / "golden" / "dump.json").read_text())["data"]
    record = golden["Module.layers.20.mlp.down.Linear.forward.0"]["output"][0]
    assert cells["max"][:2] == ["nan", repr(record["Max"])]
    assert cells["NaN"] == ["17", "0", "", ""]
    assert cells["shape"][:2] == ["[8, 128]", "[8, 128]"]
    (code,) = browser.text(selector=".save code")
    assert code.startswith('x = acl_save(x, "./acl_save/Module.layers.20.mlp.down.Linear.forward.0.output.0.pt")')
    compile(code, "line", "exec")
    browser.click(selector=".detail .close")
    assert "row" not in browser.fragment()


def test_the_chart_tells_chooses_and_zooms(browser, page):
    browser.show(page, locale="en-US")
    box = browser.evaluate(code=f"document.querySelector('{CHART}').getBoundingClientRect().toJSON()")
    browser.hover(selector=CHART, options={"position": {"x": box["width"] * 0.9, "y": 50}})
    browser.wait(code="document.querySelector('.told').textContent.includes('Module.layers.21.')")
    browser.click(selector=CHART, options={"position": {"x": box["width"] * 0.9, "y": 50}})
    row = int(browser.fragment()["row"])
    assert 330 < row < 360
    title = "document.querySelector('.detail h2').firstChild.textContent"
    assert browser.evaluate(code=title).startswith("Module.layers.21.")
    box = browser.evaluate(code=f"document.querySelector('{CHART}').getBoundingClientRect().toJSON()")
    top = box["top"] + 60
    browser.drag(**{"from": [box["left"] + box["width"] * 0.4, top], "to": [box["left"] + box["width"] * 0.5, top]})
    browser.hover(selector=CHART, options={"position": {"x": 5, "y": 60}})
    told = int(browser.text(selector=".told")[0].split()[0])
    assert 150 < told < 160, "the left edge is at 40 % of 384 rows"
    browser.click(selector="text=Everything")
    browser.hover(selector=CHART, options={"position": {"x": 3, "y": 70}})
    assert int(browser.text(selector=".told")[0].split()[0]) < 5
    quiet(browser, page)


def test_the_tree_opens_by_keys_filters_and_is_searched(browser, page):
    browser.show(page, locale="en-US")
    paths = "[...document.querySelectorAll('[role=treeitem]')].map(item => item.dataset.path)"
    shown = browser.evaluate(code=paths)
    assert "Module.layers.9.attn" in shown and "Module.layers.8.attn" not in shown, "open down to the first error"

    def mark(path):
        return browser.evaluate(code=f"document.querySelector(\"[data-path='{path}'] .mark\").className")

    assert [mark(f"Module.layers.{layer}") for layer in (3, 8, 9)] == ["mark unmatched", "mark pass", "mark error"]
    item = "[role=treeitem][data-path='Module.layers.8']"
    browser.press(selector=item, key="ArrowRight")
    assert "Module.layers.8.attn" in browser.evaluate(code=paths)
    browser.press(selector=item, key="ArrowRight")
    focused = "document.activeElement.dataset.path"
    assert browser.evaluate(code=focused) == "Module.layers.8.norm1"
    browser.press(selector=":focus", key="ArrowDown")
    assert browser.evaluate(code=focused) == "Module.layers.8.attn"
    browser.press(selector=":focus", key="Enter")
    assert browser.fragment()["module"] == "Module.layers.8.attn"
    assert {row[0].split(".")[3] for row in browser.rows()} == {"attn"}
    assert len(browser.rows()) == 6, "attn, attn.q and attn.o, an input and an output each"
    browser.press(selector=":focus", key="ArrowLeft")
    browser.press(selector=":focus", key="Home")
    assert browser.evaluate(code=focused) == ""
    browser.fill(selector=".modules input", value="MLP.up")
    browser.wait(code="document.querySelectorAll('[role=treeitem]').length === 24")
    quiet(browser, page)


def test_another_order_is_seen_from_its_top(browser, page):
    browser.show(page, locale="en-US")
    browser.evaluate(code="document.querySelector('.grid').scrollTop = 4000")
    browser.wait(code="document.querySelector('.row').id === 'row-160'")
    browser.click(selector="[role=columnheader]:nth-child(4) button")
    top = browser.evaluate(code="document.querySelector('.grid').scrollTop")
    assert top == 0 and float(browser.rows()[0][3].rstrip("%")) > 100
    browser.evaluate(code="document.querySelector('.grid').scrollTop = 2000")
    browser.evaluate(code="document.querySelectorAll('.choice input:not(:checked)')[0].click()")
    assert browser.evaluate(code="document.querySelector('.grid').scrollTop") == 2000, "other columns move nothing"


def test_rows_are_walked_by_keys(browser, page):
    browser.show(page, locale="en-US")
    for key, row in (("ArrowDown", "0"), ("ArrowDown", "1"), ("End", "383"), ("ArrowUp", "382"), ("Home", "0")):
        browser.press(selector=".grid", key=key)
        assert browser.fragment()["row"] == row
        assert browser.evaluate(code=f"document.querySelector('#row-{row}').getAttribute('aria-selected')") == "true"


def test_dark_light_and_paper(browser, page):
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.show(page, colorScheme="dark", locale="en-US")
    assert browser.evaluate(code=ground) == "rgb(13, 17, 23)"
    browser.picture_of("compare_dark")
    browser.choose(selector="header select", value="light")
    assert browser.evaluate(code=ground) == "rgb(255, 255, 255)"
    browser.choose(selector="header select", value="dark")
    browser.media(media="print")
    browser.evaluate(code="window.dispatchEvent(new Event('beforeprint'))")
    assert browser.evaluate(code=ground) == "rgb(255, 255, 255)", "paper is light"
    browser.wait(code="document.querySelectorAll('.row').length === 200")  # another theme draws all anew
    assert browser.text(selector=".onpaper") == [
        "The first 200 of 384 rows are printed; 184 are left out. The page on a screen has all that it carries."
    ]
    assert browser.evaluate(code="document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at the side"
    assert browser.evaluate(code="getComputedStyle(document.querySelector('.filters')).display") == "none"
    assert len(browser.rows()) == 200
    left = "[...document.querySelectorAll('.head > *, .row:first-child > *')].map(cell => cell.getBoundingClientRect().left)"
    edges = browser.evaluate(code=left)
    half = len(edges) // 2
    assert edges[:6] == edges[half : half + 6], "heads stand above their columns"
    browser.picture_of("compare_print")
    browser.evaluate(code="window.dispatchEvent(new Event('afterprint'))")
    browser.media(media="screen")
    assert browser.text(selector=".onpaper") == [""] and len(browser.rows()) < 60
    browser.fill(selector=".filters input[type=search]", value="layers.9.")
    browser.wait(code="document.querySelectorAll('.row').length === 16")
    browser.evaluate(code="window.dispatchEvent(new Event('beforeprint'))")
    assert browser.evaluate(code="document.querySelector('.onpaper').textContent.trim()") == "Filter: layers.9.."
    quiet(browser, page)
