# SPDX-License-Identifier: Apache-2.0
"""Types that few of ATen's CPU kernels know, and shapes at the edges: moved, never computed with, and statistics of all others."""

from __future__ import annotations

import pytest
import torch
import torch_npu  # noqa: F401

MOVED_TYPES = [
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e8m0fnu,
    torch.float4_e2m1fn_x2,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.complex32,
]

MOVES = {
    "copy": lambda a: torch.empty_like(a).copy_(a),
    "clone": torch.clone,
    "turn": lambda a: a.t().contiguous(),
    "expand": lambda a: a[:1].expand(3, *a.shape[1:]).contiguous(),
    "cat": lambda a: torch.cat([a, a], 1),
    "stack": lambda a: torch.stack([a, a], 1),
    "zero": lambda a: a.clone().zero_(),
}


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().cpu().view(torch.uint8)


def expected_bytes(move, raw: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The move done by the CPU on integers of the same width, seen as bytes."""
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return move(raw.view(integers[dtype.itemsize])).contiguous().view(torch.uint8)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("dtype", MOVED_TYPES, ids=str)
def test_moves_keep_the_bytes(dtype: torch.dtype, move: str) -> None:
    raw = torch.randint(0, 256, (4, 6 * dtype.itemsize), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    on_npu = raw.npu().view(dtype)
    result = MOVES[move](on_npu)
    assert result.dtype == dtype
    assert torch.equal(as_bytes(result), expected_bytes(MOVES[move], raw, dtype))


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_casts_to_and_from_fp8(dtype: torch.dtype) -> None:
    x = torch.linspace(-400, 400, 200)
    narrow = x.npu().to(dtype)
    assert torch.equal(as_bytes(narrow), as_bytes(x.to(dtype)))
    for wide in (torch.float32, torch.float16, torch.bfloat16):
        torch.testing.assert_close(narrow.to(wide).cpu(), x.to(dtype).to(wide))


NUMBER_TYPES = [
    torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
    torch.bool, torch.complex64,
]  # fmt: skip


def values(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5)
    if dtype == torch.complex64:
        return torch.randn(shape, dtype=dtype, generator=generator)
    return (torch.randn(shape, generator=generator) * 9).abs().to(dtype)


def statistics_into(slots: dict[torch.dtype, torch.Tensor], position: int, x: torch.Tensor) -> None:
    """Extremes in the tensor's own type, mean and norm in fp32, each into one element in the middle of a buffer."""
    if x.is_complex():
        x = x.abs()
    if x.dtype == torch.bool:
        x = x.view(torch.uint8)
    if x.dtype == torch.int16:
        x = x.to(torch.int32)
    own, single = slots[x.dtype], slots[torch.float32]
    torch.amin(x, dim=(), out=own[position])
    torch.amax(x, dim=(), out=own[position + 1])
    wide = x if x.dtype in (torch.float32, torch.float16, torch.bfloat16) else x.to(torch.float32)
    torch.mean(wide, dim=(), dtype=torch.float32, out=single[position + 2])
    torch.linalg.vector_norm(wide, 2, dtype=torch.float32, out=single[position + 3])


def shaped(x: torch.Tensor, kind: str) -> torch.Tensor:
    return {"plain": x, "turned": x.t(), "part": x[1:, 2:-1], "step": x[::2], "one": x[2, 3], "expanded": x[:1].expand_as(x)}[
        kind
    ]


@pytest.mark.parametrize("captured", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("kind", ["plain", "turned", "part", "step", "one", "expanded"])
@pytest.mark.parametrize("dtype", NUMBER_TYPES, ids=str)
def test_statistics_into_slots(dtype: torch.dtype, kind: str, captured: bool) -> None:
    raw = values(dtype, 37, 53)
    x = shaped(raw.npu(), kind)
    buffers = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64)
    slots = {
        t: torch.full((9,), 77, device="npu").to(t) if t != torch.float64 else torch.full((9,), 77.0, dtype=t, device="npu")
        for t in buffers
    }
    if captured:
        graph = torch.npu.NPUGraph()
        torch.npu.synchronize()
        with torch.npu.graph(graph):
            statistics_into(slots, 3, x)
        graph.replay()
    else:
        statistics_into(slots, 3, x)
    torch.npu.synchronize()
    exact = shaped(raw, kind)
    exact = exact.abs() if exact.is_complex() else exact
    own = {torch.bool: torch.uint8, torch.int16: torch.int32, torch.complex64: torch.float32}.get(dtype, dtype)
    wide = exact.double()
    low, high = slots[own][3].cpu().double(), slots[own][4].cpu().double()
    torch.testing.assert_close(low, wide.min(), rtol=1e-6, atol=0)
    torch.testing.assert_close(high, wide.max(), rtol=1e-6, atol=0)
    torch.testing.assert_close(slots[torch.float32][5].cpu().double(), wide.mean(), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(slots[torch.float32][6].cpu().double(), wide.norm(), rtol=1e-5, atol=1e-6)
    for buffer in slots.values():  # nothing beside the slots was touched
        assert buffer.cpu()[[0, 1, 2, 7, 8]].double().tolist() == [77.0] * 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_statistics_of_a_large_tensor(dtype: torch.dtype) -> None:
    x = values(dtype, 4096, 4099)
    on_npu = x.npu()
    assert on_npu.amax().cpu() == x.amax() and on_npu.amin().cpu() == x.amin()
    torch.testing.assert_close(on_npu.float().mean().cpu().double(), x.double().mean(), rtol=1e-5, atol=0)
    torch.testing.assert_close(torch.linalg.vector_norm(on_npu.float()).cpu().double(), x.double().norm(), rtol=1e-5, atol=0)


def test_nan_and_infinity_show() -> None:
    x = torch.randn(40)
    x[7] = float("nan")
    on_npu = x.npu()
    assert torch.linalg.vector_norm(on_npu).cpu().isnan() and on_npu.mean().cpu().isnan()
    x[7] = float("-inf")
    assert torch.linalg.vector_norm(x.npu()).cpu() == float("inf") and x.npu().amin().cpu() == float("-inf")
