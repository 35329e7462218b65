# SPDX-License-Identifier: Apache-2.0
"""Task groups and their updates, and conditional tasks."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, byref, c_int32, c_uint32, c_uint64, c_void_p

import acl
import pytest


@pytest.fixture
def stream() -> c_void_p:
    acl.set_device(0)
    return acl.create_stream()


def begin_group(stream: c_void_p) -> int:
    return acl.call("aclmdlRICaptureTaskGrpBegin", stream)


def end_group(stream: c_void_p) -> tuple[int, c_void_p]:
    handle = c_void_p()
    return acl.call("aclmdlRICaptureTaskGrpEnd", stream, byref(handle)), handle


def begin_update(stream: c_void_p, group: c_void_p) -> int:
    return acl.call("aclmdlRICaptureTaskUpdateBegin", stream, group)


def end_update(stream: c_void_p) -> int:
    return acl.call("aclmdlRICaptureTaskUpdateEnd", stream)


class Scaled:
    """A graph that computes out = x * 2 with its one kernel in a group."""

    def __init__(self, stream: c_void_p) -> None:
        self.stream, self.x, self.out = stream, acl.floats(1.0, 3.0), acl.floats(0.0, 0.0)
        assert acl.begin(stream) == 0
        assert begin_group(stream) == 0
        assert self.scale(2.0, stream) == 0
        code, self.group = end_group(stream)
        assert code == 0
        self.model = acl.end_ok(stream)

    def scale(self, factor: float, stream: c_void_p) -> int:
        return acl.muls(self.x, factor, self.out, 2, stream)

    def replay(self) -> list[float]:
        assert acl.execute(self.model, self.stream) == 0
        acl.synchronize(self.stream)
        return acl.read_floats(self.out, 2)


def test_update_replaces_the_kernel(stream: c_void_p) -> None:
    graph, updates = Scaled(stream), acl.create_stream()
    assert graph.replay() == [2.0, 6.0]
    for factor in (5.0, 0.5):
        assert begin_update(updates, graph.group) == 0
        assert graph.scale(factor, updates) == 0
        assert end_update(updates) == 0
        acl.synchronize(updates)
        assert graph.replay() == [factor, 3 * factor]
        assert graph.replay() == [factor, 3 * factor]


def test_update_does_not_run_the_kernel_itself(stream: c_void_p) -> None:
    graph, updates = Scaled(stream), acl.create_stream()
    assert begin_update(updates, graph.group) == 0
    assert graph.scale(9.0, updates) == 0
    assert end_update(updates) == 0
    acl.synchronize(updates)
    assert acl.read_floats(graph.out, 2) == [0.0, 0.0]


def test_update_takes_its_place_in_the_update_stream(stream: c_void_p) -> None:
    graph, updates, gate = Scaled(stream), acl.create_stream(), acl.Gate()
    gate.hold(updates)
    assert begin_update(updates, graph.group) == 0
    assert graph.scale(7.0, updates) == 0
    assert end_update(updates) == 0
    assert graph.replay() == [2.0, 6.0]
    gate.open()
    acl.synchronize(updates)
    assert graph.replay() == [7.0, 21.0]


def test_group_needs_a_capture(stream: c_void_p) -> None:
    assert begin_group(stream) == acl.STREAM_NOT_CAPTURED
    assert end_group(stream)[0] == acl.STREAM_NOT_CAPTURED


def test_groups_do_not_nest_and_come_in_pairs(stream: c_void_p) -> None:
    with acl.open_capture(stream):
        assert end_group(stream)[0] == acl.TASK_GROUP_STATUS
        assert begin_group(stream) == 0
        assert begin_group(stream) == acl.TASK_GROUP_STATUS
        assert end_group(stream)[0] == 0


def test_capture_ends_with_an_open_group(stream: c_void_p) -> None:
    assert acl.begin(stream) == 0
    assert begin_group(stream) == 0
    code, model = acl.end(stream)
    assert (code, model.value) == (acl.TASK_GROUP_STATUS, None)
    assert acl.info(stream) == (acl.NONE, None)


def test_task_on_another_captured_stream_breaks_the_capture(stream: c_void_p) -> None:
    side, event = acl.create_stream(), acl.create_event()
    assert acl.begin(stream) == 0
    assert acl.record(event, stream) == 0
    assert acl.wait(side, event) == 0
    assert begin_group(stream) == 0
    assert acl.memset_async(acl.malloc(8), 1, 8, side) == acl.TASK_GROUP_INTR
    code, model = acl.end(stream)
    assert (code, model.value) == (acl.CAPTURE_INVALIDATED, None)


def test_update_on_a_capturing_stream(stream: c_void_p) -> None:
    graph, other = Scaled(stream), acl.create_stream()
    with acl.open_capture(other):
        assert begin_update(other, graph.group) == acl.STREAM_CAPTURED
        assert end_update(other) == acl.STREAM_CAPTURED


def test_update_twice_and_unpaired(stream: c_void_p) -> None:
    graph, updates = Scaled(stream), acl.create_stream()
    assert end_update(updates) == acl.TASK_GROUP_STATUS
    assert begin_update(updates, graph.group) == 0
    assert begin_update(updates, graph.group) == acl.TASK_GROUP_STATUS
    assert graph.scale(2.0, updates) == 0
    assert end_update(updates) == 0


def test_update_with_too_few_tasks(stream: c_void_p) -> None:
    graph, updates = Scaled(stream), acl.create_stream()
    assert begin_update(updates, graph.group) == 0
    assert end_update(updates) == acl.INTERNAL_ERROR


def test_update_with_too_many_tasks(stream: c_void_p) -> None:
    graph, updates = Scaled(stream), acl.create_stream()
    assert begin_update(updates, graph.group) == 0
    assert graph.scale(3.0, updates) == 0
    assert graph.scale(4.0, updates) == acl.INTERNAL_ERROR
    assert end_update(updates) == 0
    acl.synchronize(updates)
    assert graph.replay() == [3.0, 9.0]


def test_update_with_a_task_that_is_no_kernel(stream: c_void_p) -> None:
    graph, updates = Scaled(stream), acl.create_stream()
    assert begin_update(updates, graph.group) == 0
    assert acl.memset_async(graph.out, 1, 8, updates) == acl.TASK_TYPE_NOT_SUPPORT
    assert graph.scale(2.0, updates) == 0
    assert end_update(updates) == 0


def test_group_dies_with_its_graph(stream: c_void_p) -> None:
    graph = Scaled(stream)
    acl.synchronize(stream)
    assert acl.destroy(graph.model) == 0
    assert begin_update(stream, graph.group) == acl.PARAM_INVALID


class ConditionTask(Structure):
    _fields_ = [("handle", c_void_p), ("kind", c_int32), ("size", c_uint32), ("models", POINTER(c_void_p))]


IF, WHILE = 0, 1


class Condition:
    """A value in device memory that an IF task looks at, made for the graph that `stream` captures."""

    def __init__(self, stream: c_void_p, default: int = 0) -> None:
        self.stream, self.handle, self.value = stream, c_void_p(), c_void_p()
        _, model = acl.info(stream)
        acl.ok("aclmdlRICondHandleCreate", c_void_p(model), c_uint32(default), 1, byref(self.handle))
        acl.ok("aclmdlRICondHandleGetCondPtr", self.handle, byref(self.value))

    def add(self, count: int = 1, kind: int = IF) -> tuple[int, ctypes.Array[c_void_p]]:
        models = (c_void_p * count)()
        task = ConditionTask(self.handle, kind, count, models)
        return acl.call("aclmdlRIAddCondTask", task, self.stream, c_uint32(0)), models


def capture_child(model: int | None, memory: c_void_p, value: int) -> None:
    child = acl.create_stream()
    acl.ok("aclmdlRICaptureToModelRIBegin", child, c_void_p(model), acl.GLOBAL)
    assert acl.memset_async(memory, value, 8, child) == 0
    ended = acl.end_ok(child)
    assert ended.value == model


def test_if_else(stream: c_void_p) -> None:
    predicate, memory = acl.malloc(8), acl.malloc(8)
    assert acl.begin(stream) == 0
    condition = Condition(stream)
    assert acl.memcpy_async(condition.value, predicate, 8, acl.DEVICE_TO_DEVICE, stream) == 0
    code, models = condition.add(2)
    assert code == 0
    capture_child(models[0], memory, 1)
    capture_child(models[1], memory, 2)
    model = acl.end_ok(stream)
    for value, expected in ((1, 1), (0, 2), (256, 1)):
        acl.write_word(predicate, value)
        assert acl.execute(model, stream) == 0
        acl.synchronize(stream)
        assert acl.read_bytes(memory, 8) == bytes([expected]) * 8
    assert acl.destroy(model) == 0


@pytest.mark.parametrize("default", [0, 1])
def test_default_value_holds_at_every_replay(stream: c_void_p, default: int) -> None:
    memory = acl.malloc(8)
    assert acl.begin(stream) == 0
    condition = Condition(stream, default)
    code, models = condition.add()
    assert code == 0
    capture_child(models[0], memory, 1)
    model = acl.end_ok(stream)
    for _ in range(2):
        acl.write_word(memory, 0)
        acl.write_word(condition.value, 1 - default)
        assert acl.execute(model, stream) == 0
        acl.synchronize(stream)
        assert acl.read_bytes(memory, 1) == bytes([default])


def test_parent_cannot_end_before_its_child(stream: c_void_p) -> None:
    assert acl.begin(stream) == 0
    code, models = Condition(stream).add()
    assert code == 0
    child = acl.create_stream()
    acl.ok("aclmdlRICaptureToModelRIBegin", child, c_void_p(models[0]), acl.GLOBAL)
    code, model = acl.end(stream)
    assert (code, model.value) == (acl.SUB_ACLGRAPH_IS_CAPTURING, None)
    assert acl.info(child) == (acl.NONE, None)


def test_child_is_captured_once_and_not_destroyed_alone(stream: c_void_p) -> None:
    assert acl.begin(stream) == 0
    code, models = Condition(stream).add()
    assert code == 0
    capture_child(models[0], acl.malloc(8), 1)
    child = acl.create_stream()
    assert acl.call("aclmdlRICaptureToModelRIBegin", child, c_void_p(models[0]), acl.GLOBAL) == acl.MODEL_CAPTURED
    model = acl.end_ok(stream)
    assert acl.destroy(c_void_p(models[0])) == acl.PARAM_INVALID
    assert acl.destroy(model) == 0
    assert acl.execute(c_void_p(models[0]), stream) == acl.PARAM_INVALID


def test_a_model_without_tasks_cannot_run(stream: c_void_p) -> None:
    other = acl.create_stream()
    with acl.open_capture(stream):
        code, models = Condition(stream).add()
        assert code == 0
        assert acl.execute(c_void_p(models[0]), other) == acl.MODEL_EXECUTE
        capture_child(models[0], acl.malloc(8), 1)


def test_conditional_tasks_that_are_not_played(stream: c_void_p) -> None:
    with acl.open_capture(stream):
        code, _ = Condition(stream).add(1, WHILE)
        assert code == acl.FEATURE_NOT_SUPPORT
        assert "WHILE" in acl.message()


def test_conditional_task_needs_a_capture_and_its_own_handle(stream: c_void_p) -> None:
    other = acl.create_stream()
    with acl.open_capture(stream, acl.RELAXED):
        condition = Condition(stream)
        condition.stream = other
        assert condition.add()[0] == acl.STREAM_NOT_CAPTURED
        with acl.open_capture(other, acl.RELAXED):
            assert condition.add()[0] == acl.PARAM_INVALID


def test_update_is_ordered_by_its_stream_and_owned_by_it(stream: c_void_p) -> None:
    """The graph may be destroyed while an update of it is still queued."""
    graph, updates, gate = Scaled(stream), acl.create_stream(), acl.Gate()
    gate.hold(updates)
    assert begin_update(updates, graph.group) == 0
    assert graph.scale(3.0, updates) == 0
    assert end_update(updates) == 0
    assert acl.destroy(graph.model) == 0
    gate.open()
    acl.synchronize(updates)


def test_unknown_condition_handle(stream: c_void_p) -> None:
    assert acl.call("aclmdlRICondHandleGetCondPtr", c_void_p(8), byref(c_uint64())) == acl.PARAM_INVALID
