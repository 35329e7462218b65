# SPDX-License-Identifier: Apache-2.0
"""The API level: sees every operator that the root module's forward calls, eagerly or while it is captured."""

from __future__ import annotations

import os
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode, _get_current_dispatch_mode_stack

from msprobe.pytorch import recorder, tags

_WAIT = "_c10d_functional::wait_tensor"
_PREFIXES = {"aten": "Aten", "npu": "NPU"}

# Memory that nobody has written yet: its numbers differ from run to run and mean nothing.
_UNINITIALISED = {
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::empty_permuted",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::resize_",
    "_c10d_functional::_wrap_tensor_autograd",  # takes a result that its collective is still writing
}


def api_name(func: torch._ops.OpOverload) -> str:
    """Aten.addmm, NPU.npu_rms_norm or Torch.my_ns.my_op: never with the overload."""
    namespace, name = func._schema.name.split("::", 1)
    return f"{_PREFIXES[namespace]}.{name}" if namespace in _PREFIXES else f"Torch.{namespace}.{name}"


@dataclass(frozen=True)
class _Operator:
    """What is known of an operator before it is called."""

    escaped_name: str
    collected: bool
    written_only: frozenset[str]  # keyword arguments that only receive results (`out=`)
    returns_tensors: bool
    async_place: int | None  # of the argument `async_op` of a collective
    has_result_later: bool  # a functional collective: its result exists after wait_tensor


class ApiMode(TorchDispatchMode):
    """Records the inputs and outputs of every operator whose name the dumper wants."""

    supports_higher_order_operators = True

    def __init__(self, handle: int, wants: Callable[[str], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.handle = handle
        self._wants = wants
        self._operators: dict[Any, _Operator] = {}  # a cache
        self._token: torch.Tensor | None = None
        # Of one node of a compiled region: its last operator, and what that gave (held, a new tensor would cost its maker a `detach`).
        self._last: torch._ops.OpOverload | None = None
        self._results: list[weakref.ref[torch.Tensor]] = []
        self._node = ""  # the name of what it calls
        self._entered = False
        self._told_of_uncompiled = False
        self._told_of_later = False
        self._declined: set[types.CodeType] = set()  # what Dynamo has not compiled because of this mode

    def close(self) -> None:
        """What has run uncompiled because of this mode is compiled again: Dynamo remembers for good what it has declined."""
        reset: Callable[[types.CodeType], None] = getattr(torch._C._dynamo.eval_frame, "reset_code", lambda _: None)
        for code in self._declined:
            reset(code)
        self._declined.clear()

    def in_region(self, token: torch.Tensor, name: str) -> ApiMode:
        """The same for one node of a compiled region (a call of `name`), with the region's token: run by the backend while it traces, or at
        each call."""
        mode = ApiMode(self.handle, self._wants)
        mode._operators = self._operators
        mode._token = token
        mode._node = name
        return mode

    def is_active(self) -> bool:
        """Whether this thread is inside this mode already (a root module that calls itself)."""
        return any(mode is self for mode in _get_current_dispatch_mode_stack())

    @contextmanager
    def stepped_aside(self) -> Iterator[None]:
        """Leaves the mode for a block, if it is the innermost one; under another, torch.compile would not compile anyway."""
        if _get_current_dispatch_mode() is not self:
            yield
            return
        self.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        if self._declined and _get_current_dispatch_mode() is None:
            self.close()  # another dumper's mode, which has hidden this one, is gone
        try:
            yield
        finally:
            self.__enter__()

    def ignore_compile_internals(self) -> bool:  # type: ignore[override]
        """Asked by the mode itself when it is entered, and by Dynamo before it declines to compile a frame: then the user should know."""
        code = _code_at_hand() if self._entered else None
        if code is not None:
            self._declined.add(code)
        if self._entered and not self._told_of_uncompiled:
            self._told_of_uncompiled = True
            warnings.warn(
                f"msprobe: while APIs are collected, {_described(code)} runs uncompiled: its results may be rounded otherwise. "
                "A module of the model, or the whole of it, if that is what is compiled, runs compiled, and its APIs are recorded",
                stacklevel=2,
            )
        return False

    def __enter__(self) -> ApiMode:
        self._entered = False
        super().__enter__()  # type: ignore[no-untyped-call]
        self._entered = True
        return self

    def _eager_operator(self, func: torch._ops.OpOverload, args: Any) -> torch._ops.OpOverload | None:
        """What stands in eager code in the place of an operator of a compiled region; None for nothing.

        A tracer takes matmul apart by Python code, with `view` for `_unsafe_view`. Checkpointing under a tracer looks at every result by a
        `detach`. Autograd keeps a result for the backward by another, but not in a checkpoint, and torch_npu's own gradients do not.
        """
        if self._token is None or not args or not any(args[0] is result() for result in self._results):
            return func
        if func is torch.ops.aten.view.default and self._last is torch.ops.aten.bmm.default:
            return torch.ops.aten._unsafe_view.default if _called_by("_decomp/decompositions.py", "matmul") else func
        if func is torch.ops.aten.detach.default and not _node_at_hand(self._node).startswith("detach"):
            tracers = _called_by("_higher_order_ops/wrap.py", "tag_activation_checkpoint_impl")
            return None if tracers or args[0].device.type == "npu" else func
        return func

    def operator(self, func: torch._ops.OpOverload) -> _Operator:
        """What is known of an operator, whether it is wanted included."""
        known = self._operators.get(func)
        if known is None:
            schema = func._schema
            name = api_name(func)
            known = _Operator(
                escaped_name=tags.escape(name),
                collected=not schema.name.startswith("msprobe::") and schema.name not in _UNINITIALISED and self._wants(name),
                written_only=frozenset(
                    a.name for a in schema.arguments if a.kwarg_only and a.alias_info and a.alias_info.is_write
                ),
                returns_tensors=any("Tensor" in str(r.type) for r in schema.returns),
                async_place=next((place for place, a in enumerate(schema.arguments) if a.name == "async_op"), None),
                has_result_later=schema.name.startswith("_c10d_functional::") and schema.name != _WAIT,
            )
            self._operators[func] = known
        return known

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        if torch.is_inference_mode_enabled() and _is_composite(func, args):
            # Outside inference mode autograd takes these apart before they get here: the same names in both.
            with self:  # the C++ kernel; `decompose` would take a Python one where there is one, with other roundings
                return func._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)
        in_eager_code = self._eager_operator(func, args)
        if in_eager_code is None or not (operator := self.operator(in_eager_code)).collected:
            return func(*args, **kwargs)
        inputs = {key: value for key, value in kwargs.items() if key not in operator.written_only}
        later = operator.has_result_later or (
            operator.async_place is not None and not _is_synchronous(operator.async_place, args, kwargs)
        )
        closes = later or not operator.returns_tensors
        found = recorder.record_inputs(
            self.handle, tags.API, operator.escaped_name, args, inputs, closes=closes, token=self._token
        )
        output = func(*args, **kwargs)
        if later:
            if operator.async_place is not None and not self._told_of_later:
                self._told_of_later = True
                warnings.warn(
                    f"msprobe: results of asynchronous collectives, such as {api_name(func)} here, are not recorded: they exist after "
                    "wait(), and stand as inputs of the operators that come then",
                    stacklevel=2,
                )
            return output
        if operator.async_place is not None:
            # The caller waits as soon as this returns: before that the result is not there.
            (output[-1] if isinstance(output, tuple) else output).wait()
        if self._token is not None:
            results = output if isinstance(output, list | tuple) else (output,)
            self._last, self._results = func, [weakref.ref(result) for result in results if isinstance(result, torch.Tensor)]
        recorder.record_output(self.handle, tags.API, operator.escaped_name, output, opens=not found, token=self._token)
        return output


def _is_synchronous(async_place: int, args: Any, kwargs: Any) -> bool:
    """Whether the caller of a collective waits for it at once. (torch passes `async_op` on only where it is false.)"""
    return (args[async_place] if len(args) > async_place else kwargs.get("async_op", True)) is False


def _is_composite(func: torch._ops.OpOverload, args: Any) -> bool:
    """True if the operator is only made of others on the device at hand, so that taking it apart cannot change a result."""
    if not torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        return False
    devices = {tensor.device.type for _, tensor in tags.tensors_in(args)}
    keys = {"PrivateUse1" if device == "npu" else device.upper() for device in devices}
    return not any(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key) for key in keys)


