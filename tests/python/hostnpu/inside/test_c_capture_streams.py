# SPDX-License-Identifier: Apache-2.0
"""Captures of several streams: fork, join, what breaks them, and events that cross their border."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_int32, c_uint32, c_void_p

import acl
import pytest


@pytest.fixture
def streams() -> tuple[c_void_p, c_void_p, c_void_p]:
    acl.set_device(0)
    return acl.create_stream(), acl.create_stream(), acl.create_stream()


def fork(origin: c_void_p, side: c_void_p) -> None:
    event = acl.create_event()
    assert acl.record(event, origin) == 0
    assert acl.wait(side, event) == 0, acl.message()


join = fork


def test_fork_and_join_keep_the_order(streams) -> None:
    origin, side, _ = streams
    order: list[str] = []
    assert acl.begin(origin) == 0
    acl.launch_host_func(origin, lambda: order.append("before"))
    fork(origin, side)
    acl.launch_host_func(side, lambda: order.append("side"))
    acl.launch_host_func(origin, lambda: order.append("origin"))
    join(side, origin)
    acl.launch_host_func(origin, lambda: order.append("after"))
    model = acl.end_ok(origin)
    assert order == []
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert order[0] == "before"
    assert set(order[1:3]) == {"side", "origin"}
    assert order[3:] == ["after"]


def test_join_through_another_stream(streams) -> None:
    origin, middle, far = streams
    memory = acl.malloc(8)
    assert acl.begin(origin) == 0
    fork(origin, middle)
    fork(middle, far)
    assert acl.memset_async(memory, 5, 8, far) == 0
    join(far, middle)
    join(middle, origin)
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert acl.read_bytes(memory, 8) == b"\x05" * 8


def ends_unjoined(origin: c_void_p) -> bool:
    code, model = acl.end(origin)
    return (code, model.value) == (acl.STREAM_UNJOINED, None) and acl.info(origin) == (acl.NONE, None)


def test_never_joined(streams) -> None:
    origin, side, _ = streams
    assert acl.begin(origin) == 0
    fork(origin, side)
    assert acl.memset_async(acl.malloc(8), 1, 8, side) == 0
    assert ends_unjoined(origin)
    assert acl.info(side) == (acl.NONE, None)


def test_task_after_the_join(streams) -> None:
    origin, side, _ = streams
    assert acl.begin(origin) == 0
    fork(origin, side)
    join(side, origin)
    assert acl.memset_async(acl.malloc(8), 1, 8, side) == 0
    assert ends_unjoined(origin)


def test_last_record_is_not_waited_for(streams) -> None:
    origin, side, _ = streams
    assert acl.begin(origin) == 0
    fork(origin, side)
    join(side, origin)
    assert acl.record(acl.create_event(), side) == 0
    assert ends_unjoined(origin)


def test_join_that_does_not_reach_the_origin(streams) -> None:
    origin, side, far = streams
    assert acl.begin(origin) == 0
    fork(origin, side)
    fork(origin, far)
    join(side, far)
    join(far, side)
    assert ends_unjoined(origin)


def test_streams_are_usable_after_a_failed_end(streams) -> None:
    origin, side, _ = streams
    memory = acl.malloc(8)
    assert acl.begin(origin) == 0
    fork(origin, side)
    assert ends_unjoined(origin)
    for stream in (origin, side):
        assert acl.memset_async(memory, 2, 8, stream) == 0
        acl.synchronize(stream)
    assert acl.begin(origin) == 0
    assert acl.destroy(acl.end_ok(origin)) == 0


def test_event_recorded_outside(streams) -> None:
    origin, other, _ = streams
    event = acl.create_event()
    assert acl.record(event, other) == 0
    acl.synchronize(other)
    assert acl.begin(origin) == 0
    assert acl.wait(origin, event) == acl.CAPTURE_DEPENDENCY
    assert acl.destroy(acl.end_ok(origin)) == 0


def test_event_never_recorded(streams) -> None:
    origin, _, _ = streams
    assert acl.begin(origin) == 0
    assert acl.wait(origin, acl.create_event()) == 0
    code, model = acl.end(origin)
    assert (code, model.value) == (acl.CAPTURE_DEPENDENCY, None)
    assert acl.info(origin) == (acl.NONE, None)


def test_wait_comes_before_the_record(streams) -> None:
    """The side stream waits for an event that the origin records later: the replay keeps the order of the two."""
    origin, side, _ = streams
    late, order = acl.create_event(), []
    assert acl.begin(origin) == 0
    fork(origin, side)
    assert acl.wait(side, late) == 0
    acl.launch_host_func(side, lambda: order.append("side"))
    acl.launch_host_func(origin, lambda: order.append("origin"))
    assert acl.record(late, origin) == 0
    join(side, origin)
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert order == ["origin", "side"]


def test_two_captures_joined_by_an_event(streams) -> None:
    first, second, _ = streams
    event = acl.create_event()
    assert acl.begin(first) == 0
    assert acl.begin(second) == 0
    assert acl.record(event, first) == 0
    assert acl.wait(second, event) == acl.CAPTURE_CONFLICT
    for stream in (first, second):
        assert acl.info(stream)[0] == acl.ACTIVE
        code, model = acl.end(stream)
        assert (code, model.value) == (acl.CAPTURE_INVALIDATED, None)
        assert acl.info(stream) == (acl.NONE, None)


def test_recording_an_event_of_another_capture(streams) -> None:
    first, second, _ = streams
    event = acl.create_event()
    assert acl.begin(first) == 0
    assert acl.begin(second) == 0
    assert acl.record(event, first) == 0
    assert acl.record(event, second) == acl.CAPTURE_CONFLICT
    assert acl.end(first)[0] == acl.CAPTURE_INVALIDATED
    assert acl.end(second)[0] == acl.CAPTURE_INVALIDATED


def test_invalid_capture_takes_no_tasks(streams) -> None:
    first, second, _ = streams
    event = acl.create_event()
    assert acl.begin(first) == 0
    assert acl.begin(second) == 0
    acl.record(event, first)
    acl.wait(second, event)
    assert acl.memset_async(acl.malloc(8), 1, 8, first) == acl.CAPTURE_INVALIDATED
    acl.end(first)
    acl.end(second)


@pytest.mark.parametrize("flag", [acl.PROGRESS, acl.TIME_LINE, acl.PROGRESS | acl.TIME_LINE])
def test_record_of_an_event_that_nobody_can_wait_for_is_left_out(streams, flag: int) -> None:
    """torch's allocator of pinned memory records such events at any time: they must not come after a join."""
    origin, side, _ = streams
    event = acl.create_event(flag)
    assert acl.begin(origin) == 0
    fork(origin, side)
    join(side, origin)
    assert acl.record(event, side) == 0
    status = c_int32()
    assert acl.call("aclrtQueryEventStatus", event, byref(status)) == 0
    assert acl.wait(origin, event) == acl.FEATURE_NOT_SUPPORT
    assert reset(event, origin) == acl.FEATURE_NOT_SUPPORT
    assert acl.destroy(acl.end_ok(origin)) == 0
    assert acl.record(event, origin) == 0
    assert acl.wait(side, event) == acl.FEATURE_NOT_SUPPORT
    acl.synchronize(origin)


