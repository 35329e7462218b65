# SPDX-License-Identifier: Apache-2.0
"""Python callables that no hook sees, recorded by wrapping them where they are looked up (`custom_api` of config.json)."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from msprobe.pytorch import hooks, recorder, tags
from msprobe.pytorch.config import ConfigError

_PREFIX = "Custom"
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: set for classes made by Python code
_CODE_OF_GRAPHS = "<eval_with_key>"  # the file name that torch.fx gives to generated code
_WRAPPED = "_msprobe_wrapped"  # of our wrappers: what they stand for


class Wrapped:
    """One wrapped callable, and what is needed to restore it."""

    def __init__(self, path: str, handle: int, device: torch.device) -> None:
        """Replaces the callable at an import path by one that records. See `wrap`."""
        self._owner, self._name = _find(path)
        if path.startswith("torch."):
            _let_dynamo_know_the_originals()
        self._own = self._name in vars(self._owner)  # else a base class has it, and the wrapper goes before it
        self._original = inspect.getattr_static(self._owner, self._name)
        self._site = hooks.Site(str(handle), tags.escape(f"{_PREFIX}.{path}"), True, False, device)
        self._wrapper = _wrapper_for(path, self._owner, self._original, self._site)
        setattr(_marked(self._wrapper), _WRAPPED, self)
        try:
            setattr(self._owner, self._name, self._wrapper)
        except (AttributeError, TypeError) as error:
            raise ConfigError(f"custom_api '{path}': cannot be wrapped: {error}") from error

    def restore(self) -> None:
        """Puts the original back. Where somebody has replaced ours since, ours stays inside and only passes calls on."""
        self._site.active = False
        if vars(self._owner).get(self._name) is not self._wrapper:
            return
        below, own = self._original, self._own
        while isinstance(wrapped := getattr(_marked(below), _WRAPPED, None), Wrapped) and not wrapped._site.active:
            below, own = wrapped._original, wrapped._own  # of a dumper that was closed before this one
        if own:
            setattr(self._owner, self._name, below)
        else:
            delattr(self._owner, self._name)


def wrap(path: str, handle: int, device: torch.device) -> Wrapped:
    """Replaces the callable at an import path (`package.module.function`, `package.module.Class.method`) by one that records its calls as
    `Custom.{path}`.

    Only those who look it up in its module (or class) from here on are seen: a name taken with `from module import function` before stays
    the original. Raises ConfigError for a path that does not lead to a Python callable.
    """
    return Wrapped(path, handle, device)


def _let_dynamo_know_the_originals() -> None:
    """Dynamo finds torch's own functions by their names, once, when it first compiles: by then a name may stand for a wrapper."""
    trace_rules = importlib.import_module("torch._dynamo.trace_rules")
    getattr(trace_rules, "get_torch_obj_rule_map", lambda: None)()  # a private name: without it Dynamo looks when it compiles


def _marked(wrapper: Any) -> Any:
    return wrapper.__func__ if isinstance(wrapper, staticmethod | classmethod) else wrapper


def _find(path: str) -> tuple[Any, str]:
    """The module or class that holds the callable, and its name there."""
    parts = path.split(".")
    if parts[0] in ("builtins", "msprobe") or parts[:2] in (["torch", "compiler"], ["torch", "_C"], ["torch", "ops"]):
        raise ConfigError(f"custom_api '{path}': recording needs it itself; operators (torch.ops) are recorded at level L1")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise ConfigError(f"custom_api '{path}': must be a full import path such as package.module.function")
    for length in range(len(parts) - 1, 0, -1):
        owner = _import(".".join(parts[:length]), path)
        if owner is None:
            continue  # a class, perhaps
        for index in range(length, len(parts)):
            if not hasattr(owner, parts[index]):
                raise ConfigError(f"custom_api '{path}': {'.'.join(parts[:index])} has no '{parts[index]}'")
            if index < len(parts) - 1:
                owner = getattr(owner, parts[index])
        if not (inspect.ismodule(owner) or inspect.isclass(owner)):
            raise ConfigError(f"custom_api '{path}': must lie in a module or a class, not in a {type(owner).__name__}")
        return owner, parts[-1]
    raise ConfigError(f"custom_api '{path}': there is no module '{parts[0]}'")


