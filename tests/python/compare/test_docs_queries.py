# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/compare.md, on the files of several ranks and steps."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
from cli_runs import compare, entry, tensor, write_dump

ROOT = Path(__file__).resolve().parents[3]
QUERIES = re.findall(
    r"^```sql\n(.*?)^```$", (ROOT / "docs" / "compare.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
UP = "Module.layers.{}.up.Linear.forward.0"


def data(step: int, rank: int, *, target: bool) -> dict:
    """Rank 1 is wrong from layer 2 on, rank 3 from layer 1 on in step 1; errors grow with step and rank."""
    wrong = {1: 2, 3: 1 if step == 1 else 9}.get(rank, 9)
    return {
        UP.format(layer): entry(tensor(1.0), tensor(2.0 * (1 + (rank + step) * (target and layer >= wrong))))
        for layer in range(4)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("queries")
    for side in ("t", "g"):
        for step in (0, 1):
            for rank in range(4):
                write_dump(folder / side / f"step{step}" / f"rank{rank}" / "dump.json", data(step, rank, target=side == "t"))
    told = compare("-tp", "t", "-gp", "g", "--format", "parquet", cwd=folder)
    assert told.returncode == 0, told.stderr
    return folder


@pytest.fixture
def ask(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda query: duckdb.sql(query).fetchall()


def test_there_are_three():
    assert len(QUERIES) == 3


def test_first_error_of_each_rank(ask):
    assert ask(QUERIES[0]) == [
        (0, 1, 5, UP.format(2) + ".output.0"),
        (1, 3, 3, UP.format(1) + ".output.0"),
        (1, 1, 5, UP.format(2) + ".output.0"),
    ]


def test_worst_rows_of_all_ranks(ask):
    rows = ask(QUERIES[1])
    assert len(rows) == 10
    assert {row[3] for row in rows[:3]} == {400.0}  # rank 3, step 1: three layers
    assert {row[:2] for row in rows[:3]} == {(1, 3)}
    assert rows == sorted(rows, key=lambda row: -row[3])


def test_one_layer_over_ranks_and_steps(ask):
    assert [row[0] for row in ask(QUERIES[2])] == [0, 1]
    assert [row[1:] for row in ask(QUERIES[2])] == [(0.0, 100.0, 0.0, 0.0), (0.0, 200.0, 0.0, 400.0)]
