# SPDX-License-Identifier: Apache-2.0
"""The C interface itself: signatures, what torch_npu cannot reach, and errors. hostnpu's device memory is host memory, so tensors
of the CPU serve as well here."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch
import torch_npu  # noqa: F401
from op_calls import LIBRARY, calls, operator_types

SIGNATURES = Path(__file__).parents[4] / "hostnpu" / "opapi" / "aclnn_signatures.tsv"
ACL_TYPES = {torch.float32: 0, torch.float16: 1, torch.int64: 9, torch.bool: 12, torch.float8_e4m3fn: 36}
# Called here because torch_npu reaches them only in special modes.
CALLED_DIRECTLY = {"GeluBackwardV2", "LogSigmoid"}
NULL_PARAMETER, INVALID_PARAMETER, KERNEL_FAILED = 161001, 161002, 507015

for creator in ("aclCreateTensor", "aclCreateScalar", "aclCreateIntArray", "aclCreateTensorList"):
    getattr(LIBRARY, creator).restype = ctypes.c_void_p
LIBRARY.aclGetRecentErrMsg.restype = ctypes.c_char_p


def int64s(values) -> ctypes.Array:
    return (ctypes.c_int64 * len(values))(*values)


def handle(tensor: torch.Tensor) -> ctypes.c_void_p:
    """An aclTensor over the tensor's memory."""
    address = LIBRARY.aclCreateTensor(
        int64s(tensor.shape),
        ctypes.c_uint64(tensor.dim()),
        ACL_TYPES[tensor.dtype],
        int64s(tensor.stride()),
        ctypes.c_int64(tensor.storage_offset()),
        2,
        int64s(tensor.shape),
        ctypes.c_uint64(tensor.dim()),
        ctypes.c_void_p(tensor.untyped_storage().data_ptr()),
    )
    return ctypes.c_void_p(address)


def scalar(value: float) -> ctypes.c_void_p:
    return ctypes.c_void_p(LIBRARY.aclCreateScalar(ctypes.byref(ctypes.c_float(value)), 0))


def phase_one(operator: str, *arguments) -> tuple[int, ctypes.c_void_p]:
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    function = getattr(LIBRARY, f"aclnn{operator}GetWorkspaceSize")
    return function(*arguments, ctypes.byref(size), ctypes.byref(executor)), executor


def run(operator: str, *arguments) -> int:
    """Both phases and a wait; the wait's result code."""
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    code, executor = phase_one(operator, *arguments)
    assert code == 0, LIBRARY.aclGetRecentErrMsg()
    assert getattr(LIBRARY, f"aclnn{operator}")(None, ctypes.c_uint64(0), executor, stream) == 0
    return LIBRARY.aclrtSynchronizeStream(stream)


@pytest.fixture(autouse=True)
def on_the_device() -> None:
    torch.npu.set_device(0)
    torch.zeros(1, device="npu")
    torch.npu.synchronize()


def test_signatures_are_those_of_the_headers() -> None:
    lines = [line for line in SIGNATURES.read_text().splitlines() if not line.startswith("#")]
    headers = dict(line.split("\t") for line in lines)
    ours = operator_types()
    assert len(ours) >= 190
    for name, types in ours.items():
        assert types == headers.get(name), f"{name} takes ({types}), the header says ({headers.get(name)})"


@pytest.mark.parametrize(("reduce", "name"), [(0, None), (1, "add"), (2, "multiply")])
@pytest.mark.parametrize("inplace", [False, True])
def test_scatter_reduces(reduce: int, name: str | None, inplace: bool) -> None:
    x, source = torch.randn(4, 6), torch.randn(4, 6)
    index = torch.randn(4, 6).argsort(1)
    expected = x.scatter(1, index, source, reduce=name) if name else x.scatter(1, index, source)
    arguments = (ctypes.c_int64(1), handle(index), handle(source), ctypes.c_int64(reduce))
    if inplace:
        result = x.clone()
        assert run("InplaceScatter", handle(result), *arguments) == 0
    else:
        result = torch.zeros(4, 6)
        assert run("Scatter", handle(x), *arguments, handle(result)) == 0
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_backward_of_both_kinds(approximate: str) -> None:
    x, gradient, result = torch.randn(4, 6), torch.randn(4, 6), torch.zeros(4, 6)
    text = ctypes.c_char_p(approximate.encode())
    assert run("GeluBackwardV2", handle(gradient), handle(x), text, handle(result)) == 0
    leaf = x.requires_grad_()
    (expected,) = torch.autograd.grad(torch.nn.functional.gelu(leaf, approximate=approximate), leaf, gradient)
    torch.testing.assert_close(result, expected)


