# SPDX-License-Identifier: Apache-2.0
"""Every operator of hostnpu, called through torch_npu and compared with the CPU: eager, in a graph, for types and layouts."""

from __future__ import annotations

import itertools
import zlib

import pytest
import torch
import torch_npu  # noqa: F401
from op_calls import calls, operator_types
from op_case import LAYOUTS, Case, in_layout
from op_cases import CASES
from test_ops_c_interface import CALLED_DIRECTLY
from test_ops_random import DRAWS

REFUSALS = (RuntimeError, IndexError, ValueError, AssertionError)  # torch.nn.functional asserts some of its rules


def tensors_of(result) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(itertools.chain(*map(tensors_of, result)))


def inputs_of(case: Case, dtype: torch.dtype, layout: str, shapes: list[tuple[int, ...]] | None = None):
    """The inputs on the CPU and the same on the NPU in the layout; None where an input cannot lie so."""
    generator = torch.Generator().manual_seed(zlib.crc32(case.name.encode()))
    on_cpu, on_npu = [], []
    for position, spec in enumerate(case.inputs):
        values = spec.make(generator, dtype, shapes[position] if shapes else spec.shape)
        written = case.inplace and position == 0
        moved = in_layout(values, "contiguous" if layout == "expanded" and written else layout, "npu")
        if moved is None:
            return None
        on_npu.append(moved)
        on_cpu.append(moved.cpu().clone() if layout == "expanded" else values)
    return on_cpu, on_npu


def compare(case: Case, on_npu, on_cpu) -> None:
    got, expected = tensors_of(on_npu), tensors_of(on_cpu)
    assert len(got) == len(expected)
    for one, other in zip(got, expected):
        assert one.shape == other.shape
        one, other = one.cpu(), other.cpu()
        if one.dtype.itemsize == 1 and one.dtype.is_floating_point:
            one, other = one.view(torch.uint8), other.view(torch.uint8)
        torch.testing.assert_close(one, other, equal_nan=True, **(case.tolerance or {}))


def check(case: Case, dtype: torch.dtype, layout: str) -> None:
    inputs = inputs_of(case, dtype, layout)
    if inputs is None:
        return
    on_cpu, on_npu = inputs
    before = {operator: calls(operator) for operator in case.operators.split()}
    result = case.call(*on_npu)
    if layout == "contiguous":  # for others torch_npu may choose another operator
        for operator, count in before.items():
            assert calls(operator) > count, f"{case.name}: aclnn{operator} did not run"
    expected = (case.reference or case.call)(*on_cpu)
    compare(case, result, expected)


def case_id(value) -> str:
    return value.name if isinstance(value, Case) else str(value).replace("torch.", "")


@pytest.mark.parametrize(("case", "dtype"), [(c, d) for c in CASES for d in c.dtypes], ids=case_id)
def test_eager(case: Case, dtype: torch.dtype) -> None:
    for layout in LAYOUTS if case.layouts else ("contiguous",):
        check(case, dtype, layout)


def empty_shapes(case: Case) -> list[list[tuple[int, ...]]]:
    """Ways to make inputs empty: the first dimension of all, the first or the last one of the first input alone."""
    shapes = [spec.shape for spec in case.inputs]
    if not shapes[0]:
        return []
    first = [(0, *shape[1:]) if shape else shape for shape in shapes]
    return [first, [first[0], *shapes[1:]], [(*shapes[0][:-1], 0), *shapes[1:]]]


@pytest.mark.parametrize("case", [c for c in CASES if c.zero_size], ids=case_id)
def test_zero_size(case: Case) -> None:
    """Where the CPU has a result, the NPU has the same; what the CPU refuses, the NPU refuses or answers with nothing."""
    for shapes in empty_shapes(case):
        on_cpu, on_npu = inputs_of(case, case.dtypes[0], "contiguous", shapes)
        try:
            expected = (case.reference or case.call)(*on_cpu)
        except REFUSALS:
            expected = None
        try:
            result = case.call(*on_npu)
            torch.npu.synchronize()
        except REFUSALS:
            assert expected is None, f"shapes {shapes}: the NPU refuses what the CPU computes"
            continue
        if expected is not None:
            compare(case, result, expected)
        else:
            assert all(one.numel() == 0 for one in tensors_of(result)), (
                f"shapes {shapes}: the CPU refuses, the NPU gives {result}"
            )


@pytest.mark.parametrize("case", [c for c in CASES if c.graph], ids=case_id)
def test_in_a_graph(case: Case) -> None:
    """Captured once, replayed on new inputs: a task must have kept nothing of the capture but addresses."""
    on_cpu, on_npu = inputs_of(case, case.dtypes[0], "contiguous")
    first = [tensor.clone() for tensor in on_npu]
    case.call(*[tensor.clone() for tensor in on_npu])
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result = case.call(*on_npu)
    for _ in range(2):
        for tensor, values in zip(on_npu, first):
            tensor.copy_(values)
        graph.replay()
        torch.npu.synchronize()
        compare(case, result, (case.reference or case.call)(*[tensor.clone() for tensor in on_cpu]))


def test_every_operator_has_a_case() -> None:
    covered = CALLED_DIRECTLY | {operator for case in CASES for operator in case.operators.split()}
    covered |= {operator for eager, in_graph, *_ in DRAWS.values() for operator in f"{eager} {in_graph or ''}".split()}
    exported = {name.removeprefix("aclnn") for name in operator_types()}
    assert covered >= exported, f"operators without a case: {sorted(exported - covered)}"
    assert exported >= covered, f"cases of operators that do not exist: {sorted(covered - exported)}"
