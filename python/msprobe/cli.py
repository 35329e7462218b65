# SPDX-License-Identifier: Apache-2.0
"""The `msprobe` program. It starts fast: nothing here imports torch."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from msprobe import __version__

USAGE = """\
usage: msprobe COMMAND ...

See inside a captured PyTorch graph.

commands:
  hostnpu run SCRIPT ...   run a Python program that uses torch_npu on a machine without an NPU
  hostnpu info             tell what hostnpu offers and which torch and torch-npu it was built for

options:
  -h, --help               show this text; `msprobe hostnpu --help` tells more
  --version                show the version
"""
USAGE_ERROR = 2


def _usage_error(message: str) -> int:
    print(f"msprobe: {message}; `msprobe --help` lists what there is", file=sys.stderr)
    return USAGE_ERROR


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; the result is its exit code (2: the command line was wrong)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:
        return _usage_error("a command is missing")
    command, rest = words[0], words[1:]
    if command in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    if command == "--version":
        print(f"msprobe {__version__}")
        return 0
    if command == "hostnpu":
        from msprobe.hostnpu.__main__ import main as hostnpu  # noqa: PLC0415  (keeps --version and --help fast)

        return hostnpu(rest)
    kind = "option" if command.startswith("-") else "command"
    return _usage_error(f"there is no {kind} {command!r}")


if __name__ == "__main__":
    sys.exit(main())
