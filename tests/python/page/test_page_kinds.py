# SPDX-License-Identifier: Apache-2.0
"""Pages of all kinds of comparisons: saved tensors, checksums, two dtypes, ranks and steps, pairs that could not be compared."""

from __future__ import annotations

import json
from typing import Any

import cli_runs
import page_dumps
import pages
import pytest
from test_compare_page import quiet, row_of

RECORDS = (
    "Object.fromEntries([...document.querySelectorAll('.records tbody tr')].map("
    "line => [line.children[0].textContent, [...line.children].slice(1).map(cell => cell.textContent)]))"
)
METRICS = "Object.fromEntries([...document.querySelectorAll('.metrics div')].map(each => [...each.children].map(part => part.textContent)))"
TILES = "[...document.querySelectorAll('.tile')].map(tile => tile.textContent)"


def marks(browser, *paths):
    return [browser.evaluate(code=f"document.querySelector(\"[data-path='{path}'] .mark\").classList[1]") for path in paths]


@pytest.fixture(scope="module")
def tensor_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tensor")
    page_dumps.tensor_sides(folder)
    return pages.compared(folder)


def choose(browser, name):
    row_of(browser, name)
    browser.click(selector=".row")
    browser.wait(code=f"document.querySelector('.detail h2')?.firstChild.textContent === '{name}'")


def test_saved_tensors_show_their_worst_element(browser, tensor_page):
    call = page_dumps.FAULT_AT
    browser.show(tensor_page, locale="en-US")
    name = f"Module.layers.{call}.Linear.forward.0.output.0"
    assert f"output 0 of Module.layers.{call}." in browser.text(selector=".verdict p")[0]
    choose(browser, name)
    cells = browser.evaluate(code=RECORDS)
    target, golden, apart = cells["worst element [2, 5]"]
    assert float(golden) == pytest.approx(page_dumps.golden_element(call), rel=1e-7)
    assert float(target) == pytest.approx(float(golden) + 0.75, rel=1e-6)
    assert apart.endswith(" ULP") and int(apart.split()[0]) > 1000
    metrics = browser.evaluate(code=METRICS)
    assert float(metrics["MaxAbsErr"]) == pytest.approx(0.75, rel=1e-6)
    assert float(metrics["Cosine"]) < 1 and metrics["Over Tolerance"] == "1"
    legend = browser.evaluate(code="[...document.querySelectorAll('.legend button')].map(key => key.textContent)")
    assert legend == ["MaxRelativeErr", "MaxAbsErr", "1 - Cosine"]
    browser.picture_of("compare_tensor")
    quiet(browser, tensor_page)


def test_tensors_that_could_not_be_compared_say_why(browser, tensor_page):
    browser.show(tensor_page, locale="zh-CN")
    choose(browser, f"Module.layers.{page_dumps.CALLS - 1}.Linear.forward.0.output.0")
    (why,) = browser.text(selector=".detail .side ul")
    assert "error: The saved tensors were not compared:" in why and "错误：保存的张量没有比对：" in why
    choose(browser, f"Module.layers.{page_dumps.CALLS - 2}.Linear.forward.0.output.0")
    (why,) = browser.text(selector=".detail .side ul")
    assert "错误：目标的最大值或最小值中有 NaN 或 Inf，而标杆的没有。" in why
    assert "MaxAbsErr" not in browser.evaluate(code=METRICS), "there is none"
    quiet(browser, tensor_page)


def test_checksums_lead_to_the_first_that_differs(browser, tmp_path):
    page_dumps.checksum_sides(tmp_path, other_from=75)
    page = pages.compared(tmp_path)
    browser.show(page, locale="en-US")
    (verdict,) = browser.text(selector=".verdict p")
    assert verdict.startswith("Checksums were compared: 234 of 384 rows are errors, the first is Module.layers.9.attn.q.")
    assert browser.evaluate(code="document.querySelector('.verdict').className") == "verdict error"
    browser.click(selector=".verdict button")
    browser.wait(code="document.querySelector('.row[aria-selected=true]') !== null")
    row = int(browser.fragment()["row"])
    cells = browser.evaluate(code=RECORDS)
    assert cells["md5"][0] != cells["md5"][1]
    assert "error" in browser.evaluate(code=f"document.querySelector('#row-{row}').className")
    heads = browser.evaluate(code="[...document.querySelectorAll('[role=columnheader]')].map(head => head.textContent)")
    assert heads.index("NPU MD5") < 5 and "E" not in heads and "NormRelativeErr" not in heads
    assert (
        browser.evaluate(code="[...document.querySelectorAll('.legend .key')].map(key => key.textContent)")[0]
        == "checksums differ"
    )
    box = browser.evaluate(code="document.querySelector('.chart .u-over').getBoundingClientRect().toJSON()")
    browser.hover(selector=".chart .u-over", options={"position": {"x": box["width"] * 0.9, "y": 10}})
    assert "Module.layers.21." in browser.text(selector=".chart .told")[0]
    browser.picture_of("compare_md5")
    quiet(browser, page)


