# SPDX-License-Identifier: Apache-2.0
"""The tables that `msprobe compare` writes, read by pandas, openpyxl, pyarrow, DuckDB and json."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pyarrow.parquet
import pytest
from cli_runs import compare, entry, healthy, only_file, tensor, write_dump
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NUMBERS = [
    *(f"{statistic} diff" for statistic in ("Max", "Min", "Mean", "L2norm")),
    *(f"{statistic}RelativeErr" for statistic in ("Max", "Min", "Mean", "Norm")),
    *(f"{side} {statistic}" for side in ("NPU", "Bench") for statistic in ("max", "min", "mean", "l2norm")),
]
FORMATS = ["csv", "xlsx", "parquet", "jsonl"]
FILLS = {"pass": "00000000", "warning": "FFFFEB9C", "error": "FFFFC7CE", "unmatched": "FFD9D9D9"}

# Names and values that break writers: formulas, quotes, line ends, Chinese, controls; words and extremes in place of numbers.
TARGET = {
    "Module.a.Linear.forward.0": entry(tensor(1.0), tensor(20.0, maximum=float("nan"))),
    'Module.模块 "quoted", <&>.Linear.forward.0': entry(tensor(1e-300), tensor(0.1 + 0.2)),
    "=1+1|'/c calc'.forward.0": entry(tensor(), tensor()),
    "Module.line\nend\x01\u2028.Linear.forward.0": entry(tensor(), tensor(maximum=None)),
    "Module.inf.Linear.forward.0": entry(tensor(), tensor(float("inf"), maximum=float("-inf"))),
    "Module.whole.Linear.forward.0": entry(
        tensor(**{"Max": 2**63 - 1, "Min": -(2**63), "dtype": "torch.int64"}), tensor(**{"Max": 7, "dtype": "torch.int64"})
    ),
    "Module.only.target.Linear.forward.0": entry(tensor(), tensor()),
}
GOLDEN = {name: entry(tensor(1.0), tensor(2.0)) for name in TARGET if "only" not in name} | {
    "Module.whole.Linear.forward.0": entry(
        tensor(**{"Max": 2**63 - 2, "Min": 1, "dtype": "torch.int64"}), tensor(**{"Max": 7, "dtype": "torch.int64"})
    ),
    "Module.only.golden.Linear.forward.0": entry(tensor(), tensor()),
}


def written(folder: Path, target: dict[str, Any], golden: dict[str, Any], formats: list[str] = FORMATS) -> dict[str, Path]:
    """One comparison in all formats, of rank 3 of step 7."""
    for side, data in (("t", target), ("g", golden)):
        write_dump(folder / side / "step7" / "rank3" / "dump.json", data)
    told = compare("-tp", folder / "t", "-gp", folder / "g", "-o", folder / "out", "--format", ",".join(formats))
    assert told.returncode == 0, told
    return {name: only_file(folder / "out", f"compare_result_rank3_*.{name}") for name in formats}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(tmp_path_factory.mktemp("formats"), TARGET, GOLDEN)


def csv_rows(path: Path) -> list[dict[str, str]]:
    return pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")


def number_of(text: str) -> float | None:
    """The number that a cell of the CSV shows; None for a word. NaN and infinities count as numbers of the columns of numbers."""
    known = {"Nan": math.nan, "inf": math.inf, "-inf": -math.inf, " inf": math.inf, " -inf": -math.inf}
    if text in known:
        return known[text]
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        return None


def same(left: float | None, right: float | None) -> bool:
    return left == right or (left is not None and right is not None and math.isnan(left) and math.isnan(right))


def plain(text: str) -> str:
    """A text of the CSV without the apostrophe that disarms a formula."""
    return text[1:] if text.startswith(("'=", "'+", "'-", "'@")) else text


# --- CSV ----------------------------------------------------------------------------------------------------------


def test_csv_disarms_formulas_and_nothing_else(files):
    rows = csv_rows(files["csv"])
    names = [row["NPU Name"] for row in rows]
    assert not [name for name in names if name.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert "'=1+1|'/c calc'.forward.0.output.0" in names
    assert any(row["NPU min"] == "-0.5" for row in rows)  # a number is no formula


def test_csv_is_utf8_with_line_feeds(files):
    content = files["csv"].read_bytes()
    assert "模块".encode() in content
    assert not content.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in content


# --- Parquet ------------------------------------------------------------------------------------------------------


def test_parquet_has_the_csv_s_columns_typed(files):
    table = pyarrow.parquet.read_table(files["parquet"])
    csv = pd.read_csv(files["csv"], nrows=0)
    assert table.column_names == ["rank", "step", "row_index", *csv.columns]
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert Counter(types[name] for name in NUMBERS) == {"double": len(NUMBERS)}
    assert {types["rank"], types["step"], types["row_index"]} == {"int64"}
    assert types["NPU Name"] == types["Result"] == types["Err_message"] == "string"
    metadata = pyarrow.parquet.read_metadata(files["parquet"])
    assert metadata.metadata[b"target_path"].endswith(b"t/step7/rank3/dump.json")


def test_parquet_has_the_csv_s_values(files):
    rows = pyarrow.parquet.read_table(files["parquet"]).to_pylist()
    expected = csv_rows(files["csv"])
    assert len(rows) == len(expected)
    for index, (row, wanted) in enumerate(zip(rows, expected)):
        assert (row["rank"], row["step"], row["row_index"]) == (3, 7, index)
        for name, text in wanted.items():
            if name in NUMBERS:
                assert same(row[name], number_of(text)), (name, row[name], text)
            else:
                assert row[name] == plain(text), name


def test_parquet_is_what_duckdb_and_pandas_read(files):
    expected = csv_rows(files["csv"])
    counted = duckdb.sql(f"select \"Result\", count(*) from '{files['parquet']}' where rank = 3 and step = 7 group by all")
    assert dict(counted.fetchall()) == Counter(row["Result"] for row in expected)
    assert duckdb.sql(f"select count(*) from '{files['parquet']}' where rank = 4").fetchall() == [(0,)]
    frame = pd.read_parquet(files["parquet"])
    assert list(frame["NPU Name"]) == [plain(row["NPU Name"]) for row in expected]


def test_parquet_over_several_row_groups(tmp_path):
    """131,072 rows and a few: more than one group, and blocks that do not end where groups do."""
    calls = 66000
    path = written(tmp_path, healthy(calls), healthy(calls), ["parquet"])["parquet"]
    metadata = pyarrow.parquet.read_metadata(path)
    assert metadata.num_rows == 2 * calls
    assert metadata.num_row_groups > 1
    found = duckdb.sql(
        'select min(row_index), max(row_index), count(distinct row_index), count(distinct "NPU Name"), sum("NPU l2norm") '
        f"from '{path}'"
    ).fetchall()
    norms = sum(1.0 + i + 2.0 + i for i in range(calls))
    assert found == [(0, 2 * calls - 1, 2 * calls, 2 * calls, norms)]


def test_parquet_of_nothing(tmp_path):
    """Lists that close up leave an op without rows."""
    nothing = {"Module.a.Linear.forward.0": {"input_args": [], "input_kwargs": {}, "output": []}}
    files = written(tmp_path, nothing, nothing)
    assert pyarrow.parquet.read_table(files["parquet"]).num_rows == 0
    assert duckdb.sql(f"select * from '{files['parquet']}'").fetchall() == []
    assert len(csv_rows(files["csv"])) == 0
    assert openpyxl.load_workbook(files["xlsx"]).active.max_row == 1
    assert files["jsonl"].read_text() == ""


# --- JSON lines ---------------------------------------------------------------------------------------------------


def test_jsonl_has_the_csv_s_values(files):
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    lines = files["jsonl"].read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    expected = csv_rows(files["csv"])
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected):
        assert list(row) == ["rank", "step", *wanted]
        assert (row["rank"], row["step"]) == (3, 7)
        assert row["Err_message"] == json.loads(wanted["Err_message"])
        for name, text in wanted.items():
            number = number_of(text) if name in NUMBERS else None
            if number is not None and math.isfinite(number):
                assert float(row[name]) == number, name  # an integer has all its digits
            elif name != "Err_message":
                assert row[name] == plain(text), name


# --- workbooks ----------------------------------------------------------------------------------------------------


def test_xlsx_has_the_csv_s_values(files):
    sheet = openpyxl.load_workbook(files["xlsx"])["Sheet1"]
    expected = csv_rows(files["csv"])
    head = [cell.value for cell in sheet[1]]
    assert head == list(pd.read_csv(files["csv"], nrows=0).columns)
    assert sheet.max_row == len(expected) + 1
    for row, wanted in zip(sheet.iter_rows(min_row=2), expected):
        for name, cell in zip(head, row):
            text = plain(wanted[name])
            number = number_of(text) if name in NUMBERS else None
            too_long = text.lstrip("-").isdigit() and abs(int(text)) > 2**53
            if number is None or not math.isfinite(number) or too_long:
                assert cell.data_type == "s", (name, cell.value)
                assert openpyxl.utils.escape.unescape(cell.value) == text, name
            elif text.endswith("%"):
                assert cell.value == pytest.approx(number / 100, rel=1e-15), name
                assert cell.number_format.endswith("%")
            else:
                assert cell.value == pytest.approx(number, rel=1e-15), name  # 16 digits, of which Excel shows 15


def test_xlsx_has_no_formulas(files):
    sheet = openpyxl.load_workbook(files["xlsx"])["Sheet1"]
    assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    assert "=1+1|'/c calc'.forward.0.input.0" in [cell.value for cell in sheet["A"]]


def test_xlsx_has_colours_filters_and_a_head_that_stays(files):
    sheet = openpyxl.load_workbook(files["xlsx"])["Sheet1"]
    assert sheet.freeze_panes == "B2"
    assert sheet.auto_filter.ref == sheet.dimensions
    result = [cell.value for cell in sheet[1]].index("Result")
    seen = set()
    for row in sheet.iter_rows(min_row=2):
        seen.add(row[result].value)
        assert {cell.fill.fgColor.rgb for cell in row} == {FILLS[row[result].value]}
    assert {"error", "unmatched"} <= seen


def test_xlsx_alone(tmp_path):
    """As in the original tool, --xlsx takes the place of the CSV."""
    for side in ("t", "g"):
        write_dump(tmp_path / side / "dump.json", healthy())
    assert compare("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "out", "--xlsx").returncode == 0
    assert only_file(tmp_path / "out", "*").suffix == ".xlsx"


# --- any names and numbers ----------------------------------------------------------------------------------------

names = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)
numbers = st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1), st.none())


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.dictionaries(names, st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_all_formats_say_the_same(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    target = {f"Module.{name}.Linear.forward.0": entry(tensor(), tensor(maximum=pair[0])) for name, pair in data.items()}
    golden = {f"Module.{name}.Linear.forward.0": entry(tensor(), tensor(maximum=pair[1])) for name, pair in data.items()}
    files = written(folder, target, golden)
    parquet = pyarrow.parquet.read_table(files["parquet"]).to_pylist()
    lines = [json.loads(line) for line in files["jsonl"].read_text(encoding="utf-8").split("\n")[:-1]]
    sheet = list(openpyxl.load_workbook(files["xlsx"])["Sheet1"].iter_rows(min_row=2, values_only=True))
    assert len(parquet) == len(lines) == len(sheet) == 2 * len(target)
    for typed, line, cells in zip(parquet, lines, sheet):
        assert typed["NPU Name"] == line["NPU Name"]
        assert typed["Result"] == line["Result"] == cells[-2]
        for name in NUMBERS:
            if isinstance(line[name], int | float):
                assert typed[name] == float(line[name])
