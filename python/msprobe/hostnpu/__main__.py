# SPDX-License-Identifier: Apache-2.0
"""The command line: `msprobe hostnpu run ...` and `msprobe hostnpu info`. Errors are one line on stderr and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from msprobe.hostnpu.errors import HostnpuError
from msprobe.hostnpu.launcher import run
from msprobe.hostnpu.report import info
from msprobe.hostnpu.settings import DEFAULT_MEMORY_GIB, DEFAULT_SOC

USAGE_ERROR = 2
USAGE = f"""\
usage: msprobe hostnpu run [--devices N] [--soc NAME] [--cann VERSION] [--memory GIB] [--force] PROGRAM [ARGUMENT ...]
       msprobe hostnpu info [--devices N] [--soc NAME] [--cann VERSION] [--memory GIB] [--json]

run   start a Python program with the real torch_npu on a played NPU; PROGRAM is a script, -m module, -c code or - (stdin)
info  tell what is played, which torch and torch_npu are found and needed, and which operators there are

  --devices N     number of devices (default 1)
  --soc NAME      chip to play (default {DEFAULT_SOC})
  --cann VERSION  CANN version whose rules are followed (default: the one of the build)
  --memory GIB    memory of each device (default {DEFAULT_MEMORY_GIB})
  --force         run although a real CANN is on this machine
  --json          everything, as JSON
"""
VALUE_OPTIONS = ("--devices", "--soc", "--cann", "--memory")
SWITCHES = {"run": ("--force",), "info": ("--json",)}


class _Help(Exception):  # noqa: N818  (not an error)
    pass


def _split(verb: str, words: Sequence[str]) -> tuple[dict[str, str], bool, list[str]]:
    """Options (without "--"), whether the verb's switch is set, and the rest from the first word that is no option of ours."""
    options: dict[str, str] = {}
    switched = False
    rest = list(words)
    while rest:
        name, equals, value = rest[0].partition("=")
        if rest[0] in ("-h", "--help"):
            raise _Help
        if rest[0] in SWITCHES[verb]:
            switched = True
            del rest[0]
        elif name in VALUE_OPTIONS:
            if not equals:
                if len(rest) < 2:
                    raise HostnpuError(f"{name} needs a value behind it")
                value = rest[1]
                del rest[0]
            if not value:
                raise HostnpuError(f"{name} needs a value that is not empty")
            options[name.removeprefix("--")] = value
            del rest[0]
        else:
            break
    return options, switched, rest


def _dispatch(words: Sequence[str]) -> int:
    if not words:
        raise HostnpuError("a command is missing: run or info; `msprobe hostnpu --help` tells more")
    verb = words[0]
    if verb in ("-h", "--help", "help"):
        raise _Help
    if verb not in SWITCHES:
        raise HostnpuError(f"there is no command {verb!r}: run or info; `msprobe hostnpu --help` tells more")
    options, switched, rest = _split(verb, words[1:])
    if verb == "run":
        run(options, switched, rest)
    if rest:
        raise HostnpuError(f"info takes no argument {rest[0]!r}; `msprobe hostnpu --help` lists its options")
    return info(options, switched)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 2 when the command line or the installation is wrong. `run` does not return unless it fails."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _dispatch(words)
    except _Help:
        print(USAGE, end="")
        return 0
    except HostnpuError as error:
        print(f"msprobe hostnpu: {error}", file=sys.stderr)
        return USAGE_ERROR


if __name__ == "__main__":
    sys.exit(main())