def test_checksums_that_are_the_same(browser, tmp_path):
    page_dumps.checksum_sides(tmp_path, other_from=None)
    page = pages.compared(tmp_path)
    browser.show(page, locale="en-US")
    assert browser.text(selector=".verdict p") == ["Checksums were compared: no row of 384 is an error."]
    assert browser.evaluate(code="document.querySelector('.verdict').className") == "verdict pass"
    quiet(browser, page)


@pytest.mark.parametrize("fault_at", [9, None])
def test_two_dtypes_are_coloured_by_where_the_values_part(browser, tmp_path, fault_at):
    page_dumps.half_sides(tmp_path, fault_at=fault_at)
    page = pages.compared(tmp_path)
    browser.show(page, locale="en-US")
    layers = [f"Module.layers.{layer}" for layer in (0, 8, 9, 20)]
    parts = "error" if fault_at else "pass"
    assert marks(browser, *layers) == ["pass", "pass", parts, parts]
    alone, of_all = (264, 382) if fault_at else (382, 382)
    assert (
        f"{alone} of {of_all} errors are there for the dtype alone (torch.bfloat16 / torch.float32)."
        in (browser.text(selector=".dtype-alone")[0])
    )
    assert browser.evaluate(code=TILES) == [
        f"{alone} within the noise",
        "0 8 to 16 x the noise",
        f"{382 - alone} above 16 x the noise",
        "2 without a sure partner",
    ]
    assert [row[1] for row in browser.rows()[:3]] == ["error"] * 3, "Result stays as the CSV has it"
    browser.picture_of(f"compare_dtypes_{parts}")
    browser.click(selector=".tile.error")
    assert browser.fragment() == {"result": "error"}
    assert browser.text(selector=".filters .shown") == [f"{382 - alone} of 384 rows"]
    browser.choose(selector=".by select", value="values")
    assert marks(browser, *layers) == ["pass", "pass", parts, parts]
    browser.choose(selector=".by select", value="result")
    assert browser.fragment() == {"by": "result", "result": "error"}
    assert marks(browser, *layers) == ["error"] * 4
    assert browser.text(selector=".filters .shown") == ["382 of 384 rows"]
    assert browser.evaluate(code=TILES)[2] == "382 error"
    quiet(browser, page)


def test_operators_paired_by_chance_are_not_judged(browser, tmp_path):
    """Golden copies once more: from there on the numbers of copies mean others. Products are the same on both sides."""
    for side, copies in (("target", (4.0, 8.0)), ("golden", (64.0, 4.0, 8.0))):
        data = {"Module.a.Linear.forward.0": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(3.0))}
        data |= {f"Aten.mm.{i}.forward": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(3.0 + i)) for i in range(2)}
        data |= {
            f"Aten.copy_.{i}.forward": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(norm)) for i, norm in enumerate(copies)
        }
        cli_runs.write_dump(tmp_path / side / "dump.json", data)
    page = pages.compared(tmp_path)
    browser.show(page, "#by=distance", locale="en-US")
    assert browser.evaluate(code=TILES) == [
        "6 within the noise",
        "0 8 to 16 x the noise",
        "0 above 16 x the noise",
        "6 without a sure partner",
    ]
    quiet(browser, page)


def test_the_distance_is_that_of_where_it_starts(browser, page):
    """E of the row that the sentence names, and no row before it above the limit."""
    browser.show(page, "#by=distance&sort=-distance", locale="en-US")
    browser.click(selector=".verdict button")
    browser.wait(code="document.querySelector('.metrics') !== null")
    verdict = json.loads(browser.evaluate(code="document.getElementById('description').textContent"))["tables"][0]["verdict"]
    assert float(browser.evaluate(code=METRICS)["E"]) == pytest.approx(verdict["first"]["distance"], rel=1e-3)
    browser.show(page, "#by=distance&result=warning,error", locale="en-US")
    first = browser.rows()[0][0]
    assert first == "Module.layers.9.attn.Attention.forward.0.output.0", "what encloses the culprit stands before it"


