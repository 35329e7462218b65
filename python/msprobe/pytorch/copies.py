# SPDX-License-Identifier: Apache-2.0
"""Keeps hooks out of copies of a hooked module: copy.copy, copy.deepcopy, pickle, torch.save, torch.jit.script and the replicas of
DataParallel give a module as it would be without them, that records nothing and uses its own weights.

All of these ask the module how it is to be copied, by methods that are looked up in the instance too; there ours stand while the module is
hooked. Each asks the class's own first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

Attributes = dict[str, Any]  # a module's __dict__
Clean = Callable[[Attributes], Attributes]

_REPLICATE = "_replicate_for_data_parallel"
_SCRIPT = "__prepare_scriptable__"
_METHODS = ("__getstate__", "__reduce__", "__deepcopy__", _REPLICATE, _SCRIPT)


def keep_hooks_out_of_copies(module: torch.nn.Module, without_hooks: Clean) -> None:
    """Puts the methods into the module that keep its hooks out of copies; again with the same module this changes nothing.

    `without_hooks` gives a copy of a __dict__ as it would be without hooks.
    """
    kind = type(module)
    answers: dict[str, Callable[..., Any]] = {"__getstate__": _getstate, _REPLICATE: _replicate, _SCRIPT: _script}
    if kind.__reduce__ is not object.__reduce__:
        answers["__reduce__"] = _reduce
    if hasattr(kind, "__deepcopy__"):
        answers["__deepcopy__"] = _deepcopy
    for name, answer in answers.items():
        if name not in module.__dict__:
            module.__dict__[name] = functools.partial(answer, without_hooks, module)


def leave_alone(module: torch.nn.Module) -> None:
    """Takes the methods away again."""
    for name in _METHODS:
        if _is_ours(module.__dict__.get(name)):
            del module.__dict__[name]


def _is_ours(method: Any) -> bool:
    return isinstance(method, functools.partial) and method.func in (_getstate, _reduce, _deepcopy, _replicate, _script)


def _clean(without_hooks: Clean, attributes: Attributes) -> Attributes:
    bare = without_hooks(attributes)
    return {name: value for name, value in bare.items() if not (name in _METHODS and _is_ours(value))}


def _cleaned(without_hooks: Clean, value: Any) -> Any:
    """The value, with a module's __dict__ in it (at any place in tuples) as it would be without hooks."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_cleaned(without_hooks, item) for item in value)
    return _clean(without_hooks, value) if isinstance(value, dict) and "_modules" in value else value


def _getstate(without_hooks: Clean, module: torch.nn.Module) -> Any:
    kind: Any = type(module)
    return _cleaned(without_hooks, kind.__getstate__(module))


def _reduce(without_hooks: Clean, module: torch.nn.Module) -> Any:
    return _cleaned(without_hooks, type(module).__reduce__(module))


def _deepcopy(without_hooks: Clean, module: torch.nn.Module, memo: dict[int, Any]) -> Any:
    kind: Any = type(module)
    return _uncover(without_hooks, kind.__deepcopy__(module, memo))


def _replicate(without_hooks: Clean, module: torch.nn.Module) -> Any:
    kind: Any = type(module)
    return _uncover(without_hooks, kind._replicate_for_data_parallel(module))


def _script(without_hooks: Clean, module: torch.nn.Module) -> torch.nn.Module:
    """What TorchScript compiles: it reads source code, and the hook's is not the model's."""
    prepared: torch.nn.Module = getattr(type(module), _SCRIPT, lambda original: original)(module)
    twin = torch.nn.Module.__new__(type(prepared))
    twin.__dict__.update(_clean(without_hooks, prepared.__dict__))
    twin.__dict__["_modules"] = dict(prepared._modules)  # whoever asks puts what the children prepare into it
    return twin


def _uncover(without_hooks: Clean, twin: torch.nn.Module) -> torch.nn.Module:
    bare = _clean(without_hooks, twin.__dict__)
    twin.__dict__.clear()
    twin.__dict__.update(bare)
    return twin
