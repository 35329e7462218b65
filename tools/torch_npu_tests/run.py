# SPDX-License-Identifier: Apache-2.0
"""Runs torch_npu's own tests on hostnpu, each file in a process of its own, and prints what passed. For run_torch_npu_tests.sh."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
# Two devices, since some tests want a second; memory as a test of large tensors needs it.
PLAYED = ("--devices", "2", "--memory", "16")
LEAST_PERCENT = 95.0


@dataclass(frozen=True)
class Known:
    """A line of known.tsv."""

    file: str
    test: str  # may end in *
    kind: str  # needs, test
    reason: str


@dataclass
class Result:
    """Of one file."""

    passed: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # test: first line of its message
    not_run: Counter[str] = field(default_factory=Counter)  # reason: how many
    surprises: list[str] = field(default_factory=list)  # what known.tsv says and this run does not show


def read_known(path: Path) -> list[Known]:
    lines = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [Known(*line) for line in lines]


def read_result(path: Path, file: str, known: list[Known]) -> Result:
    """`path` was written by pytest_plugin.py, `file` is the test file's path below test/."""
    result = Result()
    mine = [entry for entry in known if entry.file == file]
    outcomes: dict[str, tuple[str, str]] = {}
    for line in path.read_text().splitlines():
        name, outcome, message = json.loads(line)
        if outcomes.get(name, ("passed",))[0] != "failed":  # a test's subtests and its tear-down have lines of their own
            outcomes[name] = (outcome, message)
    met: set[Known] = set()
    for name, (outcome, message) in outcomes.items():
        entry = next((one for one in mine if fnmatchcase(name, one.test)), None)
        if outcome == "passed":
            result.passed += 1
        elif outcome == "skipped":
            result.not_run[f"skips itself: {message}"] += 1
        elif entry is None:
            result.failed[name] = message
        elif entry.kind == "needs":
            result.not_run[entry.reason] += 1
        else:
            result.failed[name] = f"(the test) {entry.reason}"
        if outcome == "failed" and entry is not None:
            met.add(entry)
    result.surprises = [
        f"{entry.test}: known.tsv says that it does not pass ({entry.reason})" for entry in mine if entry not in met
    ]
    return result


def table(results: dict[str, Result]) -> str:
    lines = ["| file | passed | failed | not run, with the reason |", "| --- | --- | --- | --- |"]
    for file, result in results.items():
        reasons = "; ".join(f"{count}: {reason}" for reason, count in sorted(result.not_run.items()))
        lines.append(f"| {file} | {result.passed} | {len(result.failed)} | {reasons} |")
    passed, failed, not_run = totals(results)
    lines.append(f"| **all** | **{passed}** | **{failed}** | {not_run} |")
    return "\n".join(lines)


def totals(results: dict[str, Result]) -> tuple[int, int, int]:
    """Passed, failed, not run."""
    every = results.values()
    return (
        sum(result.passed for result in every),
        sum(len(result.failed) for result in every),
        sum(sum(result.not_run.values()) for result in every),
    )


def read_files(path: Path) -> list[str]:
    """Paths below test/."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def run_file(checkout: Path, file: str, folder: Path, timeout: int) -> str:
    """Writes folder/results; empty, or why it is not to be trusted. The tests' working directory is `folder`: they leave files there."""
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results"
    results.unlink(missing_ok=True)
    command = [sys.executable, "-m", "msprobe.hostnpu", "run", *PLAYED, "-m", "pytest", str(checkout / "test" / file)]
    command += ["-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "pytest_plugin"]
    command += ["-c", os.devnull, "--rootdir", str(checkout / "test")]
    search = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH", ""))))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": search, "TORCH_NPU_TESTS_RESULTS": str(results)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            return f"did not end within {timeout} s"
        finally:  # also when this program is stopped: nothing of the test's stays behind
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code not in (0, 1) or not results.exists():
        return f"pytest ended with {code}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="folder of torch_npu's source: test/ is in it")
    parser.add_argument("only", nargs="*", help="run only the files whose path holds one of these words")
    parser.add_argument("--out", type=Path, required=True, help="logs and results go there, a folder a file")
    parser.add_argument("--timeout", type=int, default=1200, help="seconds for a file")
    arguments = parser.parse_args()
    if not (arguments.checkout / "test" / "npu").is_dir():
        print(f"error: {arguments.checkout} must be a folder of torch_npu's source, it has no test/npu", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that run_file cleans up
    known = read_known(HERE / "known.tsv")
    files = [one for one in read_files(HERE / "files.tsv") if not arguments.only or any(word in one for word in arguments.only)]
    if not files:
        print(f"error: no path in files.tsv holds one of {arguments.only}", file=sys.stderr)
        return 2
    results: dict[str, Result] = {}
    for file in files:
        folder = (arguments.out / file.removesuffix(".py").replace("/", ".")).absolute()
        trouble = run_file(arguments.checkout.absolute(), file, folder, arguments.timeout)
        result = Result(failed={"the whole file": trouble}) if trouble else read_result(folder / "results", file, known)
        results[file] = result
        print(f"{file}: {result.passed} passed, {len(result.failed)} failed, {result.not_run.total()} not run", file=sys.stderr)
        for name, reason in result.failed.items():
            print(f"  failed: {name}: {reason} ({folder / 'log'})", file=sys.stderr)
        for surprise in result.surprises:
            print(f"  strange: {surprise}", file=sys.stderr)
    print(table(results))
    passed, failed, _ = totals(results)
    percent = 100.0 * passed / max(passed + failed, 1)
    print(f"\n{passed} of {passed + failed} passed: {percent:.1f} % (at least {LEAST_PERCENT:.0f} % must)")
    return 0 if passed and percent >= LEAST_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