def _import(module: str, path: str) -> Any:
    """The module, or None if there is none of that name."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            return None
        raise ConfigError(f"custom_api '{path}': importing {module} failed: {error}") from error
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever a foreign module raises: a script without a main guard may end the program
        raise ConfigError(f"custom_api '{path}': importing {module} failed: {error!r}") from error


def _wrapper_for(path: str, owner: Any, original: Any, site: hooks.Site) -> Any:
    if isinstance(original, staticmethod | classmethod):
        return type(original)(_recording(site, original.__func__))
    if inspect.isclass(owner):
        home = next(base for base in owner.__mro__ if path.rsplit(".", 1)[1] in vars(base))
        if not home.__flags__ & _HEAP_TYPE or isinstance(original, types.MethodDescriptorType | types.WrapperDescriptorType):
            raise ConfigError(
                f"custom_api '{path}': belongs to {home.__qualname__}, a type written in C, which cannot be changed"
            )
    if inspect.isclass(original):
        raise ConfigError(f"custom_api '{path}': is a class: name the method that is called")
    if not callable(original):
        raise ConfigError(f"custom_api '{path}': must be callable, got {type(original).__name__}")
    if isinstance(original, types.FunctionType | types.BuiltinFunctionType):
        return _recording(site, original)
    if inspect.isclass(owner) and hasattr(original, "__get__"):
        raise ConfigError(f"custom_api '{path}': a {type(original).__name__} in a class cannot be wrapped")
    return _RecordingObject(_recording(site, original), original)


class _RecordingObject:
    """Stands for a callable that is more than a function (`functools.lru_cache`, `numpy.ufunc`, an operator of torch): its attributes are
    the original's."""

    def __init__(self, call: Callable[..., Any], original: Any) -> None:
        self.__dict__.update(_call=call, _original=original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_original"], name)

    def __repr__(self) -> str:
        return repr(self._original)


@dataclass(frozen=True)
class _Call:
    """What a wrapper records, and for which callable it stands."""

    site: hooks.Site
    function: Callable[..., Any]

    def recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        handle = int(self.site.handle)
        found = recorder.record_inputs(handle, tags.API, self.site.escaped_name, args, kwargs)
        output = self.function(*args, **kwargs)
        recorder.record_output(handle, tags.API, self.site.escaped_name, output, opens=not found)
        return output


_calls: dict[str, _Call] = {}  # by a key that wrappers have
_keys = itertools.count()


def _recording(site: hooks.Site, function: Callable[..., Any]) -> Callable[..., Any]:
    # Text, and looked up: a method of an object that is made in a traced region has a closure that Dynamo takes only plain values from.
    key = str(next(_keys))
    _calls[key] = _Call(site, function)

    def recording(*args: Any, **kwargs: Any) -> Any:
        call = _calls[key]
        if not hooks.records_now(call.site):
            return call.function(*args, **kwargs)
        if torch.compiler.is_compiling():
            # Dynamo has put the operators beside the call; what traces its graph again comes through here by the function's name.
            return call.recorded(args, kwargs) if torch.compiler.is_dynamo_compiling() else call.function(*args, **kwargs)
        if sys._getframe(1).f_code.co_filename.startswith(_CODE_OF_GRAPHS):  # a traced graph that runs: the same
            return call.function(*args, **kwargs)
        return hooks.in_forward(call.site, lambda: call.recorded(args, kwargs))

    functools.update_wrapper(recording, function)
    recording.__dict__.pop(_WRAPPED, None)  # copied from a wrapper below
    weakref.finalize(recording, _calls.pop, key, None)
    return recording
