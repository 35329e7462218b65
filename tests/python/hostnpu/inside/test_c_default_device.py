# SPDX-License-Identifier: Apache-2.0
"""aclInit with a default device, as torch_npu calls it: a thread without a context gets device 0 by its first runtime call."""

from __future__ import annotations

import json
import threading
from ctypes import byref, c_int32, c_void_p
from pathlib import Path

import acl
import pytest


@pytest.fixture(scope="module", autouse=True)
def initialised(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("acl") / "acl.json"
    path.write_text(json.dumps({"dump": {"dump_scene": "lite_exception"}, "defaultDevice": {"default_device": "0"}}))
    acl.ok("aclInit", str(path).encode())


def active(device: int) -> bool:
    state = c_int32(-1)
    acl.ok("aclrtGetPrimaryCtxState", device, None, byref(state))
    return state.value == 1


def test_init_twice() -> None:
    assert acl.call("aclInit", None) == 100002


def test_host_function_of_device_one_opens_a_context_on_device_zero() -> None:
    devices: list[int] = []

    def ask() -> None:
        device = c_int32(-1)
        acl.call("aclrtGetCurrentContext", byref(c_void_p()))
        acl.call("aclrtGetDevice", byref(device))
        devices.append(device.value)

    def work() -> None:
        acl.set_device(1)
        stream = acl.create_stream()
        assert not active(0)
        acl.launch_host_func(stream, ask)
        acl.synchronize(stream)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert devices == [0]
    assert active(0)


def test_call_without_a_context_uses_device_zero() -> None:
    memory: list[c_void_p] = []
    thread = threading.Thread(target=lambda: memory.append(acl.malloc(8)))
    thread.start()
    thread.join()
    acl.set_device(0)
    assert acl.read_bytes(memory[0], 8) == b"\xa5" * 8


def test_finalize_and_init_again() -> None:
    acl.set_device(0)
    stream, memory = acl.create_stream(), acl.malloc(8)
    assert acl.memset_async(memory, 1, 8, stream) == 0
    acl.ok("aclFinalize")
    assert acl.call("aclFinalize") == 100001
    acl.ok("aclInit", None)
    acl.set_device(0)
    assert acl.memset_async(memory, 1, 8, stream) == acl.PARAM_INVALID
    again = acl.create_stream()
    assert acl.memset_async(memory, 2, 8, again) == 0
    acl.synchronize(again)
    assert acl.read_bytes(memory, 8) == b"\x02" * 8


def test_missing_configuration() -> None:
    assert acl.call("aclInit", b"/nowhere/acl.json") != 0
    assert "/nowhere/acl.json" in acl.message()


def test_acl_default_json_of_torch_npu_names_device_zero() -> None:
    import os

    path = Path(os.environ["TORCH_ACL_INIT_CONFIG_PATH"])
    assert json.loads(path.read_text())["defaultDevice"] == {"default_device": "0"}
