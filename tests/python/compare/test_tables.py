# SPDX-License-Identifier: Apache-2.0
"""CSV tables of statistics, cell for cell, against the same rules in plain Python; read back with pandas."""

from __future__ import annotations

import csv
import io
import math
import random

import pandas
import pytest
from compare_program import compare, read_csv, tensor, write_dump
from table_rules import COLUMNS, table


class RandomDump:
    """Entries of all kinds. Equal seeds give equal names and structures; `noise` changes their numbers."""

    def __init__(self, seed: int, noise: float) -> None:
        self.structure, self.noise, self.size = random.Random(seed), random.Random(seed + 1), noise

    def number(self) -> object:
        odd = [math.nan, math.inf, -math.inf, None, 0.0, -0.0, 0, "-inf", "nan", "1.5", "cuda:0", True, "text", 7, -3]
        value = self.structure.choice(odd)
        if self.structure.random() < 0.12:
            return value if self.noise.random() > self.size else self.noise.choice(odd)
        return self.structure.gauss(0, 1) * 10 ** self.structure.randint(-12, 12) * (1 + self.size * self.noise.gauss(0, 1))

    def leaf(self) -> object:
        choice = self.structure.random()
        others = [
            None,
            {"type": "int", "value": self.structure.randint(-5, 5)},
            {"type": "str", "value": "=x"},
            {"type": "bool", "value": self.structure.random() < 0.5},
            {"type": "torch.Size", "value": [2, 8]},
            {"type": "slice", "value": [0, None, self.structure.randint(1, 3)]},
            {"type": "torch.ProcessGroup", "group_ranks": [0, self.structure.randint(1, 2)]},
            [{"type": "float", "value": self.number()}, None, []],
        ]
        other = self.structure.choice(others)
        dtype = self.structure.choice(["torch.float32", "torch.bfloat16", "torch.int64", "torch.int32", "torch.bool"])
        changed = self.noise.random() < 0.1 * self.size
        if choice < 0.2:
            return other
        return tensor(
            *(self.number() for _ in range(4)),
            dtype="torch.float16" if changed else dtype,
            shape=self.structure.choice([[2, 8], [], [0], [128]]) + ([1] if self.noise.random() < 0.1 * self.size else []),
            requires_grad=self.structure.choice([True, False, None]),
        )

    def data(self, count: int) -> dict[str, object]:
        entries: dict[str, object] = {}
        for index in range(count):
            names = [
                f"Functional.linear.{index}.forward",
                f"Module.layers.{index}.Linear.forward.0",
                f"Module.net.Linear.backward.{index}",
                f"Torch.mul.{index}.backward",
                f"Tensor.to.{index}.forward",
                f"Distributed.all_to_all_single.{index}.forward",
            ]
            name = self.structure.choice(names)
            sections = {
                "input_args": [self.leaf() for _ in range(self.structure.randint(0, 3))],
                "input_kwargs": {
                    key: self.leaf() for key in self.structure.sample(["mask", "src", "scale"], self.structure.randint(0, 2))
                },
                "output": [self.leaf() for _ in range(self.structure.randint(0, 3))],
            }
            if self.structure.random() < 0.2:
                sections["parameters"] = {"weight": self.leaf()}
            entries[name] = sections
        return entries


def check(tmp_path, target: dict, golden: dict) -> pandas.DataFrame:
    path = compare(write_dump(tmp_path / "t", target), write_dump(tmp_path / "g", golden), tmp_path / "out")
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == COLUMNS
    wanted = table(target, golden)
    for got, want in zip(rows, wanted, strict=True):
        # A message that begins with a sign does not exist; names and values may: they are disarmed.
        assert [cell.removeprefix("'") if cell[:2] in ("'=", "'-", "'+") else cell for cell in got] == want, want[0]
    return read_csv(path)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("noise", [1e-3, 0.3])
def test_random_dumps(tmp_path, seed, noise):
    target, golden = RandomDump(seed, 0).data(120), RandomDump(seed, noise).data(120)
    for name in random.Random(seed).sample(sorted(target), 5):
        del target[name]
    for name in random.Random(seed + 7).sample(sorted(golden), 5):
        del golden[name]
    check(tmp_path, target, golden)


