# SPDX-License-Identifier: Apache-2.0
"""The chart of a page: what it draws, marks and tells, its order, its choice of numbers, its legend."""

from __future__ import annotations

import page_dumps
import pages
import pytest

SHOWN = ".chart .u-over"

# The place of the first and the last pixel of a colour that a variable of the style sheet has, in parts of the plot, and their number.
FIND = """((variable, whole) => {
  const canvas = document.querySelector('.chart canvas');
  const over = document.querySelector('.chart .u-over').getBoundingClientRect();
  const place = canvas.getBoundingClientRect();
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const ratio = canvas.width / place.width;
  let count = 0, left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i] !== r || pixels[i + 1] !== g || pixels[i + 2] !== b || pixels[i + 3] !== 255) continue;
    const x = ((i / 4) % canvas.width) / ratio + place.left - over.left;
    const y = Math.floor(i / 4 / canvas.width) / ratio + place.top - over.top;
    count++;
    left = Math.min(left, x / over.width); right = Math.max(right, x / over.width);
    top = Math.min(top, y / over.height); bottom = Math.max(bottom, y / over.height);
  }
  return { count, left, right, top, bottom };
})"""


def pixels(browser, variable):
    return browser.evaluate(code=f"{FIND}('{variable}')")


def told(browser, share):
    """What the chart says at a place, as a share of its width."""
    width = browser.evaluate(code=f"document.querySelector('{SHOWN}').getBoundingClientRect().width")
    browser.hover(selector=SHOWN, options={"position": {"x": max(1, width * share), "y": 80}})
    (text,) = browser.text(selector=".chart .told")
    return text


def legend(browser):
    return browser.evaluate(code="[...document.querySelectorAll('.legend .key')].map(key => key.textContent)")


def test_marks_what_has_no_place_on_its_scale(browser, page):
    """A wedge above for NaN, a ring below for rows without a partner, a line where the runs part."""
    browser.show(page, locale="en-US")
    assert legend(browser) == ["norm", "max", "min", "mean", "NaN or Inf", "equal", "unmatched", "Where it starts"]
    error, unmatched = pixels(browser, "--error"), pixels(browser, "--unmatched")
    assert error["top"] < 0.08 and error["left"] == pytest.approx(151 / 384, abs=0.01), "the line is the leftmost"
    assert error["right"] == pytest.approx(335 / 384, abs=0.01), "row 335 has the NaN"
    assert 5 < unmatched["count"] < 400 and unmatched["top"] > 0.85
    assert pixels(browser, "--series3")["count"] > 200


@pytest.mark.parametrize(("series", "shown"), [(0, "--series0"), (3, "--series3")])
def test_the_legend_hides_series(browser, page, series, shown):
    browser.show(page, locale="en-US")
    others = [each for each in range(4) if each != series]
    for each in others:
        browser.click(selector=f".legend button:nth-of-type({each + 1})")
    assert pixels(browser, shown)["count"] > 500
    assert all(pixels(browser, f"--series{each}")["count"] == 0 for each in others)
    browser.click(selector=f".legend button:nth-of-type({series + 1})")
    assert pixels(browser, shown)["count"] == 0
    assert browser.evaluate(code="document.querySelector('.legend button').getAttribute('aria-pressed')") == "false"


def test_equal_values_stand_below_the_scale(browser, tmp_path):
    """Five of eight rows are equal: a dash for each of the four statistics of each, in lanes of their own."""
    page_dumps.ordered_sides(tmp_path)
    page = pages.compared(tmp_path)
    browser.show(page, locale="en-US")
    assert "equal" in legend(browser)
    lanes = [pixels(browser, f"--series{series}") for series in range(4)]
    assert all(lane["count"] > 50 for lane in lanes)
    assert [lane["bottom"] for lane in lanes] == sorted(lane["bottom"] for lane in lanes)
    assert len({round(lane["bottom"], 3) for lane in lanes}) == 4 and lanes[0]["bottom"] > 0.85
    assert told(browser, 0.01).startswith("0 Module.__root__.Model.forward.0.input.0 norm 0, max 0, min 0, mean 0")


