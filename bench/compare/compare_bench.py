# SPDX-License-Identifier: Apache-2.0
"""`msprobe compare` on made-up dumps: 1, 50,000 and 200,000 ops (2,000,000 with --large), seconds and peak memory; answers first.

Per op two inputs and one output of four numbers each, about 640 bytes of JSON per op and side. Every thousandth op is changed in a way
whose result is known, so that a wrong table is noticed before anything is timed. --folder keeps the dumps for another run.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("MSPROBE_PROGRAM", ROOT / "build" / "bench" / "bin" / "msprobe"))
OPS = [1, 50_000, 200_000]
LARGE = 2_000_000
CHANGED = 1000  # one op of so many has an output that is off
ROUNDS = 5


def record(numbers: list[float], rows: int) -> str:
    names = zip(("Max", "Min", "Mean", "Norm"), numbers, strict=True)
    statistics = ", ".join(f'"{name}": {number!r}' for name, number in names)
    return (
        f'{{"type": "torch.Tensor", "dtype": "torch.bfloat16", "shape": [{rows}, 4096], {statistics}, "requires_grad": true}}'
    )


def write_dumps(folder: Path, ops: int) -> tuple[Path, Path]:
    """Two dumps of `ops` ops that differ by noise, and by more in the last output of some."""
    paths = folder / f"target{ops}.json", folder / f"golden{ops}.json"
    if all(path.exists() for path in paths):
        return paths
    random_numbers = random.Random(ops)  # noqa: S311  (numbers to compare)
    with paths[0].open("w") as target, paths[1].open("w") as golden:
        for file in (target, golden):
            file.write('{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {')
        for op in range(ops):
            leaves = []
            for leaf in range(3):
                rows = 1 << random_numbers.randint(0, 9)
                numbers = [random_numbers.uniform(0.5, 9), random_numbers.uniform(-9, -0.5)]
                numbers += [random_numbers.gauss(0, 1), random_numbers.uniform(100, 999)]
                factor = 3.0 if leaf == 2 and op % CHANGED == CHANGED // 2 else 1.0
                # Noise of about one size: an output ten times as far off as its inputs would be a warning.
                noise = [random_numbers.choice((-1e-4, 1e-4)) * random_numbers.uniform(0.5, 1.5) for _ in numbers]
                noisy = [number * factor * (1 + part) for number, part in zip(numbers, noise, strict=True)]
                leaves.append((record(noisy, rows), record(numbers, rows)))
            for side, file in enumerate((target, golden)):
                first, second, output = (leaf[side] for leaf in leaves)
                file.write("," if op else "")
                file.write(f'\n "Functional.linear_layer.{op}.forward": {{"input_args": [{first}, {second}], ')
                file.write(f'"input_kwargs": {{}}, "output": [{output}]}}')
        for file in (target, golden):
            file.write("}}\n")
    return paths


def run(target: Path, golden: Path, folder: Path) -> tuple[float, float, float, Path]:
    """Seconds of the clock and of all cores, peak memory in MB, and the table."""
    shutil.rmtree(folder, ignore_errors=True)
    before = time.perf_counter()
    command = [PROGRAM, "compare", "-tp", target, "-gp", golden, "-o", folder, "--quiet"]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - before
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    (table,) = folder.glob("*.csv")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, table


def check_answer(table: Path, ops: int) -> None:
    """All rows are there, in order, and the changed ops and no others are errors."""
    errors = set()
    rows = 0
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            op, leaf = divmod(rows, 3)
            place = ("input.0", "input.1", "output.0")[leaf]
            assert row["NPU Name"] == row["Bench Name"] == f"Functional.linear_layer.{op}.forward.{place}", row["NPU Name"]
            target, golden = float(row["NPU l2norm"]), float(row["Bench l2norm"])
            assert row["L2norm diff"] == repr(target - golden)
            assert row["NormRelativeErr"] == f"{abs((target - golden) / golden * 100)!r}%"
            if row["Result"] != "pass":
                assert (row["Result"], place) == ("error", "output.0"), row
                errors.add(op)
            rows += 1
    assert rows == 3 * ops, f"{rows} rows for {ops} ops"
    assert errors == set(range(CHANGED // 2, ops, CHANGED)), "other ops are errors than those that were changed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="2,000,000 ops as well: 2.6 GB of dumps")
    parser.add_argument("--folder", type=Path, help="where the dumps are kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for ops in OPS + ([LARGE] if arguments.large else []):
            target, golden = write_dumps(folder, ops)
            *_, table = run(target, golden, Path(temporary) / "out")
            check_answer(table, ops)
            runs = [run(target, golden, Path(temporary) / "out") for _ in range(ROUNDS if ops < LARGE else 1)]
            seconds, cpu, memory, _ = sorted(runs)[len(runs) // 2]
            size = (target.stat().st_size + golden.stat().st_size) / 1e6
            print(
                f"{ops:9,} ops  {size:7.1f} MB of JSON  {seconds:7.3f} s  {cpu:7.3f} s of all cores  {memory:7.1f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
