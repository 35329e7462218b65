# SPDX-License-Identifier: Apache-2.0
"""Streams and events without captures, and devices and contexts."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_float, c_int32, c_uint64, c_void_p

import acl
import pytest


@pytest.fixture
def stream() -> c_void_p:
    acl.set_device(0)
    return acl.create_stream()


def status(name: str, handle: c_void_p) -> int:
    value = c_int32(-1)
    acl.ok(name, handle, byref(value))
    return value.value


def test_streams_run_at_the_same_time(stream: c_void_p) -> None:
    other, memory, gate = acl.create_stream(), acl.malloc(8), acl.Gate()
    gate.hold(stream)
    assert acl.memset_async(memory, 1, 8, other) == 0
    acl.synchronize(other)
    assert status("aclrtStreamQuery", stream) == 1
    gate.open()
    acl.synchronize(stream)
    assert status("aclrtStreamQuery", stream) == 0


def test_synchronisation_timeout(stream: c_void_p) -> None:
    gate = acl.Gate()
    gate.hold(stream)
    assert acl.call("aclrtSynchronizeStreamWithTimeout", stream, 30) == acl.STREAM_SYNC_TIMEOUT
    gate.open()
    assert acl.call("aclrtSynchronizeStreamWithTimeout", stream, 5000) == 0


def test_device_synchronisation_waits_for_all_its_streams(stream: c_void_p) -> None:
    memory, gate = acl.malloc(8), acl.Gate()
    gate.hold(stream)
    assert acl.memset_async(memory, 3, 8, stream) == 0
    timer = threading.Timer(0.1, gate_opener(gate))
    timer.start()
    acl.ok("aclrtSynchronizeDevice")
    assert acl.read_bytes(memory, 8) == b"\x03" * 8
    timer.join()


def gate_opener(gate: acl.Gate):
    def work() -> None:
        acl.set_device(0)
        gate.open()

    return work


def test_event_orders_two_streams(stream: c_void_p) -> None:
    other, event, gate = acl.create_stream(), acl.create_event(), acl.Gate()
    order: list[str] = []
    gate.hold(stream)
    acl.launch_host_func(stream, lambda: order.append("first"))
    assert acl.record(event, stream) == 0
    assert acl.wait(other, event) == 0
    acl.launch_host_func(other, lambda: order.append("second"))
    assert status("aclrtQueryEventStatus", event) == 0
    assert status("aclrtQueryEventWaitStatus", event) == 1
    gate.open()
    acl.synchronize(other)
    assert order == ["first", "second"]
    assert status("aclrtQueryEventStatus", event) == 1
    assert status("aclrtQueryEventWaitStatus", event) == 0


def test_wait_is_for_the_record_before_it(stream: c_void_p) -> None:
    """A record that comes after the wait does not hold the waiting stream up."""
    other, event, gate = acl.create_stream(), acl.create_event(), acl.Gate()
    assert acl.record(event, stream) == 0
    assert acl.wait(other, event) == 0
    gate.hold(stream)
    assert acl.record(event, stream) == 0
    acl.synchronize(other)
    gate.open()
    acl.synchronize(stream)


def test_event_that_was_never_recorded(stream: c_void_p) -> None:
    event = acl.create_event()
    assert status("aclrtQueryEventStatus", event) == 1
    acl.ok("aclrtSynchronizeEvent", event)
    assert acl.wait(stream, event) == 0
    acl.synchronize(stream)
    assert acl.call("aclrtEventElapsedTime", byref(c_float()), event, event) == acl.EVENT_TIMESTAMP_INVALID


def test_event_timeout(stream: c_void_p) -> None:
    event, gate = acl.create_event(), acl.Gate()
    gate.hold(stream)
    assert acl.record(event, stream) == 0
    assert acl.call("aclrtSynchronizeEventWithTimeout", event, 30) == acl.EVENT_SYNC_TIMEOUT
    gate.open()
    acl.ok("aclrtSynchronizeEvent", event)


def test_elapsed_time(stream: c_void_p) -> None:
    start, end, elapsed = acl.create_event(), acl.create_event(), c_float()
    assert acl.record(start, stream) == 0
    acl.launch_host_func(stream, lambda: time.sleep(0.05))
    assert acl.record(end, stream) == 0
    acl.synchronize(stream)
    acl.ok("aclrtEventElapsedTime", byref(elapsed), start, end)
    assert 45 < elapsed.value < 2000
    stamps = [c_uint64(), c_uint64()]
    for event, stamp in zip((start, end), stamps, strict=True):
        acl.ok("aclrtEventGetTimestamp", event, byref(stamp))
    assert abs((stamps[1].value - stamps[0].value) / 1000 - elapsed.value) < 1


def test_event_destroyed_while_streams_use_it(stream: c_void_p) -> None:
    other, event, gate = acl.create_stream(), acl.create_event(), acl.Gate()
    gate.hold(stream)
    assert acl.record(event, stream) == 0
    assert acl.wait(other, event) == 0
    acl.ok("aclrtDestroyEvent", event)
    assert acl.call("aclrtDestroyEvent", event) == acl.PARAM_INVALID
    gate.open()
    acl.synchronize(other)


def test_destroy_runs_what_is_queued(stream: c_void_p) -> None:
    memory, gate = acl.malloc(8), acl.Gate()
    gate.hold(stream)
    assert acl.memset_async(memory, 8, 8, stream) == 0
    timer = threading.Timer(0.05, gate_opener(gate))
    timer.start()
    acl.ok("aclrtDestroyStream", stream)
    assert acl.read_bytes(memory, 8) == b"\x08" * 8
    timer.join()
    assert acl.call("aclrtSynchronizeStream", stream) == acl.PARAM_INVALID
    assert acl.call("aclrtDestroyStream", stream) == acl.PARAM_INVALID


def test_forced_destroy_drops_what_is_queued_but_frees_the_waiting(stream: c_void_p) -> None:
    other, memory, event, gate = acl.create_stream(), acl.malloc(8), acl.create_event(), acl.Gate()
    assert acl.memset(memory, 0, 8) == 0
    gate.hold(stream)
    assert acl.memset_async(memory, 1, 8, stream) == 0
    assert acl.record(event, stream) == 0
    assert acl.wait(other, event) == 0
    acl.ok("aclrtDestroyStreamForce", stream)
    acl.synchronize(other)
    assert acl.read_bytes(memory, 8) == bytes(8)


def test_many_streams_and_events_leave_no_threads() -> None:
    acl.set_device(0)

    def threads() -> int:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Threads:"))

    memory, before = acl.malloc(8), threads()
    for _ in range(100):
        stream, event = acl.create_stream(), acl.create_event()
        assert acl.memset_async(memory, 1, 8, stream) == 0
        assert acl.record(event, stream) == 0
        acl.ok("aclrtDestroyEvent", event)
        acl.ok("aclrtDestroyStream", stream)
    assert threads() == before


def test_default_stream_is_one_a_context(stream: c_void_p) -> None:
    first, second = c_void_p(), c_void_p()
    acl.ok("aclrtCtxGetCurrentDefaultStream", byref(first))
    acl.ok("aclrtCtxGetCurrentDefaultStream", byref(second))
    assert first.value == second.value
    assert acl.call("aclrtDestroyStream", first) == acl.PARAM_INVALID
    acl.set_device(1)
    acl.ok("aclrtCtxGetCurrentDefaultStream", byref(second))
    acl.set_device(0)
    assert first.value != second.value


def test_failed_task_surfaces_once_with_its_text(stream: c_void_p) -> None:
    """A host function that outlasts the limit is a failed task; what comes after it still runs."""
    memory, release = acl.malloc(8), threading.Event()
    assert acl.memset(memory, 0, 8) == 0
    acl.ok("aclrtSetOpWaitTimeout", 1)
    acl.launch_host_func(stream, lambda: release.wait(20))
    assert acl.memset_async(memory, 1, 8, stream) == 0
    assert acl.call("aclrtSynchronizeStream", stream) != 0
    assert "HOST_FUNC" in acl.message()
    assert acl.message() == ""
    release.set()
    acl.ok("aclrtSetOpWaitTimeout", 0)
    acl.synchronize(stream)
    assert acl.read_bytes(memory, 8) == b"\x01" * 8


def test_stop_on_failure_skips_what_follows(stream: c_void_p) -> None:
    memory, release = acl.malloc(8), threading.Event()
    assert acl.memset(memory, 0, 8) == 0
    acl.ok("aclrtSetStreamFailureMode", stream, c_uint64(1))
    acl.ok("aclrtSetOpWaitTimeout", 1)
    acl.launch_host_func(stream, lambda: release.wait(20))
    assert acl.memset_async(memory, 1, 8, stream) == 0
    assert acl.call("aclrtSynchronizeStream", stream) != 0
    release.set()
    acl.ok("aclrtSetOpWaitTimeout", 0)
    assert acl.read_bytes(memory, 8) == bytes(8)


def test_devices() -> None:
    device = c_int32()
    assert acl.call("aclrtSetDevice", 2) == acl.INVALID_DEVICEID
    assert "--devices" in acl.message()
    assert acl.call("aclrtSetDevice", -1) == acl.INVALID_DEVICEID
    acl.set_device(1)
    acl.ok("aclrtGetDevice", byref(device))
    assert device.value == 1
    acl.set_device(0)


def test_thread_without_a_context() -> None:
    def work() -> list[int]:
        return [
            acl.call("aclrtGetDevice", byref(c_int32())),
            acl.call("aclrtCreateStream", byref(c_void_p())),
            acl.memset_async(c_void_p(8), 0, 0, None),
            acl.call("aclrtSynchronizeDevice"),
        ]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == [acl.CONTEXT_NULL] * 4


def test_stream_of_another_context(stream: c_void_p) -> None:
    memory = acl.malloc(8)
    acl.set_device(1)
    assert acl.memset_async(memory, 1, 8, stream) == acl.STREAM_CONTEXT
    assert acl.record(acl.create_event(), stream) == acl.STREAM_CONTEXT
    assert acl.call("aclrtDestroyStream", stream) == acl.STREAM_CONTEXT
    assert acl.call("aclrtSynchronizeStream", stream) == 0
    acl.set_device(0)


def test_contexts() -> None:
    acl.set_device(0)
    primary, own, current = c_void_p(), c_void_p(), c_void_p()
    acl.ok("aclrtGetCurrentContext", byref(primary))
    acl.ok("aclrtCreateContext", byref(own), 0)
    acl.ok("aclrtGetCurrentContext", byref(current))
    assert current.value == own.value != primary.value
    stream = acl.create_stream()
    acl.ok("aclrtSetCurrentContext", primary)
    assert acl.record(acl.create_event(), stream) == acl.STREAM_CONTEXT
    assert acl.call("aclrtDestroyContext", primary) == acl.PARAM_INVALID
    acl.ok("aclrtDestroyContext", own)
    assert acl.call("aclrtSynchronizeStream", stream) == acl.PARAM_INVALID
    assert acl.call("aclrtSetCurrentContext", own) == acl.CONTEXT_NULL


def test_reset_device_counts() -> None:
    def work() -> list[int]:
        acl.set_device(1)
        acl.set_device(1)
        stream = acl.create_stream()
        acl.ok("aclrtResetDevice", 1)
        codes = [acl.call("aclrtSynchronizeStream", stream)]
        while acl.call("aclrtSynchronizeStream", stream) == 0:
            acl.ok("aclrtResetDevice", 1)
        codes.append(acl.call("aclrtGetDevice", byref(c_int32())))
        return codes

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == [0, acl.CONTEXT_NULL]
