# SPDX-License-Identifier: Apache-2.0
"""Records one call of a module or API: its inputs before it runs, its results after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from msprobe.pytorch import ops, tags


def record_inputs(
    handle: int,
    kind: str,
    escaped_name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    closes: bool = False,
    token: torch.Tensor | None = None,
) -> bool:
    """Records the tensors in the arguments. Returns whether there were any.

    `closes`: the call will have no tensor in its result, so that its last argument ends it. `token`: see `ops.stat`.
    """
    found = [(tags.ARGS, path, tensor) for path, tensor in tags.tensors_in(args)]
    found += [(tags.KWARGS, path, tensor) for path, tensor in tags.tensors_in(kwargs)]
    for index, (section, path, tensor) in enumerate(found):
        last = closes and index == len(found) - 1
        ops.stat(tensor, handle, tags.tag(kind, escaped_name, section, path, opens=index == 0, closes=last), token)
    return bool(found)


def record_output(
    handle: int, kind: str, escaped_name: str, output: Any, *, opens: bool, token: torch.Tensor | None = None
) -> None:
    """Records the tensors in the result. `opens`: the call had no tensor among its arguments."""
    found = tags.tensors_in(output)
    for index, (path, tensor) in enumerate(found):
        last = index == len(found) - 1
        ops.stat(tensor, handle, tags.tag(kind, escaped_name, tags.OUT, path, opens=opens and index == 0, closes=last), token)
