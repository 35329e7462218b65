# SPDX-License-Identifier: Apache-2.0
"""Pages of many rows: how long they take to open, filter, sort and scroll; what is told where not all rows have a place."""

from __future__ import annotations

import sys
import time

import cli_runs
import pages
import pytest

sys.path.append(str(pages.ROOT / "bench" / "compare"))
import compare_bench

ROUNDS = 3  # of which the best counts: the machine does other things at the same time


def page_of(folder, ops):
    target, golden = compare_bench.write_dumps(folder, ops)
    done = cli_runs.compare("-tp", target, "-gp", golden, "-o", folder / "out", "--format", "html", "--quiet")
    assert done.returncode == 0, done.stderr
    return cli_runs.only_file(folder / "out", "*.html")


def took(browser, act, until):
    """Seconds from an action to the drawing of its effect, in the page."""
    code = f"""(async () => {{
      const start = performance.now();
      {act};
      while (!({until})) {{
        await new Promise(done => setTimeout(done, 5));
        if (performance.now() - start > 20000) return 20;
      }}
      await new Promise(done => requestAnimationFrame(done));
      return (performance.now() - start) / 1000;
    }})()"""
    return browser.evaluate(code=code)


def longest_task(browser, act):
    """The longest time for which the page did not answer."""
    code = f"""(async () => {{
      let longest = 0, last = performance.now(), on = true;
      const tick = () => {{ longest = Math.max(longest, performance.now() - last); last = performance.now(); if (on) setTimeout(tick); }};
      tick();
      {act};
      await new Promise(done => setTimeout(done, 300));
      on = false;
      return longest / 1000;
    }})()"""
    return browser.evaluate(code=code)


def opened(browser, page):
    """Seconds from the start of the navigation until the page answers, by its own clock; then a click on a row is answered too."""
    browser.show(page, locale="en-US")
    browser.wait(code="performance.getEntriesByName('msprobe-ready').length > 0")
    (ready,) = browser.evaluate(code="performance.getEntriesByName('msprobe-ready').map(mark => mark.startTime)")
    answered = took(browser, "document.querySelector('.row').click()", "document.querySelector('.detail h2') !== null")
    return ready / 1000 + answered


def best(measure):
    return min(measure() for _ in range(ROUNDS))


# Seconds that people wait for, and that a page with more rows than anybody reads may take.
@pytest.mark.parametrize(("ops", "opens", "answers"), [(17_000, 2, 0.5), (200_000, 5, 1)])
def test_many_rows(browser, tmp_path, ops, opens, answers):
    page = page_of(tmp_path, ops)
    rows = 3 * ops
    times = {"open": best(lambda: opened(browser, page))}
    assert browser.text(selector=".filters .shown") == [f"{rows:,} of {rows:,} rows"]
    errors = len(range(compare_bench.CHANGED // 2, ops, compare_bench.CHANGED))
    acts = {
        "filter": ("#result=error", f"document.querySelector('.shown').textContent.startsWith('{errors} of')"),
        "search": ("#text=linear_layer.1234.forward.input", "document.querySelector('.shown').textContent[0] === '2'"),
        "sort": ("#sort=-norm_error", "document.querySelector('.row').className.includes('error')"),
        "distance": ("#by=distance", "document.querySelector('.by select').value === 'distance'"),
        "choose": ("#row=1501", "document.querySelector('#row-1501')?.ariaSelected === 'true'"),
    }

    def from_all(fragment, until):
        browser.evaluate(code="location.hash = ''")
        browser.wait(code=f"document.querySelector('.shown').textContent.startsWith('{rows:,} of') && location.hash === ''")
        browser.evaluate(code="document.querySelector('.grid').scrollTop = 0")
        browser.wait(code="document.querySelector('.row').id === 'row-0'")
        return took(browser, f"location.hash = '{fragment}'", until)

    for name, (fragment, until) in acts.items():
        times[name] = best(lambda fragment=fragment, until=until: from_all(fragment, until))
    browser.evaluate(code="location.hash = ''")
    middle = "document.querySelector('.grid').scrollTop = document.querySelector('.rows').clientHeight / 2"

    def from_top():
        browser.evaluate(code="document.querySelector('.grid').scrollTop = 0")
        browser.wait(code="document.querySelector('.row').id === 'row-0'")
        return longest_task(browser, middle)

    times["scroll"] = best(from_top)
    (first, *_) = browser.rows()
    assert abs(int(first[0].split(".")[2]) - ops / 2) < ops / 100
    browser.evaluate(code="document.querySelector('.grid').scrollTop = 1e9")
    browser.wait(code=f"[...document.querySelectorAll('.row')].at(-1).id === 'row-{rows - 1}'")
    browser.press(selector=".grid", key="End")
    assert browser.fragment()["row"] == str(rows - 1)
    print({name: round(value, 2) for name, value in times.items()})
    assert times.pop("open") < opens
    assert times.pop("scroll") < answers / 2
    assert {name: value for name, value in times.items() if value >= answers} == {}
    assert browser.told()["errors"] == []


def test_more_rows_than_a_page_carries(browser, tmp_path):
    """1,000,000 is the limit: rows that did not pass are kept before others, and the page says where all are."""
    ops = 340_000  # 1,020,000 rows
    record = '{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": %s, "Min": 0.5, "Mean": 1.0, "Norm": 2.0}'
    for side in ("target", "golden"):
        (tmp_path / side).mkdir()
        with (tmp_path / side / "dump.json").open("w") as file:
            file.write('{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {\n')
            for op in range(ops):
                value = "9.0" if side == "target" and op == ops - 1 else "1.5"
                leaves = (record % "1.5", record % "1.5", record % value)
                file.write(
                    f'{"," if op else ""}"Aten.add.{op}.forward": {{"input_args": [{leaves[0]}, {leaves[1]}], "output": [{leaves[2]}]}}\n'
                )
            file.write("}}\n")
    start = time.monotonic()
    page = pages.compared(tmp_path)
    print(f"compared in {time.monotonic() - start:.1f} s")
    browser.show(page, "#result=error", locale="en-US")
    (told,) = browser.text(selector=".left-out")
    assert told.startswith("800,001 of 1,020,000 rows are in this page") and "--format csv,html" in told
    (row,) = browser.rows()
    assert row[0] == f"Aten.add.{ops - 1}.forward.output.0"
    assert browser.evaluate(code="document.querySelector('.row').id") == f"row-{3 * ops - 1}", "its place in the whole table"
