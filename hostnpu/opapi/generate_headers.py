# SPDX-License-Identifier: Apache-2.0
"""Writes the declarations of CANN's operator headers, which CANN's open sources have and the torch_npu wheel has not, from
aclnn_signatures.tsv: a definition whose parameters differ from its header's does not compile."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HEAD = """// Written by generate_headers.py from aclnn_signatures.tsv.
#pragma once
#include "opapi/objects.h"
#include "opapi/operator_table.h"

namespace hostnpu {
extern "C" {
"""
# What follows the parameters of every operator.
TAIL = ("uint64_t* workspace_size", "aclOpExecutor** executor")


def declaration(line: str) -> str:
    name, _, types = line.partition("\t")
    if not name.startswith("acl") or not types:
        raise ValueError(f"a line must be a name, a tab and C types, got {line!r}")
    # The table leaves out `const`, which changes nothing in the binary interface; definitions take handles as const.
    parameters = [f"const {one}" if one.endswith("*") else one for one in types.split(" ")]
    return f"aclnnStatus {name}GetWorkspaceSize({', '.join((*parameters, *TAIL))});\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signatures", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    lines = arguments.signatures.read_text().splitlines()
    declarations = [declaration(line) for line in lines if line and not line.startswith("#")]
    arguments.output.write_text(f'{HEAD}{"".join(declarations)}}}  // extern "C"\n}}  // namespace hostnpu\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
