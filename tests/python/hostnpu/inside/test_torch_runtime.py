# SPDX-License-Identifier: Apache-2.0
"""torch_npu on hostnpu outside of graphs: import, devices, streams, memory, threads, errors."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
import torch_npu


def run_program(code: str) -> subprocess.CompletedProcess[str]:
    """A program of its own in this environment."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


def test_import_torch_loads_torch_npu() -> None:
    result = run_program("import torch; print(torch.npu.is_available(), torch.ones(2, device='npu').sum().item())")
    assert result.stdout.split() == ["True", "2.0"], result.stderr


def test_program_that_uses_no_npu_ends_clean() -> None:
    result = run_program("import torch, torch_npu")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_program_ends_clean_with_work_under_way() -> None:
    code = """
import torch, torch_npu, ctypes, threading
x = torch.ones(1 << 20, device='npu')
for _ in range(50):
    x.add_(1)
print('end')
"""
    result = run_program(code)
    assert (result.returncode, result.stdout) == (0, "end\n"), result.stderr


def test_program_ends_with_a_stream_that_waits_for_ever() -> None:
    code = """
import torch, torch_npu, os
stream, event = torch.npu.Stream(), torch.npu.ExternalEvent()
event.wait(stream)
x = torch.ones(2, device='npu')
print(x.sum().item(), flush=True)
import ctypes
ctypes.CDLL(None).exit(0)
"""
    started = time.monotonic()
    result = run_program(code)
    assert (result.returncode, result.stdout) == (0, "2.0\n"), result.stderr
    assert time.monotonic() - started < 60


def test_exception_of_the_program_is_its_own() -> None:
    result = run_program("import torch; torch.ones(2, device='npu'); raise SystemExit(7)")
    assert result.returncode == 7


def test_devices() -> None:
    assert torch.npu.device_count() == int(os.environ["HOSTNPU_DEVICES"]) == 2
    assert torch.npu.get_device_name(0) == os.environ["HOSTNPU_SOC"]
    total = torch.npu.get_device_properties(0).total_memory
    assert total == int(float(os.environ["HOSTNPU_MEMORY_GIB"]) * 2**30)


def test_library_and_versions_are_those_of_the_wheel() -> None:
    assert torch_npu.__version__.startswith("2.13.0")
    assert Path(torch_npu.__file__).is_relative_to(os.environ["PYTHONPATH"].split(":")[0])
    maps = Path("/proc/self/maps").read_text()
    assert f"{os.environ['LD_LIBRARY_PATH'].split(':')[0]}/libascendcl.so" in maps


def test_copy_between_devices() -> None:
    a = torch.randn(4, device="npu:0")
    b = a.to("npu:1")
    assert b.device.index == 1
    assert torch.equal(a.cpu(), b.cpu())


def test_streams_are_asynchronous() -> None:
    stream, gate = torch.npu.Stream(), torch.npu.ExternalEvent()
    x = torch.zeros(1, device="npu")
    torch.npu.synchronize()
    gate.wait(stream)
    with torch.npu.stream(stream):
        x.add_(1)
        done = stream.record_event()
    assert not done.query()
    assert not stream.query()
    gate.record(torch.npu.current_stream())
    done.synchronize()
    assert done.query()
    assert x.item() == 1


def test_events_measure_time() -> None:
    start, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    x = torch.randn(1024, 1024, device="npu")
    torch.npu.synchronize()
    start.record()
    for _ in range(3):
        x = x @ x.t() / 1024
    end.record()
    end.synchronize()
    assert 0 < start.elapsed_time(end) < 60_000


def test_failed_operator_surfaces_at_synchronisation() -> None:
    x, index = torch.ones(4, device="npu"), torch.tensor([99], device="npu")
    x.index_select(0, index)
    with pytest.raises(RuntimeError, match=r"(?s)507015.*aclnnIndexSelect"):
        torch.npu.synchronize()
    assert (x + 1).sum().item() == 8


def test_out_of_memory_and_recovery() -> None:
    limit = torch.npu.get_device_properties(0).total_memory
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(limit + 1, dtype=torch.uint8, device="npu")
    half = [torch.empty(limit // 2 - (64 << 20), dtype=torch.uint8, device="npu")]
    half.append(torch.empty(limit // 4, dtype=torch.uint8, device="npu"))
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(limit // 2, dtype=torch.uint8, device="npu")
    del half
    torch.npu.empty_cache()
    assert torch.ones(4, device="npu").sum().item() == 4


def test_pinned_memory() -> None:
    x = torch.randn(8).pin_memory()
    assert x.is_pinned()
    assert not torch.randn(8).is_pinned()
    y = x.to("npu", non_blocking=True)
    torch.npu.synchronize()
    assert torch.equal(y.cpu(), x)


def test_operators_in_many_threads() -> None:
    def work(number: int) -> float:
        x = torch.ones(4, device="npu") * number
        return x.sum().item()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(32))) == [4.0 * number for number in range(32)]


def test_grad_mode_of_the_caller_does_not_reach_the_device() -> None:
    x = torch.ones(3, device="npu", requires_grad=True)
    with torch.inference_mode():
        y = (x * 2).cpu()
    assert y.tolist() == [2.0] * 3
    (x * 3).sum().backward()
    assert x.grad.cpu().tolist() == [3.0] * 3


def test_data_loader_workers() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(data, 2, num_workers=1, pin_memory=True)
    assert sum(batch[0].npu().sum().item() for batch in loader) == 28


def test_expandable_segments() -> None:
    code = """
import torch
kept = [torch.ones(1 << 20, device='npu') for _ in range(8)]
print(sum(tensor.sum().item() for tensor in kept) / (1 << 20))
del kept
torch.npu.empty_cache()
print(torch.npu.memory_reserved())
"""
    environment = {**os.environ, "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert result.stdout.split() == ["8.0", "0"], result.stderr


def test_missing_operator_is_an_error() -> None:
    """An operator that only CANN's older interface has: the call fails, nothing is computed wrongly in silence."""
    with pytest.raises(RuntimeError, match="ACL_OP_INIT_MODE"):
        torch.kthvalue(torch.randn(4, 4, device="npu"), 2)


def test_missing_operator_is_named_with_the_page_that_helps(capfd: pytest.CaptureFixture[str]) -> None:
    """torch_npu's own error says neither; the line before it does."""
    with pytest.raises(RuntimeError, match="ACL_OP_INIT_MODE"):
        torch.nn.functional.grid_sample(torch.zeros(1, 1, 4, 4, device="npu"), torch.zeros(1, 2, 2, 2, device="npu"))
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("[hostnpu] missing operator")]
    assert "aclnnGridSampler2D" in line
    assert "docs/add-hostnpu-operator.md" in line


def test_launcher_run_inside_itself_changes_nothing() -> None:
    code = "import os; print(os.environ['LD_LIBRARY_PATH'], os.environ['PYTHONPATH'])"
    command = [sys.executable, "-m", "msprobe.hostnpu", "run", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.split() == [os.environ["LD_LIBRARY_PATH"], os.environ["PYTHONPATH"]], result.stderr
