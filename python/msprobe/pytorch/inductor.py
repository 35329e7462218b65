# SPDX-License-Identifier: Apache-2.0
"""Lets Inductor compile our operators on tensors of dtypes that it generates no code for (complex ones, on many devices fp8).

AOT wraps an operator that declares a mutation in `auto_functionalized_v2`, and Inductor takes the wrapper off by a pattern. Its matcher
passes over every node with a tensor of such a dtype, and then finds a wrapper left (seen with torch 2.13: "auto_functionalized_v2 was not
removed"). Behind the wrapper there is an operator that Inductor calls as it is, for which no code is generated. The names used here are
private to torch: where they are gone, nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from msprobe.pytorch.patches import Patch, patching

_NAMESPACE = "msprobe"
_WRAPPERS = ("auto_functionalized_v2", "auto_functionalized")

_patches: list[Patch] = []  # one, once a process


def register_rule_in_trace() -> None:
    """Adds the exception for our operators, if this is called while Dynamo traces: who does not compile does not import Inductor."""
    if _patches or torch._guards.TracingContext.try_get() is None:
        return
    with patching:
        if not _patches:
            _patches.append(
                Patch("torch._inductor.pattern_matcher", None, "fallback_node_due_to_unsupported_type", _passed_over)
            )


def _passed_over(below: Callable[..., bool], node: torch.fx.Node, *args: Any, **kwargs: Any) -> bool:
    return not _wraps_ours(node) and below(node, *args, **kwargs)


def _wraps_ours(node: torch.fx.Node) -> bool:
    if node.op != "call_function" or getattr(node.target, "__name__", "") not in _WRAPPERS or not node.args:
        return False
    return getattr(node.args[0], "namespace", "") == _NAMESPACE
