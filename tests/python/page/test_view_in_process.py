# SPDX-License-Identifier: Apache-2.0
"""msprobe.view(): the page of a dump from inside a Python process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cli_runs
import pages
import pytest

import msprobe


def test_result(tmp_path):
    dump = cli_runs.write_dump(tmp_path / "dump.json", pages.model("target", fault_at=None, nan_at=20))
    found = msprobe.view(dump, output=tmp_path / "out")
    assert isinstance(found, msprobe.ViewResult)
    assert Path(found.file) == cli_runs.only_file(tmp_path / "out", "view_*.html")
    (only,) = found.dumps
    assert isinstance(only, msprobe.ViewedDump)
    assert (only.step, only.rank, only.label, only.path, only.error) == (None, None, "", str(dump), "")
    assert (only.rows, only.broken) == (384, 0)
    assert only.signs == {"not_finite": 1, "dead": 1, "mostly_zero": 0, "constant": 0, "saturated": 0, "limit": 0}
    assert only.first_not_finite == "Module.layers.20.mlp.down.Linear.forward.0.output.0" and not only.inputs_had_it
    done = cli_runs.run("view", dump, "-o", tmp_path / "other")
    assert [line.strip() for line in done.stdout.splitlines()[1:-1]] == only.sentences


def test_ranks_and_steps(tmp_path):
    for step in range(2):
        for rank in range(3):
            place = tmp_path / "run" / f"step{step}" / f"rank{rank}" / "dump.json"
            cli_runs.write_dump(place, cli_runs.healthy())
    (tmp_path / "run" / "step1" / "rank2" / "dump.json").write_text("{")
    found = msprobe.view(tmp_path / "run", output=tmp_path / "out", step=1, rank=[0, 2], threads=2)
    assert [(dump.step, dump.rank, dump.label) for dump in found.dumps] == [(1, 0, "rank0"), (1, 2, "rank2")]
    assert found.dumps[0].rows == 6 and found.dumps[0].error == ""
    assert "rank2" in found.dumps[1].error and found.dumps[1].sentences == []


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="no_such"):
        msprobe.view(tmp_path / "no_such")
    with pytest.raises(FileNotFoundError, match="--rank"):
        msprobe.view("--rank", output=tmp_path)
    with pytest.raises(ValueError, match="--threads must be"):
        msprobe.view(tmp_path, threads=0)
    with pytest.raises(ValueError, match="zero byte"):
        msprobe.view("a\0b")
    assert list(tmp_path.rglob("*.html")) == []


def test_prints_nothing_and_needs_no_torch(tmp_path):
    cli_runs.write_dump(tmp_path / "dump.json", cli_runs.healthy())
    program = "import msprobe, sys; msprobe.view('dump.json'); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    cli_runs.only_file(tmp_path / "output", "view_*.html")
