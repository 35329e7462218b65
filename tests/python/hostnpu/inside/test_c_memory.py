# SPDX-License-Identifier: Apache-2.0
"""Memory: limits of each device, what a pointer is, copies and their checks."""

from __future__ import annotations

import ctypes
import os
from ctypes import Structure, byref, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

import acl
import pytest

LIMIT = int(float(os.environ["HOSTNPU_MEMORY_GIB"]) * 2**30)


class Attributes(Structure):
    _fields_ = [("id", c_uint32), ("kind", c_int32), ("page_size", c_uint32), ("reserved", c_uint32 * 4)]


HOST, DEVICE, UNREGISTERED = 0, 1, 2


@pytest.fixture(autouse=True)
def device() -> None:
    acl.set_device(0)


def place(pointer: object, offset: int = 0) -> tuple[int, int]:
    attributes = Attributes()
    address = c_void_p(ctypes.cast(pointer, c_void_p).value + offset)  # type: ignore[arg-type,operator]
    acl.ok("aclrtPointerGetAttributes", address, byref(attributes))
    return attributes.kind, attributes.id


def free_bytes() -> int:
    free, total = c_size_t(), c_size_t()
    acl.ok("aclrtGetMemInfo", 1, byref(free), byref(total))
    assert total.value == LIMIT
    return free.value


def test_fresh_memory_is_not_zero() -> None:
    assert acl.read_bytes(acl.malloc(1000), 1000) == b"\xa5" * 1000


def test_alignment() -> None:
    assert all(acl.malloc(size).value % 512 == 0 for size in (1, 3, 511, 513))  # type: ignore[operator]


def test_accounting() -> None:
    before = free_bytes()
    memory = acl.malloc(1 << 20)
    assert free_bytes() == before - (1 << 20)
    acl.ok("aclrtFree", memory)
    assert free_bytes() == before


def test_limit_of_a_device() -> None:
    before = free_bytes()
    pointer = c_void_p()
    assert acl.call("aclrtMalloc", byref(pointer), c_size_t(before + 1), 0) == acl.MEMORY_ALLOCATION
    assert pointer.value is None
    assert "--memory" in acl.message()
    assert free_bytes() == before


def test_devices_have_budgets_of_their_own() -> None:
    before = free_bytes()
    acl.set_device(1)
    memory = acl.malloc(1 << 20)
    acl.set_device(0)
    assert free_bytes() == before
    acl.ok("aclrtFree", memory)


def test_pointer_attributes() -> None:
    memory, pinned, pageable = acl.malloc(100), acl.malloc_host(100), ctypes.create_string_buffer(100)
    assert place(memory) == place(memory, 99) == (DEVICE, 0)
    assert place(pinned) == place(pinned, 99) == (HOST, 0)
    assert place(pageable)[0] == UNREGISTERED
    acl.set_device(1)
    assert place(acl.malloc(8)) == (DEVICE, 1)
    acl.set_device(0)
    acl.ok("aclrtFree", memory)
    assert place(memory)[0] == UNREGISTERED


def test_free_of_what_was_not_allocated() -> None:
    memory, pinned = acl.malloc(8), acl.malloc_host(8)
    assert acl.call("aclrtFree", ctypes.create_string_buffer(8)) == acl.PARAM_INVALID
    assert acl.call("aclrtFree", pinned) == acl.PARAM_INVALID
    assert acl.call("aclrtFreeHost", memory) == acl.PARAM_INVALID
    acl.ok("aclrtFree", memory)
    assert acl.call("aclrtFree", memory) == acl.PARAM_INVALID
    acl.ok("aclrtFreeHost", pinned)


def test_size_zero_and_null() -> None:
    pointer = c_void_p()
    assert acl.call("aclrtMalloc", byref(pointer), c_size_t(0), 0) == acl.INVALID_PARAM
    assert acl.call("aclrtMalloc", None, c_size_t(8), 0) == acl.INVALID_PARAM
    assert acl.memcpy(None, acl.malloc(8), 8, acl.DEVICE_TO_DEVICE) == acl.INVALID_PARAM
    assert acl.memcpy(None, None, 0, acl.DEVICE_TO_DEVICE) == 0