def _code_at_hand() -> types.CodeType | None:
    """What Dynamo looks at: the frame is an argument of the function that asks."""
    caller: Any = sys._getframe(2)
    for _ in range(4):
        code = getattr(caller.f_locals.get("frame"), "f_code", None) if caller is not None else None
        if isinstance(code, types.CodeType):
            return code
        caller = caller.f_back if caller is not None else None
    return None


def _described(code: types.CodeType | None) -> str:
    if code is None:
        return "a region of torch.compile"
    if code.co_filename.startswith(os.path.dirname(__file__)):
        return "what lies between graph breaks"
    return f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"


def _called_by(file: str, function: str) -> bool:
    """Whether a function of torch is among the callers."""
    caller: Any = sys._getframe(2)
    while caller is not None:
        code = caller.f_code
        if code.co_name == function and code.co_filename.endswith(file):
            return True
        caller = caller.f_back
    return False


def _node_at_hand(outermost: str) -> str:
    """The name of what the innermost node calls: the bodies of higher-order operators have nodes of their own."""
    caller: Any = sys._getframe(2)
    while caller is not None and caller.f_code.co_name != "recorded":
        if caller.f_code.co_name in ("call_method", "call_function") and caller.f_code.co_filename.endswith(
            "fx/interpreter.py"
        ):
            target = caller.f_locals.get("target")
            return target if isinstance(target, str) else getattr(target, "__name__", "")
        caller = caller.f_back
    return outermost
