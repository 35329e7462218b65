# SPDX-License-Identifier: Apache-2.0
"""The program `msprobe compare`: exit codes, errors, the summary, terminals and pipes."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

import pytest
from cli_runs import PROGRAM, compare, entry, healthy, only_file, pair, run, tensor, write_dump

SUMMARY = """\
6 rows of 1 pair of dumps compared in T s

      pass  warning  error  unmatched
rows     5        0      1          0

Where it starts
First fault: first visible at output 0 of Module.layers.1.Linear.forward.0: Norm 30, golden 3; E N is
"""


def wrong_norm() -> dict:
    data = healthy()
    data["Module.layers.1.Linear.forward.0"] = entry(tensor(2.0), tensor(30.0))
    return data


# --- exit codes ---------------------------------------------------------------------------------------------------


def test_it_is_native_and_starts_at_once():
    assert PROGRAM.read_bytes()[:4] == b"\x7fELF"
    times = []
    for _ in range(10):
        start = time.perf_counter()
        assert run("--help").returncode == 0
        times.append(time.perf_counter() - start)
    assert min(times) < 0.02


@pytest.mark.parametrize(
    "words", [["compare", "--help"], ["compare", "-tp", "x", "-h"], ["merge_result", "-h"], ["merge-result", "--help"]]
)
def test_help(words):
    told = run(*words)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("usage: msprobe ")


def test_equal_dumps_are_exit_code_0(tmp_path):
    told = compare(*pair(tmp_path), "-o", tmp_path / "out", "--fail-on", "error,warning,unmatched")
    assert (told.returncode, told.stderr) == (0, "")
    assert only_file(tmp_path / "out", "*").name.startswith("compare_result_2")


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 1), ("warning", 1), ("error,unmatched", 1), ("unmatched", 0), ("never", 0), (None, 0)]
)
def test_fail_on(tmp_path, fail_on, code):
    words = ["--fail-on", fail_on] if fail_on else []
    told = compare(*pair(tmp_path, wrong_norm()), "-o", tmp_path / "out", *words)
    assert (told.returncode, told.stderr) == (code, "")


def test_fail_on_unmatched_counts_rows_and_ranks(tmp_path):
    longer = compare(*pair(tmp_path, healthy(4)), "-o", tmp_path / "out", "--fail-on", "unmatched")
    assert longer.returncode == 1
    for side, ranks in (("t", (0, 1)), ("g", (0,))):
        for rank in ranks:
            write_dump(tmp_path / side / f"rank{rank}" / "dump.json", healthy())
    told = compare("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "out", "--fail-on", "unmatched")
    assert told.returncode == 1
    assert "Without a partner\ntarget" in told.stdout


def test_a_rank_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    for side in ("t", "g"):
        for rank in range(3):
            write_dump(tmp_path / side / f"rank{rank}" / "dump.json", healthy())
    (tmp_path / "t" / "rank1" / "dump.json").write_text('{"task": "statistics", "data": {"a": ')
    told = compare("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "out")
    assert told.returncode == 2
    assert re.fullmatch(r"msprobe compare: rank1: .*dump\.json.*\n", told.stderr), told.stderr
    assert len(list((tmp_path / "out").glob("*rank[02]_*.csv"))) == 2
    assert not list((tmp_path / "out").glob("*rank1*"))


# --- errors -------------------------------------------------------------------------------------------------------


def error_of(*words: str | Path, **options) -> str:
    """The line that a wrong call prints."""
    told = compare(*words, **options)
    assert (told.returncode, told.stdout) == (2, ""), told
    assert 1 <= told.stderr.count("\n") <= 2, told.stderr
    assert told.stderr.startswith("msprobe compare: ")
    return told.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--target_path is required"),
        (["-tp", "x"], "--golden_path is required"),
        (["-tp", "x", "-gp", "y", "--loud"], "there is no option '--loud'"),
        (["-tp", "x", "-gp", "y", "more"], "'more' stands behind no option"),
        (["-tp", "x", "-gp"], "--golden_path needs a value"),
        (["-tp", "x", "-gp", "y", "--rank", "a"], "--rank must be numbers and ranges such as 0,4-7, got 'a'"),
        (["-tp", "x", "-gp", "y", "--format", "ods"], "got 'ods'"),
        (["-tp", "x", "-gp", "y", "--fail-on", "all"], "got 'all'"),
        (["-tp", "x", "-gp", "y", "--threads", "0"], "got '0'"),
        (["-tp", "x", "-gp", "y", "--rtol", "-1"], "--rtol"),
        (["-tp", "nowhere", "-gp", "y"], "nowhere"),
    ],
)
def test_usage_errors(tmp_path, words, said):
    assert said in error_of(*words, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "choice"), [("--rank", "9"), ("--step", "77")])
def test_a_choice_that_no_dump_goes_by(tmp_path, option, choice):
    """Dumps of programs without torch.distributed have pid folders and no ranks."""
    for side, pid in (("t", 1), ("g", 2)):
        write_dump(tmp_path / side / f"pid{pid}" / "dump.json", healthy())
    said = error_of("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "out", option, choice)
    assert said.count("\n") == 1 and f"is of a known {option[2:]}" in said
    assert not (tmp_path / "out").exists()


def test_errors_name_the_file_and_the_byte(tmp_path):
    words = pair(tmp_path)
    (tmp_path / "target" / "dump.json").write_text('{"task": "statistics", "data": {"a": nope}}')
    said = error_of(*words, "-o", tmp_path / "out")
    assert "target/dump.json" in said
    assert re.search(r"\b37\b|\b38\b", said), said


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"task": "statistics"}', '{"task": "structure", "data": {}}', "\x00\x01"])
def test_what_is_no_dump_is_an_error(tmp_path, content):
    words = pair(tmp_path)
    (tmp_path / "golden" / "dump.json").write_text(content)
    assert "golden/dump.json" in error_of(*words, "-o", tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.csv"))


def test_nothing_can_be_written_into_a_file(tmp_path):
    (tmp_path / "out").write_text("mine")
    said = error_of(*pair(tmp_path), "-o", tmp_path / "out")
    assert "Not a directory" in said
    assert (tmp_path / "out").read_text() == "mine"


# --- the summary --------------------------------------------------------------------------------------------------


def test_summary_is_this_text(tmp_path):
    told = compare(*pair(tmp_path, wrong_norm()), "-o", tmp_path / "out")
    text = re.sub(r"in \S+ s\n", "in T s\n", re.sub(r"E \S+ is", "E N is", told.stdout, count=1))
    assert text.startswith(SUMMARY.rsplit(" N is", 1)[0]), text
    table = text.split("Worst rows\n")[1].split("\n\n")[0].splitlines()
    assert re.fullmatch(r"result +rel\. error +row +why", table[0])
    assert re.match(r"error +9 +Module\.layers\.1\.Linear\.forward\.0\.output\.0 +The ", table[1]), table
    assert text.endswith(f"\nFiles\n{only_file(tmp_path / 'out', '*.csv')}\n")


def test_summary_fits_100_columns_and_measures_chinese(tmp_path):
    name = "Module." + "模块" * 40 + ".Linear.forward.0"
    told = compare(
        *pair(tmp_path, {name: entry(tensor(), tensor(9.0))}, {name: entry(tensor(), tensor(1.0))}), "-o", tmp_path / "out"
    )
    table = told.stdout.split("Worst rows\n")[1].split("\n\n")[0].splitlines()
    widths = [sum(2 if ord(character) > 0x2E80 else 1 for character in line) for line in table]
    assert max(widths) <= 100
    why = table[0].index("why")
    assert table[1][: table[1].index("The ")].count("块") > 5
    assert sum(2 if ord(c) > 0x2E80 else 1 for c in table[1][: table[1].index("The ")]) == why


def test_quiet_prints_nothing(tmp_path):
    told = compare(*pair(tmp_path, wrong_norm()), "-o", tmp_path / "out", "--quiet", "--fail-on", "error")
    assert (told.returncode, told.stdout, told.stderr) == (1, "", "")
    only_file(tmp_path / "out", "*.csv")


def test_the_default_folder_is_output(tmp_path):
    compare(*pair(tmp_path), cwd=tmp_path)
    only_file(tmp_path / "output", "*.csv")


# --- terminals and pipes ------------------------------------------------------------------------------------------


def on_terminal(words: list[str], **environment: str) -> bytes:
    """What the program writes to a terminal of its own."""
    main, side = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [PROGRAM, *words], stdin=side, stdout=side, stderr=side, env=clean | {"TERM": "xterm"} | environment, close_fds=True
    ) as process:
        os.close(side)
        seen = b""
        while True:
            ready, _, _ = select.select([main], [], [], 60)
            assert ready, "nothing came for a minute"
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
    os.close(main)
    assert process.returncode == 0
    return seen


def test_colours_are_for_terminals_only(tmp_path):
    words = ["compare", *pair(tmp_path, wrong_norm()), "-o", str(tmp_path / "out")]
    assert "\x1b" not in run(*words).stdout
    assert b"\x1b[31m" in on_terminal(words)
    assert b"\x1b" not in on_terminal(words, NO_COLOR="1")
    assert b"\x1b" not in on_terminal(words, TERM="dumb")
    assert b"\x1b[31m" in on_terminal(words, NO_COLOR="")  # empty means not set (no-color.org)


def test_a_short_run_has_no_bar(tmp_path):
    assert b"%" not in on_terminal(["compare", *pair(tmp_path), "-o", str(tmp_path / "out")])


def test_a_long_run_has_a_bar_that_goes_away(tmp_path):
    data = healthy(60000)
    words = ["compare", *pair(tmp_path, data, data), "-o", str(tmp_path / "out"), "--format", "csv,xlsx", "--threads", "1"]
    seen = on_terminal(words)
    assert re.search(rb"\r\x1b\[2K\[#* *\] +\d+ % ", seen)
    assert seen.split(b" of 1 pair")[0].rsplit(b"\r", 1)[1].startswith(b"\x1b[2K")
    assert run(*words).stderr == ""


def test_a_reader_that_goes_away_does_not_stop_the_work(tmp_path):
    words = [str(PROGRAM), "compare", *pair(tmp_path), "-o", str(tmp_path / "out")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.wait(60)
    assert process.returncode == 0
    only_file(tmp_path / "out", "*.csv")


# --- hostnpu ------------------------------------------------------------------------------------------------------


def test_hostnpu_runs_in_the_program_s_own_environment(tmp_path):
    """Beside the program stands the environment's Python; the working folder is not on its path."""
    environment = tmp_path / "bin"
    environment.mkdir()
    (environment / "msprobe").write_bytes(PROGRAM.read_bytes())
    (environment / "msprobe").chmod(0o755)
    (environment / "python3").write_text('#!/bin/sh\nshift 2; echo "own python: $*"\n')
    (environment / "python3").chmod(0o755)
    told = subprocess.run([environment / "msprobe", "hostnpu", "run", "-c", "a b"], capture_output=True, text=True, check=False)
    assert told.stdout == "own python: run -c a b\n"


def test_hostnpu_takes_no_msprobe_of_the_working_folder(tmp_path):
    (tmp_path / "msprobe").mkdir()
    (tmp_path / "msprobe" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    told = run("hostnpu", "--help", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "hostnpu run" in told.stdout


def test_hostnpu_errors_keep_their_code(tmp_path):
    told = run("hostnpu", "dance", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.startswith("msprobe hostnpu: there is no command 'dance'")


def test_without_any_python_hostnpu_says_so(tmp_path):
    (tmp_path / "msprobe").write_bytes(PROGRAM.read_bytes())
    (tmp_path / "msprobe").chmod(0o755)
    told = subprocess.run(
        [tmp_path / "msprobe", "hostnpu", "info"], capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)}
    )
    assert told.returncode == 2
    assert told.stderr.startswith("msprobe hostnpu: cannot start 'python3'")
