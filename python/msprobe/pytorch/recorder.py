# SPDX-License-Identifier: Apache-2.0
"""Records one call of a module or API: its inputs before it runs, its results after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from msprobe.pytorch import ops, tags


def record_inputs(
    handle: int, kind: str, escaped_name: str, args: Sequence[Any], kwargs: Mapping[str, Any], *, closes: bool = False
) -> list[torch.device]:
    """Records the tensors in the arguments. Returns their devices, which is empty if there were none.

    `closes`: the call will have no tensor in its result, so that its last argument ends it.
    """
    in_args: tags.Found = []
    tags.find_tensors(args, "", in_args)
    in_kwargs: tags.Found = []
    tags.find_tensors(kwargs, "", in_kwargs)
    found = [(tags.ARGS, path, tensor) for path, tensor in in_args] + [
        (tags.KWARGS, path, tensor) for path, tensor in in_kwargs
    ]
    for index, (section, path, tensor) in enumerate(found):
        last = closes and index == len(found) - 1
        ops.stat(tensor, handle, tags.tag(kind, escaped_name, section, path, opens=index == 0, closes=last))
    return [tensor.device for _, _, tensor in found]


def record_output(handle: int, kind: str, escaped_name: str, output: Any, *, opens: bool) -> list[torch.device]:
    """Records the tensors in the result. `opens`: the call had no tensor among its arguments."""
    found: tags.Found = []
    tags.find_tensors(output, "", found)
    for index, (path, tensor) in enumerate(found):
        last = index == len(found) - 1
        ops.stat(tensor, handle, tags.tag(kind, escaped_name, tags.OUT, path, opens=opens and index == 0, closes=last))
    return [tensor.device for _, tensor in found]
