# SPDX-License-Identifier: Apache-2.0
"""Finds the tensors in arguments and results, and writes the tags under which they are recorded (csrc/log/tag.h reads them).

All of it is plain Python on plain values, so that torch.compile can run it while it traces; it keeps no state.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

MODULE = "m"
API = "a"
ARGS = "args"
KWARGS = "kwargs"
OUT = "out"

_MAX_DEPTH = 32  # deeper is a structure that holds itself

Found = list[tuple[str, torch.Tensor]]

_warned_types: set[type] = set()  # told of already, once a process


def escape(text: str) -> str:
    """Makes a name or key safe inside a tag."""
    return text.replace("%", "%25").replace("|", "%7C").replace("/", "%2F")


def find_tensors(value: Any, path: str, found: Found, depth: int = 0) -> None:
    """Appends (path, tensor) for each tensor in nested sequences, mappings and dataclasses, in order."""
    if isinstance(value, torch.Tensor):
        tensor = _recordable(value)
        if tensor is not None:
            found.append((path or "#0", tensor))
        return
    if value is None or depth > _MAX_DEPTH or isinstance(value, str | bytes | int | float):
        return
    prefix = path + "/" if path else ""
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            find_tensors(item, f"{prefix}#{index}", found, depth + 1)
    elif isinstance(value, dict | Mapping):
        for key, item in value.items():
            find_tensors(item, f"{prefix}.{escape(str(key))}", found, depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            find_tensors(getattr(value, field.name), f"{prefix}.{escape(field.name)}", found, depth + 1)


def _recordable(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor whose numbers stand for this one: itself, or this rank's part of a distributed one."""
    kind = type(tensor)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        if not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            _warn_once(kind, "tensors inside vmap, grad or jvp are not recorded: their numbers exist only after the transform")
            return None
        return tensor
    if hasattr(tensor, "to_local"):
        local: torch.Tensor = tensor.to_local()
        return local
    if is_traceable_wrapper_subclass(tensor):
        _warn_once(
            kind, f"tensors of the subclass {kind.__module__}.{kind.__qualname__} are not recorded: what they wrap is not known"
        )
        return None
    return tensor


def _warn_once(kind: type, message: str) -> None:
    if kind not in _warned_types:
        _warned_types.add(kind)
        warnings.warn(f"msprobe: {message}", stacklevel=2)


def tag(kind: str, escaped_name: str, section: str, path: str, *, opens: bool, closes: bool) -> str:
    """The tag of one tensor. `opens` marks the first tensor of a call, `closes` the last."""
    return f"{kind}|{escaped_name}|{section}|{path}|{'^' if opens else ''}{'$' if closes else ''}"
