# SPDX-License-Identifier: Apache-2.0
"""acl_save: one tensor to a .pt file, from eager code, from a captured graph at every replay, from a compiled region."""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing.util
import os
import re
import sys
import warnings
from pathlib import Path

import torch

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import ops

_MAX_PATH = 4096  # with the byte that ends it, as the system counts
_MAX_NAME = 255
_NAME = re.compile(r"[A-Za-z0-9_.:-]+")
_LONGEST_NUMBER = len(
    "_18446744073709551615.pt.tmp.4294967295.4294967295"
)  # what is put behind the base, temporary files included

_prepared: dict[str, str] = {}  # path as given, with the working directory -> base; a cache
_bases: set[str] = set()  # those of this process: several paths may have one
_npu_devices: set[int] = set()  # whose streams flush() waits for
_registered_pid = 0  # of the process whose end flushes


def acl_save(x: torch.Tensor, path: str) -> torch.Tensor:
    """Saves x to `{base}_{seq}.pt`, where base is `path` without its extension and seq counts up from 0 at every execution, replays of a
    captured graph included. Returns x itself.

    The values are those of this point of the program or graph. `torch.load` reads the files; gradients and strides are not saved. Files
    are written by other threads: `flush()` waits for them. A tensor that could not be saved is a RuntimeError of a later acl_save, flush
    or AclGraphDumper.step, once.

    Args:
        x: a dense tensor of any shape and of any dtype that has values: not a quantised one, `bits8` or `uint4` and their like.
        path: relative or absolute; its folder must exist.

    Raises TypeError or ValueError for arguments that cannot be used, OSError for the folder, RuntimeError for the dtype. In a trace of
    torch.compile they come out of Dynamo, with their message.
    """
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"acl_save: x must be a torch.Tensor, got {type(x).__name__}")
    if type(x) is not torch.Tensor and type(x) is not torch.nn.Parameter:
        raise TypeError(
            f"acl_save: x must be a plain torch.Tensor, got the subclass {type(x).__name__}: save what it is made of, e.g. x.to_local()"
        )
    if x.is_meta and not torch.compiler.is_compiling():
        raise TypeError("acl_save: x must have values, got a tensor on the meta device")
    if not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(x):
        raise TypeError("acl_save: x has no values inside vmap, grad or jvp: save it outside the transform")
    if x.layout != torch.strided:
        raise TypeError(f"acl_save: x must be dense, got layout {x.layout}: save x.to_dense(), or its indices and values")
    base = _prepare(path, x.device)
    ops.save(x, base)
    if not torch.compiler.is_compiling():
        aclgraph_dump_ext.raise_save_error()  # of earlier ones; this one is on its way
    return x


def flush() -> None:
    """Waits for the devices that acl_save was used on, and until every save issued so far is on disk.

    Raises RuntimeError, once, for the tensors that could not be saved.
    """
    for index in list(_npu_devices):  # other threads add to it
        aclgraph_dump_ext.wait_for_saves(f"npu:{index}")
    aclgraph_dump_ext.flush_saves()
    aclgraph_dump_ext.raise_save_error()


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _prepare(path: str, device: torch.device) -> str:
    """Checks a path once and gives its base. In a trace this runs at trace time, and only the base is left."""
    flush_at_exit()
    pid = os.getpid()
    if device.type == "npu":
        aclgraph_dump_ext.load_npu()
        _npu_devices.add(device.index)
    key = f"{pid}\0{os.getcwd()}\0{path}"  # a forked child checks for itself
    base = _prepared.get(key)
    if base is None:
        ops.name_tokens(0)
        base = _check_path(path)
        if base not in _bases:
            _look_for_earlier_files(base)
            _bases.add(base)
        _prepared[key] = base
    return base