def test_log_sigmoid() -> None:
    x, result = torch.randn(4, 6), torch.zeros(4, 6)
    assert run("LogSigmoid", handle(x), handle(result)) == 0
    torch.testing.assert_close(result, torch.nn.functional.logsigmoid(x))


def test_a_task_needs_no_handle_any_more() -> None:
    x, result = torch.randn(5), torch.zeros(5)
    self_handle, number, out_handle = handle(x), scalar(2.0), handle(result)
    code, executor = phase_one("Muls", self_handle, number, out_handle)
    assert code == 0
    LIBRARY.aclDestroyTensor(self_handle)
    LIBRARY.aclDestroyTensor(out_handle)
    LIBRARY.aclDestroyScalar(number)
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    before = calls("Muls")
    assert LIBRARY.aclnnMuls(None, ctypes.c_uint64(0), executor, stream) == 0
    assert calls("Muls") == before + 1
    torch.testing.assert_close(result, x * 2)


def test_null_is_refused() -> None:
    code, _ = phase_one("Exp", None, handle(torch.zeros(3)))
    assert code == NULL_PARAMETER
    message = LIBRARY.aclGetRecentErrMsg().decode()
    assert "aclnnExp(In self, Out out)" in message and "null" in message


def test_an_object_of_another_kind_is_refused() -> None:
    code, _ = phase_one("Exp", scalar(1.0), handle(torch.zeros(3)))
    assert code == INVALID_PARAMETER
    message = LIBRARY.aclGetRecentErrMsg().decode()
    assert "aclnnExp(In self, Out out)" in message and "expected an aclTensor, got aclScalar" in message


def test_a_number_in_place_of_a_handle_is_refused() -> None:
    code, _ = phase_one("Exp", ctypes.c_void_p(7), handle(torch.zeros(3)))
    assert code == INVALID_PARAMETER
    assert "expected an aclTensor, got the value 0x7" in LIBRARY.aclGetRecentErrMsg().decode()


def test_a_type_that_there_is_not_gives_no_tensor() -> None:
    hifloat8 = 34
    made = LIBRARY.aclCreateTensor(
        int64s([3]), ctypes.c_uint64(1), hifloat8, int64s([1]), ctypes.c_int64(0), 2, int64s([3]), ctypes.c_uint64(1), None
    )
    assert made is None
    assert "no data type 34" in LIBRARY.aclGetRecentErrMsg().decode()


def test_an_output_of_the_wrong_shape_fails_and_stays() -> None:
    result = torch.full((3,), 7.0)
    assert run("Exp", handle(torch.zeros(2, 3)), handle(result)) == KERNEL_FAILED
    message = LIBRARY.aclGetRecentErrMsg().decode()
    assert "aclnnExp(In self, Out out) with (Float[2, 3], Float[3])" in message, message
    assert result.tolist() == [7.0] * 3


def test_a_failing_kernel_names_operator_and_arguments() -> None:
    x = torch.ones(4, device="npu")
    with pytest.raises(
        RuntimeError, match=r"aclnnIndexSelect\(.*with \(Float\[4\], 0, Long\[1\], Float\[1\]\): .*out of range"
    ):
        x.index_select(0, torch.tensor([99], device="npu"))
        torch.npu.synchronize()
    torch.testing.assert_close((x + 1).cpu(), torch.full((4,), 2.0))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_one_hot_takes_its_values_and_its_dimension(axis: int) -> None:
    index = torch.tensor([[0, 2, 1], [4, 9, 3]])  # 9: off everywhere
    on, off = torch.tensor([5]), torch.tensor([-1])
    expected = torch.where(torch.arange(5) == index.unsqueeze(-1), 5, -1).movedim(-1, axis)
    result = torch.zeros_like(expected.contiguous())
    assert run("OneHot", handle(index), ctypes.c_int(5), handle(on), handle(off), ctypes.c_int64(axis), handle(result)) == 0
    assert torch.equal(result, expected)