def test_stands_in_the_order_of_execution(browser, tmp_path):
    """By `Order`: the output of what encloses the fault comes after it, though its row stands before."""
    page_dumps.ordered_sides(tmp_path)
    page = pages.compared(tmp_path)
    browser.show(page, locale="en-US")
    names = [told(browser, place / 8).split()[1].removeprefix("Module.").replace(".forward.0", "") for place in range(8)]
    assert names == [
        "__root__.Model.input.0",
        "a.Block.input.0",
        "a.Block.output.0",
        "b.Block.input.0",
        "b.fc.Linear.input.0",
        "b.fc.Linear.output.0",
        "b.Block.output.0",
        "__root__.Model.output.0",
    ]
    line = pixels(browser, "--error")
    assert line["left"] == pytest.approx(5 / 8, abs=0.01) and line["right"] == pytest.approx(5 / 8, abs=0.01)
    browser.click(selector=SHOWN, options={"position": {"x": 5 / 8 * 1372, "y": 60}})
    assert browser.fragment()["row"] == "7", "the place in the table"
    browser.evaluate(code="location.hash = '#sort=order'")
    browser.wait(code="document.querySelector('.row').textContent.includes('__root__')")
    assert browser.rows()[-1][0] == "Module.__root__.Model.forward.0.output.0"


def test_infinite_errors_are_marked(browser, tmp_path):
    """Golden is zero, target is not: the relative error has no place on the scale, and is not left out."""

    def make(side):
        data = pages.model(side, fault_at=None)
        if side == "golden":
            data["Module.layers.8.attn.q.Linear.forward.0"]["output"][0] |= {"Max": 0.0, "Min": 0.0, "Mean": 0.0, "Norm": 0.0}
        return data

    page_dumps.both(tmp_path, make)
    browser.show(pages.compared(tmp_path), locale="en-US")
    assert "beyond the scale: golden is 0, or a difference of kind" in legend(browser)
    assert pixels(browser, "--series1")["top"] < 0.08
    assert "norm inf" in told(browser, 135 / 384)


def test_draws_the_distance_with_its_limit(browser, page):
    browser.show(page, locale="en-US")
    browser.choose(selector=".chart select", value="distance")
    assert browser.fragment() == {"chart": "distance"}
    labels = legend(browser)
    assert labels[:3] == ["within the noise", "8 to 16 x the noise", "above 16 x the noise"]
    (limit,) = (float(label.rsplit(" ", 1)[1]) for label in labels if label.startswith("8 x the noise"))
    noise = 1.19e-6  # as the sentence says it
    assert limit == pytest.approx(8 * noise, rel=0.01)
    points = pixels(browser, "--pass")
    assert points["count"] > 500 and points["top"] > 0.5, "noise is below"
    assert pixels(browser, "--error")["count"] > 500
    assert "above 16 x the noise 5.8" in told(browser, 151 / 384)
    browser.picture_of("compare_distance")
    browser.show(page, "#chart=distance", locale="en-US")
    assert legend(browser) == labels


def test_growth_names_the_worst_row_of_a_step_and_leads_there(browser, whole_page):
    browser.show(whole_page, locale="en-US")
    over = ".growth .u-over"
    width = browser.evaluate(code=f"document.querySelector('{over}').getBoundingClientRect().width")
    browser.hover(selector=over, options={"position": {"x": width - 3, "y": 40}})
    (said,) = browser.text(selector=".growth .told")
    title, error, name = said.rsplit(None, 2)
    assert title == "step 2 rank1" and float(error) > 1 and name.startswith("Module.layers.")
    browser.click(selector=over, options={"position": {"x": width - 3, "y": 40}})
    browser.wait(code="document.querySelector('#page:not([aria-busy]) .detail h2') !== null")
    assert browser.fragment()["pair"] == "5"
    assert browser.evaluate(code="document.querySelector('.detail h2').firstChild.textContent") == name
    assert browser.evaluate(code="document.querySelector('.row[aria-selected=true]').firstChild.textContent") == name
