# SPDX-License-Identifier: Apache-2.0
"""Writes build_info.json: what the built hostnpu is made for, and which operators its library exports."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

SUFFIX = "GetWorkspaceSize"


def operators(nm: str, library: Path) -> list[str]:
    """Every operator is a pair of functions, aclnnAdd and aclnnAddGetWorkspaceSize; the latter's name is its mark."""
    output = subprocess.run([nm, "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].partition("@")[0] for line in output.splitlines() if line.strip()}
    return sorted(name.removesuffix(SUFFIX) for name in names if name.startswith("acl") and name.endswith(SUFFIX))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--torch", required=True)
    parser.add_argument("--torch-npu", required=True)
    parser.add_argument("--cann", required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    info = {
        "torch": arguments.torch,
        "torch_npu": arguments.torch_npu,
        "cann": arguments.cann,
        "operators": operators(arguments.nm, arguments.library),
    }
    arguments.output.write_text(json.dumps(info, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
