# SPDX-License-Identifier: Apache-2.0
"""acl_save outside graphs: bits, dtypes, layouts, paths, errors, exit; files read by torch.load and zipfile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
import zipfile
from pathlib import Path

import pytest
import torch
import torch.utils.checkpoint

from msprobe.pytorch import acl_save, flush

ORDINARY = [
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
]
OTHERS = [
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.complex32,
    torch.complex64,
    torch.complex128,
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
    torch.float4_e2m1fn_x2,
]


def raw(x: torch.Tensor) -> bytes:
    return x.cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes() if x.numel() else b""


def random_bits(dtype: torch.dtype) -> torch.Tensor:
    """A tensor [4, 6] with every kind of bit pattern, NaNs with payloads included."""
    size = torch.empty(0, dtype=dtype).element_size()
    bits = torch.randint(0, 2 if dtype == torch.bool else 256, (24 * size,), dtype=torch.uint8)
    return bits.view(dtype).view(4, 6)


@pytest.mark.parametrize("dtype", ORDINARY + OTHERS, ids=str)
def test_exact_bits_of_every_dtype_and_layout(tmp_path: Path, device: torch.device, dtype: torch.dtype) -> None:
    if device.type == "npu" and dtype in OTHERS:
        return  # these cannot be brought to this NPU; a graph's saves are tested with those that can
    base = random_bits(dtype).to(device)
    layouts = {
        "plain": base,
        "transposed": base.t(),
        "sliced": base[1:, ::2],
        "scalar": base[0, 0],
        "empty": base[:0],
        "one": base[:1, :1],
    }
    for name, x in layouts.items():
        assert acl_save(x, str(tmp_path / f"{name}.pt")) is x
    flush()
    for name, x in layouts.items():
        path = tmp_path / f"{name}_0.pt"
        assert zipfile.ZipFile(path).testzip() is None
        for options in ({}, {"weights_only": True}, {"weights_only": True, "mmap": True}):
            loaded = torch.load(path, **options)
            assert loaded.dtype == dtype
            assert loaded.shape == x.shape
            assert loaded.is_contiguous()
            assert not loaded.requires_grad
            assert raw(loaded) == raw(x)


def test_numbers_count_up_for_each_base(tmp_path: Path, device: torch.device) -> None:
    for value in range(3):
        acl_save(torch.full((2,), float(value), device=device), str(tmp_path / "act.pt"))
    acl_save(torch.ones(1, device=device), str(tmp_path / "other"))
    acl_save(torch.ones(1, device=device), str(tmp_path / "third.bin"))
    flush()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["act_0.pt", "act_1.pt", "act_2.pt", "other_0.pt", "third_0.pt"]
    assert [torch.load(tmp_path / f"act_{i}.pt")[0].item() for i in range(3)] == [0.0, 1.0, 2.0]


def test_names_that_share_a_base_do_not_overwrite_each_other(tmp_path: Path, device: torch.device) -> None:
    acl_save(torch.zeros(1, device=device), str(tmp_path / "layer.0.in"))
    acl_save(torch.ones(1, device=device), str(tmp_path / "layer.0.out"))
    flush()
    assert [torch.load(tmp_path / f"layer.0_{i}.pt").item() for i in range(2)] == [0.0, 1.0]


def test_a_relative_path_counts_from_the_working_directory(
    tmp_path: Path, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        acl_save(torch.ones(1, device=device), "./x.pt")
    flush()
    assert (tmp_path / "one" / "x_0.pt").exists()
    assert (tmp_path / "two" / "x_0.pt").exists()


def test_the_value_is_that_of_the_call(tmp_path: Path, device: torch.device) -> None:
    x = torch.zeros(1000, device=device)
    for value in range(20):
        x.fill_(value)
        acl_save(x, str(tmp_path / "x.pt"))
    x.fill_(-1)
    flush()
    assert [torch.load(tmp_path / f"x_{i}.pt").unique().tolist() for i in range(20)] == [[float(i)] for i in range(20)]


def test_gradients_pass_and_are_dropped_from_the_file(tmp_path: Path, device: torch.device) -> None:
    x = torch.ones(3, device=device, requires_grad=True)
    y = acl_save(x * 2, str(tmp_path / "y.pt"))
    y.sum().backward()
    flush()
    assert x.grad is not None
    assert not torch.load(tmp_path / "y_0.pt").requires_grad
    acl_save(torch.nn.Parameter(torch.ones(2, device=device)), str(tmp_path / "p.pt"))
    flush()
    assert type(torch.load(tmp_path / "p_0.pt")) is torch.Tensor


def test_a_checkpoint_that_computes_again_saves_again(tmp_path: Path, device: torch.device) -> None:
    def block(x: torch.Tensor) -> torch.Tensor:
        acl_save(y := x * 2, str(tmp_path / "y.pt"))
        return y.sin()

    x = torch.randn(4, device=device, requires_grad=True)
    torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).sum().backward()
    flush()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["y_0.pt", "y_1.pt"]
    assert all(torch.equal(torch.load(tmp_path / f"y_{i}.pt"), (x * 2).detach().cpu()) for i in range(2))


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (3, TypeError, "path must be a str, got int"),
        ("", ValueError, "must end with the name of a file"),
        ("folder/", ValueError, "must end with the name of a file"),
        ("../x.pt", ValueError, "must not contain '..'"),
        ("a b.pt", ValueError, "names in a path may hold .* only, got 'a b.pt'"),
        ("x\n.pt", ValueError, "names in a path"),
        ("x" * 300, ValueError, "must not be longer than 255"),
        ("x/" * 3000, ValueError, "must not be longer than 4096 characters, got 6000"),
        ("no/such/x.pt", FileNotFoundError, "the folder of 'no/such/x.pt' does not exist; make it first"),
        ("file/x.pt", FileNotFoundError, "does not exist"),
    ],
)
def test_paths_that_are_refused(
    tmp_path: Path, device: torch.device, monkeypatch: pytest.MonkeyPatch, path: str, error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(error, match=message):
        acl_save(torch.ones(1, device=device), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["x_0.pt", "x_3.pt"])
def test_links_are_not_written_through(tmp_path: Path, device: torch.device, name: str) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / name).symlink_to(tmp_path / "target")
    with pytest.raises(ValueError, match="is a symbolic link"):
        acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    assert (tmp_path / "target").read_text() == "precious"


def test_a_path_too_long_for_the_system_is_refused_at_the_call(
    tmp_path: Path, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path
    while (room := 3900 - len(str(folder))) > 1:
        folder /= "f" * (room - 1 if room < 200 else 150)
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for length in (4000, 4040):  # of the whole path, without the number
        acl_save(torch.ones(1, device=device), "x" * (length - len(str(folder)) - 1))
    flush()
    assert len(list(folder.iterdir())) == 2
    for length in (4060, 4090):
        with pytest.raises(ValueError, match=f"must be shorter than 4096 bytes, got {length} for the folder and the name"):
            acl_save(torch.ones(1, device=device), "x" * (length - len(str(folder)) - 1))


@pytest.mark.parametrize("name", ["x_0.pt", "x_17.pt"])
def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path, device: torch.device, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=f"{name}' is no plain file, and cannot be replaced"):
        acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    (tmp_path / name).rmdir()
    acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    flush()
    assert [path.name for path in tmp_path.iterdir()] == ["x_0.pt"]


def test_only_what_will_be_replaced_is_warned_of(tmp_path: Path, device: torch.device) -> None:
    for name in ("x_10.pt", "x_9.pt", "y_old_0.pt", "y_a.pt", "y_0.bin"):
        (tmp_path / name).write_text("old")
    with pytest.warns(UserWarning, match=r"will be replaced: .*/x_9\.pt and those after it"):
        acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        acl_save(torch.ones(1, device=device), str(tmp_path / "y.pt"))
        flush()
        for path in ("y.pth", "./y.pt", "y"):  # other ways to name the same base
            acl_save(torch.ones(1, device=device), str(tmp_path) + "/" + path)
    flush()


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (3, "must be a torch.Tensor, got int"),
        (torch.eye(2).to_sparse(), "must be dense, got layout torch.sparse_coo"),
        (torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], layout=torch.jagged), "got the subclass NestedTensor"),
    ],
    ids=["int", "sparse", "nested"],
)
def test_tensors_that_are_refused(tmp_path: Path, x: torch.Tensor, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        acl_save(x, str(tmp_path / "x.pt"))


def test_files_of_an_earlier_run_are_replaced_with_one_warning(tmp_path: Path, device: torch.device) -> None:
    (tmp_path / "x_0.pt").write_text("old")
    with pytest.warns(UserWarning, match="files of an earlier run will be replaced"):
        acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    flush()
    assert torch.load(tmp_path / "x_0.pt").item() == 1.0


def test_a_folder_that_vanishes_is_told_once_and_the_program_goes_on(tmp_path: Path, device: torch.device) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    acl_save(torch.ones(1, device=device), str(folder / "x.pt"))
    flush()
    (folder / "x_0.pt").unlink()
    folder.rmdir()
    with pytest.raises(RuntimeError, match=r"1 tensor was not saved: cannot create '.*x_1\.pt': No such file or directory"):
        acl_save(torch.ones(1, device=device), str(folder / "x.pt"))  # raises itself if the writer is fast
        flush()
    flush()


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path, device: torch.device) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f"x_3.pt.tmp.{dead.pid}.0").write_text("half")
    (tmp_path / f"x_3.pt.tmp.{os.getpid()}.99").write_text("alive")
    (tmp_path / f"y_3.pt.tmp.{dead.pid}.0").write_text("another's")
    acl_save(torch.ones(1, device=device), str(tmp_path / "x.pt"))
    flush()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(["x_0.pt", f"x_3.pt.tmp.{os.getpid()}.99", f"y_3.pt.tmp.{dead.pid}.0"])


def test_threads(tmp_path: Path, device: torch.device) -> None:
    def work(number: int) -> None:
        for value in range(50):
            acl_save(torch.full((8,), float(value), device=device), str(tmp_path / f"t{number}.pt"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    flush()
    for number in range(4):
        assert [torch.load(tmp_path / f"t{number}_{i}.pt")[0].item() for i in range(50)] == [float(i) for i in range(50)]


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "raise ValueError('the end')"], ids=["return", "exit", "exception"])
def test_everything_is_on_disk_when_the_program_has_ended(tmp_path: Path, end: str) -> None:
    program = f"""
import torch
from msprobe.pytorch import acl_save
for value in range(100):
    acl_save(torch.full((10000,), float(value)), {str(tmp_path / "x.pt")!r})
{end}
"""
    subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert [torch.load(tmp_path / f"x_{i}.pt")[0].item() for i in range(100)] == [float(i) for i in range(100)]


def test_a_forked_child_saves_for_itself(tmp_path: Path) -> None:
    program = f"""
import os, torch
from msprobe.pytorch import acl_save, flush
for value in range(50):
    acl_save(torch.full((100000,), float(value)), {str(tmp_path / "parent.pt")!r})
child = os.fork()
if child == 0:
    acl_save(torch.ones(3), {str(tmp_path / "child.pt")!r})
    flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert torch.load(tmp_path / "child_0.pt").tolist() == [1.0, 1.0, 1.0]
    assert len(list(tmp_path.iterdir())) == 51
