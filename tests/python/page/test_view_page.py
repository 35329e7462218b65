# SPDX-License-Identifier: Apache-2.0
"""`msprobe view`: the page of one dump, and what the program says of it."""

from __future__ import annotations

import cli_runs
import page_dumps
import pages
import pytest


def signs(folder, data):
    done = cli_runs.run("view", cli_runs.write_dump(folder / "dump.json", data), "-o", folder / "out")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_page_of_a_dump(browser, tmp_path):
    dump = cli_runs.write_dump(tmp_path / "dump.json", pages.model("target", fault_at=None, nan_at=20))
    page = pages.viewed(tmp_path, dump)
    browser.show(page, locale="en-US")
    (verdict,) = browser.text(selector=".verdict p")
    assert verdict == (
        "NaN or Inf first appears in Module.layers.20.mlp.down.Linear.forward.0.output.0, whose inputs were finite"
    )
    assert browser.text(selector=".signs li")[1].startswith(
        "Outputs that are all zero (1): Module.layers.5.mlp.MLP.forward.0.output.0"
    )
    browser.click(selector=".signs li:nth-child(2) button")
    browser.wait(code="document.querySelector('.row[aria-selected=true]') !== null")
    assert browser.text(selector=".detail h2")[0].startswith("Module.layers.5.mlp.MLP.forward.0.output.0")
    assert browser.evaluate(code="document.querySelectorAll('.records tbody tr')[0].children.length") == 2
    browser.picture_of("view")
    told = browser.told()
    assert told["errors"] == [] and len(told["requests"]) == 1


def test_ranks_and_steps_of_one_run(browser, tmp_path):
    for step in range(2):
        for rank in range(2):
            nan_at = 7 if (step, rank) == (1, 0) else None
            data = pages.model("target", fault_at=None, nan_at=nan_at)
            cli_runs.write_dump(tmp_path / "run" / f"step{step}" / f"rank{rank}" / "dump.json", data)
    done = cli_runs.run("view", tmp_path / "run", "-o", tmp_path / "view")
    assert done.stdout.count("All numbers are finite.") == 3
    assert "step 1 rank0: 384 rows\n  NaN or Inf first appears in Module.layers.7.mlp.down" in done.stdout
    browser.show(cli_runs.only_file(tmp_path / "view", "*.html"), "#pair=2", locale="en-US")
    levels = "[...document.querySelectorAll('button.pair')].map(pair => pair.className.split(' ')[1])"
    assert browser.evaluate(code=levels) == ["warning", "warning", "error", "warning"]
    browser.show(cli_runs.only_file(tmp_path / "view", "*.html"), locale="en-US")
    assert "step1/rank0" in browser.text(selector=".dumps")[0], "the dump with NaN is shown without being asked for"
    narrowed = cli_runs.run("view", tmp_path / "run", "-o", tmp_path / "one", "--step", "1", "--rank", "0")
    assert narrowed.stdout.startswith("384 rows")


def output(**changes):
    return {"Module.a.Linear.forward.0": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(**changes))}


# rms = Norm / sqrt(16) against the largest magnitude
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"norm": 0.0, "maximum": 0.0, "Min": 0.0, "Mean": 0.0}, "all zero"),
        ({"norm": 4.0, "maximum": 1.0, "Min": 1.0, "Mean": 1.0}, "same value"),
        ({"norm": 3.99, "maximum": 1.0, "Min": -1.0}, "saturated"),
        ({"norm": 3.9, "maximum": 1.0, "Min": -1.0}, ""),
        ({"norm": 9e4, "maximum": 65504.0, "dtype": "torch.float16"}, "largest number"),
        ({"norm": 9e4, "maximum": 65504.0, "dtype": "torch.float32"}, ""),
        ({"Counts": {"nan": 0, "pos_inf": 0, "neg_inf": 0, "zero": 16}}, "99 %"),
        ({"Counts": {"nan": 0, "pos_inf": 0, "neg_inf": 0, "zero": 15}}, ""),
        ({"Counts": {"nan": 1, "pos_inf": 0, "neg_inf": 0, "zero": 0}}, "NaN or Inf first appears in Module.a"),
        ({"norm": float("inf"), "maximum": 0.0, "Min": float("-inf"), "Mean": float("-inf")}, ""),  # an additive mask
        ({"norm": float("inf"), "maximum": 1.0, "Min": float("-inf"), "Mean": float("-inf")}, "NaN or Inf first appears"),
        ({"norm": 4.0, "maximum": 1, "Min": 1, "dtype": "torch.int64"}, ""),
        ({"norm": 0.0, "maximum": 0.0, "Min": 0.0, "Mean": 0.0, "shape": []}, ""),
    ],
)
def test_signs(tmp_path, changes, words):
    told = signs(tmp_path, output(**changes))
    if words:
        assert words in told
    else:
        assert [line.strip() for line in told.splitlines()[1:-1]] == ["All numbers are finite."]


def test_the_first_is_the_first_in_time_where_the_dump_has_an_order(tmp_path):
    """A container stands before what is inside it, but its output comes later."""
    nan = {"Max": None, "Special": {"Max": "nan"}, "Counts": {"nan": 1, "pos_inf": 0, "neg_inf": 0, "zero": 0}}
    data = {
        "Module.a.Block.forward.0": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(**nan))
        | {"Order": {"first": 0, "last": 3}},
        "Module.a.b.Linear.forward.0": cli_runs.entry(cli_runs.tensor(), cli_runs.tensor(**nan))
        | {"Order": {"first": 1, "last": 2}},
    }
    assert "first appears in Module.a.b.Linear.forward.0.output.0, whose inputs were finite." in signs(tmp_path, data)
    data["Module.a.b.Linear.forward.0"]["input_args"][0] |= nan
    assert "first appears in Module.a.b.Linear.forward.0.input.0." in signs(tmp_path, data)


