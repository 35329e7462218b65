# SPDX-License-Identifier: Apache-2.0
"""CANN's C interface through ctypes, for tests that need no torch: calls that must succeed, codes, streams, memory, graphs."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE = 0, 1
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
SYNC, PROGRESS, TIME_LINE, EXTERNAL = 0x01, 0x02, 0x08, 0x20  # kinds of events

# Names of acl/error_codes/rt_error_codes.h without ACL_ERROR_[RT_].
INVALID_PARAM = 100000
PARAM_INVALID = 107000
INVALID_DEVICEID = 107001
CONTEXT_NULL = 107002
STREAM_CONTEXT = 107003
MODEL_CONTEXT = 107004
STREAM_MODEL = 107005
EVENT_TIMESTAMP_INVALID = 107006
STREAM_SUBSCRIBE = 107011
THREAD_SUBSCRIBE = 107012
STREAM_NO_CB_REG = 107015
CAPTURE_DEPENDENCY = 107024
STREAM_UNJOINED = 107025
MODEL_CAPTURED = 107026
STREAM_CAPTURED = 107027
EVENT_CAPTURED = 107028
STREAM_NOT_CAPTURED = 107029
CAPTURE_MODE_NOT_SUPPORT = 107030
STREAM_CAPTURE_IMPLICIT = 107031
CAPTURE_CONFLICT = 107032
TASK_GROUP_STATUS = 107033
TASK_GROUP_INTR = 107034
CAPTURE_UNMATCHED = 107036
MODEL_RUNNING = 107037
CAPTURE_WRONG_THREAD = 107038
CAPTURE_MODE_BLOCK_ASYNC = 107041
SUB_ACLGRAPH_IS_CAPTURING = 107046
FEATURE_NOT_SUPPORT = 207000
MEMORY_ALLOCATION = 207001
RESOURCE_ALLOC_FAIL = 207005
NO_STREAM_RESOURCE = 207008
INTERNAL_ERROR = 507000
TASK_TYPE_NOT_SUPPORT = 507009
MODEL_EXECUTE = 507011
REPORT_TIMEOUT = 507012
AICORE_EXCEPTION = 507015
STREAM_SYNC_TIMEOUT = 507046
EVENT_SYNC_TIMEOUT = 507047
CAPTURE_INVALIDATED = 507903

HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)
LIBRARY = ctypes.CDLL("libascendcl.so")
LIBRARY.aclGetRecentErrMsg.restype = c_char_p
LIBRARY.aclCreateTensor.restype = c_void_p
LIBRARY.aclCreateScalar.restype = c_void_p


def call(name: str, *arguments: Any) -> int:
    """The code that a function returns. Python ints are 32-bit ints: wrap sizes and pointers."""
    return int(getattr(LIBRARY, name)(*arguments))


def message() -> str:
    text = LIBRARY.aclGetRecentErrMsg()
    return "" if text is None else text.decode()


def ok(name: str, *arguments: Any) -> None:
    code = call(name, *arguments)
    assert code == 0, f"{name} returned {code}: {message()}"


def set_device(device: int = 0) -> None:
    ok("aclrtSetDevice", device)


def malloc(size: int) -> c_void_p:
    pointer = c_void_p()
    ok("aclrtMalloc", byref(pointer), c_size_t(size), 0)
    return pointer


def malloc_host(size: int) -> c_void_p:
    pointer = c_void_p()
    ok("aclrtMallocHost", byref(pointer), c_size_t(size))
    return pointer


def memcpy(to: Any, source: Any, size: int, kind: int) -> int:
    return call("aclrtMemcpy", to, c_size_t(size), source, c_size_t(size), kind)


def memcpy_async(to: Any, source: Any, size: int, kind: int, stream: c_void_p) -> int:
    return call("aclrtMemcpyAsync", to, c_size_t(size), source, c_size_t(size), kind, stream)


def memset(pointer: c_void_p, value: int, size: int) -> int:
    return call("aclrtMemset", pointer, c_size_t(size), value, c_size_t(size))


def memset_async(pointer: c_void_p, value: int, size: int, stream: c_void_p | None) -> int:
    return call("aclrtMemsetAsync", pointer, c_size_t(size), value, c_size_t(size), stream)


def read_bytes(pointer: c_void_p, size: int) -> bytes:
    """Device memory, copied by the runtime."""
    buffer = ctypes.create_string_buffer(size)
    code = memcpy(buffer, pointer, size, DEVICE_TO_HOST)
    assert code == 0, message()
    return buffer.raw


def read_word(pointer: c_void_p) -> int:
    return int.from_bytes(read_bytes(pointer, 8), "little")


def write_word(pointer: c_void_p, value: int) -> None:
    assert memcpy(pointer, ctypes.create_string_buffer(value.to_bytes(8, "little"), 8), 8, HOST_TO_DEVICE) == 0, message()


def create_stream() -> c_void_p:
    stream = c_void_p()
    ok("aclrtCreateStream", byref(stream))
    return stream


def create_event(flag: int = SYNC) -> c_void_p:
    event = c_void_p()
    creator = "aclrtCreateEventWithFlag" if flag == EXTERNAL else "aclrtCreateEventExWithFlag"
    ok(creator, byref(event), c_uint32(flag))
    return event


def synchronize(stream: c_void_p | None) -> None:
    ok("aclrtSynchronizeStream", stream)


def record(event: c_void_p, stream: c_void_p | None) -> int:
    return call("aclrtRecordEvent", event, stream)


def wait(stream: c_void_p | None, event: c_void_p) -> int:
    return call("aclrtStreamWaitEvent", stream, event)


def begin(stream: c_void_p | None, mode: int = GLOBAL) -> int:
    return call("aclmdlRICaptureBegin", stream, mode)


def end(stream: c_void_p | None) -> tuple[int, c_void_p]:
    model = c_void_p()
    return call("aclmdlRICaptureEnd", stream, byref(model)), model


def info(stream: c_void_p) -> tuple[int, int | None]:
    status, model = c_int32(-1), c_void_p()
    ok("aclmdlRICaptureGetInfo", stream, byref(status), byref(model))
    return status.value, model.value


def end_ok(stream: c_void_p) -> c_void_p:
    code, model = end(stream)
    assert code == 0, f"capture end: {code}: {message()}"
    assert model.value
    return model


def execute(model: c_void_p, stream: c_void_p | None) -> int:
    return call("aclmdlRIExecuteAsync", model, stream)


def destroy(model: c_void_p) -> int:
    return call("aclmdlRIDestroy", model)


def exchange(mode: int) -> int:
    """Sets this thread's mode and gives the old one."""
    value = c_int32(mode)
    ok("aclmdlRICaptureThreadExchangeMode", byref(value))
    return value.value


