# SPDX-License-Identifier: Apache-2.0
"""Limits of cores: which of stream, device and chip decides, for a stream and for the current thread."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_uint32, c_void_p

import acl
import pytest

CUBE, VECTOR = 0, 1
CHIP = {CUBE: 24, VECTOR: 48}  # Ascend910B1


@pytest.fixture
def stream() -> Iterator[c_void_p]:
    acl.set_device(0)
    yield acl.create_stream()
    acl.ok("aclrtResetDeviceResLimit", 0)
    acl.ok("aclrtUnuseStreamResInCurrentThread", None)


def of_device(device: int, kind: int) -> int:
    value = c_uint32()
    acl.ok("aclrtGetDeviceResLimit", device, kind, byref(value))
    return value.value


def of_stream(stream: c_void_p | None, kind: int) -> int:
    value = c_uint32()
    acl.ok("aclrtGetStreamResLimit", stream, kind, byref(value))
    return value.value


def of_thread(kind: int) -> int:
    value = c_uint32()
    acl.ok("aclrtGetResInCurrentThread", kind, byref(value))
    return value.value


def set_stream(stream: c_void_p | None, kind: int, value: int) -> int:
    return acl.call("aclrtSetStreamResLimit", stream, kind, c_uint32(value))


def test_the_chip_decides_unless_told(stream: c_void_p) -> None:
    for kind, cores in CHIP.items():
        assert (of_device(0, kind), of_stream(stream, kind), of_thread(kind)) == (cores, cores, cores)


def test_device_then_stream_decide(stream: c_void_p) -> None:
    acl.ok("aclrtSetDeviceResLimit", 0, CUBE, c_uint32(8))
    assert (of_device(0, CUBE), of_device(1, CUBE), of_device(0, VECTOR)) == (8, CHIP[CUBE], CHIP[VECTOR])
    assert (of_stream(stream, CUBE), of_thread(CUBE)) == (8, 8)
    assert set_stream(stream, CUBE, 20) == 0  # a stream may have more than its device
    assert of_stream(stream, CUBE) == 20
    acl.ok("aclrtResetStreamResLimit", stream)
    assert of_stream(stream, CUBE) == 8
    acl.ok("aclrtResetDeviceResLimit", 0)
    assert of_stream(stream, CUBE) == CHIP[CUBE]


def test_a_thread_has_a_streams_limit_while_it_uses_it(stream: c_void_p) -> None:
    other = acl.create_stream()
    assert set_stream(stream, VECTOR, 4) == 0
    assert of_thread(VECTOR) == CHIP[VECTOR]
    acl.ok("aclrtUseStreamResInCurrentThread", stream)
    assert (of_thread(VECTOR), of_thread(CUBE)) == (4, CHIP[CUBE])
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: (acl.set_device(0), of_thread(VECTOR))[1]).result() == CHIP[VECTOR]
    acl.ok("aclrtUnuseStreamResInCurrentThread", other)  # not the one in use
    assert of_thread(VECTOR) == 4
    acl.ok("aclrtUnuseStreamResInCurrentThread", stream)
    assert of_thread(VECTOR) == CHIP[VECTOR]


def test_a_destroyed_stream_decides_nothing(stream: c_void_p) -> None:
    assert set_stream(stream, CUBE, 2) == 0
    acl.ok("aclrtUseStreamResInCurrentThread", stream)
    acl.ok("aclrtDestroyStream", stream)
    assert of_thread(CUBE) == CHIP[CUBE]
    assert set_stream(stream, CUBE, 2) == acl.PARAM_INVALID


def test_the_default_stream_stands_for_null(stream: c_void_p) -> None:
    default = c_void_p()
    acl.ok("aclrtCtxGetCurrentDefaultStream", byref(default))
    assert set_stream(None, CUBE, 3) == 0
    assert of_stream(default, CUBE) == 3
    acl.ok("aclrtResetStreamResLimit", None)


@pytest.mark.parametrize("kind", [CUBE, VECTOR])
def test_more_than_the_chip_has(stream: c_void_p, kind: int) -> None:
    assert set_stream(stream, kind, CHIP[kind] + 1) == acl.PARAM_INVALID
    assert acl.call("aclrtSetDeviceResLimit", 0, kind, c_uint32(CHIP[kind] + 1)) == acl.PARAM_INVALID
    assert of_stream(stream, kind) == of_device(0, kind) == CHIP[kind]


def test_nonsense(stream: c_void_p) -> None:
    value = c_uint32()
    assert set_stream(stream, 2, 1) == acl.PARAM_INVALID
    assert acl.call("aclrtGetStreamResLimit", stream, 2, byref(value)) == acl.PARAM_INVALID
    assert acl.call("aclrtGetResInCurrentThread", CUBE, None) == acl.PARAM_INVALID
    assert acl.call("aclrtGetDeviceResLimit", 0, CUBE, None) == acl.PARAM_INVALID
    assert acl.call("aclrtSetDeviceResLimit", 2, CUBE, c_uint32(1)) == acl.INVALID_DEVICEID
    assert acl.call("aclrtResetDeviceResLimit", -1) == acl.INVALID_DEVICEID
