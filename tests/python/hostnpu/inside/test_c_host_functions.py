# SPDX-License-Identifier: Apache-2.0
"""Host functions: on which thread they run, in which order, what they may not be mixed with, and captured ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_int32, c_uint64, c_void_p

import acl
import pytest


@pytest.fixture
def stream() -> c_void_p:
    acl.set_device(0)
    return acl.create_stream()


@contextmanager
def reporting(*streams: c_void_p) -> Iterator[int]:
    """A thread that calls aclrtProcessReport for the streams; its id."""
    stop, ids = threading.Event(), []
    started = threading.Event()

    def serve() -> None:
        ids.append(threading.get_ident())
        started.set()
        while not stop.is_set():
            acl.call("aclrtProcessReport", 20)
            acl.message()

    thread = threading.Thread(target=serve)
    thread.start()
    started.wait()
    for stream in streams:
        acl.ok("aclrtSubscribeReport", c_uint64(ids[0]), stream)
    try:
        yield ids[0]
    finally:
        for stream in streams:
            acl.ok("aclrtUnSubscribeReport", c_uint64(ids[0]), stream)
        stop.set()
        thread.join()


def test_one_thread_for_all_streams_and_graphs_of_a_device(stream: c_void_p) -> None:
    threads: set[int] = set()

    def note() -> None:
        threads.add(threading.get_ident())

    other = acl.create_stream()
    assert acl.begin(stream) == 0
    assert acl.launch_host_func(stream, note) == 0
    model = acl.end_ok(stream)
    for target in (stream, other, None):
        assert acl.launch_host_func(target, note) == 0
    assert acl.execute(model, other) == 0
    for target in (stream, other, None):
        acl.synchronize(target)
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_each_device_has_its_own_thread(stream: c_void_p) -> None:
    threads: list[int] = []
    acl.launch_host_func(stream, lambda: threads.append(threading.get_ident()))
    acl.synchronize(stream)
    acl.set_device(1)
    other = acl.create_stream()
    acl.launch_host_func(other, lambda: threads.append(threading.get_ident()))
    acl.synchronize(other)
    acl.set_device(0)
    assert len(set(threads)) == 2


def test_stream_waits_for_the_function(stream: c_void_p) -> None:
    memory, release, seen = acl.malloc(8), threading.Event(), []
    assert acl.memset(memory, 0, 8) == 0
    assert acl.launch_host_func(stream, lambda: seen.append(release.wait(10))) == 0
    assert acl.memset_async(memory, 1, 8, stream) == 0
    time.sleep(0.05)
    status = c_int32()
    acl.ok("aclrtStreamQuery", stream, byref(status))
    assert status.value == 1
    assert acl.read_bytes(memory, 8) == bytes(8)
    release.set()
    acl.synchronize(stream)
    acl.ok("aclrtStreamQuery", stream, byref(status))
    assert (status.value, seen) == (0, [True])
    assert acl.read_bytes(memory, 8) == b"\x01" * 8


def test_slow_function_holds_up_the_functions_of_other_streams_only(stream: c_void_p) -> None:
    other, memory = acl.create_stream(), acl.malloc(8)
    release, order = threading.Event(), []
    acl.launch_host_func(stream, lambda: (release.wait(10), order.append("slow")))
    time.sleep(0.02)
    assert acl.memset_async(memory, 9, 8, other) == 0
    event = acl.create_event()
    assert acl.record(event, other) == 0
    acl.launch_host_func(other, lambda: order.append("fast"))
    acl.ok("aclrtSynchronizeEvent", event)
    time.sleep(0.05)
    assert order == []
    release.set()
    acl.synchronize(other)
    acl.synchronize(stream)
    assert order == ["slow", "fast"]


def test_functions_run_in_stream_order(stream: c_void_p) -> None:
    order: list[int] = []
    for number in range(200):
        acl.launch_host_func(stream, lambda number=number: order.append(number))
    acl.synchronize(stream)
    assert order == list(range(200))


def test_no_context_on_the_thread(stream: c_void_p) -> None:
    """aclInit was not told of a default device here, so a runtime call in the function has no context."""
    codes: list[int] = []
    acl.launch_host_func(stream, lambda: codes.append(acl.call("aclrtSynchronizeDevice")))
    acl.launch_host_func(stream, lambda: codes.append(acl.call("aclrtGetDevice", byref(c_int32()))))
    acl.launch_host_func(stream, lambda: codes.append(acl.call("aclrtGetCurrentContext", byref(c_void_p()))))
    acl.synchronize(stream)
    assert codes == [acl.CONTEXT_NULL] * 3


def test_saved_context_and_relaxed_copy_inside_the_function(stream: c_void_p) -> None:
    import ctypes

    context, memory, host, codes = c_void_p(), acl.malloc(8), ctypes.create_string_buffer(8), []
    acl.ok("aclrtGetCurrentContext", byref(context))

    def copy() -> None:
        codes.append(acl.call("aclrtSetCurrentContext", context))
        with acl.exchanged(acl.RELAXED):
            codes.append(acl.memcpy(host, memory, 8, acl.DEVICE_TO_HOST))

    assert acl.begin(stream) == 0
    assert acl.memset_async(memory, 4, 8, stream) == 0
    assert acl.launch_host_func(stream, copy) == 0
    assert acl.memset_async(memory, 0, 8, stream) == 0
    model = acl.end_ok(stream)
    assert codes == []
    # Another capture in GLOBAL mode, open during the replay, must not disturb it.
    other = acl.create_stream()
    with acl.open_capture(other):
        assert acl.execute(model, stream) == 0
        acl.synchronize(stream)
    assert codes == [0, 0]
    assert host.raw == b"\x04" * 8


def test_copy_inside_the_function_without_relaxed_mode_is_refused_during_a_capture(stream: c_void_p) -> None:
    context, memory, codes = c_void_p(), acl.malloc(8), []
    acl.ok("aclrtGetCurrentContext", byref(context))

    def copy() -> None:
        acl.call("aclrtSetCurrentContext", context)
        codes.append(acl.memcpy(memory, memory, 8, acl.DEVICE_TO_DEVICE))

    with acl.open_capture(acl.create_stream()):
        acl.launch_host_func(stream, copy)
        acl.synchronize(stream)
    assert codes == [acl.CAPTURE_MODE_NOT_SUPPORT]


def test_wait_timeout_ends_the_wait(stream: c_void_p) -> None:
    release = threading.Event()
    acl.ok("aclrtSetOpWaitTimeout", 1)
    try:
        acl.launch_host_func(stream, lambda: release.wait(20))
        assert acl.call("aclrtSynchronizeStream", stream) != 0
        assert "aclrtSetOpWaitTimeout" in acl.message()
    finally:
        release.set()
        acl.ok("aclrtSetOpWaitTimeout", 0)
    acl.launch_host_func(stream, lambda: None)
    acl.synchronize(stream)


def test_callback_without_subscription(stream: c_void_p) -> None:
    assert acl.launch_callback(stream, lambda: None) == acl.STREAM_NO_CB_REG


def test_callback_without_subscription_leaves_the_capture_valid(stream: c_void_p) -> None:
    assert acl.begin(stream) == 0
    assert acl.launch_callback(stream, lambda: None) == acl.STREAM_NO_CB_REG
    assert acl.destroy(acl.end_ok(stream)) == 0


def test_callback_runs_on_the_subscribed_thread(stream: c_void_p) -> None:
    threads: list[int] = []
    with reporting(stream) as thread:
        assert acl.launch_callback(stream, lambda: threads.append(threading.get_ident())) == 0
        acl.synchronize(stream)
        assert threads == [thread]


def test_callback_blocks_or_not(stream: c_void_p) -> None:
    memory, release = acl.malloc(8), threading.Event()
    with reporting(stream):
        for block, expected in ((True, 0), (False, 1)):
            release.clear()
            assert acl.memset(memory, 0, 8) == 0
            assert acl.launch_callback(stream, lambda: release.wait(10), block) == 0
            assert acl.memset_async(memory, 1, 8, stream) == 0
            time.sleep(0.1)
            assert acl.read_bytes(memory, 1) == bytes([expected])
            release.set()
            acl.synchronize(stream)
            assert acl.read_bytes(memory, 1) == b"\x01"


def test_callback_in_a_graph(stream: c_void_p) -> None:
    calls: list[int] = []
    with reporting(stream):
        assert acl.begin(stream) == 0
        assert acl.launch_callback(stream, lambda: calls.append(1)) == 0
        model = acl.end_ok(stream)
        assert calls == []
        for _ in range(3):
            assert acl.execute(model, stream) == 0
        acl.synchronize(stream)
        assert len(calls) == 3


def test_kinds_do_not_mix_on_one_stream(stream: c_void_p) -> None:
    with reporting(stream):
        assert acl.launch_host_func(stream, lambda: None) == acl.STREAM_SUBSCRIBE
    other = acl.create_stream()
    acl.launch_host_func(other, lambda: None)
    assert acl.launch_callback(other, lambda: None) == acl.STREAM_SUBSCRIBE
    assert acl.call("aclrtSubscribeReport", c_uint64(threading.get_ident()), other) == acl.STREAM_SUBSCRIBE


def test_subscribe_twice_and_unsubscribe_from_the_wrong_thread(stream: c_void_p) -> None:
    thread = c_uint64(threading.get_ident())
    acl.ok("aclrtSubscribeReport", thread, stream)
    assert acl.call("aclrtSubscribeReport", thread, stream) == acl.STREAM_SUBSCRIBE
    assert acl.call("aclrtUnSubscribeReport", c_uint64(1), stream) == acl.STREAM_SUBSCRIBE
    assert acl.call("aclrtProcessReport", 10) == acl.REPORT_TIMEOUT
    acl.ok("aclrtUnSubscribeReport", thread, stream)
    assert acl.call("aclrtProcessReport", 10) == acl.THREAD_SUBSCRIBE
