# SPDX-License-Identifier: Apache-2.0
"""Calls while a capture is open: what is recorded, what is refused with which code, and that a refusal does not end the capture."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_float, c_int32, c_size_t, c_uint64, c_void_p

import acl
import pytest

MODES = [acl.GLOBAL, acl.THREAD_LOCAL, acl.RELAXED]
CANN = tuple(int(part) for part in os.environ["HOSTNPU_CANN"].split(".")[:2])


@pytest.fixture
def stream() -> c_void_p:
    acl.set_device(0)
    return acl.create_stream()


@pytest.fixture(params=MODES, ids=["global", "thread_local", "relaxed"])
def capturing(request: pytest.FixtureRequest, stream: c_void_p) -> Iterator[c_void_p]:
    """A stream in capture. After the test its capture must still become a graph."""
    assert acl.begin(stream, request.param) == 0
    yield stream
    assert acl.destroy(acl.end_ok(stream)) == 0


@pytest.mark.parametrize("name", ["aclrtSynchronizeStream", "aclrtDestroyStream", "aclrtDestroyStreamForce"])
def test_stream_calls_on_the_capturing_stream(capturing: c_void_p, name: str) -> None:
    assert acl.call(name, capturing) == acl.STREAM_CAPTURED
    assert name in acl.message()


def test_stream_query_of_the_capturing_stream(capturing: c_void_p) -> None:
    assert acl.call("aclrtStreamQuery", capturing, byref(c_int32())) == acl.STREAM_CAPTURED


def test_stream_sync_with_timeout_of_the_capturing_stream(capturing: c_void_p) -> None:
    assert acl.call("aclrtSynchronizeStreamWithTimeout", capturing, 10) == acl.STREAM_CAPTURED


def test_sync_of_another_stream(capturing: c_void_p) -> None:
    other, memory = acl.create_stream(), acl.malloc(8)
    assert acl.memset_async(memory, 3, 8, other) == 0
    assert acl.call("aclrtSynchronizeStream", other) == 0
    assert acl.call("aclrtDestroyStream", other) == 0


@pytest.mark.parametrize("name", ["aclrtSynchronizeDevice", "aclrtSynchronizeDeviceWithTimeout"])
def test_device_sync_is_refused_for_every_thread(capturing: c_void_p, name: str) -> None:
    arguments = (-1,) if name.endswith("Timeout") else ()

    def elsewhere() -> int:
        acl.set_device(0)
        with acl.exchanged(acl.RELAXED):
            return acl.call(name, *arguments)

    assert acl.call(name, *arguments) == acl.STREAM_CAPTURED
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == acl.STREAM_CAPTURED


def test_device_sync_of_another_device(capturing: c_void_p) -> None:
    acl.set_device(1)
    assert acl.call("aclrtSynchronizeDevice") == 0
    acl.set_device(0)


def test_allocation_is_allowed(capturing: c_void_p) -> None:
    acl.ok("aclrtFree", acl.malloc(1024))
    acl.ok("aclrtFreeHost", acl.malloc_host(1024))


def test_host_calls_on_an_event_of_the_capture(capturing: c_void_p) -> None:
    event, ordinary = acl.create_event(), acl.create_event()
    assert acl.record(event, capturing) == 0
    status = c_int32()
    assert acl.call("aclrtQueryEventStatus", event, byref(status)) == acl.EVENT_CAPTURED
    assert acl.call("aclrtSynchronizeEvent", event) == acl.EVENT_CAPTURED
    assert acl.call("aclrtEventElapsedTime", byref(c_float()), event, event) == acl.EVENT_CAPTURED
    assert acl.call("aclrtEventGetTimestamp", event, byref(c_uint64())) == acl.EVENT_CAPTURED
    assert acl.call("aclrtQueryEventStatus", ordinary, byref(status)) == 0
    assert acl.call("aclrtSynchronizeEvent", ordinary) == 0


def test_event_is_free_again_after_the_capture(stream: c_void_p) -> None:
    event = acl.create_event()
    assert acl.begin(stream) == 0
    assert acl.record(event, stream) == 0
    model = acl.end_ok(stream)
    assert acl.call("aclrtSynchronizeEvent", event) == 0
    other = acl.create_stream()
    assert acl.wait(other, event) == 0
    assert acl.info(other) == (acl.NONE, None)
    assert acl.record(event, other) == 0
    acl.synchronize(other)
    assert acl.destroy(model) == 0


@pytest.mark.parametrize("direction", [acl.DEVICE_TO_HOST, acl.HOST_TO_DEVICE, acl.DEVICE_TO_DEVICE])
def test_copy_of_pinned_and_device_memory_is_captured(stream: c_void_p, direction: int) -> None:
    host_side = direction != acl.DEVICE_TO_DEVICE
    source = acl.malloc_host(8) if direction == acl.HOST_TO_DEVICE else acl.malloc(8)
    target = acl.malloc_host(8) if host_side and direction == acl.DEVICE_TO_HOST else acl.malloc(8)
    ctypes.memset(source, 1, 8)
    ctypes.memset(target, 0, 8)
    assert acl.begin(stream) == 0
    assert acl.memcpy_async(target, source, 8, direction, stream) == 0
    model = acl.end_ok(stream)
    assert ctypes.string_at(target, 8) == bytes(8)
    for value in (5, 9):
        ctypes.memset(source, value, 8)
        assert acl.execute(model, stream) == 0
        acl.synchronize(stream)
        assert ctypes.string_at(target, 8) == bytes([value]) * 8
    assert acl.destroy(model) == 0


@pytest.mark.parametrize("direction", [acl.DEVICE_TO_HOST, acl.HOST_TO_DEVICE])
def test_pageable_copy_on_the_capturing_stream(capturing: c_void_p, direction: int) -> None:
    host, device = ctypes.create_string_buffer(8), acl.malloc(8)
    target, source = (host, device) if direction == acl.DEVICE_TO_HOST else (device, host)
    expected = acl.PARAM_INVALID if CANN >= (9, 1) else acl.STREAM_CAPTURED
    assert acl.memcpy_async(target, source, 8, direction, capturing) == expected
    assert "aclrtMallocHost" in acl.message()


def test_pageable_copy_on_another_stream_obeys_the_mode(stream: c_void_p) -> None:
    """It becomes a synchronous copy, and those are refused by the mode table."""
    host, device, other = ctypes.create_string_buffer(8), acl.malloc(8), acl.create_stream()
    refused = acl.CAPTURE_MODE_BLOCK_ASYNC if CANN >= (9, 1) else acl.CAPTURE_MODE_NOT_SUPPORT
    for mode, expected in ((acl.GLOBAL, refused), (acl.THREAD_LOCAL, refused), (acl.RELAXED, 0)):
        with acl.open_capture(stream, mode):
            assert acl.memcpy_async(host, device, 8, acl.DEVICE_TO_HOST, other) == expected


def test_pageable_copy_without_capture_waits_for_the_stream(stream: c_void_p) -> None:
    host, device, gate = ctypes.create_string_buffer(8), acl.malloc(8), acl.Gate()
    gate.hold(stream)
    assert acl.memset_async(device, 6, 8, stream) == 0
    with ThreadPoolExecutor(1) as pool:

        def copy() -> int:
            acl.set_device(0)
            return acl.memcpy_async(host, device, 8, acl.DEVICE_TO_HOST, stream)

        copying = pool.submit(copy)
        with pytest.raises(TimeoutError):
            copying.result(timeout=0.1)
        gate.open()
        assert copying.result() == 0
    # Blocking: the bytes are there without a synchronisation.
    assert host.raw == b"\x06" * 8


def test_registered_host_memory_counts_as_pinned(capturing: c_void_p) -> None:
    host, device, mapped = ctypes.create_string_buffer(4096), acl.malloc(8), c_void_p()
    acl.ok("aclrtHostRegister", host, c_uint64(4096), 0, byref(mapped))
    assert acl.memcpy_async(host, device, 8, acl.DEVICE_TO_HOST, capturing) == 0
    acl.ok("aclrtHostUnregister", host)
    assert acl.memcpy_async(host, device, 8, acl.DEVICE_TO_HOST, capturing) != 0


def test_graphs_do_not_nest(stream: c_void_p) -> None:
    assert acl.begin(stream) == 0
    model = acl.end_ok(stream)
    other = acl.create_stream()
    with acl.open_capture(other, acl.RELAXED):
        assert acl.execute(model, other) == acl.STREAM_CAPTURED
    assert acl.execute(model, other) == 0
    acl.synchronize(other)
    assert acl.destroy(model) == 0


def test_work_on_the_default_stream_is_not_refused(capturing: c_void_p) -> None:
    memory = acl.malloc(8)
    assert acl.memset_async(memory, 4, 8, None) == 0
    assert acl.call("aclrtSynchronizeStream", None) == 0
    with acl.exchanged(acl.RELAXED):
        assert acl.read_bytes(memory, 8) == b"\x04" * 8


def test_subscription_has_no_capture_check(capturing: c_void_p) -> None:
    import threading

    thread = c_uint64(threading.get_ident())
    assert acl.call("aclrtSubscribeReport", thread, capturing) == 0
    assert acl.call("aclrtUnSubscribeReport", thread, capturing) == 0


def test_a_call_that_is_no_copy_keeps_its_limits(capturing: c_void_p) -> None:
    memory = acl.malloc(8)
    assert acl.call("aclrtMemsetAsync", memory, c_size_t(8), 0, c_size_t(9), capturing) == acl.PARAM_INVALID
