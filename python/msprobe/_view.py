# SPDX-License-Identifier: Apache-2.0
"""`msprobe.view`: what the program `msprobe view` does, inside this process, without torch."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from msprobe._in_process import ask, list_of


class ViewedDump(NamedTuple):
    """What stands out in one dump: of one file, or of one rank of one step."""

    step: int | None
    rank: int | None
    label: str
    """"rank3", "pid17", ...; "" for one file."""
    path: str
    rows: int
    broken: int
    """Rows whose entry is no record."""
    signs: dict[str, int]
    """Rows by sign: "not_finite", "dead", "mostly_zero", "constant", "saturated", "limit"."""
    first_not_finite: str
    """Name of the row where NaN or Inf first appears; "" if all numbers are finite."""
    inputs_had_it: bool
    """That row is an input, or stands in a call with such an input: the call did not make it."""
    sentences: list[str]
    """The same in words, as the program prints them."""
    error: str
    """Why this dump could not be read; "" if it was."""


class ViewResult(NamedTuple):
    """What `view` found, and the page that it wrote."""

    file: str
    dumps: list[ViewedDump]
    """By step, then by rank."""


def view(
    dump: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] = "./output",
    rank: int | Iterable[int] | None = None,
    step: int | Iterable[int] | None = None,
    threads: int | None = None,
) -> ViewResult:
    """Writes an HTML page of a dump and says what stands out in it; prints nothing.

    The arguments are the options of `msprobe view`, which docs/page.md describes. `dump` is a dump.json, a folder with one, a rank,
    proc or pid folder, a step folder or a dump_path.

    Raises ValueError for wrong arguments and for a dump that is none, OSError for files that cannot be read or written. Of several
    dumps, one that cannot be read does not stop the others: its `error` says why.
    """
    words = [f"--output_path={os.fspath(output)}"]
    words += [f"--{name}={list_of(numbers)}" for name, numbers in (("rank", rank), ("step", step)) if numbers is not None]
    if threads is not None:
        words.append(f"--threads={threads!r}")
    # Behind "--" a path that begins with a dash is a path.
    told = ask("msprobe_view", [*words, "--", os.fspath(dump)])
    return ViewResult(file=told["file"], dumps=[ViewedDump(**each) for each in told["dumps"]])
