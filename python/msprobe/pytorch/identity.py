# SPDX-License-Identifier: Apache-2.0
"""Tells of parameters and buffers that were replaced or moved after a capture: the graph goes on reading the old memory."""

from __future__ import annotations

import warnings

import torch


class Identity:
    """Where the parameters and buffers of one dumper's modules lay when its graphs were captured."""

    def __init__(self) -> None:
        self._modules: list[tuple[torch.nn.Module, str]] = []
        self._read: dict[tuple[int, str], dict[int, int]] = {}  # (module's index, name) -> address -> bytes
        self._told: set[tuple[int, str, int]] = set()
        self._captures = 0  # that the addresses are of

    def add(self, module: torch.nn.Module, entry_name: str) -> None:
        """A module that was given to the dumper."""
        self._modules.append((module, entry_name))

    def captured(self, captures: int) -> None:
        """There are so many captured forwards: if they are more than last time, what the modules hold now is what they read."""
        if captures <= self._captures:
            return
        self._captures = captures
        for index, (module, _) in enumerate(self._modules):
            for name, tensor in _tensors_of(module):
                address = _address(tensor)
                if address:
                    self._read.setdefault((index, name), {})[address] = tensor.numel() * tensor.element_size()

    def check(self) -> None:
        """Warns, once each, of tensors that a graph reads elsewhere than where the module holds them."""
        for index, (module, entry_name) in enumerate(self._modules):
            for name, tensor in _tensors_of(module):
                read = self._read.get((index, name))
                if not read:
                    continue
                address = _address(tensor)
                for old, size in read.items():
                    if old != address and (index, name, old) not in self._told:
                        self._told.add((index, name, old))
                        warnings.warn(
                            f"msprobe: {entry_name}.{name}: a captured graph reads {old:#x} ({size} bytes), the module now holds "
                            f"{address:#x}: it was replaced or moved after the capture; capture again, or copy into the old tensor",
                            stacklevel=3,
                        )


def _tensors_of(module: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    found = (*module._parameters.items(), *module._buffers.items())
    return [(name, tensor) for name, tensor in found if tensor is not None and not tensor.is_meta]


def _address(tensor: torch.Tensor) -> int:
    """0: it has no memory of its own."""
    try:
        return tensor.data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0
