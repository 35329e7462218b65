# SPDX-License-Identifier: Apache-2.0
"""What was destroyed is gone: objects of the runtime are counted before and after, whoever might still hold them. Memory that is
lost without a handle is looked for in tests/python/hostnpu/test_leaks.py."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from ctypes import byref, c_uint32, c_void_p

import acl
import pytest
from test_c_task_groups import Condition

KINDS = ("stream", "event", "graph", "capture", "task_group", "condition_handle")
acl.LIBRARY.hostnpuAlive.restype = ctypes.c_int64


def alive() -> dict[str, int]:
    return {kind: acl.LIBRARY.hostnpuAlive(kind.encode()) for kind in KINDS}


def settled(expected: dict[str, int]) -> dict[str, int]:
    """The counts, once the streams' threads have let go of their last tasks."""
    deadline = time.monotonic() + 5
    while (now := alive()) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    return now


def replayed(origin: c_void_p, side: c_void_p) -> None:
    """Captured on two streams with events, a host function and a kernel; replayed twice."""
    memory, source = acl.malloc(16), acl.floats(1.0, 2.0)
    fork, join = acl.create_event(), acl.create_event()
    assert acl.begin(origin) == 0
    assert acl.record(fork, origin) == acl.wait(side, fork) == 0
    assert acl.muls(source, 3.0, memory, 2, side) == 0
    assert acl.launch_host_func(origin, lambda: None) == 0
    assert acl.record(join, side) == acl.wait(origin, join) == 0
    model = acl.end_ok(origin)
    for _ in range(2):
        assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert acl.destroy(model) == 0
    for event in (fork, join):
        acl.ok("aclrtDestroyEvent", event)
    for pointer in (memory, source):
        acl.ok("aclrtFree", pointer)


def failed_at_the_end(origin: c_void_p, side: c_void_p) -> None:
    fork = acl.create_event()
    assert acl.begin(origin) == 0
    assert acl.record(fork, origin) == acl.wait(side, fork) == 0
    assert acl.end(origin)[0] == acl.STREAM_UNJOINED
    acl.ok("aclrtDestroyEvent", fork)


def broken_by_another_capture(origin: c_void_p, side: c_void_p) -> None:
    event = acl.create_event()
    assert acl.begin(origin) == acl.begin(side) == 0
    assert acl.record(event, origin) == 0
    assert acl.wait(side, event) == acl.CAPTURE_CONFLICT
    assert acl.end(origin)[0] == acl.end(side)[0] == acl.CAPTURE_INVALIDATED
    acl.ok("aclrtDestroyEvent", event)


def updated(origin: c_void_p, side: c_void_p) -> None:
    source, memory = acl.floats(2.0), acl.malloc(4)
    assert acl.begin(origin) == 0
    acl.ok("aclmdlRICaptureTaskGrpBegin", origin)
    assert acl.muls(source, 1.0, memory, 1, origin) == 0
    group = c_void_p()
    acl.ok("aclmdlRICaptureTaskGrpEnd", origin, byref(group))
    model = acl.end_ok(origin)
    acl.ok("aclmdlRICaptureTaskUpdateBegin", side, group)
    assert acl.muls(source, 5.0, memory, 1, side) == 0
    acl.ok("aclmdlRICaptureTaskUpdateEnd", side)
    acl.synchronize(side)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert acl.read_floats(memory, 1) == [10.0]
    assert acl.destroy(model) == 0
    for pointer in (memory, source):
        acl.ok("aclrtFree", pointer)


def with_an_event_destroyed_meanwhile(origin: c_void_p, side: c_void_p) -> None:
    event = acl.create_event()
    assert acl.begin(origin) == 0
    assert acl.record(event, origin) == 0
    acl.ok("aclrtDestroyEvent", event)
    assert acl.destroy(acl.end_ok(origin)) == 0


def external(origin: c_void_p, side: c_void_p) -> None:
    event = acl.create_event(acl.EXTERNAL)
    assert acl.begin(origin) == 0
    assert acl.wait(origin, event) == 0
    acl.ok("aclrtResetEvent", event, origin)
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    assert acl.record(event, side) == 0
    acl.synchronize(origin)
    assert acl.destroy(model) == 0
    acl.ok("aclrtDestroyEvent", event)


def with_a_branch(origin: c_void_p, side: c_void_p) -> None:
    memory = acl.malloc(8)
    assert acl.begin(origin) == 0
    code, children = Condition(origin, default=1).add()
    assert code == 0
    acl.ok("aclmdlRICaptureToModelRIBegin", side, c_void_p(children[0]), acl.GLOBAL)
    assert acl.memset_async(memory, 7, 8, side) == 0
    acl.end_ok(side)
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert acl.read_bytes(memory, 8) == b"\x07" * 8
    assert acl.destroy(model) == 0
    acl.ok("aclrtFree", memory)


WAYS: list[Callable[[c_void_p, c_void_p], None]] = [
    replayed,
    failed_at_the_end,
    broken_by_another_capture,
    updated,
    with_an_event_destroyed_meanwhile,
    external,
    with_a_branch,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_all_is_gone(way: Callable[[c_void_p, c_void_p], None]) -> None:
    acl.set_device(0)
    acl.synchronize(None)  # the default stream comes with its first use
    before = alive()
    assert all(count >= 0 for count in before.values())
    origin, side = acl.create_stream(), acl.create_stream()
    for _ in range(20):
        way(origin, side)
    for stream in (origin, side):
        acl.ok("aclrtDestroyStream", stream)
    assert settled(before) == before


def test_a_thousand_captures_leave_memory_flat() -> None:
    acl.set_device(0)
    stream, side = acl.create_stream(), acl.create_stream()
    for _ in range(50):
        replayed(stream, side)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    acl.ok("aclrtGetMemInfo", 0, byref(free), byref(total))
    at_start = free.value
    for _ in range(1000):
        replayed(stream, side)
    acl.ok("aclrtGetMemInfo", 0, byref(free), byref(total))
    assert free.value == at_start


def test_condition_handles_go_with_their_graph() -> None:
    acl.set_device(0)
    stream = acl.create_stream()
    before = alive()
    assert acl.begin(stream) == 0
    _, model = acl.info(stream)
    handle = c_void_p()
    acl.ok("aclmdlRICondHandleCreate", c_void_p(model), c_uint32(0), 1, byref(handle))
    assert alive()["condition_handle"] == before["condition_handle"] + 1
    assert acl.destroy(acl.end_ok(stream)) == 0
    assert settled(before) == before
