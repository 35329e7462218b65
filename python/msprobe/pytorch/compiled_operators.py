# SPDX-License-Identifier: Apache-2.0
"""Custom operators in the graph of a compiled region, at the API level: they stay in it as they are, and what records them stands beside
them. Backends look for them: those of serving engines cut the graph at attentions."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch.utils._python_dispatch import _disable_current_modes

from msprobe.pytorch import tags
from msprobe.pytorch.api_mode import ApiMode

# PyTorch's own: no backend cuts a graph there, and some are taken apart, or end later, in ways that the mode knows.
_NOT_CUSTOM = {"aten", "prims", "prim", "quantized", "c10d", "_c10d_functional", "_c10d_functional_autograd", "_dtensor"}

_empty = torch.empty  # the original, should the user have it recorded as a custom API


def record_beside(node: fx.Node, mode: ApiMode, token: fx.Node) -> bool:
    """Puts recording operators before and behind a node that calls a custom operator with one result or none. False: it is something
    else."""
    func = _custom_operator(node.target)
    result = node.meta.get("example_value")
    if func is None or not (result is None or isinstance(result, torch.Tensor)):
        return False
    if any(isinstance(argument.meta.get("example_value"), list | tuple | dict) for argument in node.all_input_nodes):
        return False
    known = mode.operator(func)
    if not known.collected:
        return True
    nodes: dict[int, fx.Node] = {}
    stand_ins: dict[fx.Node, torch.Tensor] = {}  # plain tensors, so that the places of tensors are found as in eager code

    def stand_in(argument: fx.Node) -> Any:
        if not isinstance(argument.meta.get("example_value"), torch.Tensor):
            return None
        with _disable_current_modes():
            tensor = stand_ins.setdefault(argument, _empty(0))
        nodes[id(tensor)] = argument
        return tensor

    positional, named = _as_dispatched(func, node)
    args = fx.map_arg(positional, stand_in)
    kwargs = fx.map_arg({key: value for key, value in named.items() if key not in known.written_only}, stand_in)
    places = [(tags.ARGS, path, nodes[id(tensor)]) for path, tensor in tags.tensors_in(args)]
    places += [(tags.KWARGS, path, nodes[id(tensor)]) for path, tensor in tags.tensors_in(kwargs)]
    if isinstance(result, torch.Tensor):
        places.append((tags.OUT, "#0", node))
    for index, (section, path, tensor) in enumerate(places):
        closes = index == len(places) - 1
        tag = tags.tag(tags.API, known.escaped_name, section, path, opens=index == 0, closes=closes)
        with node.graph.inserting_after(node) if section == tags.OUT else node.graph.inserting_before(node):
            node.graph.call_function(torch.ops.msprobe.stat_.default, (tensor, token, mode.handle, tag))
    return True


def _as_dispatched(func: torch._ops.OpOverload, node: fx.Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as the dispatcher hands them on: by name only those that the schema wants by name."""
    args, kwargs = list(node.args), dict(node.kwargs)
    args += [kwargs.pop(argument.name, None) for argument in func._schema.arguments[len(args) :] if not argument.kwarg_only]
    return tuple(args), kwargs


def _custom_operator(target: Any) -> torch._ops.OpOverload | None:
    """The operator that a node calls, if the dispatcher does not take it apart before a mode sees it."""
    if isinstance(target, torch._ops.OpOverloadPacket):
        overloads = target.overloads()
        target = getattr(target, overloads[0]) if len(overloads) == 1 else None
    if not isinstance(target, torch._ops.OpOverload) or target.namespace in _NOT_CUSTOM:
        return None
    return None if torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd") else target