def _check_path(path: str) -> str:
    """The absolute path without extension. The rules keep a typing error, or a name out of a model, from writing elsewhere."""
    if not isinstance(path, str):
        raise TypeError(f"acl_save: path must be a str, got {type(path).__name__}")
    if len(path) > _MAX_PATH:
        raise ValueError(f"acl_save: path must not be longer than {_MAX_PATH} characters, got {len(path)}")
    parts = path.split("/")
    if ".." in parts:
        raise ValueError(f"acl_save: path must not contain '..', got '{path}'")
    for part in filter(None, parts):
        if not _NAME.fullmatch(part):
            raise ValueError(f"acl_save: names in a path may hold A-Z a-z 0-9 _ . : - only, got '{part}' in '{path}'")
    folder, name = os.path.split(os.path.abspath(path))
    if not parts[-1] or parts[-1] == ".":
        raise ValueError(f"acl_save: path must end with the name of a file, got '{path}'")
    if len(name) > _MAX_NAME or len(os.path.splitext(name)[0]) + _LONGEST_NUMBER > _MAX_NAME:
        raise ValueError(
            f"acl_save: the name of a file, with the number put behind it, must not be longer than {_MAX_NAME} characters, "
            f"got {len(name)}"
        )
    base = os.path.join(folder, os.path.splitext(name)[0])
    if len(os.fsencode(base)) + _LONGEST_NUMBER >= _MAX_PATH:
        raise ValueError(
            f"acl_save: the absolute path, with the number put behind it, must be shorter than {_MAX_PATH} bytes, "
            f"got {len(os.fsencode(base))} for the folder and the name"
        )
    _check_folder(folder, path)
    return base


def _look_for_earlier_files(base: str) -> None:
    """Clears away half-written ones, refuses what cannot be replaced, warns of what will be."""
    folder, name = os.path.split(base)
    earlier = remove_leftovers(folder, name)
    for entry in earlier:
        if entry.is_symlink():
            raise ValueError(f"acl_save: '{entry.path}' is a symbolic link, which is not written through: remove it")
        if not entry.is_file():
            raise ValueError(f"acl_save: '{entry.path}' is no plain file, and cannot be replaced by one: remove it")
    if earlier:
        first = min((entry.path for entry in earlier), key=lambda path: (len(path), path))
        warnings.warn(f"acl_save: files of an earlier run will be replaced: {first} and those after it", stacklevel=4)


def _check_folder(folder: str, path: str) -> None:
    if not os.path.isdir(folder):
        missing = folder
        while not os.path.lexists(os.path.dirname(missing)):
            missing = os.path.dirname(missing)
        several = torch.distributed.is_available() and torch.distributed.is_initialized()
        advice = f"; every rank needs its own, this is rank {torch.distributed.get_rank()}" if several else ""
        raise FileNotFoundError(2, f"acl_save: the folder of '{path}' does not exist; make it first{advice}", missing)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):  # read: for files of earlier runs
        raise PermissionError(13, "acl_save: the folder must be readable and writable", folder)


def remove_leftovers(folder: str, base: str | None = None) -> list[os.DirEntry[str]]:
    """Removes temporary files that killed processes have left in a folder: those of this base, or all. Returns the saved files of it."""
    name = r".*" if base is None else re.escape(base) + r"_\d+"
    pattern = re.compile(name + r"\.pt(\.tmp\.(\d+)\.\d+)?")
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match and match[1] is None:
                found.append(entry)
            elif match and not Path(f"/proc/{match[2]}").exists():
                with contextlib.suppress(FileNotFoundError):  # another process was faster
                    os.unlink(entry.path)
    return found


def flush_at_exit() -> None:
    """The end of this process waits for its files."""
    global _registered_pid
    if _registered_pid != os.getpid():
        _registered_pid = os.getpid()
        atexit.register(_flush_at_exit)
        multiprocessing.util.Finalize(None, _flush_at_exit, exitpriority=0)  # its children end without atexit


def _forget_in_child() -> None:
    """What the parent gave its devices is the parent's, and a forked child cannot use them."""
    _npu_devices.clear()
    _bases.clear()


class _AfterFork:
    """The end of a child of multiprocessing flushes too, though it may never call acl_save: a region compiled by its parent saves."""


_after_fork = _AfterFork()
os.register_at_fork(after_in_child=_forget_in_child)
multiprocessing.util.register_after_fork(_after_fork, lambda _: flush_at_exit())  # after it has dropped its parent's finalizers


def _flush_at_exit() -> None:
    try:
        flush()
    except Exception as error:  # the interpreter is going down: nobody is left to catch it
        sys.stderr.write(f"msprobe: {str(error).removeprefix('msprobe: ')}\n")
