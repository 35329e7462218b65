# SPDX-License-Identifier: Apache-2.0
"""Prints the tree of a dump folder and the beginning of its first dump.json: what `make demo` shows at its end."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

EXCERPT_LINES = 24


def by_number(path: Path) -> tuple[str | int, ...]:
    """Sorts step2 before step10."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name))


def tree(folder: Path, indent: str = "") -> Iterator[str]:
    """The lines of the tree under a folder."""
    entries = sorted(folder.iterdir(), key=by_number)
    for entry in entries:
        is_last = entry is entries[-1]
        size = "" if entry.is_dir() else f"  ({entry.stat().st_size} bytes)"
        yield f"{indent}{'└── ' if is_last else '├── '}{entry.name}{size}"
        if entry.is_dir():
            yield from tree(entry, indent + ("    " if is_last else "│   "))


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: show_dumps.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    dumps = sorted(folder.rglob("dump.json"), key=lambda path: [by_number(part) for part in (path, *path.parents)][::-1])
    if not dumps:
        print(f"show_dumps.py: there is no dump.json under {folder}", file=sys.stderr)
        return 1
    print(folder)
    print("\n".join(tree(folder)))
    lines = dumps[0].read_text(encoding="utf-8").splitlines()
    print(f"\n{dumps[0]}:")
    print("\n".join(lines[:EXCERPT_LINES]))
    if len(lines) > EXCERPT_LINES:
        print(f"... {len(lines) - EXCERPT_LINES} more lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
