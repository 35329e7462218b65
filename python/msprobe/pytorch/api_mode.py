# SPDX-License-Identifier: Apache-2.0
"""The API level: sees every operator that the root module's forward calls, eagerly or while it is captured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from msprobe.pytorch import recorder, tags

_PREFIXES = {"aten": "Aten", "npu": "NPU"}

# Results of these are memory that nobody has written yet: their numbers differ from run to run and mean nothing.
_UNINITIALISED = {
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::empty_permuted",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::resize_",
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


class ApiMode(TorchDispatchMode):
    """Records the inputs and outputs of every operator whose name the dumper wants."""

    supports_higher_order_operators = True

    def __init__(self, handle: int, wants: Callable[[str], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.handle = handle
        self._wants = wants
        self._operators: dict[Any, _Operator] = {}  # a cache

    def is_active(self) -> bool:
        """Whether this thread is inside this mode already (a root module that calls itself)."""
        return any(mode is self for mode in _get_current_dispatch_mode_stack())

    def _operator(self, func: torch._ops.OpOverload) -> _Operator:
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
        operator = self._operator(func)
        if not operator.collected:
            return func(*args, **kwargs)
        inputs = {key: value for key, value in kwargs.items() if key not in operator.written_only}
        found = recorder.record_inputs(
            self.handle, tags.API, operator.escaped_name, args, inputs, closes=not operator.returns_tensors
        )
        output = func(*args, **kwargs)
        recorder.record_output(self.handle, tags.API, operator.escaped_name, output, opens=not found)
        return output


def _is_composite(func: torch._ops.OpOverload, args: Any) -> bool:
    """True if the operator is only made of others on the device at hand, so that taking it apart cannot change a result."""
    if not torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        return False
    devices = {tensor.device.type for _, tensor in tags.tensors_in(args)}
    keys = {"PrivateUse1" if device == "npu" else device.upper() for device in devices}
    return not any(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key) for key in keys)
