# SPDX-License-Identifier: Apache-2.0
"""The six original columns of tensor mode against numpy: files of torch.save, compared by the C++ core."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from metric_formulas import (
    COSINE,
    EUCLIDEAN,
    FIVE,
    FLOATS,
    FLOATS8,
    INF,
    MAX_ABS,
    MAX_RELATIVE,
    NAN,
    ONE,
    array,
    check_cells,
    expected_cells,
    noisy_pair,
    rounded,
)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [2, 15, 16, 17, 100, 4095, 4096, 4097, 10000])
def test_formulas_of_every_floating_type(compare, dtype, count):
    for seed in range(6):
        target, golden = noisy_pair(dtype, count, seed)
        check_cells(compare(target, golden), expected_cells(target, golden))


@pytest.mark.parametrize("pair", list(itertools.permutations(FLOATS, 2)), ids=str)
def test_formulas_of_mixed_types(compare, pair):
    target, golden = noisy_pair(pair[1], 1000, 4, pair[0])
    check_cells(compare(target, golden), expected_cells(target, golden))


@pytest.mark.parametrize("dtype", FLOATS8, ids=str)
def test_formulas_of_8_bit_floats(compare, dtype):
    codes = torch.arange(256, dtype=torch.uint8).view(dtype)
    finite = codes[codes.float().isfinite()]
    golden = finite.view(torch.uint8).flip(0).view(dtype)
    check_cells(compare(finite, golden), expected_cells(finite.float(), golden.float()))
    check_cells(compare(finite, golden.float()), expected_cells(finite.float(), golden.float()))


INTEGERS = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.uint16,
    torch.int16,
    torch.uint32,
    torch.int32,
    torch.uint64,
    torch.int64,
]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_formulas_of_integers(compare, dtype):
    generator = torch.Generator().manual_seed(1)
    info = torch.iinfo(dtype if dtype != torch.bool else torch.uint8)
    low, high = max(info.min, -(2**40)), min(info.max, 2**40)
    target, golden = (torch.randint(low, high, (500,), generator=generator).to(dtype) for _ in range(2))
    metrics = compare(target, golden)
    check_cells(metrics, expected_cells(target, golden))
    assert metrics["over_tolerance"] == np.count_nonzero(array(target) != array(golden))


def test_64_bit_integers_are_compared_exactly(compare):
    metrics = compare(torch.tensor([2**53, 5, 2**63 - 1]), torch.tensor([2**53 + 1, 5, 2**63 - 1]))
    assert (metrics["cells"][MAX_ABS], metrics["over_tolerance"], metrics["worst_ulp"]) == ("1.0", 1, 1)
    assert (metrics["worst_index"], metrics["worst_target"], metrics["worst_golden"]) == (
        "[0]",
        "9007199254740992",
        "9007199254740993",
    )
    metrics = compare(torch.tensor([2**64 - 1, 0], dtype=torch.uint64), torch.tensor([-1, 0]))
    assert float(metrics["cells"][MAX_ABS]) == 2**64
    assert metrics["worst_target"] == "18446744073709551615"


def test_numbers_of_different_kinds_are_compared_by_value(compare):
    target = torch.tensor([1, 2, 3], dtype=torch.int32)
    check_cells(compare(target, torch.tensor([1.0, 2.0, 3.5])), expected_cells(target, torch.tensor([1.0, 2.0, 3.5])))
    assert compare(torch.tensor([True, False]), torch.tensor([1.0, 0.0]))["over_tolerance"] == 0


LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.t().contiguous().t(),
    "sliced": lambda x: torch.stack([x, x + 1], -1)[..., 0],
    "rows apart": lambda x: torch.cat([x, x], 1)[:, : x.shape[1]],
    "ones": lambda x: x.reshape(x.shape[0], 1, x.shape[1], 1),
}


@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, repeat=2)), ids=str)
def test_layouts_change_nothing(compare, layouts):
    target, golden = noisy_pair(torch.float32, 60 * 100, 8)
    target, golden = target.reshape(60, 100), golden.reshape(60, 100)
    metrics = compare(LAYOUTS[layouts[0]](target), LAYOUTS[layouts[1]](golden))
    plain = compare(target, golden)
    worst = int(torch.argmax((target.double() - golden.double()).abs()))
    index = [worst // 100, worst % 100]
    assert metrics.pop("worst_index") == str(index if layouts[0] != "ones" else [index[0], 0, index[1], 0])
    assert plain.pop("worst_index") == str(index)
    assert metrics == plain


def test_expanded_tensors(compare):
    golden = torch.randn(50, 1).expand(50, 70)
    target = (torch.randn(70) * 1e-3).expand(50, 70) + golden
    check_cells(compare(target, golden), expected_cells(target, golden))


def test_conjugated_and_negated_views(compare):
    x = torch.randn(100, dtype=torch.complex64)
    assert compare(x.conj(), x.conj().resolve_conj())["over_tolerance"] == 0
    assert compare(x.conj().imag, -x.imag.clone())["over_tolerance"] == 0
    assert compare(x.conj(), x)["over_tolerance"] == 100


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("dtype", [torch.complex32, torch.complex64, torch.complex128], ids=str)
def test_complex_tensors_count_with_both_parts(compare, dtype):
    generator = torch.Generator().manual_seed(2)
    golden = torch.randn(300, generator=generator, dtype=torch.complex128).to(dtype)
    target = (golden.to(torch.complex128) * complex(1.001, 0.002)).to(dtype)
    metrics = compare(target, golden)
    x, y = (array(t).astype(np.complex128) for t in (target, golden))
    error = np.abs(x - y)
    found = list(map(float, metrics["cells"]))
    assert found[COSINE] == pytest.approx(np.vdot(y, x).real / np.linalg.norm(x) / np.linalg.norm(y), abs=1e-6)
    assert found[EUCLIDEAN] == pytest.approx(np.linalg.norm(x - y), rel=1e-14)
    assert found[MAX_ABS] == pytest.approx(error.max(), abs=1e-12)
    assert found[MAX_RELATIVE] == pytest.approx((error / np.abs(y)).max(), abs=1e-12)
    assert found[ONE] == rounded(np.count_nonzero(error / np.abs(y) < 0.001) / 300)
    assert found[FIVE] == rounded(np.count_nonzero(error / np.abs(y) < 0.005) / 300)
    assert metrics["over_tolerance"] == np.count_nonzero(~np.isclose(x, y, metrics["rtol"], metrics["atol"]))


def test_an_imaginary_part_alone_is_seen(compare):
    metrics = compare(torch.tensor([1 + 1j, 2 + 2j]), torch.tensor([1 + 1j, 2 - 2j]))
    assert (metrics["cells"][MAX_ABS], metrics["worst_index"], metrics["worst_target"]) == ("4.0", "[1]", "(2+2j)")
    metrics = compare(torch.tensor([1 + 0.5j, 2]), torch.tensor([1.0, 2.0]))
    assert (metrics["cells"][MAX_ABS], metrics["worst_golden"]) == ("0.5", "1.0")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("where", [0, 5, 4096, 4999])
def test_equal_special_values_leave_the_rest(compare, dtype, where):
    target, golden = noisy_pair(dtype, 5000, 2)
    zeroed = target.clone(), golden.clone()
    for at, value in [(where, NAN), ((where + 1) % 5000, INF), ((where + 2) % 5000, -INF)]:
        target[at] = golden[at] = value
        zeroed[0][at] = zeroed[1][at] = 0
    metrics = compare(target, golden)
    check_cells(metrics, expected_cells(*zeroed))
    x, y = (array(tensor).astype(float) for tensor in zeroed)
    assert metrics["over_tolerance"] == np.count_nonzero(~np.isclose(x, y, metrics["rtol"], metrics["atol"]))


SPECIALS = {
    "NaN only in the target": (NAN, 1.0, "NaN only in the target: 1 element"),
    "NaN only in the golden": (1.0, NAN, "NaN only in the golden: 1 element"),
    "Inf only in the target": (-INF, 1.0, "Inf only in the target: 1 element"),
    "Inf only in the golden": (1.0, INF, "Inf only in the golden: 1 element"),
    "NaN against Inf": (NAN, INF, "NaN only in the target: 1 element; Inf only in the golden: 1 element"),
    "signs": (INF, -INF, "+Inf against -Inf: 1 element"),
}


@pytest.mark.parametrize("what", SPECIALS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_different_special_values(compare, what, dtype):
    ours, theirs, reason = SPECIALS[what]
    target, golden = torch.ones(2, 3000, dtype=dtype), torch.ones(2, 3000, dtype=dtype)
    target[1, 2500], golden[1, 2500] = ours, theirs
    target[0, 7] = 100  # a larger difference than any is not the worst if infinities differ
    metrics = compare(target, golden)
    assert metrics["status"] == "special"
    assert metrics["cells"] == ["N/A"] * 6
    assert metrics["reason"] == reason
    assert metrics["worst_index"] == "[1, 2500]"
    assert [float(metrics["worst_target"]), float(metrics["worst_golden"])] == pytest.approx([ours, theirs], nan_ok=True)
    assert (metrics["worst_ulp"], metrics["relative_l2"], metrics["over_tolerance"]) == (None, None, 2)


def test_the_special_part_of_a_complex_number_counts(compare):
    metrics = compare(torch.tensor([complex(1, INF), 1]), torch.tensor([complex(INF, 1), 1]))
    assert (metrics["status"], metrics["reason"]) == ("special", "+Inf against -Inf: 1 element")


SCALARS = {
    "numbers": (1.5, 1.0, ["0.5", "0.5"]),
    "zero": (0.0, 0.0, ["0.0", "0.0"]),
    "golden zero": (1.0, 0.0, ["1.0", None]),
    "both NaN": (NAN, NAN, ["Nan", "Nan"]),
    "NaN": (NAN, 1.0, ["Nan", "Nan"]),
    "target infinite": (INF, 1.0, ["inf", "inf"]),
    "golden infinite": (1.0, INF, ["inf", "Nan"]),
    "both infinite": (INF, INF, ["Nan", "Nan"]),
    "opposite": (INF, -INF, ["inf", "Nan"]),
}


@pytest.mark.parametrize("what", SCALARS, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)], ids=str)
def test_one_element(compare, what, shape):
    ours, theirs, maxima = SCALARS[what]
    metrics = compare(torch.full(shape, ours), torch.full((1,), theirs))
    assert metrics["status"] == "scalar"
    unsupported = ["unsupported"] * 2
    found = metrics["cells"]
    assert found[:2] + found[4:] == unsupported * 2
    assert found[2] == maxima[0]
    assert maxima[1] is None or found[3] == maxima[1]
    same = ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    assert metrics["over_tolerance"] == (0 if same else 1)
    assert metrics["worst_index"] == ("" if same else str([0] * len(shape)))


def test_shapes(compare):
    metrics = compare(torch.ones(2, 3), torch.ones(3, 2))
    assert (metrics["status"], metrics["cells"]) == ("shape", ["shape unmatched"] * 6)
    assert "[2, 3] of torch.float32 in the target, [3, 2] of torch.float32" in metrics["reason"]
    assert compare(torch.ones(2, 1, 3), torch.ones(1, 2, 3))["status"] == "computed"
    metrics = compare(torch.ones(0, 3), torch.ones(0, 3))
    assert (metrics["status"], metrics["reason"]) == ("unsupported", "the target's tensor is empty, shape [0, 3]")
    assert metrics["cells"] == ["unsupported"] * 6
    assert compare(torch.ones(3), torch.ones(0))["status"] == "shape"


def test_packed_fp4(compare):
    target = torch.tensor([[0x10, 0x32]], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    golden = torch.tensor([[0x10, 0x72]], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    metrics = compare(target, golden)
    check_cells(metrics, expected_cells(torch.tensor([0, 0.5, 1, 1.5]), torch.tensor([0, 0.5, 1, 6])))
    assert (metrics["elements"], metrics["worst_index"], metrics["worst_ulp"]) == (4, "[0, 1, 1]", 4)
    assert compare(target, torch.ones(2))["status"] == "shape"


def test_cosine_of_tiny_tensors(compare):
    tiny = torch.full((3,), 1e-30)
    assert compare(tiny, tiny * 2)["cells"][COSINE] == "1.0"
    assert compare(tiny, torch.ones(3))["cells"][COSINE] == "Nan"
    assert compare(torch.ones(3), -torch.ones(3))["cells"][COSINE] == "-1.0"


@pytest.mark.parametrize("limit", [0.001, 0.005])
def test_ratios_just_at_their_limits(compare, limit):
    near = np.float32(1 + limit).view(np.int32) + np.arange(-500, 500, dtype=np.int32)
    target, golden = torch.from_numpy(near.view(np.float32)), torch.ones(1000)
    check_cells(compare(target, golden), expected_cells(target, golden))
