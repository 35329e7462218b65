# SPDX-License-Identifier: Apache-2.0
"""Puts recording around a module's forward, and takes it away again.

A hooked module gets a `forward` of its own: a bound method whose code object belongs to this module alone. Of the ways there are,
this one traces into one graph, is seen when `sub.forward(x)` is called directly, gives each block of a model that is compiled block
by block its own cache in Dynamo, and lets a deep copy use its own weights. Forward hooks, closures and callable objects each fail in
one of these.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from msprobe.pytorch import ops, recorder, tags
from msprobe.pytorch.api_mode import ApiMode


@dataclass
class Site:
    """One module under one dumper."""

    handle: int
    escaped_name: str
    collected: bool  # its tensors are recorded
    root: bool  # its call is a forward: commits at the end
    devices: tuple[torch.device, ...]  # of a root: where its parameters are
    api_mode: ApiMode | None  # of a root: the API level
    function: Callable[..., Any]  # what forward was: called with the module first if takes_module
    takes_module: bool
    override: Any  # what stood in the module's __dict__ as "forward" before, or None
    active: bool = True


def _call_original(site: Site, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if site.takes_module:
        return site.function(module, *args, **kwargs)
    return site.function(*args, **kwargs)


def _template(self: torch.nn.Module, /, *args: Any, _msprobe_site: Site, **kwargs: Any) -> Any:
    """The code that every hooked forward runs a copy of."""
    site = _msprobe_site
    # Activation checkpointing runs a forward again inside the backward: it has been recorded already.
    if not site.active or (not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1):
        return _call_original(site, self, args, kwargs)
    devices = recorder.record_inputs(site.handle, tags.MODULE, site.escaped_name, args, kwargs) if site.collected else []
    if site.api_mode is None or torch.compiler.is_compiling() or site.api_mode.is_active():
        output = _call_original(site, self, args, kwargs)
    else:
        with site.api_mode:
            output = _call_original(site, self, args, kwargs)
    if site.collected:
        devices = devices + recorder.record_output(site.handle, tags.MODULE, site.escaped_name, output, opens=not devices)
    if site.root:
        committed = list(site.devices)
        for device in site.devices:
            ops.commit(site.handle, device)
        for device in devices:
            if device not in committed:
                committed.append(device)
                ops.commit(site.handle, device)
    return output


_code_numbers = itertools.count()


def _site_of(forward: Any) -> Site | None:
    """The site of a bound method made by `install`, else None."""
    defaults = getattr(getattr(forward, "__func__", None), "__kwdefaults__", None)
    site = defaults.get("_msprobe_site") if defaults else None
    return site if isinstance(site, Site) else None


def is_hooked(module: torch.nn.Module, handle: int) -> bool:
    """Whether the module has a live hook of this dumper, be it under hooks of others."""
    forward = module.__dict__.get("forward")
    while (site := _site_of(forward)) is not None:
        if site.handle == handle and site.active:
            return True
        forward = site.override
    return False


def install(
    module: torch.nn.Module,
    *,
    handle: int,
    name: str,
    collected: bool,
    root: bool,
    devices: tuple[torch.device, ...] = (),
    api_mode: ApiMode | None = None,
) -> Site:
    """Replaces the module's forward by one that records. The site is what `remove` needs."""
    override = module.__dict__.get("forward")
    original = module.forward
    own = isinstance(original, types.MethodType) and original.__self__ is module
    function: Callable[..., Any] = original.__func__ if isinstance(original, types.MethodType) and own else original
    site = Site(handle, tags.escape(name), collected, root, devices, api_mode, function, own, override)
    code = _template.__code__.replace(co_name=f"forward_{next(_code_numbers)}")
    hooked = types.FunctionType(code, _template.__globals__, "forward")
    hooked.__kwdefaults__ = {"_msprobe_site": site}
    # inspect.signature(module.forward) must show the model's own arguments: trainers choose columns by it.
    functools.update_wrapper(hooked, function, assigned=("__module__", "__doc__"), updated=())
    module.__dict__["forward"] = types.MethodType(hooked, module)
    return site


def remove(module: torch.nn.Module, site: Site) -> None:
    """Gives the module its forward back. Where somebody has wrapped ours since, ours stays inside and only passes calls on."""
    site.active = False
    if _site_of(module.__dict__.get("forward")) is not site:
        return
    override = site.override
    while (below := _site_of(override)) is not None and not below.active:
        override = below.override
    if override is None:
        with contextlib.suppress(KeyError):
            del module.__dict__["forward"]
    else:
        module.__dict__["forward"] = override
