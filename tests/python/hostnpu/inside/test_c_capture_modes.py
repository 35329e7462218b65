# SPDX-License-Identifier: Apache-2.0
"""Which unsafe calls a capture refuses, by the mode of the capture, the caller's exchange mode, its thread and its device."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_size_t

import acl
import pytest

MODES = {"global": acl.GLOBAL, "thread_local": acl.THREAD_LOCAL, "relaxed": acl.RELAXED}


def copy_under(exchange: int, device: int) -> int:
    """The code of a synchronous copy made on the calling thread."""
    acl.set_device(device)
    with acl.exchanged(exchange):
        target = ctypes.create_string_buffer(8)
        source = acl.malloc(8)
        code = acl.memcpy(target, source, 8, acl.DEVICE_TO_HOST)
        acl.ok("aclrtFree", source)
        return code


def refused(capture: str, exchange: str, same_thread: bool, same_device: bool) -> bool:
    """The table of the documentation, cell by cell."""
    if not same_device:
        return False
    table = {
        # caller's exchange mode -> (capture mode, on the capturing thread) pairs that are refused
        "relaxed": set(),
        "global": {("global", True), ("global", False), ("thread_local", True)},
        "thread_local": {("global", True), ("thread_local", True)},
    }
    return (capture, same_thread) in table[exchange]


@pytest.mark.parametrize("same_device", [True, False], ids=["same_device", "other_device"])
@pytest.mark.parametrize("same_thread", [True, False], ids=["same_thread", "other_thread"])
@pytest.mark.parametrize("exchange", MODES)
@pytest.mark.parametrize("capture", MODES)
def test_table(capture: str, exchange: str, same_thread: bool, same_device: bool) -> None:
    acl.set_device(0)
    stream = acl.create_stream()
    device = 0 if same_device else 1
    with acl.open_capture(stream, MODES[capture]):
        if same_thread:
            code = copy_under(MODES[exchange], device)
            acl.set_device(0)
        else:
            with ThreadPoolExecutor(1) as pool:
                code = pool.submit(copy_under, MODES[exchange], device).result()
    expected = acl.CAPTURE_MODE_NOT_SUPPORT if refused(capture, exchange, same_thread, same_device) else 0
    assert code == expected


def test_the_strictest_capture_of_a_context_counts() -> None:
    acl.set_device(0)
    relaxed, strict = acl.create_stream(), acl.create_stream()
    with acl.open_capture(relaxed, acl.RELAXED):
        assert copy_under(acl.GLOBAL, 0) == 0
        with acl.open_capture(strict, acl.GLOBAL):
            assert copy_under(acl.GLOBAL, 0) == acl.CAPTURE_MODE_NOT_SUPPORT
        assert copy_under(acl.GLOBAL, 0) == 0


def test_a_global_capture_of_another_context_does_not_count() -> None:
    acl.set_device(0)
    strict = acl.create_stream()
    with acl.open_capture(strict, acl.GLOBAL):
        acl.set_device(1)
        with acl.open_capture(acl.create_stream(), acl.RELAXED):
            assert copy_under(acl.GLOBAL, 1) == 0
        acl.set_device(0)


def test_refused_calls_leave_the_capture_valid() -> None:
    acl.set_device(0)
    stream, memory, host = acl.create_stream(), acl.malloc(64), ctypes.create_string_buffer(64)
    assert acl.begin(stream) == 0
    assert acl.memcpy(host, memory, 64, acl.DEVICE_TO_HOST) == acl.CAPTURE_MODE_NOT_SUPPORT
    assert "aclrtMemcpy" in acl.message()
    assert acl.memset(memory, 0, 64) == acl.CAPTURE_MODE_NOT_SUPPORT
    pitch = c_size_t(8)
    code = acl.call("aclrtMemcpy2d", memory, pitch, host, pitch, pitch, pitch, acl.HOST_TO_DEVICE)
    assert code == acl.CAPTURE_MODE_NOT_SUPPORT
    assert acl.memset_async(memory, 7, 64, stream) == 0
    model = acl.end_ok(stream)
    assert acl.execute(model, stream) == 0
    acl.synchronize(stream)
    assert acl.read_bytes(memory, 64) == b"\x07" * 64
    assert acl.destroy(model) == 0


def test_exchange_mode_is_a_swap_that_starts_as_global() -> None:
    def in_new_thread() -> list[int]:
        acl.set_device(0)
        return [acl.exchange(acl.RELAXED), acl.exchange(acl.THREAD_LOCAL), acl.exchange(acl.GLOBAL)]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(in_new_thread).result() == [acl.GLOBAL, acl.RELAXED, acl.THREAD_LOCAL]


def test_exchange_mode_without_a_context() -> None:
    value = ctypes.c_int32(acl.RELAXED)
    with ThreadPoolExecutor(1) as pool:
        code = pool.submit(acl.call, "aclmdlRICaptureThreadExchangeMode", ctypes.byref(value)).result()
    assert code == acl.CONTEXT_NULL


def test_exchange_mode_refuses_nonsense() -> None:
    acl.set_device(0)
    value = ctypes.c_int32(3)
    assert acl.call("aclmdlRICaptureThreadExchangeMode", ctypes.byref(value)) == acl.PARAM_INVALID
