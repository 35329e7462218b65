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


def tensors_of(result) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(itertools.chain(*map(tensors_of, result)))


def inputs_of(case: Case, dtype: torch.dtype, layout: str, empty: bool = False):
    """The inputs on the CPU and the same on the NPU in the layout; None where an input cannot lie so."""
    generator = torch.Generator().manual_seed(zlib.crc32(case.name.encode()))
    on_cpu, on_npu = [], []
    for position, spec in enumerate(case.inputs):
        shape = (0, *spec.shape[1:]) if empty else spec.shape
        values = spec.make(generator, dtype, shape)
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


def check(case: Case, dtype: torch.dtype, layout: str, empty: bool = False) -> None:
    inputs = inputs_of(case, dtype, layout, empty)
    if inputs is None:
        return
    on_cpu, on_npu = inputs
    before = {operator: calls(operator) for operator in case.operators.split()}
    result = case.call(*on_npu)
    if layout == "contiguous" and not empty:  # for others torch_npu may choose another operator
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
    if case.empty:
        check(case, dtype, "contiguous", empty=True)


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