@pytest.mark.parametrize("flag", [0, acl.EXTERNAL, acl.EXTERNAL | acl.SYNC, 0x80])
def test_flags_that_an_event_cannot_have(streams, flag: int) -> None:
    code = acl.call("aclrtCreateEventExWithFlag", byref(c_void_p()), c_uint32(flag))
    assert code == acl.PARAM_INVALID


def reset(event: c_void_p, stream: c_void_p) -> int:
    return acl.call("aclrtResetEvent", event, stream)


def test_reset_is_a_task_of_the_capture(streams) -> None:
    origin, side, _ = streams
    event = acl.create_event()
    assert acl.begin(origin) == 0
    fork(origin, side)
    assert acl.record(event, side) == 0
    assert acl.wait(origin, event) == 0
    assert reset(event, side) == 0
    assert ends_unjoined(origin)  # the last task of the side stream is no record


def test_reset_on_the_stream_that_waited(streams) -> None:
    origin, side, _ = streams
    event = acl.create_event()
    assert acl.begin(origin) == 0
    fork(origin, side)
    assert acl.record(event, side) == 0
    assert acl.wait(origin, event) == 0
    assert reset(event, origin) == 0
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert acl.destroy(model) == 0


def test_reset_outside_of_the_capture_breaks_it(streams) -> None:
    origin, outside, _ = streams
    event = acl.create_event()
    assert acl.begin(origin) == 0
    assert acl.record(event, origin) == 0
    assert reset(event, outside) == acl.INTERNAL_ERROR
    assert acl.end(origin)[0] == acl.CAPTURE_INVALIDATED


def test_reset_in_another_capture_breaks_both(streams) -> None:
    first, second, _ = streams
    event = acl.create_event()
    assert acl.begin(first) == 0
    assert acl.begin(second) == 0
    assert acl.record(event, first) == 0
    assert reset(event, second) == acl.CAPTURE_CONFLICT
    assert acl.end(first)[0] == acl.CAPTURE_INVALIDATED
    assert acl.end(second)[0] == acl.CAPTURE_INVALIDATED


def test_reset_of_an_event_from_outside_in_a_capture(streams) -> None:
    origin, _, _ = streams
    assert acl.begin(origin) == 0
    assert reset(acl.create_event(), origin) == acl.FEATURE_NOT_SUPPORT
    assert acl.destroy(acl.end_ok(origin)) == 0


