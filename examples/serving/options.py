# SPDX-License-Identifier: Apache-2.0
"""The command line of run.py. What cannot be used is told in one line, with exit code 2, before anything is loaded or run."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, TextIO


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Without the usage, in which one line is easily overlooked."""
        self.exit(2, f"run.py: {message}\n")


def prompt_and_answer(text: str) -> tuple[int, int]:
    """Tokens of the prompt, and tokens to add."""
    found = re.fullmatch(r"([1-9]\d{0,5}):([1-9]\d{0,5})", text, re.ASCII)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be P:N with numbers from 1, such as 3:6, got {text!r}")
    return int(found[1]), int(found[2])


def readable(path: str) -> str:
    try:
        Path(path).open("rb").close()
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"cannot open {path!r}: {getattr(error, 'strerror', None) or error}") from error
    return path


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Of `words`, or of the program's own command line."""
    parser = Parser(prog="run.py", description="Serves requests with a small random decoder and dumps every batch.")
    parser.add_argument("--graphs", choices=["pieces", "whole", "none"], default="pieces", help="what is captured (pieces)")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 2, 4], metavar="N", help="rows with a graph (1 2 4)")
    parser.add_argument(
        "--budget", type=int, default=6, metavar="N", help="rows of a batch at most; above the largest size: eager (6)"
    )
    parser.add_argument("--pad", action="store_true", help="with --graphs none: pad as if there were some, to compare the two")
    parser.add_argument(
        "--requests",
        type=prompt_and_answer,
        nargs="+",
        default=[(3, 6), (9, 4), (1, 8), (5, 5), (2, 6)],
        metavar="P:N",
        help="prompts of P random tokens to which N are added (3:6 9:4 1:8 5:5 2:6)",
    )
    parser.add_argument("--dump", type=readable, metavar="CONFIG", help="configuration of the dumper")
    parser.add_argument(
        "--journal", metavar="FILE", help="which requests each step had, a line of JSON each; .rankN is put behind it"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    if min(given.batch_sizes) < 1 or given.budget < max(given.batch_sizes):
        parser.error("--batch-sizes: must be 1 or more and at most --budget")
    if given.pad and given.graphs != "none":
        parser.error(f"--pad: is for --graphs none, got --graphs {given.graphs}, which pads by itself")
    return given


def open_journal(name: str, rank: int) -> TextIO:
    """Each line is in the file as soon as it is written, so that a run that dies leaves those of its steps so far."""
    path = f"{name}.rank{rank}"
    try:
        return Path(path).open("w", buffering=1, encoding="utf-8")
    except (OSError, ValueError) as error:
        Parser().error(f"--journal: cannot write {path!r}: {getattr(error, 'strerror', None) or error}")
