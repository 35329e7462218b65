# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, processes that are killed, two processes at once: dump.json and saved tensors."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from msprobe.pytorch import AclGraphDumper, acl_save, flush


def test_a_full_disk_is_told_once_and_leaves_whole_files(small_disk: Path) -> None:
    errors = []
    for value in range(6):
        try:  # an error comes at whichever call follows it
            acl_save(torch.full((65536,), float(value)), str(small_disk / "x.pt"))  # 256 KiB each
        except RuntimeError as error:
            errors.append(str(error))
    try:
        flush()
    except RuntimeError as error:
        errors.append(str(error))
    flush()
    files = list(small_disk.iterdir())
    assert errors
    assert all(re.search(r"not saved.*: cannot write '.*x_\d\.pt': No space left on device", error) for error in errors)
    lost = sum(int(error.split()[1]) for error in errors)
    assert lost in (3, 4)  # three files fit; two writers at once may both run out of space for the third
    assert len(files) + lost == 6
    assert all(path.suffix == ".pt" and zipfile.ZipFile(path).testzip() is None for path in files)
    for path in files:
        path.unlink()
    acl_save(torch.ones(1), str(small_disk / "x.pt"))  # the program goes on
    flush()
    assert torch.load(small_disk / "x_6.pt").item() == 1.0


def test_a_dump_that_finds_no_room_is_kept_for_the_next_step(small_disk: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"dump_path": str(small_disk / "dumps")}))
    model = torch.nn.Sequential(*(torch.nn.Identity() for _ in range(20)))
    with AclGraphDumper(tmp_path / "config.json") as dumper:
        dumper.start(model)
        for _ in range(200):  # about 2 MB of dump.json
            model(torch.ones(1))
        with pytest.raises(OSError, match=r"cannot write '.*dump\.json': No space left on device") as caught:
            dumper.step()
        assert caught.value.errno == errno.ENOSPC
        assert dumper.step_id == 0
        assert not [path for path in small_disk.rglob("*") if path.is_file()]
        subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
        dumper.step()
    (path,) = small_disk.rglob("dump.json")
    assert len(json.loads(path.read_text())["data"]) == 200 * 21


KILLED = """
import os, random, signal, sys, time
import torch
torch.set_num_threads(1)
from msprobe.pytorch import acl_save

folder, rounds = sys.argv[1], int(sys.argv[2])
for number in range(rounds):
    child = os.fork()
    if child == 0:
        x = torch.zeros(10_000)
        while True:
            x.add_(1)
            acl_save(x, f"{folder}/r{number}.pt")
    while not os.path.exists(f"{folder}/r{number}_0.pt"):
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def test_fifty_kills_leave_whole_files(tmp_path: Path) -> None:
    rounds = 50
    folder = tmp_path / "saved"
    folder.mkdir()
    subprocess.run([sys.executable, "-c", KILLED, str(folder), str(rounds)], check=True, timeout=300)
    files = sorted(folder.glob("*.pt"))
    assert len({path.name.split("_")[0] for path in files}) == rounds
    for path in files:
        number = int(path.stem.split("_")[1])
        assert zipfile.ZipFile(path).testzip() is None
        assert torch.load(path, weights_only=True).unique().tolist() == [float(number + 1)]
    others = [path for path in folder.iterdir() if path.suffix != ".pt"]
    assert all(".pt.tmp." in path.name for path in others)
    assert len(others) <= 2 * rounds  # one a writer thread at the most


TWO = """
import sys, torch
from msprobe.pytorch import acl_save
for value in range(200):
    acl_save(torch.full((5000,), float(value)), sys.argv[1])
"""


@pytest.mark.parametrize("same_name", [False, True])
def test_two_processes_save_to_one_folder(tmp_path: Path, same_name: bool) -> None:
    bases = [tmp_path / ("x.pt" if same_name else f"x{i}.pt") for i in range(2)]
    processes = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", TWO, str(base)]) for base in bases]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert len(list(tmp_path.iterdir())) == (200 if same_name else 400)
    for base in bases:
        for value in range(200):
            assert torch.load(tmp_path / f"{base.stem}_{value}.pt").unique().tolist() == [float(value)]


def test_a_bad_setting_is_told(tmp_path: Path) -> None:
    program = f"import torch; from msprobe.pytorch import acl_save; acl_save(torch.ones(1), {str(tmp_path / 'x.pt')!r})"
    result = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        env={"MSPROBE_SAVE_QUEUE_BYTES": "2GB", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "MSPROBE_SAVE_QUEUE_BYTES must be a number of bytes above 0, got '2GB'" in result.stderr


def test_what_is_lost_at_the_end_is_told_in_one_line(tmp_path: Path) -> None:
    program = f"""
import os
import torch
from msprobe.pytorch import acl_save, flush
acl_save(torch.ones(1), {str(tmp_path / "gone" / "x.pt")!r})
flush()
os.rename({str(tmp_path / "gone")!r}, {str(tmp_path / "away")!r})
try:
    acl_save(torch.ones(1), {str(tmp_path / "gone" / "x.pt")!r})
except RuntimeError as error:  # a fast writer's error comes out of the call itself
    import sys
    sys.stderr.write(f"{{error}}\\n")
"""
    (tmp_path / "gone").mkdir()
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    path = tmp_path / "gone" / "x_1.pt"
    assert result.stderr == f"msprobe: 1 tensor was not saved: cannot create '{path}': No such file or directory\n"
