# SPDX-License-Identifier: Apache-2.0
"""`info`: what hostnpu plays and offers, and whether it is ready to run."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping
from typing import Any

from msprobe.hostnpu.checks import find_real_cann, require_built, version_problems
from msprobe.hostnpu.places import build_info, torch_npu_home, torch_npu_version, torch_version
from msprobe.hostnpu.settings import choose_settings


def collect(options: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, Any]:
    info = require_built(build_info(environment))
    settings = choose_settings(options, environment, info.cann)
    home = torch_npu_home(environment)
    real = find_real_cann(info.lib, environment)
    problems = version_problems(info, environment)
    return {
        "ready": not problems,
        "problems": problems,
        "cann": settings.cann,
        "soc": settings.soc,
        "devices": settings.devices,
        "memory_gib": float(settings.memory_gib),
        "torch": {"found": torch_version(), "needed": info.torch},
        "torch_npu": {
            "found": torch_npu_version(home),
            "needed": info.torch_npu,
            "folder": None if home is None else str(home),
        },
        "real_cann": None if real is None else str(real),
        "libraries": str(info.lib),
        "operator_count": len(info.operators),
        "operators": list(info.operators),
    }


def as_text(facts: Mapping[str, Any]) -> str:
    torch, torch_npu = facts["torch"], facts["torch_npu"]
    folder = f" in {torch_npu['folder']}" if torch_npu["folder"] else ""
    lines = [
        f"CANN played  {facts['cann']}",
        f"chip         {facts['soc']}",
        f"devices      {facts['devices']}, {facts['memory_gib']:g} GiB each",
        f"torch        {torch['found'] or 'none'} found, {torch['needed']} needed",
        f"torch_npu    {torch_npu['found'] or 'none'} found{folder}, {torch_npu['needed']} needed",
        f"real CANN    {facts['real_cann'] or 'none'}",
        f"libraries    {facts['libraries']}",
        f"ready        {'yes' if facts['ready'] else 'no'}",
        *(f"             {problem}" for problem in facts["problems"]),
        f"operators    {facts['operator_count']}",
        textwrap.fill(" ".join(facts["operators"]), width=118, initial_indent="  ", subsequent_indent="  "),
    ]
    return "\n".join(lines)


def info(options: Mapping[str, str], as_json: bool, environment: Mapping[str, str] = os.environ) -> int:
    """0 when a program could be run, else 1."""
    facts = collect(options, environment)
    print(json.dumps(facts, indent=2) if as_json else as_text(facts))
    return 0 if facts["ready"] else 1