def test_makers_of_constants_are_no_dead_layers(tmp_path):
    zero = cli_runs.tensor(0.0, maximum=0.0, Min=0.0, Mean=0.0)
    data = {
        "Aten.zeros.0.forward": {"input_args": [], "input_kwargs": {}, "output": [zero]},
        "Aten.relu.0.forward": cli_runs.entry(cli_runs.tensor(), zero),
    }
    assert "1 output is all zero; first Aten.relu.0.forward.output.0." in signs(tmp_path, data)


MASKED = {"norm": float("inf"), "maximum": 1.0, "Min": float("-inf"), "Mean": float("-inf")}


@pytest.mark.parametrize(
    ("name", "given", "result", "finite"),
    [
        ("Aten.masked_fill.0.forward", {}, MASKED, True),
        ("Aten.where.0.forward", {}, MASKED, True),
        ("Aten.add.0.forward", MASKED, MASKED, True),  # it was there before
        ("Aten.add.0.forward", {}, MASKED, False),
        ("Aten.masked_fill.0.forward", {}, MASKED | {"Mean": float("nan")}, False),
        ("Aten.masked_fill.0.forward", {}, MASKED | {"maximum": float("inf")}, False),
        ("Module.a.Linear.forward.0", {}, MASKED, False),
    ],
)
def test_scores_under_a_mask_are_no_fault(tmp_path, name, given, result, finite):
    told = signs(tmp_path, {name: cli_runs.entry(cli_runs.tensor(**given), cli_runs.tensor(**result))})
    assert ("NaN or Inf first appears in" in told) != finite
    assert ("All numbers are finite." in told) == finite


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no_such"], "cannot open 'no_such'"),
        ([], "DUMP"),
        (["--rank", "x", "."], "--rank must be numbers and ranges"),
        (["--threads", "0", "."], "--threads must be"),
        (["--fail-on", "inf", "."], "--fail-on must be of nan, broken, warning and never, got 'inf'"),
    ],
)
def test_errors_are_one_line(tmp_path, words, message):
    done = cli_runs.run("view", *words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and message in done.stderr, done.stderr
    assert list(tmp_path.rglob("*.html")) == []


def test_ranks_of_dumps_without_ranks_cannot_be_chosen(tmp_path):
    cli_runs.write_dump(tmp_path / "run" / "step0" / "pid7" / "dump.json", cli_runs.healthy())
    done = cli_runs.run("view", "run", "--rank", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "'run' ('run/step0/pid7/dump.json', ...) is of a known rank" in done.stderr
    assert list(tmp_path.rglob("*.html")) == []


@pytest.mark.parametrize(
    ("changes", "words", "status"),
    [
        ({}, "nan", 0),
        ({"maximum": None, "Special": {"Max": "nan"}}, "never", 0),
        ({"maximum": None, "Special": {"Max": "nan"}}, "nan", 1),
        ({"maximum": None, "Special": {"Max": "nan"}}, "broken", 0),
        ({"maximum": None, "Special": {"Max": "nan"}}, "broken,nan", 1),
        ({"norm": float("inf"), "maximum": 1.0, "Min": float("-inf")}, "nan", 1),
        ({"norm": 0.0, "maximum": 0.0, "Min": 0.0, "Mean": 0.0}, "nan", 0),
        ({"norm": 0.0, "maximum": 0.0, "Min": 0.0, "Mean": 0.0}, "warning", 1),
        ({"shape": "none"}, "broken", 1),
        ({"shape": "none"}, "nan", 0),
    ],
)
def test_fail_on(tmp_path, changes, words, status):
    dump = cli_runs.write_dump(tmp_path / "dump.json", output(**changes))
    done = cli_runs.run("view", dump, "-o", tmp_path / "view", f"--fail-on={words}", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
    assert cli_runs.only_file(tmp_path / "view", "*.html").stat().st_size > 0, "the page is there either way"


def test_a_broken_dump_among_others_is_told(browser, tmp_path):
    cli_runs.write_dump(tmp_path / "run" / "rank0" / "dump.json", output())
    (tmp_path / "run" / "rank1").mkdir()
    (tmp_path / "run" / "rank1" / "dump.json").write_text("{")
    done = cli_runs.run("view", tmp_path / "run", "-o", tmp_path / "view", "--fail-on", "warning")
    assert done.returncode == 2 and "rank1" in done.stderr
    browser.show(cli_runs.only_file(tmp_path / "view", "*.html"), "#pair=1", locale="en-US")
    assert browser.text(selector=".verdict p")[0].startswith("Could not be read: ")
    assert browser.evaluate(code="document.querySelector('.verdict').className") == "verdict unmatched", "not: all is finite"
    assert browser.evaluate(code="document.querySelectorAll('.tile').length") == 0
    browser.show(cli_runs.only_file(tmp_path / "view", "*.html"), locale="en-US")
    assert browser.text(selector=".verdict p") == ["All numbers are finite."]
    assert [tile.split()[-1] for tile in browser.text(selector=".tile")] == ["pass", "warning", "error"]


def test_the_order_of_execution_is_that_of_the_dump(browser, tmp_path):
    page_dumps.ordered_sides(tmp_path)
    browser.show(pages.viewed(tmp_path, tmp_path / "target"), "#sort=order", locale="en-US")
    names = [row[0].removeprefix("Module.") for row in browser.rows()]
    assert names[0] == "__root__.Model.forward.0.input.0" and names[-1] == "__root__.Model.forward.0.output.0"
