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

_MAX_PATH = 4096
_MAX_NAME = 255
_NAME = re.compile(r"[A-Za-z0-9_.:-]+")
_LONGEST_NUMBER = len(
    "_18446744073709551615.pt.tmp.4294967295.4294967295"
)  # what is put behind the base, temporary files included

_prepared: dict[str, str] = {}  # path as given, with the working directory -> base; a cache
_npu_devices: set[int] = set()  # whose streams flush() waits for
_registered_pid = 0  # of the process whose end flushes


def acl_save(x: torch.Tensor, path: str) -> torch.Tensor:
    """Saves x to `{base}_{seq}.pt`, where base is `path` without its extension and seq counts up from 0 at every execution, replays of a
    captured graph included. Returns x itself.

    The values are those of this point of the program or graph. `torch.load` reads the files; gradients and strides are not saved. Files
    are written by other threads: `flush()` waits for them. A tensor that could not be saved is a RuntimeError of a later acl_save, flush
    or AclGraphDumper.step, once.

    Args:
        x: a dense tensor of any shape and of any dtype that is not quantised.
        path: relative or absolute; its folder must exist.

    Raises TypeError or ValueError for arguments that cannot be used, OSError for the folder.
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
    for index in _npu_devices:
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
        remove_leftovers(os.path.dirname(base), os.path.basename(base) + "_")
        if os.path.lexists(f"{base}_0.pt"):
            warnings.warn(f"acl_save: files of an earlier run will be replaced: {base}_0.pt and those after it", stacklevel=3)
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
    _check_folder(folder, path)
    base = os.path.join(folder, os.path.splitext(name)[0])
    if os.path.islink(f"{base}_0.pt"):
        raise ValueError(f"acl_save: '{base}_0.pt' is a symbolic link, which is not written through: remove it")
    return base


def _check_folder(folder: str, path: str) -> None:
    if not os.path.isdir(folder):
        missing = folder
        while not os.path.lexists(os.path.dirname(missing)):
            missing = os.path.dirname(missing)
        several = torch.distributed.is_available() and torch.distributed.is_initialized()
        advice = f"; every rank needs its own, this is rank {torch.distributed.get_rank()}" if several else ""
        raise FileNotFoundError(2, f"acl_save: the folder of '{path}' does not exist; make it first{advice}", missing)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "acl_save: the folder cannot be written to", folder)


def remove_leftovers(folder: str, prefix: str = "") -> bool:
    """Removes temporary files that killed processes have left in a folder. Returns whether saved files of this prefix are there."""
    pattern = re.compile(re.escape(prefix) + r".*\.pt(\.tmp\.(\d+)\.\d+)?")
    found = False
    for entry in os.listdir(folder):
        match = pattern.fullmatch(entry)
        if match and match[1] is None:
            found = True
        elif match and not Path(f"/proc/{match[2]}").exists():
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                os.unlink(os.path.join(folder, entry))
    return found


def flush_at_exit() -> None:
    """The end of this process waits for its files."""
    global _registered_pid
    if _registered_pid != os.getpid():
        _registered_pid = os.getpid()
        atexit.register(_flush_at_exit)
        multiprocessing.util.Finalize(None, _flush_at_exit, exitpriority=0)  # its children end without atexit


def _flush_at_exit() -> None:
    try:
        flush()
    except Exception as error:  # the interpreter is going down: nobody is left to catch it
        sys.stderr.write(f"msprobe: {error}\n")
