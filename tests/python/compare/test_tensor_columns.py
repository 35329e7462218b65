# SPDX-License-Identifier: Apache-2.0
"""Our own columns of tensor mode, and that neither threads nor instruction sets change any."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from metric_formulas import ALL_KINDS, FLOATS, array, noisy_pair
from torch.testing._comparison import default_tolerances


@pytest.mark.parametrize("pair", list(itertools.product(ALL_KINDS, repeat=2)), ids=str)
def test_default_tolerances_are_those_of_torch(compare, pair):
    metrics = compare(torch.ones(2).to(pair[0]), torch.ones(2).to(pair[1]))
    assert (metrics["rtol"], metrics["atol"]) == default_tolerances(*pair)


def test_elements_over_tolerance(compare):
    target, golden = noisy_pair(torch.float32, 10000, 3)
    for rtol, atol in [(1e-3, 0), (0, 1e-3), (1e-2, 1e-2), (0, 0)]:
        metrics = compare(target, golden, rtol=rtol, atol=atol)
        close = torch.isclose(target.double(), golden.double(), rtol=rtol, atol=atol)
        assert metrics["over_tolerance"] == int((~close).sum())
        assert (metrics["rtol"], metrics["atol"]) == (rtol, atol)
    only_one = compare(target, golden, rtol=0.5)
    assert (only_one["rtol"], only_one["atol"]) == (0.5, 1e-5)


def test_the_worst_of_equals_is_the_first(compare):
    golden = torch.zeros(3, 200_000)
    target = golden.clone()
    target[1, 77] = target[1, 5] = target[2, 199_999] = -2
    metrics = compare(target, golden, threads=2)
    assert (metrics["worst_index"], metrics["worst_target"], metrics["worst_golden"]) == ("[1, 5]", "-2.0", "0.0")
    assert compare(golden, golden)["worst_index"] == ""


def steps(value: torch.Tensor) -> int:
    """Where a float stands among all of its type."""
    code = int(value.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[value.element_size()]))
    return code if code >= 0 else -(code & (2 ** (8 * value.element_size() - 1) - 1))


@pytest.mark.parametrize("coarse", FLOATS, ids=str)
@pytest.mark.parametrize("fine", [torch.float32, torch.float64], ids=str)
def test_ulp_distance_is_taken_in_the_coarser_type(compare, coarse, fine):
    if coarse == torch.float64 and fine == torch.float32:
        coarse, fine = fine, coarse
    generator = torch.Generator().manual_seed(5)
    for scale in [1, 1e-3, 1e3, 1e-6]:
        target = (torch.randn(2, generator=generator, dtype=torch.float64) * scale).to(coarse)
        golden = (torch.randn(2, generator=generator, dtype=torch.float64) * scale).to(fine)
        metrics = compare(target, golden)
        at = int(metrics["worst_index"][1:-1])
        assert metrics["worst_ulp"] == abs(steps(target[at]) - steps(golden[at].to(coarse)))


def test_relative_l2(compare):
    target, golden = noisy_pair(torch.bfloat16, 1000, 2)
    x, y = array(target).astype(float), array(golden).astype(float)
    assert float(compare(target, golden)["relative_l2"]) == pytest.approx(np.linalg.norm(x - y) / np.linalg.norm(y), rel=1e-13)
    assert compare(torch.ones(3), torch.zeros(3))["relative_l2"] == "inf"
    assert compare(torch.zeros(3), torch.zeros(3))["relative_l2"] == "0.0"


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int16, torch.complex64, torch.float8_e4m3fn], ids=str)
def test_threads_and_instruction_sets_change_nothing(tool, tmp_path, dtype):
    target, golden = noisy_pair(torch.float64, 1_100_001, 3)
    target, golden = ((t.clamp(-100, 100) * 10).to(dtype) for t in (target, golden))
    torch.save(target, tmp_path / "target.pt")
    torch.save(golden, tmp_path / "golden.pt")
    answers = [
        tool.compare(tmp_path / "target.pt", tmp_path / "golden.pt", threads=threads, kernels=kernels)
        for kernels in tool.ask(targets=True)
        for threads in (1, 2, 7)
    ]
    assert all(answer == answers[0] for answer in answers)
    reference = tool.compare(tmp_path / "target.pt", tmp_path / "golden.pt", kernels="reference")
    for key in ("cells", "relative_l2"):
        found, wanted = (np.array(answer.pop(key), dtype=float) for answer in (answers[0], reference))
        assert found == pytest.approx(wanted, rel=1e-13)
    assert answers[0] == reference


def test_files_that_cannot_be_read_have_a_reason(tool, tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "g").mkdir()
    torch.save(torch.ones(3), tmp_path / "t" / "x.pt")
    torch.save(torch.ones(3), tmp_path / "g" / "x.pt")
    folders = [str(tmp_path / "t"), str(tmp_path / "g")]
    assert tool.ask(folders=folders, names=["x.pt", "x.pt"])["status"] == "computed"
    (tmp_path / "g" / "broken.pt").write_bytes((tmp_path / "g" / "x.pt").read_bytes()[:700])
    for name, reason in [
        ("none.pt", "No such file"),
        ("broken.pt", "broken.pt', byte 700: "),
        ("../t/x.pt", "must lie inside"),
    ]:
        metrics = tool.ask(folders=folders, names=["x.pt", name])
        assert metrics["status"] == "unsupported"
        assert metrics["cells"] == ["unsupported"] * 6
        assert reason in metrics["reason"]
