# SPDX-License-Identifier: Apache-2.0
"""`msprobe.compare`: what the program `msprobe compare` does, inside this process, without torch."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from msprobe._in_process import ask, list_of


class Divergence(NamedTuple):
    """Where two runs part, as far as the dumps tell."""

    grade: str
    """"fault", "suspect", "hint" (only if asked for), or "none"."""
    call: str
    """The call at which it is visible first, as `Module.layers.0.mlp.MLP.forward.0`; "" if there is none."""
    sentence: str
    """The finding in one sentence, with its numbers."""
    riders: list[str]
    """What limits it."""


class PairResult(NamedTuple):
    """What came out of one pair of dumps: of two files, or of one rank of one step."""

    step: int | None
    rank: int | None
    label: str
    """"rank3", "pid17", ...; "" for two files."""
    target: str
    golden: str
    mode: str
    """"statistics", "md5" or "tensor"."""
    counts: dict[str, int]
    """Rows by result: "pass", "warning", "error", "unmatched"."""
    largest_relative_error: float
    """The largest finite one of all matched rows, as a fraction."""
    divergence: Divergence | None
    """None in md5 mode."""
    files: list[str]
    warnings: list[str]
    error: str
    """Why this pair could not be compared; "" if it was."""


class WorstRow(NamedTuple):
    """A row that a reader should look at first."""

    step: int | None
    label: str
    row: int
    """In its table, from 0, without the head."""
    target_name: str
    golden_name: str
    result: str
    relative_error: float
    """As a fraction; infinite where golden is zero."""
    messages: list[str]


class CompareResult(NamedTuple):
    """What `compare` found. The tables that it wrote are `files`."""

    counts: dict[str, int]
    """Rows by result over all pairs: "pass", "warning", "error", "unmatched"."""
    pairs: list[PairResult]
    """By step, then by rank."""
    unpaired: list[tuple[str, str, str]]
    """Dumps without a partner: "target" or "golden", the path, the reason."""
    worst: list[WorstRow]
    """Ten at most, the worst first."""
    first_diverging_step: int | None
    files: list[str]
    seconds: float

    @property
    def first_divergence(self) -> Divergence | None:
        """That of the first pair, by step and rank, that parts; None if none does."""
        found = (pair.divergence for pair in self.pairs)
        return next((divergence for divergence in found if divergence is not None and divergence.grade != "none"), None)


def _pair(told: dict[str, Any]) -> PairResult:
    divergence = told.pop("divergence")
    told["largest_relative_error"] = float(told["largest_relative_error"])
    return PairResult(divergence=None if divergence is None else Divergence(**divergence), **told)


def _worst(told: dict[str, Any]) -> WorstRow:
    told["relative_error"] = float(told["relative_error"])
    return WorstRow(**told)


def compare(
    target: str | os.PathLike[str],
    golden: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] = "./output",
    formats: str | Iterable[str] = "csv",
    fuzzy_match: bool = False,
    data_mapping: str | os.PathLike[str] | None = None,
    cell_mapping: bool | str | os.PathLike[str] = False,
    diff_analyze: bool = False,
    hints: bool = False,
    rank: int | Iterable[int] | None = None,
    step: int | Iterable[int] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    threads: int | None = None,
) -> CompareResult:
    """Compares two dumps and writes a table of every tensor; prints nothing.

    The arguments are the options of `msprobe compare`, which docs/compare.md describes. `target` and `golden` are a dump.json, a folder
    with one, a rank, proc or pid folder, a step folder or a dump_path; `formats` are of "csv", "xlsx", "parquet", "jsonl" and "html";
    `rtol` and `atol` are fractions and absolute values of the tensors' elements.

    Raises ValueError for wrong arguments and for dumps that cannot be compared, OSError for files that cannot be read or written. Of
    several pairs, one that cannot be compared does not stop the others: its `error` says why.
    """
    words = [f"--target_path={os.fspath(target)}", f"--golden_path={os.fspath(golden)}", f"--output_path={os.fspath(output)}"]
    words.append(f"--format={formats if isinstance(formats, str) else ','.join(formats)}")
    words += [
        f"--{name}"
        for name, wanted in (("fuzzy_match", fuzzy_match), ("diff_analyze", diff_analyze), ("hints", hints))
        if wanted
    ]
    if data_mapping is not None:
        words.append(f"--data_mapping={os.fspath(data_mapping)}")
    if cell_mapping is True:
        words.append("--cell_mapping")
    elif cell_mapping is not False:
        words.append(f"--cell_mapping={os.fspath(cell_mapping)}")
    words += [f"--{name}={list_of(numbers)}" for name, numbers in (("rank", rank), ("step", step)) if numbers is not None]
    words += [
        f"--{name}={number!r}" for name, number in (("rtol", rtol), ("atol", atol), ("threads", threads)) if number is not None
    ]
    told = ask("msprobe_compare", words)
    told["pairs"] = [_pair(pair) for pair in told["pairs"]]
    told["worst"] = [_worst(row) for row in told["worst"]]
    told["unpaired"] = [(side, path, reason) for side, path, reason in told["unpaired"]]
    return CompareResult(**told)
