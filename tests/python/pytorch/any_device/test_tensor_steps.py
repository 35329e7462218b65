# SPDX-License-Identifier: Apache-2.0
"""The tensor task's life: steps, dumps that are thrown away, threads, disks that are full or gone, files of an earlier run."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import records_of, saved_files
from models import mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

ROOT_INPUT = "Module.__root__.Identity.forward.{}.input.0"


@pytest.fixture
def dumper(make_config: MakeConfig) -> Iterator[AclGraphDumper]:
    with AclGraphDumper(make_config(task="tensor")) as one:
        yield one


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def values(dump: dict[str, Any]) -> list[float]:
    """The first value of each call's input, by the numbers of the calls."""
    files = saved_files(dump)
    return [files[ROOT_INPUT.format(index)].view(-1)[0].item() for index in range(len(dump["data"]))]


def test_calls_are_counted_from_0_in_each_step(dumper: AclGraphDumper, read_dump: ReadDump, device: torch.device) -> None:
    model = nn.Identity()
    dumper.start(model)
    for step in range(3):
        for call in range(step + 1):
            model(torch.full((2,), 10.0 * step + call, device=device))
        dumper.step()
    assert [values(read_dump(step)) for step in range(3)] == [[0.0], [10.0, 11.0], [20.0, 21.0, 22.0]]


def test_a_step_without_dump_removes_its_files(
    dumper: AclGraphDumper, read_dump: ReadDump, tmp_path: Path, device: torch.device
) -> None:
    model = nn.Identity()
    dumper.start(model)
    model(torch.zeros(3, device=device))
    dumper.step(dump=False)
    assert files_in(tmp_path / "dumps") == []
    folder = tmp_path / "dumps" / "step0" / f"pid{os.getpid()}" / "dump_tensor_data"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.txt").write_text("somebody else's")
    for value in (1.0, 2.0):
        model(torch.full((3,), value, device=device))
    dumper.step(dump=False)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    model(torch.full((3,), 5.0, device=device))
    dumper.step()
    assert values(read_dump(0)) == [5.0]


def test_a_second_start_goes_on_with_the_next_step(dumper: AclGraphDumper, read_dump: ReadDump, device: torch.device) -> None:
    model = nn.Identity()
    for value in (1.0, 2.0):
        dumper.start(model)
        model(torch.full((3,), value, device=device))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dumper.start(nn.ReLU())  # another one, in the middle of a step
        dumper.step()
        dumper.close()
        model(torch.full((3,), -1.0, device=device))
    assert [values(read_dump(step)) for step in range(2)] == [[1.0], [2.0]]


def test_what_an_earlier_run_has_left(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, device: torch.device
) -> None:
    folder = tmp_path / "dumps" / "step0" / f"pid{os.getpid()}" / "dump_tensor_data"
    folder.mkdir(parents=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f"a.pt.tmp.{dead.pid}.0", f"b.pt.tmp.{os.getpid()}.9", "old.pt"):
        (folder / name).write_text("left")
    with AclGraphDumper(make_config(task="tensor")) as dumper, warnings.catch_warnings():
        model = nn.Identity()
        with pytest.warns(UserWarning, match="files of an earlier run lie in .*dump_tensor_data"):
            dumper.start(model)
        warnings.simplefilter("error")
        assert sorted(path.name for path in folder.iterdir()) == [f"b.pt.tmp.{os.getpid()}.9", "old.pt"]
        for value in (1.0, 2.0):
            model(torch.full((2,), value, device=device))
            dumper.start(model)  # again: what lies there is this run's
        for path in folder.iterdir():
            if not path.name.startswith("Module."):
                path.unlink()
        dumper.step()
    assert values(read_dump(0)) == [1.0, 2.0]


def test_a_forward_that_raises_leaves_what_it_came_to(
    dumper: AclGraphDumper, read_dump: ReadDump, device: torch.device
) -> None:
    class Breaks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.inner(x)
            if x[0] > 0:
                raise ValueError("broken")
            return x

    model = Breaks()
    dumper.start(model)
    with pytest.raises(ValueError, match="broken"):
        model(torch.ones(2, device=device))
    model(torch.zeros(2, device=device))
    dumper.step()
    root, inner = "Module.__root__.Breaks.forward", "Module.inner.Identity.forward"
    found = {name: x[0].item() for name, x in saved_files(read_dump(0)).items()}
    first = {f"{root}.0.input.0": 1.0, f"{inner}.0.input.0": 1.0, f"{inner}.0.output.0": 1.0}
    second = {f"{name}.1.{place}.0": 0.0 for name in (root, inner) for place in ("input", "output")}
    assert found == first | second


