# SPDX-License-Identifier: Apache-2.0
"""Begin, end, ask, replay and destroy: the rules of the aclmdlRI calls, each with its code."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_int32, c_uint32, c_void_p
from pathlib import Path

import acl
import pytest


@pytest.fixture
def stream() -> c_void_p:
    acl.set_device(0)
    return acl.create_stream()


def captured_fill(stream: c_void_p, memory: c_void_p, value: int) -> c_void_p:
    assert acl.begin(stream) == 0
    assert acl.memset_async(memory, value, 8, stream) == 0
    return acl.end_ok(stream)


def in_new_thread(function, *arguments):
    def work():
        acl.set_device(0)
        return function(*arguments)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_begin_on_null_and_on_the_default_stream(stream: c_void_p) -> None:
    assert acl.begin(None) == acl.INVALID_PARAM
    default = c_void_p()
    acl.ok("aclrtCtxGetCurrentDefaultStream", byref(default))
    assert acl.begin(default) == acl.FEATURE_NOT_SUPPORT


def test_begin_twice(stream: c_void_p) -> None:
    with acl.open_capture(stream):
        assert acl.begin(stream) == acl.STREAM_CAPTURED


def test_begin_with_a_mode_that_does_not_exist(stream: c_void_p) -> None:
    assert acl.begin(stream, 3) == acl.PARAM_INVALID
    assert acl.info(stream) == (acl.NONE, None)


def test_begin_on_a_stream_of_another_context(stream: c_void_p) -> None:
    acl.set_device(1)
    assert acl.begin(stream) == acl.STREAM_CONTEXT
    acl.set_device(0)


def test_several_captures_at_once(stream: c_void_p) -> None:
    other, first, second = acl.create_stream(), acl.malloc(8), acl.malloc(8)
    assert acl.begin(stream) == 0
    assert acl.begin(other) == 0
    assert acl.memset_async(first, 1, 8, stream) == 0
    assert acl.memset_async(second, 2, 8, other) == 0
    one, two = acl.end_ok(stream), acl.end_ok(other)
    for model in (one, two):
        assert acl.execute(model, stream) == 0
    acl.synchronize(stream)
    assert (acl.read_bytes(first, 8), acl.read_bytes(second, 8)) == (b"\x01" * 8, b"\x02" * 8)


def test_nothing_runs_before_the_replay(stream: c_void_p) -> None:
    memory = acl.malloc(8)
    assert acl.memset(memory, 1, 8) == 0
    model = captured_fill(stream, memory, 2)
    acl.synchronize(stream)
    assert acl.read_bytes(memory, 8) == b"\x01" * 8
    assert acl.execute(model, stream) == 0
    acl.synchronize(stream)
    assert acl.read_bytes(memory, 8) == b"\x02" * 8


def test_end_without_begin(stream: c_void_p) -> None:
    code, model = acl.end(stream)
    assert (code, model.value) == (acl.STREAM_NOT_CAPTURED, None)


@pytest.mark.parametrize("mode", [acl.GLOBAL, acl.THREAD_LOCAL])
def test_end_on_another_thread_ends_the_capture_without_a_model(stream: c_void_p, mode: int) -> None:
    assert acl.begin(stream, mode) == 0
    code, model = in_new_thread(acl.end, stream)
    assert (code, model.value) == (acl.CAPTURE_WRONG_THREAD, None)
    assert acl.info(stream) == (acl.NONE, None)
    assert acl.memcpy(acl.malloc(8), acl.malloc(8), 8, acl.DEVICE_TO_DEVICE) == 0


def test_relaxed_capture_may_end_on_another_thread(stream: c_void_p) -> None:
    assert acl.begin(stream, acl.RELAXED) == 0
    code, model = in_new_thread(acl.end, stream)
    assert code == 0
    assert acl.destroy(model) == 0


def test_get_info(stream: c_void_p) -> None:
    assert acl.info(stream) == (acl.NONE, None)
    assert acl.begin(stream) == 0
    status, model = acl.info(stream)
    assert status == acl.ACTIVE
    assert in_new_thread(acl.info, stream) == (acl.ACTIVE, model)
    identity, other = c_uint32(), c_uint32()
    acl.ok("aclmdlRIGetId", c_void_p(model), byref(identity))
    ended = acl.end_ok(stream)
    assert ended.value == model
    assert acl.info(stream) == (acl.NONE, None)
    second = captured_fill(stream, acl.malloc(8), 0)
    acl.ok("aclmdlRIGetId", second, byref(other))
    assert identity.value != other.value


def test_get_info_wants_an_output(stream: c_void_p) -> None:
    assert acl.call("aclmdlRICaptureGetInfo", stream, None, None) == acl.PARAM_INVALID
    assert acl.call("aclmdlRICaptureGetInfo", stream, byref(c_int32()), None) == 0


def test_forked_stream_shows_the_same_model(stream: c_void_p) -> None:
    side, event, back = acl.create_stream(), acl.create_event(), acl.create_event()
    assert acl.begin(stream) == 0
    assert acl.record(event, stream) == 0
    assert acl.wait(side, event) == 0
    assert acl.info(side) == acl.info(stream)
    code, model = acl.end(side)
    assert (code, model.value) == (acl.CAPTURE_UNMATCHED, None)
    assert acl.record(back, side) == 0
    assert acl.wait(stream, back) == 0
    assert acl.destroy(acl.end_ok(stream)) == 0
    assert acl.info(side) == (acl.NONE, None)


def test_execute_and_destroy_while_capturing(stream: c_void_p) -> None:
    assert acl.begin(stream, acl.RELAXED) == 0
    _, model = acl.info(stream)
    other = acl.create_stream()
    assert acl.execute(c_void_p(model), other) == acl.MODEL_CAPTURED
    assert acl.destroy(c_void_p(model)) == acl.MODEL_CAPTURED
    assert acl.destroy(acl.end_ok(stream)) == 0


def test_execute_on_the_default_stream_and_on_another_context(stream: c_void_p) -> None:
    memory = acl.malloc(8)
    model = captured_fill(stream, memory, 8)
    assert acl.execute(model, None) == 0
    acl.synchronize(None)
    assert acl.read_bytes(memory, 8) == b"\x08" * 8
    acl.set_device(1)
    foreign = acl.create_stream()
    assert acl.execute(model, foreign) == acl.MODEL_CONTEXT
    acl.set_device(0)


def test_synchronous_execute_is_not_for_captured_models(stream: c_void_p) -> None:
    model = captured_fill(stream, acl.malloc(8), 1)
    assert acl.call("aclmdlRIExecute", model, -1) == acl.PARAM_INVALID


def test_destroyed_model_is_unknown(stream: c_void_p) -> None:
    model = captured_fill(stream, acl.malloc(8), 1)
    assert acl.destroy(model) == 0
    assert acl.destroy(model) == acl.PARAM_INVALID
    assert acl.execute(model, stream) == acl.PARAM_INVALID


def test_destroy_waits_for_a_running_replay(stream: c_void_p) -> None:
    memory, gate = acl.malloc(8), acl.Gate()
    model = captured_fill(stream, memory, 3)
    gate.hold(stream)
    assert acl.execute(model, stream) == 0
    with ThreadPoolExecutor(1) as pool:
        destroying = pool.submit(acl.destroy, model)
        time.sleep(0.1)
        assert not destroying.done()
        gate.open()
        assert destroying.result() == 0
    acl.synchronize(stream)
    assert acl.read_bytes(memory, 8) == b"\x03" * 8


def test_destroy_gives_up_after_ten_seconds(stream: c_void_p) -> None:
    gate = acl.Gate()
    model = captured_fill(stream, acl.malloc(8), 3)
    gate.hold(stream)
    assert acl.execute(model, stream) == 0
    started = time.monotonic()
    assert acl.destroy(model) == acl.MODEL_RUNNING
    assert 9.5 < time.monotonic() - started < 15
    gate.open()
    acl.synchronize(stream)
    assert acl.destroy(model) == 0


def test_replays_on_one_stream_run_one_after_the_other(stream: c_void_p) -> None:
    order: list[str] = []
    assert acl.begin(stream) == 0
    assert acl.launch_host_func(stream, lambda: order.append("a")) == 0
    assert acl.launch_host_func(stream, lambda: order.append("b")) == 0
    model = acl.end_ok(stream)
    for _ in range(50):
        assert acl.execute(model, stream) == 0
    acl.synchronize(stream)
    assert order == ["a", "b"] * 50


def test_failing_kernel_in_a_replay(stream: c_void_p) -> None:
    """A kernel that fails ends the replay; the text tells the operator; the next replay starts anew."""
    import ctypes
    from ctypes import c_int64, c_uint64

    table, out = acl.floats(1.0, 2.0), acl.floats(0.0)
    index = acl.malloc(8)
    acl.write_word(index, 99)
    shape = (c_int64 * 1)(1)
    make = acl.LIBRARY.aclCreateTensor
    index_tensor = c_void_p(make(shape, c_uint64(1), 9, shape, c_int64(0), 2, shape, c_uint64(1), index))
    size, executor = c_uint64(), c_void_p()
    arguments = (acl.tensor(table, 2), c_int64(0), index_tensor, acl.tensor(out, 1), byref(size), byref(executor))
    acl.ok("aclnnIndexSelectGetWorkspaceSize", *arguments)
    after = acl.malloc(8)
    ctypes.memset(after, 0, 8)
    assert acl.begin(stream) == 0
    assert acl.call("aclnnIndexSelect", None, c_uint64(0), executor, stream) == 0
    assert acl.memset_async(after, 1, 8, stream) == 0
    model = acl.end_ok(stream)
    assert acl.execute(model, stream) == 0
    assert acl.call("aclrtSynchronizeStream", stream) == acl.AICORE_EXCEPTION
    assert "aclnnIndexSelect" in acl.message()
    assert acl.read_bytes(after, 8) == bytes(8)
    assert acl.call("aclrtSynchronizeStream", stream) == 0
    acl.write_word(index, 1)
    assert acl.execute(model, stream) == 0
    acl.synchronize(stream)
    assert acl.read_floats(out, 1) == [2.0]
    assert acl.read_bytes(after, 8) == b"\x01" * 8


def test_json_print(stream: c_void_p, tmp_path: Path) -> None:
    assert acl.begin(stream) == 0
    assert acl.memset_async(acl.malloc(8), 1, 8, stream) == 0
    assert acl.launch_host_func(stream, lambda: None) == 0
    _, model = acl.info(stream)
    path = str(tmp_path / "graph.json").encode()
    assert acl.call("aclmdlRIDebugJsonPrint", c_void_p(model), path, 0) == acl.MODEL_CAPTURED
    ended = acl.end_ok(stream)
    acl.ok("aclmdlRIDebugJsonPrint", ended, path, 0)
    assert [task["name"] for task in json.loads(Path(path.decode()).read_text())] == ["MEMSET_ASYNC", "HOST_FUNC"]
    assert acl.call("aclmdlRIDebugJsonPrint", ended, b"/nowhere/at/all.json", 0) == 107009


def test_names(stream: c_void_p) -> None:
    import ctypes

    model = captured_fill(stream, acl.malloc(8), 1)
    acl.ok("aclmdlRISetName", model, b"decode")
    name = ctypes.create_string_buffer(4)
    acl.ok("aclmdlRIGetName", model, c_uint32(4), name)
    assert name.value == b"dec"


def test_destroy_callback_is_there_since_cann_9(stream: c_void_p) -> None:
    import ctypes
    import os

    if int(os.environ["HOSTNPU_CANN"].split(".")[0]) < 9:
        with pytest.raises(AttributeError):
            _ = acl.LIBRARY.aclmdlRIDestroyRegisterCallback
        return
    called: list[int] = []
    callback = acl.HOST_FUNCTION(called.append)
    removed = acl.HOST_FUNCTION(lambda _: called.append(-1))
    model = captured_fill(stream, acl.malloc(8), 1)
    acl.ok("aclmdlRIDestroyRegisterCallback", model, callback, ctypes.c_void_p(41))
    acl.ok("aclmdlRIDestroyRegisterCallback", model, removed, ctypes.c_void_p(42))
    acl.ok("aclmdlRIDestroyUnregisterCallback", model, removed)
    assert acl.call("aclmdlRIDestroyUnregisterCallback", model, removed) == acl.PARAM_INVALID
    assert called == []
    assert acl.destroy(model) == 0
    assert called == [41]
