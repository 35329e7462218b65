# SPDX-License-Identifier: Apache-2.0
"""Files of `msprobe compare` when the disk is full, the folder is closed, the program is killed, two of it run at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow.parquet
import pytest
from cli_runs import PROGRAM, compare, healthy, pair

READERS = {
    ".csv": lambda path: len(pd.read_csv(path)),
    ".xlsx": lambda path: openpyxl.load_workbook(path).active.max_row - 1,
    ".parquet": lambda path: pyarrow.parquet.read_table(path).num_rows,
    ".jsonl": lambda path: len([json.loads(line) for line in path.read_text().splitlines()]),
}
ALL = ",".join(extension[1:] for extension in READERS)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Some MB of tables."""
    return pair(tmp_path_factory.mktemp("dumps"), healthy(5000), healthy(5000))


@pytest.fixture(scope="module")
def short_dumps(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Tables that foreign readers read in no time."""
    return pair(tmp_path_factory.mktemp("short"), healthy(500), healthy(500))


def disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:  # also where the test that it is for fails
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(params=["60k", "600k"])
def small_disk(request, tmp_path: Path) -> Iterator[Path]:
    """A file system that is full before, or while, a table is written; mounting takes root, as CI has it."""
    yield from disk(tmp_path / "small", request.param)


@pytest.mark.parametrize("extension", ["csv", "xlsx", "jsonl", "parquet"])
def test_a_full_disk_is_an_error_and_leaves_nothing(small_disk, dumps, extension):
    told = compare(*dumps, "-o", small_disk, "--format", extension)
    if told.returncode == 0:  # this format packs well
        (path,) = small_disk.iterdir()
        assert READERS[path.suffix](path) == 10000
        return
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1, told.stderr
    assert "No space left on device" in told.stderr
    assert f".{extension}'" in told.stderr
    assert not list(small_disk.iterdir())


@pytest.mark.parametrize("size", ["1700k", "1900k", "2100k", "2300k", "2500k", "2700k", "2900k"])
def test_a_workbook_is_whole_or_not_there_wherever_the_disk_ends(tmp_path, dumps, size):
    """libxlsxwriter does not look whether its temporary files were written."""
    for folder in disk(tmp_path / "small", size):
        small = folder / "out"
        told = compare(*pair(tmp_path, healthy(1500), healthy(1500)), "-o", small, "--format", "xlsx")
        files = list(small.iterdir())
        if told.returncode == 0:
            assert zipfile.ZipFile(files[0]).testzip() is None
            assert READERS[".xlsx"](files[0]) == 3000
        else:
            assert told.stderr.count("\n") == 1, told.stderr
            assert not files


def test_no_permission_is_an_error(tmp_path, dumps):
    """Tests may run as root, whom permissions do not stop; an immutable mount does."""
    for folder in disk(tmp_path / "closed", "1m"):
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        told = compare(*dumps, "-o", folder / "out")
        assert told.returncode == 2
        assert told.stderr.count("\n") == 1
        assert "Read-only file system" in told.stderr


def test_unreadable_input_is_an_error(tmp_path, dumps):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "dump.json").mkdir()
    told = compare("-tp", tmp_path / "folder" / "dump.json", "-gp", dumps[3], "-o", tmp_path / "out")
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1


def test_twenty_kills_leave_whole_files(tmp_path, short_dumps):
    out = tmp_path / "out"
    start = time.perf_counter()
    compare(*short_dumps, "-o", out, "--format", ALL)
    usual = time.perf_counter() - start
    for number in range(20):
        with subprocess.Popen(
            [PROGRAM, "compare", *short_dumps, "-o", out, "--format", ALL], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(usual * number / 20)
            process.send_signal(signal.SIGKILL)
    files = [path for path in out.iterdir() if ".tmp." not in path.name]
    assert len(files) >= 4
    for path in files:
        assert READERS[path.suffix](path) == 1000, path


def test_many_at_once_in_one_folder_replace_nothing(tmp_path, short_dumps):
    runs = 6
    with ThreadPoolExecutor(runs) as pool:
        told = list(pool.map(lambda _: compare(*short_dumps, "-o", tmp_path / "out", "--format", ALL), range(runs)))
    assert [run.returncode for run in told] == [0] * runs, told
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == runs * len(READERS)
    named = [line for run in told for line in run.stdout.split("\nFiles\n")[1].split()]
    assert sorted(named) == [str(path) for path in files]  # each run names its own files
    assert {READERS[path.suffix](path) for path in files} == {1000}


def test_the_number_of_threads_changes_nothing(tmp_path, dumps):
    contents = set()
    for threads in (1, 2, 5):
        out = tmp_path / str(threads)
        compare(*dumps, "-o", out, "--format", "csv,parquet,jsonl", "--threads", threads)
        contents.add(tuple(path.read_bytes() for path in sorted(out.iterdir(), key=lambda path: path.suffix)))
    assert len(contents) == 1


def test_input_files_are_not_changed(tmp_path):
    words = pair(tmp_path)
    before = [(os.stat(path).st_mtime_ns, Path(path).read_bytes()) for path in words[1::2]]
    for path in words[1::2]:
        os.chmod(path, 0o444)
    assert compare(*words, "-o", tmp_path / "out").returncode == 0
    assert [(os.stat(path).st_mtime_ns, Path(path).read_bytes()) for path in words[1::2]] == before
