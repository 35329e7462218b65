# SPDX-License-Identifier: Apache-2.0
"""Slices of both tasks against Python's own slicing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import TOLERANCE, assert_record, bits, record_of, records_of, saved_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from msprobe.pytorch import AclGraphDumper
from msprobe.pytorch.config import ConfigError, read_config

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]
Entries = list[dict[str, Any]]


def sliced(x: torch.Tensor, entries: Entries) -> torch.Tensor:
    """What Python makes of it."""
    for entry in entries:
        dim = entry["dim"]
        if -x.ndim <= dim < x.ndim and entry.get("size") in (None, x.shape[dim]):
            index = [slice(None)] * x.ndim
            begin, end, _ = slice(entry.get("begin"), entry.get("end")).indices(x.shape[dim])
            index[dim] = slice(begin, end)
            x = x[tuple(index)]
    return x


def assert_sliced(dump: dict[str, Any], inputs: list[torch.Tensor], entries: Entries, device: torch.device) -> None:
    """The inputs of each call, in order, are there as Python slices them: numbers, and in the tensor task the files."""
    assert len(dump["data"]) == len(inputs)
    files = saved_files(dump) if dump["task"] == "tensor" else {}
    tolerance = TOLERANCE["cpu" if files else device.type]
    for index, x in enumerate(inputs):
        wanted = sliced(x.cpu(), entries)
        name = f"Module.__root__.Identity.forward.{index}"
        assert_record(dump["data"][name]["input_args"][0], record_of(wanted), name, tolerance)
        if files:
            assert bits(files[f"{name}.input.0"]) == bits(wanted), name


CASES: dict[str, Entries] = {
    "one": [{"dim": 0, "begin": 1, "end": 3}],
    "open_end": [{"dim": 0, "begin": 2}],
    "open_begin": [{"dim": 1, "end": 2}],
    "nulls": [{"dim": 0, "size": None, "begin": None, "end": None}],
    "negative_dim": [{"dim": -1, "begin": 1, "end": 3}],
    "negative_begin": [{"dim": 0, "begin": -2}],
    "negative_end": [{"dim": 1, "begin": 0, "end": -1}],
    "beyond": [{"dim": 0, "begin": -100, "end": 100}],
    "far_beyond": [{"dim": 0, "begin": -(2**63), "end": 2**63 - 1}],
    "empty": [{"dim": 0, "begin": 3, "end": 1}],
    "all_gone": [{"dim": 0, "begin": 100}],
    "size_holds": [{"dim": 0, "size": 4, "begin": 0, "end": 2}],
    "size_does_not_hold": [{"dim": 0, "size": 40, "begin": 0, "end": 2}],
    "size_0": [{"dim": 0, "size": 0, "begin": 0, "end": 2}],
    "missing_dim": [{"dim": 7, "begin": 0, "end": 1}, {"dim": -7, "begin": 0, "end": 1}],
    "huge_dim": [{"dim": 2**62, "begin": 0, "end": 1}],
    "one_after_the_other": [{"dim": 0, "begin": 1}, {"dim": 0, "begin": 1}, {"dim": 1, "end": 1}],
    "size_of_what_is_left": [{"dim": 0, "end": 3}, {"dim": 0, "size": 3, "end": 1}],
    "size_of_what_was_there": [{"dim": 0, "end": 3}, {"dim": 0, "size": 4, "end": 1}],
}


@pytest.mark.parametrize("task", ["statistics", "tensor"])
@pytest.mark.parametrize("name", list(CASES))
def test_as_in_python(make_config: MakeConfig, read_dump: ReadDump, device: torch.device, name: str, task: str) -> None:
    base = torch.randn(4, 6, 5).to(device)
    inputs = [base, base.permute(2, 0, 1), base[::2, 1:], base[:, :1].expand(4, 3, 5), base[0, 0, 0], base[0], base[:0]]
    with AclGraphDumper(make_config(task=task, **{task: {"slice": CASES[name]}})) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        for x in inputs:
            assert identity(x) is x
        dumper.step()
    assert_sliced(read_dump(0), inputs, CASES[name], device)


BOUND = st.none() | st.integers(-9, 9)
ENTRY = st.fixed_dictionaries(
    {"dim": st.integers(-4, 4), "begin": BOUND, "end": BOUND}, optional={"size": st.none() | st.integers(0, 6)}
)
SHAPE = st.lists(st.integers(0, 6), max_size=4)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entries=st.lists(ENTRY, max_size=4),
    shapes=st.lists(SHAPE, min_size=1, max_size=3),
    task=st.sampled_from(["statistics", "tensor"]),
)
def test_any_slices(
    tmp_path_factory: pytest.TempPathFactory, device: torch.device, entries: Entries, shapes: list[list[int]], task: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "c.json").write_text(json.dumps({"dump_path": str(folder / "d"), "task": task, task: {"slice": entries}}))
    inputs = [torch.arange(torch.Size(shape).numel(), dtype=torch.float32).view(shape).to(device) for shape in shapes]
    with AclGraphDumper(folder / "c.json") as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        for x in inputs:
            identity(x)
        dumper.step()
    (path,) = (folder / "d").rglob("dump.json")
    assert_sliced(json.loads(path.read_text()), inputs, entries, device)


@pytest.mark.parametrize("task", ["statistics", "tensor"])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_at_every_level_inputs_and_outputs(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, task: str, level: str
) -> None:
    """A padded batch: 3 rows of 8 are real, and the padding is NaN."""
    batch = torch.full((8, 4), float("nan"))
    batch[:3] = torch.randn(3, 4)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device)
    with torch.no_grad():
        wanted = model(batch.to(device))
        entries = [{"dim": 0, "size": 8, "begin": 0, "end": 3}]
        with AclGraphDumper(make_config(task=task, level=level, **{task: {"slice": entries}})) as dumper:
            dumper.start(model)
            output = model(batch.to(device))
            dumper.step()
    assert torch.equal(output[:3], wanted[:3])
    assert output.shape == (8, 4)
    records = [record for _, record in records_of(read_dump(0))]
    assert len(records) >= 4
    assert [3, 4] in [record["shape"] for record in records]
    assert all(record["shape"][0] != 8 and record["Max"] is not None for record in records)


@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_nothing_is_copied_for_it(make_config: MakeConfig, read_dump: ReadDump, task: str) -> None:
    """A tensor of 2^60 elements in the memory of 64: a copy before the slice could not be made."""
    x = torch.arange(64.0).view(64, 1, 1).expand(64, 1 << 27, 1 << 27)
    entries = [{"dim": 1, "begin": -3}, {"dim": 2, "begin": 5, "end": 7}, {"dim": 0, "begin": 1}]
    with AclGraphDumper(make_config(task=task, **{task: {"slice": entries}})) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        identity(x)
        identity(x.transpose(0, 1).transpose(0, 1))
        dumper.step()
    dump = read_dump(0)
    assert [record["shape"] for _, record in records_of(dump)] == [[63, 3, 2]] * 4
    assert all((record["Min"], record["Max"], record["Mean"]) == (1.0, 63.0, 32.0) for _, record in records_of(dump))


def test_each_task_has_its_own(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    with AclGraphDumper(
        make_config(task="tensor", statistics={"slice": [{"dim": 0, "end": 1}]}, tensor={"slice": [{"dim": 0, "end": 2}]})
    ) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        identity(torch.arange(5, device=device))
        dumper.step()
    assert {tuple(x.tolist()) for x in saved_files(read_dump(0)).values()} == {(0, 1)}


WRONG: list[tuple[Any, str]] = [
    ({}, "slice': must be a list of entries"),
    ("0:3", "slice': must be a list of entries"),
    ([3], "slice[0]': must have 'dim'"),
    ([[0, 1, 2]], "slice[0]': must have 'dim'"),
    ([None], "slice[0]': must have 'dim'"),
    ([{"begin": 0, "end": 1}], "slice[0]': must have 'dim'"),
    ([{"dim": 0}], "slice[0]': must have 'dim', and 'begin' or 'end' or both"),
    ([{"dim": 0, "size": 3}], "slice[0]': must have 'dim', and 'begin' or 'end' or both"),
    ([{"dim": 0, "end": 1}, {"dim": 1}], "slice[1]': must have 'dim', and 'begin' or 'end' or both"),
    ([{"dim": None, "end": 1}], "slice[0].dim': must be an int, got null"),
    ([{"dim": True, "end": 1}], "slice[0].dim': must be an int, got true"),
    ([{"dim": "0", "end": 1}], 'slice[0].dim\': must be an int, got "0"'),
    ([{"dim": 0, "end": 1.0}], "slice[0].end': must be an int or null, got 1.0"),
    ([{"dim": 0, "begin": "1"}], 'slice[0].begin\': must be an int or null, got "1"'),
    ([{"dim": 0, "begin": [1]}], "slice[0].begin': must be an int or null, got [1]"),
    ([{"dim": 0, "begin": False}], "slice[0].begin': must be an int or null, got false"),
    ([{"dim": 0, "end": 2**63}], f"slice[0].end': must be an int or null, got {2**63}"),
    ([{"dim": -(2**63) - 1, "end": 2}], f"slice[0].dim': must be an int, got {-(2**63) - 1}"),
    ([{"dim": 0, "end": 1, "size": -1}], "slice[0].size': must not be negative, got -1"),
    ([{"dim": 0, "end": 1, "size": "8"}], 'slice[0].size\': must be an int or null, got "8"'),
    ([{"dim": 0, "end": 1, "step": 2}], "slice[0].step': is unknown; known are: begin, dim, end, size, got 2"),
]


@pytest.mark.parametrize("task", ["statistics", "tensor"])
@pytest.mark.parametrize(("value", "message"), WRONG)
def test_wrong_entries_are_named(make_config: MakeConfig, task: str, value: Any, message: str) -> None:
    path = make_config(**{task: {"slice": value}})  # an error in either section is told, whichever task runs
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}: key '{task}.slice")
    assert message in str(caught.value)


def test_null_and_empty_are_none(make_config: MakeConfig) -> None:
    for value in (None, []):
        assert read_config(make_config(statistics={"slice": value})).slices == ()