def test_a_dump_json_that_cannot_be_written_is_tried_again(
    dumper: AclGraphDumper, read_dump: ReadDump, tmp_path: Path, device: torch.device
) -> None:
    model = nn.Identity()
    dumper.start(model)
    model(torch.full((2,), 1.0, device=device))
    blocker = tmp_path / "dumps" / "step0" / f"pid{os.getpid()}" / "dump.json"
    blocker.mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(OSError, match=r"dump\.json") as caught:
            dumper.step()
        assert caught.value.errno == errno.EISDIR
    model(torch.full((2,), 2.0, device=device))
    blocker.rmdir()
    dumper.step()
    model(torch.full((2,), 3.0, device=device))
    dumper.step()
    assert [values(read_dump(step)) for step in range(2)] == [[1.0, 2.0], [3.0]]


def test_a_folder_that_vanishes_is_made_again(
    dumper: AclGraphDumper, read_dump: ReadDump, tmp_path: Path, device: torch.device
) -> None:
    model = nn.Identity()
    dumper.start(model)
    for value in (1.0, 2.0):
        model(torch.full((2,), value, device=device))
        dumper.step()
        shutil.rmtree(tmp_path / "dumps")
    model(torch.full((2,), 3.0, device=device))
    dumper.step()
    assert values(read_dump(2)) == [3.0]


def test_a_file_where_the_folder_should_be_is_told_once(
    dumper: AclGraphDumper, read_dump: ReadDump, tmp_path: Path, device: torch.device
) -> None:
    model = nn.Identity()
    folder = tmp_path / "dumps" / "step0" / f"pid{os.getpid()}"
    folder.mkdir(parents=True)
    (folder / "dump_tensor_data").write_text("in the way")
    dumper.start(model)
    x = torch.full((2,), 4.0, device=device)
    assert model(x) is x
    with pytest.raises(RuntimeError, match=r"2 tensors were not saved; the first: .*dump_tensor_data.*Not a directory"):
        dumper.step()
    records = [record for _, record in records_of(read_dump(0))]
    assert [record["Max"] for record in records] == [4.0, 4.0]  # the statistics are there all the same
    assert all("Not a directory" in record["Note"] and "data_name" not in record for record in records)
    model(x)
    dumper.step()
    assert values(read_dump(1)) == [4.0]


def test_a_full_disk_is_told_once_and_the_model_goes_on(tmp_path: Path, small_disk: Path, device: torch.device) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"dump_path": str(small_disk / "dumps"), "task": "tensor"}))
    model = nn.Identity()
    with AclGraphDumper(tmp_path / "c.json") as dumper:
        dumper.start(model)
        x = torch.full((75_000,), 3.0, device=device)  # 300 kB: three of four fit
        for _ in range(2):
            assert model(x) is x
        with pytest.raises(RuntimeError, match=r"not saved.*: .*\.pt': No space left on device") as caught:
            dumper.step()
        lost = int(str(caught.value).split()[1])
        assert lost in (1, 2)  # two writers at once may both run out of space
        (path,) = small_disk.rglob("dump.json")
        dump = json.loads(path.read_text())
        assert len(saved_files(dump)) == 4 - lost
        assert sum("No space left" in record.get("Note", "") for _, record in records_of(dump)) == lost
        assert all(record["Max"] == 3.0 for _, record in records_of(dump))
        shutil.rmtree(path.parent)
        model(x)
        dumper.step()
    (path,) = small_disk.rglob("dump.json")
    assert len(saved_files(json.loads(path.read_text()))) == 2


def test_threads_keep_their_calls_apart(dumper: AclGraphDumper, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp().to(device)
    calls = 20

    def work(value: float) -> None:
        for _ in range(calls):
            with torch.no_grad():
                model(torch.full((2, 8), value, device=device))

    dumper.start(model)
    threads = [threading.Thread(target=work, args=(float(i + 1),)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    dumper.step()
    dumper.close()
    files = saved_files(read_dump(0))
    assert len(files) == 3 * calls * 8
    with torch.no_grad():
        outputs = {value: model(torch.full((2, 8), value, device=device)).cpu() for value in (1.0, 2.0, 3.0)}
    root = "Module.__root__.Sequential.forward"
    seen = [files[f"{root}.{index}.input.0"][0, 0].item() for index in range(3 * calls)]
    assert sorted(seen) == sorted([1.0, 2.0, 3.0] * calls)
    for index, value in enumerate(seen):
        assert torch.equal(files[f"{root}.{index}.output.0"], outputs[value])


def test_steps_while_another_thread_runs(dumper: AclGraphDumper, read_dump: ReadDump, device: torch.device) -> None:
    model = nn.Identity()
    dumper.start(model)
    stop, steps, ran = threading.Event(), 25, 0

    def work() -> None:
        nonlocal ran
        while not stop.is_set():
            model(torch.full((2,), float(ran), device=device))
            if device.type == "npu":  # or it would queue more than the device's callbacks can take, without end
                torch.npu.current_stream().synchronize()
            ran += 1

    thread = threading.Thread(target=work)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a step may be too short for a call
        thread.start()
        for _ in range(steps):
            time.sleep(0.002)
            dumper.step()
        stop.set()
        thread.join()
        dumper.step()
    found = []
    for step in range(steps + 1):
        found += [x[0].item() for name, x in saved_files(read_dump(step)).items() if ".input." in name]
    assert sorted(found) == [float(value) for value in range(ran)]
