# SPDX-License-Identifier: Apache-2.0
"""Statistics of parameters and buffers: taken at start(), and again for those that were replaced, moved or written to."""

from __future__ import annotations

import torch

from msprobe.pytorch import ops, tags


class Parameters:
    """The parameters and buffers of the modules that one dumper collects from."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._modules: list[tuple[torch.nn.Module, str]] = []
        self._seen: dict[str, tuple[int, ...]] = {}  # by tag

    def add(self, module: torch.nn.Module, escaped_name: str) -> None:
        """A module that is collected from."""
        self._modules.append((module, escaped_name))

    def record(self) -> None:
        """Records those that have not been recorded as they are."""
        for module, escaped_name in self._modules:
            for name, tensor in (*module._parameters.items(), *module._buffers.items()):
                if tensor is None or tensor.is_meta:
                    continue
                tag = tags.tag(tags.MODULE, escaped_name, tags.PARAMS, f".{tags.escape(name)}", opens=False, closes=False)
                state = _state(tensor)
                if self._seen.get(tag) != state:
                    self._seen[tag] = state
                    plain = tags.recordable(tensor)
                    if plain is not None:
                        ops.stat(plain.detach(), self._handle, tag)


def _state(tensor: torch.Tensor) -> tuple[int, ...]:
    """What differs once the tensor is another one, lies elsewhere, or has been written to."""
    try:
        address = tensor.data_ptr()
    except (RuntimeError, NotImplementedError):  # sparse, or a subclass without memory of its own
        address = 0
    version = 0 if tensor.is_inference() else tensor._version
    return id(tensor), address, version
