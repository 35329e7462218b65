# SPDX-License-Identifier: Apache-2.0
"""`run`: checks, builds the environment in which torch_npu finds hostnpu's libraries, and becomes the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from msprobe.hostnpu.checks import find_real_cann, require_built, version_problems
from msprobe.hostnpu.errors import HostnpuError
from msprobe.hostnpu.places import BuildInfo, build_info, find_script, torch_npu_home
from msprobe.hostnpu.settings import Settings, choose_settings

FIRST_CANN_WITH_DESTROY_CALLBACK = (9, 0)


def _prepended(entries: Sequence[str], old: str | None) -> str:
    """Joined with ":", without what stands there already: a nested run changes nothing."""
    rest = [entry for entry in (old or "").split(":") if entry and entry not in entries]
    return ":".join([*entries, *rest])


def program_environment(info: BuildInfo, settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the program: the given one with what torch_npu and the libraries read."""
    result = dict(environment)
    libraries = [str(info.lib)]
    later = str(info.lib / "cann9")
    if settings.cann_numbers >= FIRST_CANN_WITH_DESTROY_CALLBACK:
        libraries.insert(0, later)
    else:
        result["LD_LIBRARY_PATH"] = ":".join(path for path in result.get("LD_LIBRARY_PATH", "").split(":") if path != later)
    home = info.lib / "home"
    result.update(
        LD_LIBRARY_PATH=_prepended(libraries, result.get("LD_LIBRARY_PATH")),
        ASCEND_HOME_PATH=str(home),
        ASCEND_TOOLKIT_HOME=str(home),
        ASCEND_OPP_PATH=str(home / "opp"),
        HOSTNPU_DEVICES=str(settings.devices),
        HOSTNPU_SOC=settings.soc,
        HOSTNPU_CANN=settings.cann,
        HOSTNPU_MEMORY_GIB=settings.memory_gib,
    )
    # Without mode 2 an operator that is missing falls to an older interface that hostnpu does not play.
    result.setdefault("ACL_OP_INIT_MODE", "2")
    # At level 2 torch_npu tells which operator is missing; hostnpu prints the rest only if the user asked for this level.
    if "ASCEND_GLOBAL_LOG_LEVEL" in environment:
        result.setdefault("HOSTNPU_LOG_LEVEL", environment["ASCEND_GLOBAL_LOG_LEVEL"])
    else:
        result["ASCEND_GLOBAL_LOG_LEVEL"] = "2"
        result.setdefault("HOSTNPU_LOG_LEVEL", "3")
    torch_npu = torch_npu_home(environment)
    if torch_npu is not None:
        result["PYTHONPATH"] = _prepended([str(torch_npu)], result.get("PYTHONPATH"))
        # torch_npu looks for this file beside torch only.
        json_path = torch_npu / "torch_npu" / "acl_default.json"
        if json_path.is_file():
            result.setdefault("TORCH_ACL_INIT_CONFIG_PATH", str(json_path))
    return result


def _check_command(command: Sequence[str]) -> None:
    if not command:
        raise HostnpuError("what to run is missing: a script, `-m module`, `-c code` or `-`")
    first = command[0]
    if first in ("-m", "-c"):
        if len(command) < 2:
            raise HostnpuError(f"{first} needs {'a module' if first == '-m' else 'code'} behind it")
        return
    if first == "-":
        return
    if first.startswith("-"):
        raise HostnpuError(f"there is no option {first!r}; `msprobe hostnpu run --help` lists them")
    try:
        find_script(first)
    except OSError as error:
        raise HostnpuError(f"cannot open the script {first!r}: {error.strerror}") from None


def run(
    options: Mapping[str, str], force: bool, command: Sequence[str], environment: Mapping[str, str] = os.environ
) -> NoReturn:
    """Does not return: the process becomes the program, so exit code, signals and standard streams are the program's own."""
    info = require_built(build_info(environment))
    settings = choose_settings(options, environment, info.cann)
    _check_command(command)
    problems = version_problems(info, environment)
    if problems:
        raise HostnpuError("; ".join(problems))
    real = find_real_cann(info.lib, environment)
    if real is not None and not force:
        remedy = "run the program without hostnpu, or with --force to play one nevertheless"
        raise HostnpuError(f"a real CANN is on this machine ({real}): {remedy}")
    started = program_environment(info, settings, environment)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *command], started)
