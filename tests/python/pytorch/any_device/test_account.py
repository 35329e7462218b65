# SPDX-License-Identifier: Apache-2.0
"""What a dump tells of its run: versions, which sites recorded and which did not and why, parameters' statistics."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import TOLERANCE, assert_record, record_of
from models import mlp
from torch import nn

import msprobe
from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


pytestmark = pytest.mark.usefixtures("without_gradients")


class Odd(nn.Module):
    """Has every kind of silent module."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.unused = nn.ModuleDict({"inner": nn.Linear(4, 4)})
        self.numbers = Numbers()
        self.bypassed = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.numbers(3)
        x = nn.functional.linear(x, self.bypassed.weight)  # not through its forward
        return self.used(x)


class Numbers(nn.Module):
    def forward(self, number: int) -> int:
        return number + 1


def account(dump: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = dump["Run"]["Account"]
    assert found["hooked"] == found["recorded"] + found["filtered"] + len(found["silent"])
    return found


def test_the_run_is_described(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    before = datetime.datetime.now().astimezone().replace(microsecond=0)
    path = make_config(level="mix", statistics={"list": []}, rank=[])
    with AclGraphDumper(path) as dumper:
        model = mlp().to(device)
        dumper.start(model)
        model(torch.ones(2, 8, device=device))
        dumper.step()
    run = read_dump(0)["Run"]
    assert run["msprobe"] == msprobe.__version__ and run["torch"] == torch.__version__
    assert run["pid"] == os.getpid() and run["rank"] is None
    assert run["device"].split()[0] == str(device)
    assert run["config"] == json.loads(path.read_text())
    assert before <= datetime.datetime.strptime(run["time"], "%Y-%m-%dT%H:%M:%S%z") <= datetime.datetime.now().astimezone()
    assert (run["torch_npu"] is None) == (device.type == "cpu")
    assert run["graphs"] == []


def test_silent_sites_are_told_with_their_reason(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = Odd().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(torch.ones(2, 4, device=device))
        dumper.step()
    found = account(read_dump(0))
    assert (found["hooked"], found["recorded"], found["filtered"], found["dropped"]) == (6, 2, 0, 0)
    reasons = {name: reason.split(":")[0] for name, reason in found["silent"].items()}
    around = "not called through its forward, though the module around it was"
    assert reasons == {
        "Module.unused.ModuleDict": "a container without a forward of its own",
        "Module.unused.inner.Linear": around,
        "Module.numbers.Numbers": "called, but there was no tensor in its arguments and results, or recording was off",
        "Module.bypassed.Linear": around,
    }


def test_a_container_that_was_given_a_forward(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, device: torch.device
) -> None:
    """It can be called: that it was not is no matter of its kind, be it under another dumper's hook or not."""
    model = torch.nn.ModuleDict({"own": torch.nn.ModuleList(), "plain": torch.nn.ModuleList()})
    model["own"].forward = lambda x: x
    with AclGraphDumper(make_config(dump_path=str(tmp_path / "other"))) as other, AclGraphDumper(make_config()) as dumper:
        for each in (other, dumper):
            each.start(model)
        dumper.step()
    reasons = {name: reason.split(":")[0] for name, reason in account(read_dump(0))["silent"].items()}
    assert reasons["Module.own.ModuleList"] == "never called since start()"
    assert reasons["Module.plain.ModuleList"] == "a container without a forward of its own"


def test_what_the_list_leaves_out_is_filtered_not_silent(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    model = Odd().to(device)
    with AclGraphDumper(make_config(statistics={"list": ["used"]})) as dumper:
        dumper.start(model)
        model(torch.ones(2, 4, device=device))
        dumper.step()
    found = account(read_dump(0))
    assert (found["hooked"], found["recorded"], found["filtered"]) == (6, 1, 3)  # "unused" has the word, too
    assert set(found["silent"]) == {"Module.unused.ModuleDict", "Module.unused.inner.Linear"}


def test_a_site_that_once_recorded_is_not_silent_later(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(torch.ones(2, 8, device=device))
        dumper.step(dump=False)
        model[0](torch.ones(2, 8, device=device))
        dumper.step()
    found = account(read_dump(0))
    assert found["recorded"] == found["hooked"] and found["silent"] == {}


def test_parameters_stand_in_their_modules_first_entry(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 3, bias=False)).to(device).eval()
    x = torch.ones(2, 8, device=device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(x)
        model(x)
        dumper.step()
        model(x)
        dumper.step()
    first, second = read_dump(0)["data"], read_dump(1)["data"]
    for index, module in enumerate(model):
        entry = f"Module.{index}.{type(module).__name__}.forward"
        wanted = dict(module.named_parameters()) | dict(module.named_buffers())
        assert list(first[f"{entry}.0"]["parameters"]) == list(wanted)
        for name, tensor in wanted.items():
            assert_record(first[f"{entry}.0"]["parameters"][name], record_of(tensor), f"{entry}.{name}", TOLERANCE[device.type])
        assert "parameters" not in first[f"{entry}.1"]
    assert not any("parameters" in entry for entry in second.values())
    assert first["Module.0.Linear.forward.0"]["Order"] == {"first": 1, "last": 2}, "parameters are no tensors of the execution"


def test_parameters_that_changed_are_taken_again(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)).to(device)
    x = torch.ones(2, 4, device=device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(x)
        model[0].weight.fill_(7)  # in place: seen at the end of the step, and told in the next
        dumper.step()
        model(x)
        model[1].bias = nn.Parameter(torch.full((4,), 9.0, device=device))  # another one
        dumper.step()
        dumper.step(dump=False)  # a step without entries does not lose them
        model(x)
        dumper.step()
    second, third = read_dump(1)["data"], read_dump(2)["data"]
    told = [
        {name: list(entry["parameters"]) for name, entry in data.items() if "parameters" in entry} for data in (second, third)
    ]
    assert told == [{"Module.0.Linear.forward.0": ["weight"]}, {"Module.1.Linear.forward.0": ["bias"]}]
    assert second["Module.0.Linear.forward.0"]["parameters"]["weight"]["Max"] == 7.0
    assert third["Module.1.Linear.forward.0"]["parameters"]["bias"]["Mean"] == 9.0


@pytest.mark.parametrize("settings", [{"parameters": False}, {"level": "L1"}])
def test_parameters_can_be_left_out(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, settings: dict[str, Any]
) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config(**settings)) as dumper:
        dumper.start(model)
        model(torch.ones(2, 8, device=device))
        dumper.step()
    assert read_dump(0)["data"] and not any("parameters" in entry for entry in read_dump(0)["data"].values())


def test_parameters_of_the_tensor_task_are_statistics(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config(task="tensor", tensor={"slice": [{"dim": 0, "end": 1}]})) as dumper:
        dumper.start(model)
        model(torch.ones(2, 8, device=device))
        dumper.step()
    weight = read_dump(0)["data"]["Module.0.Linear.forward.0"]["parameters"]["weight"]
    assert_record(weight, record_of(model[0].weight), "whole, whatever the slice", TOLERANCE[device.type])
    assert "data_name" not in weight


PROGRAM = """
import sys, torch
if {npu!r}:
    import torch_npu
from msprobe.pytorch import AclGraphDumper
dumper = AclGraphDumper(sys.argv[1])
model = torch.nn.Linear(2, 2)
dumper.start(model)
if {runs!r}:
    model(torch.ones(1, 2))
    dumper.step()
"""


@pytest.mark.parametrize("runs", [False, True])
def test_a_useless_dumper_says_so_at_exit(make_config: MakeConfig, device: torch.device, runs: bool) -> None:
    program = PROGRAM.format(npu=device.type == "npu", runs=runs)
    result = subprocess.run([sys.executable, "-c", program, make_config()], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert ("msprobe: an AclGraphDumper was started and wrote no entry, 1 modules collected from" in result.stderr) != runs
