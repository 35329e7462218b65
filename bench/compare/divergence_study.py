# SPDX-License-Identifier: Apache-2.0
"""How often the place that `msprobe compare` names is the planted one: families x seeds x pairs of types x faults, dumped and compared.

Usage: divergence_study.py PROGRAM [SEEDS [tensors]]; PROGRAM is the built `msprobe`. With `tensors` the elements are compared as
well, and there are no parameters. What it prints for 3 seeds, and for 1 seed with tensors (shares in %):

    healthy runs with an alarm: 0 of 48                             healthy runs with an alarm: 0 of 16
    n = 852                    exact  near  late  early  missed     n = 284                    exact  near  late  early  missed
    E, k = 8                      81     0     0      0      18     E, k = 8                      83     0     0      0      17
    parameters first              85     0     0      0      14     relative L2 error, k = 5      87     1     0      0      13
    fp32/fp32                     99     1     0      0       0     the earlier of both           88     1     0      0      11
    bf16/fp32                     77     0     0      0      23     bf16/fp32                     80     0     0      0      20
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python" / "compare"))

from study_faults import FAULTS, Place  # noqa: E402
from study_models import FAMILIES, Model, build, inputs  # noqa: E402
from study_runs import PAIRS, divergence, dump, dump_tensors, place_of, prepared  # noqa: E402

_CALL = re.compile(r"Module\.(.+)\.[^.]+\.forward\.(\d+)")
NEAR = 2  # leaf calls after the planted place


def verdict(program: str, target: Path, golden: Path, folder: Path) -> dict[str, Any] | None:
    folder.mkdir()
    command = [program, "compare", "-tp", str(target), "-gp", str(golden), "-o", str(folder), "-da", "--quiet"]
    subprocess.run(command, check=True)
    (analysis,) = folder.glob("diff_analyze_*.json")
    return divergence(analysis)


def leaf_calls(path: Path) -> list[tuple[str, int]]:
    """Leaf modules and the numbers of their calls, in the order in which they ended."""
    data = json.loads(path.read_text())["data"]
    found = [(m[1], int(m[2]), e["Order"]["last"]) for name, e in data.items() if (m := _CALL.fullmatch(name))]
    names = {name for name, _, _ in found}
    leaves = [f for f in found if f[0] != "__root__" and not any(n.startswith(f[0] + ".") for n in names)]
    return [(name, call) for name, call, _ in sorted(leaves, key=lambda f: f[2])]


def order_of(place: Place, leaves: list[tuple[str, int]]) -> float:
    """Where a place lies among the leaf calls: what is before a call half a step before its first leaf."""
    inside = [i for i, (name, call) in enumerate(leaves) if call == place.call and (name + ".").startswith(place.module + ".")]
    if not inside:
        return len(leaves) if place.where != "own code before the call" else -1
    return min(inside) - 0.5 if place.where == "own code before the call" else max(inside) + (0.5 if len(inside) > 1 else 0)


def kind_of(family: str) -> str:
    return "experts" if family == "expert_modules" else family


def score(found: dict[str, Any] | None, wanted: Place, leaves: list[tuple[str, int]]) -> str:
    if found is None:
        return "missed"
    place = place_of(found)
    if place == wanted or (found["where"] == "parameter" and place.module == wanted.module):
        return "exact"
    steps = order_of(place, leaves) - order_of(wanted, leaves)
    return "early" if steps < 0 else "near" if steps <= NEAR else "late"


def first_of(answer: dict[str, Any] | None, walk: str) -> dict[str, Any] | None:
    found = (answer or {}).get(walk) or {"first_suspect": None, "first_fault": None}
    return found["first_suspect"] or found["first_fault"]


def show(title: str, counts: dict[str, Counter[str]]) -> None:
    print(f"\n{title:28}{'n':>5}{'exact':>8}{'near':>6}{'late':>6}{'early':>7}{'missed':>8}")
    for name, count in counts.items():
        n = sum(count.values())
        shares = "".join(
            f"{100 * count[k] / n:{w}.0f}" for k, w in (("exact", 8), ("near", 6), ("late", 6), ("early", 7), ("missed", 8))
        )
        print(f"{name:28}{n:5}{shares}")


def dumped(model: Model, family: str, seed: int, folder: Path, *, tensors: bool) -> Path:
    if tensors:
        return dump_tensors(model, inputs(family, seed), folder)
    return dump(model, inputs(family, seed), folder, parameters=True)


def main(program: str, seeds: int, *, tensors: bool) -> None:
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    by_fault: dict[str, Counter[str]] = defaultdict(Counter)
    by_pair: dict[str, Counter[str]] = defaultdict(Counter)
    healthy = alarms = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for run, (family, seed, (pair, types)) in enumerate(
            (f, s, p) for f in FAMILIES for s in range(seeds) for p in PAIRS.items()
        ):
            model = build(family, seed)
            golden = dumped(prepared(model, types[1], split=False), family, seed, folder / f"{run}_golden", tensors=tensors)
            leaves = leaf_calls(golden)
            faults = [name for name, fault in FAULTS.items() if kind_of(family) in fault.families]
            faults = [name for name in faults if name != "other experts" or family == "experts"]
            for number, fault in enumerate(["", *faults]):
                target = prepared(model, types[0], split=types[2])
                wanted = FAULTS[fault].plant(target, seed % 3, family) if fault else None
                path = dumped(target, family, seed, folder / f"{run}_{number}", tensors=tensors)
                answer = verdict(program, path, golden, folder / f"{run}_{number}_compared")
                if wanted is None:
                    healthy += 1
                    if answer is not None:
                        alarms += 1
                        print("ALARM", family, seed, pair, answer["sentence"])
                    continue
                told = score(answer and answer["first"], wanted, leaves)
                by_rule["E, k = 8"][score(first_of(answer, "by_statistics"), wanted, leaves)] += 1
                if tensors:
                    by_rule["relative L2 error, k = 5"][score(first_of(answer, "by_elements"), wanted, leaves)] += 1
                by_rule["the first that is told"][told] += 1
                by_fault[fault][told] += 1
                by_pair[pair][told] += 1
                if answer and told == "early":
                    print("EARLY", family, seed, pair, fault, wanted, answer["sentence"])
    print(f"\nhealthy runs with an alarm: {alarms} of {healthy}")
    show("rule (shares in %)", by_rule)
    show("pair, the first told", by_pair)
    show("fault, the first told", by_fault)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3, tensors="tensors" in sys.argv[3:])