@pytest.mark.parametrize("null", [True, False])
def test_default_stream_and_a_captured_event(streams, null: bool) -> None:
    origin, _, _ = streams
    default, event = c_void_p(), acl.create_event()
    acl.ok("aclrtCtxGetCurrentDefaultStream", byref(default))
    stream = None if null else default
    assert acl.begin(origin) == 0
    assert acl.record(event, origin) == 0
    assert acl.wait(stream, event) == acl.STREAM_CAPTURE_IMPLICIT
    assert acl.record(event, stream) == acl.STREAM_CAPTURE_IMPLICIT
    assert reset(event, stream) == acl.STREAM_CAPTURE_IMPLICIT
    assert acl.destroy(acl.end_ok(origin)) == 0


@pytest.mark.parametrize("creator", ["aclrtCreateEvent", "aclrtCreateEventWithFlag"])
def test_events_of_the_old_calls(streams, creator: str) -> None:
    origin, _, _ = streams
    event = c_void_p()
    acl.ok(creator, byref(event), *([8] if creator.endswith("Flag") else []))
    assert acl.begin(origin) == 0
    assert acl.record(event, origin) == acl.FEATURE_NOT_SUPPORT
    assert acl.wait(origin, event) == acl.FEATURE_NOT_SUPPORT
    assert acl.destroy(acl.end_ok(origin)) == 0


def test_event_may_be_destroyed_during_capture(streams) -> None:
    origin, side, _ = streams
    event, back = acl.create_event(), acl.create_event()
    assert acl.begin(origin) == 0
    assert acl.record(event, origin) == 0
    assert acl.wait(side, event) == 0
    acl.ok("aclrtDestroyEvent", event)
    assert acl.record(back, side) == 0
    assert acl.wait(origin, back) == 0
    acl.ok("aclrtDestroyEvent", back)
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)


def test_external_events_connect_a_graph_with_the_outside(streams) -> None:
    origin, outside, _ = streams
    start, finished = acl.create_event(acl.EXTERNAL), acl.create_event(acl.EXTERNAL)
    order: list[str] = []
    assert acl.begin(origin) == 0
    assert acl.wait(origin, start) == 0
    acl.ok("aclrtResetEvent", start, origin)
    acl.launch_host_func(origin, lambda: order.append("graph"))
    assert acl.record(finished, origin) == 0
    model = acl.end_ok(origin)
    for _ in range(2):
        assert acl.execute(model, origin) == 0
        acl.launch_host_func(outside, lambda: order.append("outside"))
        assert acl.record(start, outside) == 0
        assert acl.wait(outside, finished) == 0
        acl.ok("aclrtResetEvent", finished, outside)
        acl.launch_host_func(outside, lambda: order.append("end"))
        acl.synchronize(outside)
    acl.synchronize(origin)
    assert order == ["outside", "graph", "end"] * 2


def test_waiting_lane_does_not_hold_up_the_others(streams) -> None:
    """One lane of the graph waits for the outside; another one, recorded later, gives the outside its signal."""
    origin, side, outside = streams
    request, answer = acl.create_event(acl.EXTERNAL), acl.create_event(acl.EXTERNAL)
    order: list[str] = []
    assert acl.begin(origin) == 0
    fork(origin, side)
    assert acl.wait(side, answer) == 0
    acl.launch_host_func(side, lambda: order.append("answered"))
    acl.launch_host_func(origin, lambda: order.append("asked"))
    assert acl.record(request, origin) == 0
    join(side, origin)
    model = acl.end_ok(origin)
    assert acl.wait(outside, request) == 0
    acl.launch_host_func(outside, lambda: order.append("outside"))
    assert acl.record(answer, outside) == 0
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert order == ["asked", "outside", "answered"]


def test_value_write_and_wait_in_a_graph(streams) -> None:
    from ctypes import c_uint32, c_uint64

    origin, side, _ = streams
    word, order = acl.malloc(8), []
    acl.write_word(word, 0)
    assert acl.begin(origin) == 0
    fork(origin, side)
    acl.ok("aclrtValueWait", word, c_uint64(7), c_uint32(0), side)
    acl.launch_host_func(side, lambda: order.append("woken"))
    acl.launch_host_func(origin, lambda: order.append("writes"))
    acl.ok("aclrtValueWrite", word, c_uint64(7), c_uint32(0), origin)
    join(side, origin)
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == 0
    acl.synchronize(origin)
    assert order == ["writes", "woken"]
    assert acl.read_word(word) == 7


def test_captures_of_threads_do_not_mix() -> None:
    def capture_and_replay(value: int) -> bytes:
        acl.set_device(0)
        stream, memory = acl.create_stream(), acl.malloc(8)
        for _ in range(20):
            assert acl.begin(stream, acl.THREAD_LOCAL) == 0
            assert acl.memset_async(memory, value, 8, stream) == 0
            model = acl.end_ok(stream)
            assert acl.execute(model, stream) == 0
            acl.synchronize(stream)
            assert acl.destroy(model) == 0
        return acl.read_bytes(memory, 8)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(capture_and_replay, range(1, 9))) == [bytes([value]) * 8 for value in range(1, 9)]