def test_ranks_and_steps(browser, whole_page):
    browser.show(whole_page, locale="en-US")
    levels = "[...document.querySelectorAll('button.pair')].map(pair => pair.className.split(' ')[1])"
    assert [level == "error" for level in browser.evaluate(code=levels)] == [False, False, False, True, False, True]
    assert browser.text(selector=".overview th[scope=col]") == ["rank0", "rank1"]
    assert browser.text(selector=".overview th[scope=row]") == ["step 0", "step 1", "step 2"]
    (verdict,) = browser.text(selector=".verdict p")
    assert verdict.startswith("rank1") and "step 1 rank1" in verdict
    assert browser.evaluate(code="document.querySelector('.pair[aria-pressed=true]').ariaLabel").startswith(
        "step 1 rank1: error"
    )
    assert browser.fragment() == {}, "the pair that parts is shown without being asked for"
    browser.evaluate(code="document.querySelectorAll('button.pair')[5].click()")
    browser.wait(code="document.querySelector('#page:not([aria-busy]) .row') && location.hash === '#pair=5'")
    assert "step2/rank1" in browser.text(selector=".dumps")[0]
    assert browser.evaluate(code="document.querySelector('.growth canvas') !== null")
    browser.picture_of("compare_ranks")
    quiet(browser, whole_page)


def test_many_ranks_fit_the_screen(browser, tmp_path):
    def data(norm: float) -> dict[str, Any]:
        return {"Module.a.Linear.forward.0": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(norm))}

    for rank in range(64):
        for side in ("target", "golden"):
            norm = 9.0 if (rank, side) == (13, "target") else 1.0
            cli_runs.write_dump(tmp_path / side / f"rank{rank}" / "dump.json", data(norm))
    page = pages.compared(tmp_path)
    browser.show(page, locale="en-US")
    assert len(browser.text(selector=".overview th[scope=col]")) == 64
    grid = "(scroll => scroll.scrollWidth <= scroll.clientWidth)(document.querySelector('.overview .scroll'))"
    assert browser.evaluate(code=grid)
    browser.hover(selector=".overview td:nth-child(15) button")
    assert browser.text(selector=".overview .told") == ["rank13: error 8"]
    browser.click(selector=".overview td:nth-child(4) button")
    browser.wait(code="location.hash === '#pair=2' && !document.querySelector('#page').hasAttribute('aria-busy')")
    browser.picture_of("compare_64_ranks")
    quiet(browser, page)


def test_pairs_that_could_not_be_compared(browser, tmp_path):
    page_dumps.broken_sides(tmp_path)
    done = cli_runs.compare("-tp", tmp_path / "target", "-gp", tmp_path / "golden", "-o", tmp_path / "out", "--format", "html")
    assert done.returncode == 2 and "rank1" in done.stderr
    page = cli_runs.only_file(tmp_path / "out", "*.html")
    browser.show(page, locale="en-US")
    (verdict,) = browser.text(selector=".verdict p")
    assert verdict.endswith("1 of 3 pairs could not be compared.")
    levels = browser.evaluate(code="[...document.querySelectorAll('button.pair')].map(pair => pair.className.split(' ')[1])")
    assert levels == ["pass", "unmatched", "error"]
    browser.evaluate(code="document.querySelectorAll('button.pair')[1].click()")
    browser.wait(code="location.hash === '#pair=1' && document.querySelector('.rest .empty')?.textContent === 'No rows'")
    assert "ends in the middle, at byte 1000" in browser.text(selector=".own")[0]
    assert browser.evaluate(code=TILES) == [], "nothing was counted"
    browser.picture_of("compare_broken")
    browser.show(page, "#pair=2&result=error", locale="en-US")
    (row,) = browser.rows()
    assert row[0].startswith("Module.layers.4.mlp.MLP.forward.0") and row[1] == "error"
    browser.click(selector=".row")
    assert "error: The entry of NPU is broken" in browser.text(selector=".detail .side ul")[0]
    quiet(browser, page)


def test_a_row_is_found_by_its_name_in_the_address(browser, page):
    browser.show(page, "#name=Module.layers.20.mlp.down.Linear.forward.0.output.0", locale="en-US")
    assert browser.fragment() == {"row": "335"}
    browser.show(page, "#name=Module.layers.20.mlp.down.Linear.forward.0.nothing", locale="en-US")
    assert browser.fragment() == {"row": "334"}, "the first row of its call"
    browser.show(page, "#name=Module.layers.20.mlp.do", locale="en-US")
    assert browser.fragment() == {}
