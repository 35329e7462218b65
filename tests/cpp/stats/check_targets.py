# SPDX-License-Identifier: Apache-2.0
"""Proves from the machine code of a library with kernels (libmsprobe_stats.a) that each target is what it claims to be.

The kernels of a target use its registers; nothing else does; and every function that uses wider registers than the baseline's
is local to its file. (A weak function with AVX code in it could be merged by the linker into code that any CPU runs.)
"""

import re
import subprocess
import sys

WIDEST = {"target_baseline": "xmm", "target_avx2": "ymm", "target_avx512": "zmm"}
ORDER = ["none", "xmm", "ymm", "zmm"]


def functions_of(archive):
    """Yields (object, function, widest register) for each function in the archive."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", archive], check=True, capture_output=True, text=True).stdout
    member = function = None
    widest = "none"
    for line in text.splitlines():
        if found := re.match(r"^(\S+\.o):\s+file format", line):
            if function:
                yield member, function, widest
            member, function, widest = found[1], None, "none"
        elif found := re.match(r"^[0-9a-f]+ <(.+)>:$", line):
            if function:
                yield member, function, widest
            function, widest = found[1], "none"
        else:
            for register in ORDER[1:]:
                if "%" + register in line and ORDER.index(register) > ORDER.index(widest):
                    widest = register
    if function:
        yield member, function, widest


def local_functions(archive):
    """The (object, function) pairs that only their own file can call."""
    text = subprocess.run(["nm", "-A", archive], check=True, capture_output=True, text=True).stdout
    return {(found[1], found[2]) for found in re.finditer(r"^[^:]+:([^:]+):\S* t (\S+)$", text, re.M)}


def main(archive, kernel):
    problems = []
    seen = {}
    local = local_functions(archive)
    for member, function, widest in functions_of(archive):
        target = member.split(".")[0]
        allowed = WIDEST.get(target, "xmm")
        if ORDER.index(widest) > ORDER.index(allowed):
            problems.append(f"{function} in {member} uses {widest} registers, allowed are {allowed}")
        if widest in ("ymm", "zmm") and (member, function) not in local:
            problems.append(f"{function} in {member} uses {widest} registers and is visible outside its file")
        if kernel in function and target in WIDEST:
            seen.setdefault(target, set()).add(widest)
    for target, widest in WIDEST.items():
        if widest not in seen.get(target, set()):
            problems.append(f"no kernel of {target} uses {widest} registers")
    print("\n".join(problems) or f"checked {archive}: {', '.join(f'{t} uses {w}' for t, w in WIDEST.items())}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))  # the archive, and what its kernels have in their names