@contextmanager
def exchanged(mode: int) -> Iterator[None]:
    old = exchange(mode)
    try:
        yield
    finally:
        exchange(old)


@contextmanager
def open_capture(stream: c_void_p, mode: int = GLOBAL) -> Iterator[None]:
    """Ends the capture, however it went; must be left on the thread that entered it."""
    assert begin(stream, mode) == 0, message()
    try:
        yield
    finally:
        code, model = end(stream)
        if code == 0:
            destroy(model)


_kept: dict[int, Any] = {}
_keys = itertools.count()


def launch_host_func(stream: c_void_p | None, function: Callable[[], None]) -> int:
    """The trampoline lives as long as the process: a graph may call it at any time."""
    trampoline = HOST_FUNCTION(lambda _: function())
    _kept[next(_keys)] = trampoline
    return call("aclrtLaunchHostFunc", stream, trampoline, None)


def launch_callback(stream: c_void_p | None, function: Callable[[], None], block: bool = True) -> int:
    trampoline = HOST_FUNCTION(lambda _: function())
    _kept[next(_keys)] = trampoline
    return call("aclrtLaunchCallback", trampoline, None, int(block), stream)


class Gate:
    """Holds a stream up until it is opened: a word in device memory that the stream waits for."""

    def __init__(self) -> None:
        self.word = malloc(8)
        self.close()

    def close(self) -> None:
        write_word(self.word, 0)

    def hold(self, stream: c_void_p) -> None:
        ok("aclrtValueWait", self.word, c_uint64(1), c_uint32(1), stream)

    def open(self) -> None:
        with exchanged(RELAXED):
            write_word(self.word, 1)


def floats(*values: float) -> c_void_p:
    pointer = malloc(4 * len(values))
    buffer = (c_float * len(values))(*values)
    assert memcpy(pointer, buffer, 4 * len(values), HOST_TO_DEVICE) == 0, message()
    return pointer


def read_floats(pointer: c_void_p, count: int) -> list[float]:
    return list((c_float * count).from_buffer_copy(read_bytes(pointer, 4 * count)))


def tensor(pointer: c_void_p, count: int) -> c_void_p:
    shape, strides = (c_int64 * 1)(count), (c_int64 * 1)(1)
    made = LIBRARY.aclCreateTensor(shape, c_uint64(1), 0, strides, c_int64(0), 2, shape, c_uint64(1), pointer)
    assert made, message()
    return c_void_p(made)


def muls(source: c_void_p, factor: float, to: c_void_p, count: int, stream: c_void_p) -> int:
    """A kernel: to = source * factor on float32, through the operator's two-phase interface."""
    value = c_float(factor)
    scalar = c_void_p(LIBRARY.aclCreateScalar(byref(value), 0))
    inputs = [tensor(source, count), tensor(to, count)]
    size, executor = c_uint64(), c_void_p()
    ok("aclnnMulsGetWorkspaceSize", inputs[0], scalar, inputs[1], byref(size), byref(executor))
    code = call("aclnnMuls", None, c_uint64(0), executor, stream)
    for handle in inputs:
        ok("aclDestroyTensor", handle)
    ok("aclDestroyScalar", scalar)
    return code
