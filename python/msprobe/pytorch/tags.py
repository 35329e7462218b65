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
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

IN_TRANSFORMS = "tensors inside vmap, grad or jvp are not recorded: their numbers exist only after the transform"

MODULE = "m"
API = "a"
ARGS = "args"
KWARGS = "kwargs"
OUT = "out"
PARAMS = "params"

_MAX_DEPTH = 32  # deeper is a structure that holds itself

Found = list[tuple[str, torch.Tensor]]

_warned_types: set[type] = set()  # told of already, once a process


def escape(text: str) -> str:
    """Makes a name or key safe inside a tag. What no UTF-8 can hold stands as U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("%", "%25").replace("|", "%7C").replace("/", "%2F")


def tensors_in(value: Any) -> Found:
    """(path, tensor) of each tensor in nested sequences, mappings and dataclasses, in order. In eager code this never raises."""
    found: Found = []
    if torch.compiler.is_compiling():
        find_tensors(value, "", found)
        return found
    try:
        find_tensors(value, "", found)
    except Exception as error:  # whatever a foreign object does when it is looked at must not reach the model
        _warn_once(type(error), f"some arguments or results are not recorded: looking at them raised {error!r}")
    return found


def find_tensors(value: Any, path: str, found: Found, above: tuple[int, ...] = ()) -> None:
    """Appends (path, tensor) for each tensor in nested sequences, mappings and dataclasses, in order.

    `above` are the ids of the containers around: a structure that holds itself ends there.
    """
    if isinstance(value, torch.Tensor):
        tensor = recordable(value)
        if tensor is not None:
            found.append((path or "#0", tensor))
        return
    if value is None or isinstance(value, str | bytes | int | float | type):
        return
    members = _members(value)
    if not members or len(above) > _MAX_DEPTH:
        return
    prefix = path + "/" if path else ""
    if torch.compiler.is_compiling():
        for element, item in members:
            find_tensors(item, prefix + element, found, (*above, 0))
    elif id(value) not in above:
        for element, item in members:
            find_tensors(item, prefix + element, found, (*above, id(value)))


def _members(value: Any) -> list[tuple[str, Any]]:
    """(path element, member) of a sequence, mapping or dataclass; empty for anything else."""
    if isinstance(value, list | tuple):
        return [(f"#{index}", item) for index, item in enumerate(value)]
    if isinstance(value, dict | Mapping):
        elements: dict[str, Any] = {}
        for index, (key, item) in enumerate(value.items()):
            # A key of another type need not have a text: a tensor's would wait for the device.
            text = str(key) if isinstance(key, str | int | float | bool | None) else f"{type(key).__name__}_{index}"
            element = f".{escape(text)}"
            elements[element if element not in elements else f"{element}_{index}"] = item  # 1 and "1" are two keys
        return list(elements.items())
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [(f".{escape(name)}", getattr(value, name, None)) for name in names]
    return []


def recordable(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor whose numbers stand for this one: itself, or this rank's part of a distributed one."""
    kind = type(tensor)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        if torch.compiler.is_compiling() or not torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            return tensor
        _warn_once(kind, IN_TRANSFORMS)
        return None
    if hasattr(tensor, "to_local"):
        local: torch.Tensor = tensor.to_local()
        return local
    if (
        torch.compiler.is_compiling() or kind is FunctionalTensor
    ):  # of a backend that is tracing: the operator is put into its graph
        return tensor
    if kind.__torch_dispatch__ is torch.Tensor.__torch_dispatch__:  # a plain tensor under another name
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.as_subclass(torch.Tensor)
    if not isinstance(tensor, FakeTensor):  # which has no numbers by intent
        _warn_once(
            kind, f"tensors of the subclass {kind.__module__}.{kind.__qualname__} are not recorded: what they hold is not known"
        )
    return None


def _warn_once(kind: type, message: str) -> None:
    if kind not in _warned_types:
        _warned_types.add(kind)
        warnings.warn(f"msprobe: {message}", stacklevel=2)


def tag(kind: str, escaped_name: str, section: str, path: str, *, opens: bool, closes: bool) -> str:
    """The tag of one tensor. `opens` marks the first tensor of a call, `closes` the last."""
    return f"{kind}|{escaped_name}|{section}|{path}|{'^' if opens else ''}{'$' if closes else ''}"
