# SPDX-License-Identifier: Apache-2.0
"""Loads the operators (libmsprobe_ops.so, and libmsprobe_npu.so where torch_npu is) and wraps their C interface.

Importing this module raises ImportError with the reason and the remedy; nothing else of msprobe touches the libraries.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

_FOLDER = Path(__file__).parent
_REBUILD = "rebuild with `pip install --no-build-isolation .` (or `python3 setup.py bdist_wheel --include-mod=aclgraph_dump`)"


class _Slice(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("dim", "size", "begin", "end")]


class _Options(ctypes.Structure):
    """MsprobeOptions of csrc/ops/control.cpp."""

    _fields_ = [
        ("level", ctypes.c_char_p),
        ("scope_first", ctypes.c_char_p),
        ("scope_last", ctypes.c_char_p),
        ("run", ctypes.c_char_p),
        ("slices", ctypes.POINTER(_Slice)),
        ("slice_count", ctypes.c_int64),
        ("tensors", ctypes.c_bool),
        ("modules", ctypes.c_bool),
        ("scope_first_wanted", ctypes.c_bool),
        ("scope_last_wanted", ctypes.c_bool),
        ("inputs", ctypes.c_bool),
        ("outputs", ctypes.c_bool),
        ("npu_copy_in_callback", ctypes.c_bool),
        ("npu_rows_by_copy", ctypes.c_bool),
        ("identity", ctypes.c_bool),
    ]


def _release(version: str) -> str:
    """The part of a version that decides about binary compatibility: "2.13.0+cpu" -> "2.13.0"."""
    return version.split("+", 1)[0]


def _load(name: str) -> ctypes.CDLL:
    path = _FOLDER / name
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"{path} cannot be loaded: {error}; {_REBUILD}") from error


def _load_ops() -> ctypes.CDLL:
    info_path = _FOLDER / "build_info.json"
    if not info_path.is_file():
        raise ImportError(f"this msprobe was built without its operators ({info_path} is missing); {_REBUILD}")
    built_for = json.loads(info_path.read_text())["torch"]
    if _release(built_for) != _release(torch.__version__):
        raise ImportError(
            f"its operators were built for torch {built_for}, but torch {torch.__version__} is running; {_REBUILD}"
        )
    ops = _load("libmsprobe_ops.so")
    ops.msprobe_error_text.restype = ctypes.c_char_p
    ops.msprobe_error_text.argtypes = []
    ops.msprobe_error_number.restype = ctypes.c_int
    ops.msprobe_error_number.argtypes = []
    ops.msprobe_dumper_open.restype = ctypes.c_int64
    ops.msprobe_dumper_open.argtypes = [ctypes.POINTER(_Options)]
    ops.msprobe_dumper_folder.restype = ctypes.c_int
    ops.msprobe_dumper_folder.argtypes = [ctypes.c_int64, ctypes.c_char_p]
    ops.msprobe_dumper_site.restype = ctypes.c_int64
    ops.msprobe_dumper_site.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_bool, ctypes.c_bool, ctypes.c_int64]
    ops.msprobe_dumper_graphs.restype = ctypes.c_int64
    ops.msprobe_dumper_graphs.argtypes = [ctypes.c_int64]
    ops.msprobe_dumper_called.restype = ctypes.c_int
    ops.msprobe_dumper_called.argtypes = [ctypes.c_int64, ctypes.c_int64]
    ops.msprobe_dumper_recording.restype = ctypes.c_int
    ops.msprobe_dumper_recording.argtypes = [ctypes.c_int64, ctypes.c_bool]
    ops.msprobe_dumper_reserve.restype = ctypes.c_int
    ops.msprobe_dumper_reserve.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
    ops.msprobe_dumper_write.restype = ctypes.c_int64
    ops.msprobe_dumper_write.argtypes = [ctypes.c_int64, ctypes.c_bool, ctypes.c_char_p, ctypes.c_bool]
    ops.msprobe_dumper_discard.restype = ctypes.c_int
    ops.msprobe_dumper_discard.argtypes = [ctypes.c_int64]
    for name in ("msprobe_dumper_enter", "msprobe_dumper_abandon", "msprobe_dumper_renew", "msprobe_dumper_close"):
        getattr(ops, name).restype = ctypes.c_int
        getattr(ops, name).argtypes = [ctypes.c_int64]
    ops.msprobe_save_wait.restype = ctypes.c_int
    ops.msprobe_save_wait.argtypes = [ctypes.c_char_p]
    for name in ("msprobe_save_flush", "msprobe_save_check"):
        getattr(ops, name).restype = ctypes.c_int
        getattr(ops, name).argtypes = []
    return ops


_OPS = _load_ops()
_npu_loaded = False


def load_npu() -> None:
    """Loads the NPU's half once torch_npu is imported; without torch_npu this does nothing.

    Raises ImportError if torch_npu is there but msprobe was built without it or for another version.
    """
    global _npu_loaded  # a cache: the dynamic loader keeps libraries for the process anyway
    torch_npu = sys.modules.get("torch_npu")
    if _npu_loaded or torch_npu is None:
        return
    built_for = json.loads((_FOLDER / "build_info.json").read_text())["torch_npu"]
    if not built_for:
        raise ImportError(f"msprobe was built without torch_npu, but torch_npu {torch_npu.__version__} is running; {_REBUILD}")
    if _release(built_for) != _release(torch_npu.__version__):
        raise ImportError(
            f"msprobe was built for torch_npu {built_for}, but torch_npu {torch_npu.__version__} is running; {_REBUILD}"
        )
    _load("libmsprobe_npu.so")
    _npu_loaded = True


def _raise_last_error() -> None:
    text = _OPS.msprobe_error_text().decode("utf-8", "replace")
    number = _OPS.msprobe_error_number()
    if number:
        raise OSError(number, text)
    raise RuntimeError(text)


def open_dumper(
    level: str,
    *,
    tensors: bool = False,
    scope: tuple[str, str] = ("", ""),
    scope_wanted: tuple[bool, bool] = (True, True),
    modules: bool = True,
    inputs: bool = True,
    outputs: bool = True,
    slices: Sequence[tuple[int, int | None, int, int]] = (),
    npu_copy_in_callback: bool = False,
    npu_rows_by_copy: bool = False,
    identity: bool = True,
    run: str = "",
) -> int:
    """A new dumper's handle: positive, never used twice in a process.

    Args:
        level: as it stands in dump.json.
        tensors: save the tensors, not only their statistics.
        scope: entries' names of the first and the last module, without the call; empty: everything.
        scope_wanted: whether these two are recorded themselves, or only mark the scope.
        modules: whether modules are recorded at all.
        slices: (dim, size or None, begin, end).
        run: members of a JSON object, without braces, that stand in each dump.json under "Run".
    """
    structures = [_Slice(dim, -1 if size is None else size, begin, end) for dim, size, begin, end in slices]
    array = (_Slice * len(slices))(*structures)
    options = _Options(
        level.encode(),
        _encode(scope[0]),
        _encode(scope[1]),
        run.encode(),
        array,
        len(slices),
        tensors,
        modules,
        *scope_wanted,
        inputs,
        outputs,
        npu_copy_in_callback,
        npu_rows_by_copy,
        identity,
    )
    handle: int = _OPS.msprobe_dumper_open(ctypes.byref(options))
    if handle == 0:
        _raise_last_error()
    return handle


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def set_folder(handle: int, folder: str) -> None:
    """Where the first step is written: the absolute path of dump.json's folder, which is made when it is needed."""
    if _OPS.msprobe_dumper_folder(handle, _encode(folder)) != 0:
        _raise_last_error()


