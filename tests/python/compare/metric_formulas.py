# SPDX-License-Identifier: Apache-2.0
"""The formulas of docs/compare.md once more, in numpy, and pairs of tensors to try them on."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

COSINE, EUCLIDEAN, MAX_ABS, MAX_RELATIVE, ONE, FIVE = range(6)
NAN, INF = float("nan"), float("inf")
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FLOATS8 = [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
ALL_KINDS = [*FLOATS, torch.int32, torch.bool, torch.float8_e5m2, torch.complex64]


def array(tensor: torch.Tensor) -> np.ndarray:
    """As numpy; types that numpy lacks become float32, exactly."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.complex32:
        return tensor.to(torch.complex64).numpy()
    return tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def rounded(value: float) -> float:
    return float(f"{value:.12f}")


def expected_cells(target: torch.Tensor, golden: torch.Tensor) -> list:
    """The formulas of docs/compare.md for real tensors of two or more elements, without special values."""
    x, y = array(target).ravel(), array(golden).ravel()
    common = np.result_type(x.dtype, y.dtype)
    common = np.dtype(np.float64) if {x.dtype.kind, y.dtype.kind} & set("iub") else max(common, np.dtype(np.float32))
    own_x, own_y = x.astype(common), y.astype(common)
    x, y = x.astype(np.float64), y.astype(np.float64)
    norms = math.sqrt(math.fsum(x * x)), math.sqrt(math.fsum(y * y))
    tiny = [norm <= np.finfo(np.float64).eps for norm in norms]
    cosine = 1.0 if all(tiny) else NAN if any(tiny) else rounded(math.fsum(x * y) / (norms[0] * norms[1]))
    if cosine > 0.9999:
        cosine = float(f"{cosine:.6f}")
    epsilon = np.finfo(common).eps
    zero = own_y == 0
    own_x = np.where(zero, own_x + epsilon, own_x)
    own_y = np.where(zero, epsilon, own_y)
    with np.errstate(over="ignore"):
        relative = np.abs((own_x - own_y) / own_y)
    share = [rounded(np.count_nonzero(relative < common.type(limit)) / x.size) for limit in (0.001, 0.005)]
    return [cosine, math.sqrt(math.fsum((x - y) ** 2)), rounded(np.abs(x - y).max()), rounded(float(relative.max())), *share]


def check_cells(metrics, cells):
    assert metrics["status"] == "computed", metrics
    found = [NAN if cell == "Nan" else float(cell) for cell in metrics["cells"]]
    assert found[EUCLIDEAN] == pytest.approx(cells[EUCLIDEAN], rel=1e-14)
    del found[EUCLIDEAN]
    wanted = cells[:EUCLIDEAN] + cells[EUCLIDEAN + 1 :]
    assert found == pytest.approx(wanted, rel=0, abs=0, nan_ok=True)


def noisy_pair(dtype, count, seed, noise_dtype=None):
    generator = torch.Generator().manual_seed(seed)
    golden = torch.randn(count, generator=generator, dtype=torch.float64) * 10.0 ** (seed % 9 - 4)
    target = golden * (1 + torch.randn(count, generator=generator, dtype=torch.float64) * 10.0 ** (-(seed % 6)))
    if seed % 3 == 0:
        golden[:: max(1, count // 5)] = 0
        target[1::7] = 0
    return target.to(noise_dtype or dtype), golden.to(dtype)