def test_room_at_the_destination() -> None:
    memory, source = acl.malloc(8), acl.malloc(16)
    assert acl.call("aclrtMemcpy", memory, c_size_t(8), source, c_size_t(16), acl.DEVICE_TO_DEVICE) == acl.PARAM_INVALID
    stream = acl.create_stream()
    arguments = (memory, c_size_t(8), source, c_size_t(16), acl.DEVICE_TO_DEVICE, stream)
    assert acl.call("aclrtMemcpyAsync", *arguments) == acl.PARAM_INVALID


def test_copy_in_two_dimensions() -> None:
    host = ctypes.create_string_buffer(bytes(range(16)), 16)
    memory = acl.malloc(32)
    assert acl.memset(memory, 0, 32) == 0
    sizes = (c_size_t(8), host, c_size_t(4), c_size_t(3), c_size_t(4))
    acl.ok("aclrtMemcpy2d", memory, *sizes, acl.HOST_TO_DEVICE)
    rows = [acl.read_bytes(memory, 32)[start : start + 8] for start in range(0, 32, 8)]
    assert rows == [bytes([4 * row, 4 * row + 1, 4 * row + 2, 0, 0, 0, 0, 0]) for row in range(4)]


def test_asynchronous_copy_between_host_memories() -> None:
    stream = acl.create_stream()
    first, second = acl.malloc_host(8), acl.malloc_host(8)
    assert acl.memcpy_async(first, second, 8, 0, stream) == acl.FEATURE_NOT_SUPPORT


def test_registering_host_memory() -> None:
    host, mapped = ctypes.create_string_buffer(64), c_void_p()
    acl.ok("aclrtHostRegister", host, c_uint64(64), 0, byref(mapped))
    assert mapped.value == ctypes.addressof(host)
    assert place(host, 63)[0] == HOST
    assert acl.call("aclrtHostRegister", host, c_uint64(8), 0, byref(mapped)) == 507910
    acl.ok("aclrtHostUnregister", host)
    assert acl.call("aclrtHostUnregister", host) == 507911
    assert place(host)[0] == UNREGISTERED


def test_values() -> None:
    stream, word = acl.create_stream(), acl.malloc(8)
    acl.write_word(word, 0)
    for value, flag in ((5, 0), (5, 1), (4, 2), (1, 3)):
        acl.ok("aclrtValueWrite", word, c_uint64(5), c_uint32(0), stream)
        acl.ok("aclrtValueWait", word, c_uint64(value), c_uint32(flag), stream)
    acl.synchronize(stream)
    assert acl.read_word(word) == 5
    odd = c_void_p(word.value + 4)  # type: ignore[operator]
    assert acl.call("aclrtValueWrite", odd, c_uint64(1), c_uint32(0), stream) == 107008


def test_virtual_memory() -> None:
    page = 2 << 20
    before, space, handle = free_bytes(), c_void_p(), c_void_p()
    properties = ctypes.create_string_buffer(64)
    acl.ok("aclrtReserveMemAddress", byref(space), c_size_t(2 * page), c_size_t(0), None, c_uint64(1))
    acl.ok("aclrtMallocPhysical", byref(handle), c_size_t(page), properties, c_uint64(0))
    assert free_bytes() == before - page
    second = c_void_p(space.value + page)  # type: ignore[operator]
    acl.ok("aclrtMapMem", second, c_size_t(page), c_size_t(0), handle, c_uint64(0))
    assert place(second, page - 1) == (DEVICE, 0)
    assert acl.memset(second, 7, page) == 0
    assert acl.read_bytes(second, 16) == b"\x07" * 16
    acl.ok("aclrtUnmapMem", second)
    assert place(second)[0] == UNREGISTERED
    acl.ok("aclrtMapMem", space, c_size_t(page), c_size_t(0), handle, c_uint64(0))
    assert acl.read_bytes(space, 16) == b"\x07" * 16
    assert acl.call("aclrtReleaseMemAddress", space) == acl.PARAM_INVALID
    acl.ok("aclrtUnmapMem", space)
    acl.ok("aclrtFreePhysical", handle)
    acl.ok("aclrtReleaseMemAddress", space)
    assert free_bytes() == before
