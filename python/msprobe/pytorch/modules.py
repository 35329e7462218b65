# SPDX-License-Identifier: Apache-2.0
"""Names and devices of a model's modules, and modules that torch.compile has wrapped."""

from __future__ import annotations

from typing import Any

import torch

ROOT_NAME = "__root__"
_COMPILED_PREFIX = "_orig_mod"  # what torch.compile puts before the names of the module it wraps


def is_compiled(module: torch.nn.Module) -> bool:
    """Whether it is what torch.compile(module) returns."""
    return hasattr(module, _COMPILED_PREFIX) and type(module).__name__ == "OptimizedModule"


def module_of(model: Any) -> torch.nn.Module:
    """The model itself, or the one to which a wrapper that is no module passes its attributes on, as those do in which serving engines
    keep a model's graphs. TypeError if it is neither."""
    owner = model if isinstance(model, torch.nn.Module) else getattr(getattr(model, "named_modules", None), "__self__", None)
    if not isinstance(owner, torch.nn.Module):
        raise TypeError(f"AclGraphDumper.start: model must be a torch.nn.Module, got {type(model).__name__}")
    return owner


def uncompiled(model: torch.nn.Module) -> torch.nn.Module:
    """The module inside torch.compile(module): its hooks are traced with it at the first call."""
    while is_compiled(model):
        model = getattr(model, _COMPILED_PREFIX)
    return model


def plain_name(name: str) -> str:
    """The name in the model, without what torch.compile puts into it."""
    parts = [part for part in name.split(".") if part and part != _COMPILED_PREFIX]
    return ".".join(parts) or ROOT_NAME


def entry_name(name: str, module: torch.nn.Module) -> str:
    """Module.{name}.{class}: what entries in dump.json begin with."""
    return f"Module.{plain_name(name)}.{type(module).__name__}"


def main_device(model: torch.nn.Module) -> torch.device:
    """The first device that is not the CPU, else the CPU."""
    return next((device for device in devices_of(model) if device.type != "cpu"), torch.device("cpu"))


def devices_of(model: torch.nn.Module) -> tuple[torch.device, ...]:
    """Of the parameters and buffers."""
    found = {tensor.device: None for tensor in (*model.parameters(), *model.buffers()) if not tensor.is_meta}
    return tuple(found)
