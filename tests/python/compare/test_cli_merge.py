# SPDX-License-Identifier: Apache-2.0
"""`msprobe merge_result`: which files it takes, what the workbook holds, errors."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from cli_runs import compare, entry, only_file, run, tensor, write_dump

STATISTICS = [
    *(f"{name} diff" for name in ("Max", "Min", "Mean", "L2norm")),
    *(f"{name}RelativeErr" for name in ("Max", "Min", "Mean", "Norm")),
    "Requires_grad Consistent",
]
REDUCE = "Distributed.all_reduce.{}.forward"


def rank_data(rank: int, calls: int = 2) -> dict[str, Any]:
    """Collectives whose norms tell the rank, and a module that no api of the tests chooses."""
    data = {REDUCE.format(call): entry(tensor(4.0), tensor(4.0 + rank)) for call in range(calls)}
    return data | {"Module.a.Linear.forward.0": entry(tensor(), tensor())}


def compare_ranks(folder: Path, targets: dict[int, dict[str, Any]], *words: str) -> Path:
    """Compares each rank with a golden run whose norms are all 4; returns the folder of the results."""
    for rank, data in targets.items():
        write_dump(folder / "t" / f"rank{rank}" / "dump.json", data)
        write_dump(folder / "g" / f"rank{rank}" / "dump.json", rank_data(0))
    told = compare("-tp", folder / "t", "-gp", folder / "g", "-o", folder / "results", *words)
    assert told.returncode == 0, told
    return folder / "results"


def config(folder: Path, text: str = "api:\n  - Distributed.all_reduce\n") -> Path:
    (folder / "config.yaml").write_text(text)
    return folder / "config.yaml"


def merge(folder: Path, results: Path, text: str = "api:\n  - Distributed.all_reduce\n", **options: Any):
    return run("merge_result", "-i", results, "-o", folder / "merged", "-config", config(folder, text), **options)


def sheets(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    book = openpyxl.load_workbook(only_file(folder / "merged", "multi_ranks_compare_merge_*.xlsx"))
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


@pytest.mark.parametrize("extension", ["csv", "xlsx"])
def test_ranks_stand_side_by_side(tmp_path, extension):
    results = compare_ranks(tmp_path, {rank: rank_data(rank) for rank in (0, 1, 10)}, "--format", extension)
    told = merge(tmp_path, results)
    assert (told.returncode, told.stderr) == (0, "")
    assert re.fullmatch(r"4 rows of 3 ranks merged\n\S+/multi_ranks_compare_merge_\d{14}\.xlsx\n", told.stdout)
    found = sheets(tmp_path)
    assert list(found) == STATISTICS
    names = [f"{REDUCE.format(call)}.{side}.0" for call in range(2) for side in ("input", "output")]
    assert found["L2norm diff"] == [
        ("NPU Name", "rank0", "rank1", "rank10"),
        *((name, 0, 1 if "output" in name else 0, 10 if "output" in name else 0) for name in names),
    ]
    assert found["NormRelativeErr"][2] == (names[1], 0, 0.25, 2.5)
    assert found["Requires_grad Consistent"][1] == (names[0], "True", "True", "True")


def test_numbers_are_numbers_in_every_rank(tmp_path):
    """One rank has a word in a column, the others only numbers; 0 and 1.0 are what they are in all of them."""
    broken = rank_data(1)
    broken[REDUCE.format(0)] = entry(tensor(4.0), tensor(float("nan"), maximum=None))
    results = compare_ranks(tmp_path, {0: rank_data(0), 1: broken, 2: rank_data(1)})
    assert merge(tmp_path, results).returncode == 0
    found = sheets(tmp_path)
    for name in ("L2norm diff", "NormRelativeErr"):
        for row in found[name][1:]:
            for cell in row[1:]:
                assert isinstance(cell, int | float) or cell.startswith("NPU:"), (name, row)
    assert found["L2norm diff"][2][2] == "NPU:None  Bench:0.5"
    assert found["L2norm diff"][4] == (REDUCE.format(1) + ".output.0", 0, 1, 1)


def test_rows_that_a_rank_lacks_are_empty_cells(tmp_path):
    results = compare_ranks(tmp_path, {0: rank_data(0), 1: rank_data(1, calls=1)})
    merge(tmp_path, results, "api: [Distributed.all_reduce]\ncompare_index: [Max diff]\n")
    found = sheets(tmp_path)
    assert list(found) == ["Max diff"]
    assert [row for row in found["Max diff"] if row[0].startswith(REDUCE.format(1))] == [
        (REDUCE.format(1) + ".input.0", 0, None),
        (REDUCE.format(1) + ".output.0", 0, None),
    ]


def test_index_may_be_any_column(tmp_path):
    results = compare_ranks(tmp_path, {0: rank_data(0), 1: rank_data(1)})
    merge(tmp_path, results, "api: [Module.a]\ncompare_index:\n  - Result\n  - NPU max\n  - Result\n")
    found = sheets(tmp_path)
    assert list(found) == ["Result", "NPU max"]
    assert found["Result"][1] == ("Module.a.Linear.forward.0.input.0", "pass", "pass")
    assert found["NPU max"][1] == ("Module.a.Linear.forward.0.input.0", 0.5, 0.5)


def test_several_sheets_are_read(tmp_path):
    """A table of more than 1,048,576 rows has several; here two small ones stand for it."""
    results = compare_ranks(tmp_path, {0: rank_data(0), 1: rank_data(1)}, "--xlsx")
    path = only_file(results, "*rank1_*.xlsx")
    book = openpyxl.load_workbook(path)
    first, second = book["Sheet1"], book.create_sheet("Sheet2")
    rows = list(first.iter_rows(values_only=True))
    second.append(rows[0])
    for row in rows[3:]:
        second.append(row)
    first.delete_rows(4, len(rows))
    book.save(path)
    assert merge(tmp_path, results).returncode == 0
    assert [row[2] for row in sheets(tmp_path)["L2norm diff"][1:]] == [0, 1, 0, 1]


def test_steps_have_workbooks_of_their_own(tmp_path):
    for step in (0, 3):
        for side in ("t", "g"):
            for rank in (0, 1):
                data = rank_data(rank if side == "t" else 0)
                write_dump(tmp_path / side / f"step{step}" / f"rank{rank}" / "dump.json", data)
    compare("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "results")
    assert merge(tmp_path, tmp_path / "results").returncode == 0
    names = sorted(path.name for path in (tmp_path / "merged").iterdir())
    assert [re.sub(r"\d{14}", "T", name) for name in names] == [
        "multi_ranks_compare_merge_step0_T.xlsx",
        "multi_ranks_compare_merge_step3_T.xlsx",
    ]


def test_the_newest_result_of_a_rank_counts(tmp_path):
    results = compare_ranks(tmp_path, {0: rank_data(0), 1: rank_data(1)})
    newest = only_file(results, "*rank1_*.csv")
    older = results / "compare_result_rank1_20200101000000.csv"
    shutil.copy(only_file(results, "*rank0_*.csv"), older)
    told = merge(tmp_path, results)
    assert told.returncode == 0
    assert told.stderr == f"msprobe merge_result: warning: '{older}' is left out: there is a newer result of that rank\n"
    assert newest.is_file()
    assert sheets(tmp_path)["L2norm diff"][2][2] == 1


def test_other_files_are_left_alone(tmp_path):
    results = compare_ranks(tmp_path, {0: rank_data(0), 1: rank_data(1)}, "-da")
    (results / "notes.xlsx").write_text("mine")
    (results / "compare_result_rank7_2020.csv").write_text("mine")
    (results / "compare_result_rank_20200101000000.csv").write_text("mine")
    assert merge(tmp_path, results).returncode == 0
    assert sheets(tmp_path)["Max diff"][0] == ("NPU Name", "rank0", "rank1")


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compare_ranks(tmp_path_factory.mktemp("ranks"), {0: rank_data(0), 1: rank_data(1)})


def refusal(folder: Path, results: Path, text: str = "api:\n  - Distributed.all_reduce\n") -> str:
    told = merge(folder, results, text)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.count("\n") == 1, told.stderr
    assert told.stderr.startswith("msprobe merge_result: ")
    assert not list(folder.glob("merged/*"))
    return told.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("api:\n", "must have a list 'api'"),
        ("api: Distributed\n", "'api' must be a list, one text a line behind a dash, and is a text"),
        ("api: [[a]]\n", "has a list in it"),
        ("api: [a]\napi: [b]\n", "'api' stands twice"),
        ("apis: [a]\n", "there is no key 'apis'"),
        ("api: [a\n", "line"),
        ("- a\n", "begins a list"),
        ("api: [Distributed]\ncompare_index: [Max dif]\n", "has no column 'Max dif'; its columns are NPU Name, Bench Name"),
        ("api: [Distributed.broadcast]\n", "no row's name has one of the parts"),
    ],
)
def test_wrong_configurations(tmp_path, results, text, said):
    assert said in refusal(tmp_path, results, text)


def test_fewer_than_two_ranks(tmp_path, results):
    assert "results of two ranks or more" in refusal(tmp_path, tmp_path)
    (tmp_path / "one").mkdir()
    shutil.copy(only_file(results, "*rank0_*.csv"), tmp_path / "one")
    assert "holds those of one" in refusal(tmp_path, tmp_path / "one")


@pytest.mark.parametrize("name", ["nowhere", "config.yaml"])
def test_a_folder_that_is_none(tmp_path, name):
    assert f"cannot read the folder '{tmp_path / name}'" in refusal(tmp_path, tmp_path / name)


def test_checksums_cannot_be_merged(tmp_path):
    data = {REDUCE.format(0): entry(tensor(md5="0a"), tensor(md5="0b"))}
    for side in ("t", "g"):
        for rank in (0, 1):
            write_dump(tmp_path / side / f"rank{rank}" / "dump.json", data)
    compare("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "results")
    assert "compares checksums, which cannot be merged" in refusal(tmp_path, tmp_path / "results")


@pytest.mark.parametrize("content", [b"", b"NPU Name\n", b'NPU Name,NPU max,Bench max,Max diff\n"cut'])
def test_damaged_tables(tmp_path, results, content):
    shutil.copytree(results, tmp_path / "results")
    only_file(tmp_path / "results", "*rank1_*.csv").write_bytes(content)
    assert "rank1_" in refusal(tmp_path, tmp_path / "results")


def test_options_are_checked(tmp_path):
    for words, said in ((["-i", "a"], "--output_dir is required"), (["-i", "a", "-x"], "there is no option '-x'")):
        told = run("merge_result", *words)
        assert (told.returncode, told.stdout) == (2, "")
        assert said in told.stderr
    long_names = run("merge-result", "--input-dir", tmp_path, "--output_dir=x", "--config-path", config(tmp_path))
    assert "two ranks or more" in long_names.stderr
