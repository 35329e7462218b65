# SPDX-License-Identifier: Apache-2.0
"""The tensor task of graphs on a slow disk, on a full one and under kill -9: bounded memory, nothing lost in silence, whole files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from expect import records_of, saved_files

from msprobe.pytorch import AclGraphDumper

REPLAYS = 1000
ELEMENTS = 8192  # 32 KiB a tensor, four a replay
QUEUE_BYTES = 8 << 20

SOAK = """
import resource, sys
import torch, torch_npu
from msprobe.pytorch import AclGraphDumper

config, replays, elements = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = torch.nn.Sequential(torch.nn.Identity())
static = torch.zeros(elements, device="npu")
with AclGraphDumper(config) as dumper:
    dumper.start(model)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        model(static)
    graph.replay()
    dumper.step(dump=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for value in range(replays):
        static.fill_(value)
        graph.replay()
    dumper.step()
print("grown", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def config(folder: Path) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps({"dump_path": str(folder / "dumps"), "task": "tensor"}))
    return path


def test_a_thousand_replays_on_a_slow_disk(tmp_path: Path, slow_disk: dict[str, str]) -> None:
    environment = os.environ | slow_disk | {"MSPROBE_SAVE_QUEUE_BYTES": str(QUEUE_BYTES)}
    command = [sys.executable, "-c", SOAK, str(config(tmp_path)), str(REPLAYS), str(ELEMENTS)]
    result = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    # The bound and a tenth of it; the records of 4,000 tensors; the launches that wait in hostnpu's streams while the disk is slow.
    assert int(result.stdout.split()[-1]) < QUEUE_BYTES * 1.1 + (16 << 20)
    (path,) = (tmp_path / "dumps").rglob("dump.json")
    dump = json.loads(path.read_text())
    folder = Path(dump["dump_data_dir"])
    assert len(dump["data"]) == 2 * REPLAYS
    assert len(list(folder.iterdir())) == 4 * REPLAYS
    for value in range(REPLAYS):
        for module in ("__root__.Sequential", "0.Identity"):
            name = f"Module.{module}.forward.{value}"
            entry = dump["data"][name]
            for place, record in (("input", entry["input_args"][0]), ("output", entry["output"][0])):
                assert (record["data_name"], record["Min"], record["Max"]) == (f"{name}.{place}.0.pt", value, value)
                x = torch.load(folder / record["data_name"], weights_only=True)
                assert x.shape == (ELEMENTS,) and x[0].item() == x[-1].item() == float(value)


KILLED = """
import os, pathlib, random, signal, sys, time
import torch, torch_npu
from msprobe.pytorch import AclGraphDumper
torch.set_num_threads(1)

def work():
    model, static = torch.nn.Identity(), torch.zeros(10_000, device="npu")
    dumper = AclGraphDumper(sys.argv[1])
    dumper.start(model)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        model(static)
    while True:
        for _ in range(3):
            graph.replay()
            static.add_(1)
        dumper.step()

for _ in range(int(sys.argv[3])):
    child = os.fork()  # before the first use of the device
    if child == 0:
        work()
    print(child)
    while not any(pathlib.Path(sys.argv[2]).glob(f"step*/pid{child}/dump_tensor_data/*.pt")):
        time.sleep(0.001)
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    time.sleep(random.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def test_ten_kills_leave_whole_files(tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    command = [sys.executable, "-c", KILLED, str(config(tmp_path)), str(dumps), "10"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    killed = result.stdout.split()
    assert len(killed) == 10
    assert {path.name for path in dumps.glob("step*/pid*")} == {f"pid{pid}" for pid in killed}
    half_written = 0
    for file in (path for path in dumps.rglob("*") if path.is_file()):
        step = int(file.relative_to(dumps).parts[0].removeprefix("step"))
        if ".tmp." in file.name:
            half_written += 1
        elif file.name == "dump.json":
            entries = json.loads(file.read_text())["data"].values()
            names = [record["data_name"] for entry in entries for record in (*entry["input_args"], *entry["output"])]
            assert sorted(names) == sorted(path.name for path in (file.parent / "dump_tensor_data").iterdir())
            assert len(names) == 6
        else:
            assert zipfile.ZipFile(file).testzip() is None
            x = torch.load(file, weights_only=True)
            call = int(file.name.split(".")[4])
            assert x.shape == (10_000,) and x.unique().tolist() == [3.0 * step + call]
    assert half_written <= 3 * 10  # one for each writer, and a dump.json, of each process


def test_a_full_disk_is_told_once_and_the_graph_goes_on(small_disk: Path) -> None:
    static, model = torch.full((75_000,), 3.0, device="npu"), torch.nn.Identity()  # 300 kB: three of four fit
    with AclGraphDumper(config(small_disk)) as dumper:
        dumper.start(model)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            model(static)
        graph.replay()
        graph.replay()
        with pytest.raises(RuntimeError, match=r"not saved.*: .*\.pt': No space left on device") as caught:
            dumper.step()
        lost = int(str(caught.value).split()[1])
        assert lost in (1, 2)  # two writers at once may both run out of space
        (path,) = small_disk.rglob("dump.json")
        dump = json.loads(path.read_text())
        assert len(saved_files(dump)) == 4 - lost
        assert sum("No space left" in record.get("Note", "") for _, record in records_of(dump)) == lost
        shutil.rmtree(path.parent)
        graph.replay()
        dumper.step()
    (path,) = small_disk.rglob("dump.json")
    assert len(saved_files(json.loads(path.read_text()))) == 2
