# SPDX-License-Identifier: Apache-2.0
"""Models that are built by hand: streams bound to them, which captures, updates and tasks refuse."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_uint32, c_void_p

import acl
import pytest

PERSISTENT = 4
HEAD, DEFAULT = 0, 0x7FFFFFFF


@pytest.fixture
def model() -> Iterator[c_void_p]:
    acl.set_device(0)
    model = c_void_p()
    acl.ok("aclmdlRIBuildBegin", byref(model), c_uint32(0))
    yield model
    assert acl.destroy(model) == 0


@pytest.fixture
def stream(model: c_void_p) -> c_void_p:
    return create_persistent_stream()


def create_persistent_stream() -> c_void_p:
    stream = c_void_p()
    acl.ok("aclrtCreateStreamWithConfig", byref(stream), c_uint32(0), c_uint32(PERSISTENT))
    return stream


def bind(model: c_void_p, stream: c_void_p, flag: int = HEAD) -> int:
    return acl.call("aclmdlRIBindStream", model, stream, c_uint32(flag))


def unbind(model: c_void_p, stream: c_void_p) -> int:
    return acl.call("aclmdlRIUnbindStream", model, stream)


def test_a_bound_stream_is_not_captured(model: c_void_p, stream: c_void_p) -> None:
    assert bind(model, stream) == 0, acl.message()
    assert acl.begin(stream) == acl.STREAM_MODEL
    assert "bound to model" in acl.message()
    assert acl.info(stream) == (acl.NONE, None)
    assert acl.end(stream)[0] == acl.STREAM_MODEL
    assert unbind(model, stream) == 0, acl.message()
    assert acl.begin(stream) == 0
    acl.end_ok(stream)


def test_a_bound_stream_cannot_join_a_capture(model: c_void_p, stream: c_void_p) -> None:
    origin, event = acl.create_stream(), acl.create_event()
    assert bind(model, stream) == 0
    assert acl.begin(origin) == 0
    assert acl.record(event, origin) == 0
    assert acl.wait(stream, event) == acl.STREAM_MODEL
    assert acl.end(origin)[0] == acl.CAPTURE_INVALIDATED


def test_what_can_be_bound(model: c_void_p, stream: c_void_p) -> None:
    assert bind(model, acl.create_stream()) == acl.PARAM_INVALID
    assert bind(model, stream, 1) == acl.PARAM_INVALID
    assert bind(c_void_p(), stream) == acl.INVALID_PARAM
    with acl.open_capture(stream):
        assert bind(model, stream) == acl.STREAM_CAPTURED
        assert unbind(model, stream) == acl.STREAM_CAPTURED
    assert bind(model, stream, DEFAULT) == 0
    assert bind(model, stream) == acl.STREAM_MODEL
    other = c_void_p()
    acl.ok("aclmdlRIBuildBegin", byref(other), c_uint32(0))
    assert bind(other, stream) == acl.STREAM_MODEL
    assert unbind(other, stream) == acl.STREAM_MODEL
    assert acl.destroy(other) == 0
    assert acl.call("aclmdlRIBuildBegin", byref(other), c_uint32(1)) == acl.PARAM_INVALID
    assert acl.call("aclmdlRIBuildBegin", None, c_uint32(0)) == acl.INVALID_PARAM


def test_a_captured_graph_takes_no_streams(model: c_void_p, stream: c_void_p) -> None:
    captured = acl.create_stream()
    assert acl.begin(captured) == 0
    graph = acl.end_ok(captured)
    assert bind(graph, stream) == acl.PARAM_INVALID
    assert unbind(graph, stream) == acl.PARAM_INVALID


def test_a_bound_stream_takes_no_tasks(model: c_void_p, stream: c_void_p) -> None:
    """On a device they would become the model's. Here they are an error, and nothing waits for them."""
    event, memory = acl.create_event(), acl.malloc(8)
    assert bind(model, stream) == 0
    assert acl.memset_async(memory, 1, 8, stream) == acl.FEATURE_NOT_SUPPORT
    assert "built by hand" in acl.message()
    assert acl.record(event, stream) == acl.FEATURE_NOT_SUPPORT
    acl.ok("aclrtSynchronizeEvent", event)
    assert acl.execute(model, acl.create_stream()) == acl.MODEL_EXECUTE


def test_no_update_on_a_bound_stream(model: c_void_p, stream: c_void_p) -> None:
    origin = acl.create_stream()
    assert acl.begin(origin) == 0
    group = c_void_p()
    acl.ok("aclmdlRICaptureTaskGrpBegin", origin)
    acl.ok("aclmdlRICaptureTaskGrpEnd", origin, byref(group))
    acl.end_ok(origin)
    assert bind(model, stream) == 0
    assert acl.call("aclmdlRICaptureTaskUpdateBegin", stream, group) == acl.STREAM_MODEL
    assert acl.call("aclmdlRICaptureTaskUpdateEnd", stream) == acl.STREAM_MODEL


def test_a_bound_stream_is_not_destroyed_and_is_free_without_its_model(stream: c_void_p) -> None:
    model = c_void_p()
    acl.ok("aclmdlRIBuildBegin", byref(model), c_uint32(0))
    assert bind(model, stream) == 0
    assert acl.call("aclrtDestroyStream", stream) == acl.STREAM_MODEL
    assert acl.destroy(model) == 0
    acl.ok("aclrtDestroyStream", stream)