@pytest.mark.parametrize("seed", range(3))
def test_a_dump_against_itself(tmp_path, seed):
    data = RandomDump(seed, 0).data(100)
    rows = check(tmp_path, data, data)
    assert set(rows["Result"]) == {"pass"}
    assert set(rows["Err_message"]) == {"[]"}


def test_bytes_are_those_that_pandas_writes(tmp_path):
    """What pandas read is written by pandas to the same bytes."""
    target, golden = RandomDump(3, 0).data(100), RandomDump(3, 0.1).data(100)
    path = compare(write_dump(tmp_path / "t", target), write_dump(tmp_path / "g", golden), tmp_path / "out")
    text = io.StringIO()
    read_csv(path).to_csv(text, index=False)
    assert path.read_bytes() == text.getvalue().encode()


def test_numbers_read_back_as_numbers(tmp_path):
    data = {"Torch.add.0.forward": {"input_args": [], "output": [tensor(1e-7, -3e40, 0.1, 5)]}}
    path = compare(write_dump(tmp_path / "t", data), write_dump(tmp_path / "g", data), tmp_path / "out")
    (row,) = pandas.read_csv(path).to_dict("records")
    assert (row["NPU max"], row["NPU min"], row["NPU mean"], row["NPU l2norm"]) == (1e-7, -3e40, 0.1, 5)
    assert (row["Max diff"], row["MaxRelativeErr"]) == (0, 0)


def test_formulas_are_disarmed(tmp_path):
    data = {
        "=cmd.x.0.forward": {
            "input_args": [{"type": "str", "value": "+x"}, {"type": "str", "value": "a;=b"}],
            "output": [tensor()],
        },
        "Torch.f.0.forward": {"input_args": [{"type": "float", "value": -1.5}], "output": [tensor("-inf")]},
    }
    path = compare(write_dump(tmp_path / "t", data), write_dump(tmp_path / "g", data), tmp_path / "out")
    rows = read_csv(path)
    assert list(rows["NPU Name"][:2]) == ["'=cmd.x.0.forward.input.0", "'=cmd.x.0.forward.input.1"]
    assert list(rows["NPU max"]) == ["'+x", "a;'=b", "1.0", "-1.5", "-inf"]


def test_our_own_dump_against_one_with_bare_infinities(tmp_path):
    """A null with a Special and the bare literal are the same number."""
    ours = tensor(None, -1.0, None, None, Special={"Max": "pos_inf", "Mean": "nan", "Norm": "nan"})
    theirs = tensor(math.inf, -1.0, math.nan, math.nan)
    rows = read_csv(
        compare(
            write_dump(tmp_path / "t", {"Torch.f.0.forward": {"input_args": [], "output": [ours]}}),
            write_dump(tmp_path / "g", {"Torch.f.0.forward": {"input_args": [], "output": [theirs]}}),
            tmp_path / "out",
        )
    )
    assert list(rows["Result"]) == ["pass"]
    assert list(rows["NPU max"]) == [" inf"]
    assert list(rows["NPU mean"]) == ["Nan"]


def test_a_dump_that_records_no_requires_grad_is_not_judged_by_it(tmp_path):
    without = tensor()
    del without["requires_grad"]
    name = "Aten.mm.0.forward"
    golden = write_dump(tmp_path / "golden", {name: {"input_args": [tensor()], "input_kwargs": {}, "output": [tensor()]}})
    target = write_dump(tmp_path / "target", {name: {"input_args": [without], "input_kwargs": {}, "output": [without]}})
    table = read_csv(compare(target, golden, tmp_path / "out"))
    assert list(table["Result"]) == ["pass", "pass"]
    both = write_dump(tmp_path / "both", {name: {"input_args": [without], "input_kwargs": {}, "output": [tensor()]}})
    table = read_csv(compare(both, golden, tmp_path / "out2"))
    assert list(table["Result"]) == ["error", "pass"], "a side that records it must say it everywhere"
