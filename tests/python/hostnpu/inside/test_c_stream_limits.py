# SPDX-License-Identifier: Apache-2.0
"""How many streams a device and a graph can have."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_void_p

import acl
import pytest

STREAMS_OF_A_DEVICE = 1984
STREAMS_OF_A_GRAPH = 1024
TASKS_OF_A_STREAM = 2048 - 32


@pytest.fixture
def streams() -> Iterator[list[c_void_p]]:
    """Of device 0, freed at the end."""
    acl.set_device(0)
    made: list[c_void_p] = []
    yield made
    for stream in made:
        acl.ok("aclrtDestroyStream", stream)


def test_streams_of_a_device(streams: list[c_void_p]) -> None:
    stream = c_void_p()
    code = 0
    while code == 0 and len(streams) <= STREAMS_OF_A_DEVICE:
        code = acl.call("aclrtCreateStream", byref(stream))
        if code == 0:
            streams.append(c_void_p(stream.value))
    assert code == acl.NO_STREAM_RESOURCE
    assert "EE1023" in acl.message()
    # The default stream may count too.
    assert STREAMS_OF_A_DEVICE - 1 <= len(streams) <= STREAMS_OF_A_DEVICE
    acl.set_device(1)
    acl.ok("aclrtDestroyStream", acl.create_stream())
    acl.set_device(0)
    acl.ok("aclrtDestroyStream", streams.pop())
    streams.append(acl.create_stream())


def captured(streams: list[c_void_p], sides: int, tasks: int) -> c_void_p:
    """A graph of one stream with so many tasks, and so many side streams."""
    while len(streams) < sides + 1:
        streams.append(acl.create_stream())
    origin = streams[0]
    memory = acl.malloc(8)
    assert acl.begin(origin) == 0
    fork, join = acl.create_event(), acl.create_event()
    for side in streams[1 : sides + 1]:
        assert acl.record(fork, origin) == 0
        assert acl.wait(side, fork) == 0, acl.message()
        assert acl.record(join, side) == 0
        assert acl.wait(origin, join) == 0
    for _ in range(tasks - 2 * sides):
        assert acl.memset_async(memory, 1, 8, origin) == 0
    return acl.end_ok(origin)


@pytest.mark.parametrize(
    ("sides", "tasks", "fits"),
    [
        (STREAMS_OF_A_GRAPH - 2, 2 * TASKS_OF_A_STREAM, True),  # the first stream is two, chained
        (STREAMS_OF_A_GRAPH - 2, 2 * TASKS_OF_A_STREAM + 1, False),
        (STREAMS_OF_A_GRAPH, 2 * STREAMS_OF_A_GRAPH, False),
    ],
)
def test_streams_of_a_graph(streams: list[c_void_p], sides: int, tasks: int, fits: bool) -> None:
    model = captured(streams, sides, tasks)
    code = acl.execute(model, streams[0])
    assert code == (0 if fits else acl.RESOURCE_ALLOC_FAIL), acl.message()
    assert fits or "EE1023" in acl.message()
    acl.synchronize(streams[0])
    assert acl.destroy(model) == 0


def test_a_host_function_is_three_tasks(streams: list[c_void_p]) -> None:
    """Of 1,024 streams each takes 672 of them."""
    streams.append(acl.create_stream())
    origin = streams[0]
    whole = STREAMS_OF_A_GRAPH * TASKS_OF_A_STREAM // 3
    function = acl.HOST_FUNCTION(lambda _: None)
    assert acl.begin(origin) == 0
    for _ in range(whole):
        assert acl.LIBRARY.aclrtLaunchHostFunc(origin, function, None) == 0
    assert acl.LIBRARY.aclrtLaunchHostFunc(origin, function, None) == 0
    model = acl.end_ok(origin)
    assert acl.execute(model, origin) == acl.RESOURCE_ALLOC_FAIL
    assert acl.destroy(model) == 0
