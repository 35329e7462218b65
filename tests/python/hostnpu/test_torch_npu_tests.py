# SPDX-License-Identifier: Apache-2.0
"""tools/torch_npu_tests/run.py: what it makes of a file of tests, of one that never ends, and of what known.tsv says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "tools" / "torch_npu_tests" / "run.py"
FILE = "npu/test_stream.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "torch_npu" / "test" / "npu").mkdir(parents=True)
    return tmp_path / "torch_npu"


def run(checkout: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (checkout / "test" / FILE).write_text(text)
    command = [sys.executable, str(PROGRAM), str(checkout), FILE, "--out", str(checkout / "out"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_passed_failed_and_skipped_tests_are_told_apart(checkout: Path) -> None:
    text = """
import unittest
import torch
import torch_npu
class TestStream(unittest.TestCase):
    def test_good(self):
        torch.npu.Stream().synchronize()
    def test_bad(self):
        with self.subTest(part=1):
            raise ValueError("no good")
    @unittest.skip("not today")
    def test_skipped(self):
        pass
"""
    result = run(checkout, text)
    assert result.returncode == 1, result.stderr
    assert f"| {FILE} | 1 | 1 | 1: skips itself: not today |" in result.stdout
    assert "1 of 2 passed: 50.0 %" in result.stdout
    assert "failed: TestStream.test_bad: ValueError: no good" in result.stderr


def test_all_passed(checkout: Path) -> None:
    result = run(checkout, "def test_good():\n    import torch, torch_npu\n    assert torch.npu.device_count() == 2\n")
    assert result.returncode == 0, result.stderr
    assert "1 of 1 passed: 100.0 %" in result.stdout


def test_a_file_that_never_ends_is_stopped_with_all_it_started(checkout: Path) -> None:
    text = """
import subprocess, sys, time
def test_sleeps():
    subprocess.Popen([sys.executable, "-c", "import time, pathlib\\ntime.sleep(6)\\npathlib.Path('alive').touch()"])
    time.sleep(600)
"""
    start = time.monotonic()
    result = run(checkout, text, "--timeout", "4")
    assert result.returncode == 1
    assert "the whole file: did not end within 4 s" in result.stderr
    time.sleep(max(0.0, 8.0 - (time.monotonic() - start)))
    assert not list((checkout / "out").rglob("alive"))


def test_a_broken_file_is_a_failure(checkout: Path) -> None:
    result = run(checkout, "import there_is_no_such_module\n")
    assert result.returncode == 1
    assert "the whole file: pytest ended with 2" in result.stderr


def test_what_is_no_checkout_or_no_file(tmp_path: Path, checkout: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--out", str(tmp_path / "out")]
    for arguments, rule in (([str(tmp_path)], "has no test/npu"), ([str(checkout), "npu/nothing"], "no path in files.tsv")):
        result = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert result.returncode == 2
        assert rule in result.stderr
        assert result.stderr.count("\n") == 1


def test_known_tests(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("torch_npu_tests_run", PROGRAM)
    program = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = program
    spec.loader.exec_module(program)
    results = tmp_path / "results"
    results.write_text('["T.one", "failed", "x"]\n["T.two_a", "failed", "y"]\n["T.three", "passed", ""]\n')
    known = [
        program.Known(FILE, "T.one", "needs", "ATB"),
        program.Known(FILE, "T.two*", "test", "wrong"),
        program.Known(FILE, "T.three", "needs", "more"),
        program.Known("other.py", "T.four", "needs", "more"),
    ]
    result = program.read_result(results, FILE, known)
    assert (result.passed, result.failed, dict(result.not_run)) == (1, {"T.two_a": "(the test) wrong"}, {"ATB": 1})
    assert result.surprises == ["T.three: known.tsv says that it does not pass (more)"]