def add_site(handle: int, name: str, filtered: bool, has_forward: bool, parent: int) -> int:
    """Counts a module of the dumper's; returns its number. `filtered`: it is not recorded on purpose. `has_forward`: it can be called.
    `parent`: number of the module around it, or -1."""
    site: int = _OPS.msprobe_dumper_site(handle, _encode(name), filtered, has_forward, parent)
    if site < 0:
        _raise_last_error()
    return site


def captured_forwards(handle: int) -> int:
    """How many forwards were captured in graphs; 0 once the dumper is closed."""
    count: int = _OPS.msprobe_dumper_graphs(handle)
    if count < 0:
        _raise_last_error()
    return count


def mark_called(handle: int, site: int) -> None:
    """Says that a module's forward was called."""
    if _OPS.msprobe_dumper_called(handle, site) != 0:
        _raise_last_error()


def set_recording(handle: int, on: bool) -> None:
    """Whether what runs from here on is recorded, replays of graphs captured long ago included."""
    if _OPS.msprobe_dumper_recording(handle, on) != 0:
        _raise_last_error()


def reserve(handle: int, device: torch.device, sites: int) -> None:
    """Makes room for `sites` captured tensors on `device`."""
    if _OPS.msprobe_dumper_reserve(handle, str(device).encode(), sites) != 0:
        _raise_last_error()


def write(handle: int, *, empty: bool, next_folder: str, next_recording: bool) -> int:
    """Waits for the devices, writes all records to the folder's dump.json and forgets them. Returns the number of entries.

    `empty`: write the file even if there are none. What comes afterwards belongs to `next_folder`, and is recorded if `next_recording`.
    On failure (OSError for a file, RuntimeError otherwise) no file is left behind, and the records stay for the next call, in this step.
    """
    entries: int = _OPS.msprobe_dumper_write(handle, empty, _encode(next_folder), next_recording)
    if entries < 0:
        _raise_last_error()
    return entries


def discard(handle: int) -> None:
    """Waits for the devices and forgets all records; tensors that were saved are removed."""
    if _OPS.msprobe_dumper_discard(handle) != 0:
        _raise_last_error()


def renew(handle: int) -> None:
    """In a forked child: forgets what the parent has recorded, and waits for nobody. The folder and the switch must be set again."""
    if _OPS.msprobe_dumper_renew(handle) != 0:
        _raise_last_error()


def enter_forward(handle: int) -> None:
    """Says that this thread's outermost forward begins: its records belong together until it is committed or abandoned."""
    if _OPS.msprobe_dumper_enter(handle) != 0:
        _raise_last_error()


def abandon_forward(handle: int) -> None:
    """Says that this thread's outermost forward has raised: what it recorded until then stays as it is."""
    if _OPS.msprobe_dumper_abandon(handle) != 0:
        _raise_last_error()


def close(handle: int) -> None:
    """Takes no more records under this handle. Graphs captured under it stay valid."""
    if _OPS.msprobe_dumper_close(handle) != 0:
        _raise_last_error()


def wait_for_saves(device: str) -> None:
    """Returns when `device` ("npu:0") has done what it was given: what was saved there is on its way to the disk."""
    if _OPS.msprobe_save_wait(device.encode()) != 0:
        _raise_last_error()


def flush_saves() -> None:
    """Returns when every tensor saved before the call is on disk or has failed. The devices must have been waited for."""
    if _OPS.msprobe_save_flush() != 0:
        _raise_last_error()


def raise_save_error() -> None:
    """Raises RuntimeError, once, for the tensors that could not be saved since the last call."""
    if _OPS.msprobe_save_check() != 0:
        _raise_last_error()
