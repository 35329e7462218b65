# SPDX-License-Identifier: Apache-2.0
"""Puts recording around a module's forward, and takes it away again.

A hooked module gets a `forward` of its own: a bound method whose code object belongs to this module alone. Of the ways there are,
this one traces into one graph, is seen when `sub.forward(x)` is called directly, gives each block of a model that is compiled block
by block its own cache in Dynamo, and lets a deep copy use its own weights. Forward hooks, closures and callable objects each fail in
one of these.
"""

from __future__ import annotations

import functools
import itertools
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import compiled, copies, ops, recorder, tags
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.compiled import Sight
from msprobe.pytorch.identity import Identity


@dataclass
class Site:
    """One module, or one custom API, under one dumper."""

    handle: str  # the number as text: Dynamo may make a symbol of an int attribute, but never of int("3")
    escaped_name: str
    collected: bool  # its tensors are recorded
    root: bool  # given to start(): in a compiled region its call ends a forward
    device: torch.device  # of the tokens of commits
    api_mode: ApiMode | None = None  # of a root, and of what is compiled by itself: the API level
    sight: Sight | None = None  # the same in compiled regions
    override_key: str | None = (
        None  # where in the module's __dict__ the `forward` lies that stood there before; None: the class's
    )
    number: int = -1  # of the module, in the dumper's account
    identity: Identity | None = None
    called: bool = False  # eagerly, or while it was captured
    active: bool = True


class _Depths(threading.local):
    """How many hooked forwards of each dumper this thread is in. Eager code only: a trace must not depend on it."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}


_depths = _Depths()


def _call_original(site: Site, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What forward is without the hook, looked up now: a class may be patched and a graph module recompiled after start()."""
    if site.override_key is None:
        return type(module).forward(module, *args, **kwargs)
    return module.__dict__[site.override_key](*args, **kwargs)


def _call_recorded(site: Site, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The original between the recording of its inputs and of its results; with the API level around it where that begins."""
    handle = int(site.handle)
    compiling = torch.compiler.is_compiling()
    collected = site.collected and not (compiling and compiled.in_vmap())
    found = collected and recorder.record_inputs(handle, tags.MODULE, site.escaped_name, args, kwargs)
    if compiling and site.sight is not None:
        # No variable holds the token: Dynamo cannot carry a constant over a graph break.
        site.sight.begin(ops.token_of(handle, site.device))
        output = _call_original(site, module, args, kwargs)
        site.sight.end(ops.token_of(handle, site.device))
    elif compiling or site.api_mode is None or site.api_mode.is_active():
        output = _call_original(site, module, args, kwargs)
    else:
        with site.api_mode:
            output = _call_original(site, module, args, kwargs)
    if collected:
        recorder.record_output(handle, tags.MODULE, site.escaped_name, output, opens=not found)
    return output


def records_now(site: Site) -> bool:
    """Whether a call is recorded, at trace time or eagerly."""
    if torch.compiler.is_compiling():
        # An exported program must not hold operators of a process. In a vmap the API level still sees something.
        if not site.active or torch.compiler.is_exporting() or compiled.in_branch():
            return False
        return site.sight is not None or not compiled.in_vmap()
    if torch._C._get_tracing_state() is not None:  # nor must a program of torch.jit.trace
        return False
    # Activation checkpointing runs a forward again inside the backward: it has been recorded already.
    return site.active and torch._C._current_graph_task_id() == -1


def in_forward(site: Site, work: Callable[[], Any]) -> Any:
    """Runs eager work that records, and commits at the end of the outermost such work, whichever module or API that is: a captured graph
    of a submodule then brings every replay's records to the host itself."""
    depths = _depths.of
    handle = int(site.handle)
    if not site.called:
        site.called = True
        aclgraph_dump_ext.mark_called(handle, site.number)
    outer = depths.get(site.handle, 0)
    depths[site.handle] = outer + 1
    if outer == 0:
        aclgraph_dump_ext.enter_forward(handle)
    try:
        output = work()
    except BaseException:
        if outer == 0:
            aclgraph_dump_ext.abandon_forward(handle)
        raise
    finally:
        depths[site.handle] = outer
    if outer == 0:
        ops.commit(handle, site.device)
        if site.identity is not None and site.device.type != "cpu":
            site.identity.captured(aclgraph_dump_ext.captured_forwards(handle))
    return output


def is_in_forward(handle: int) -> bool:
    """Whether this thread is in a hooked forward that runs eagerly."""
    return _depths.of.get(str(handle), 0) > 0


def _template(self: torch.nn.Module, /, *args: Any, _msprobe_site: Site, **kwargs: Any) -> Any:
    """The code that every hooked forward runs a copy of."""
    site = _msprobe_site
    if not records_now(site):
        return _call_original(site, self, args, kwargs)
    if torch.compiler.is_compiling():
        output = _call_recorded(site, self, args, kwargs)
        # A graph that is captured from a region brings every replay's records to the host itself.
        if site.root or (site.device.type != "cpu" and compiled.is_outermost(site.handle)):
            ops.commit_part(int(site.handle), site.device)
        return output
    return in_forward(site, lambda: _call_recorded(site, self, args, kwargs))


_numbers = itertools.count()

OVERRIDE = "_msprobe_forward_"  # with a number: where a module keeps the `forward` of its own that a hook stands before


def _site_of(forward: Any) -> Site | None:
    """The site of a bound method made by `install`, else None."""
    defaults = getattr(getattr(forward, "__func__", None), "__kwdefaults__", None)
    site = defaults.get("_msprobe_site") if defaults else None
    return site if isinstance(site, Site) else None


def _below(module: torch.nn.Module, site: Site) -> Any:
    """What stood in the module's __dict__ as forward before this hook, or None."""
    return module.__dict__.get(site.override_key) if site.override_key is not None else None


def is_hooked(module: torch.nn.Module, handle: int) -> bool:
    """Whether the module has a live hook of this dumper, be it under hooks of others."""
    forward = module.__dict__.get("forward")
    while (site := _site_of(forward)) is not None:
        if site.handle == str(handle) and site.active:
            return True
        forward = _below(module, site)
    return False


def install(
    module: torch.nn.Module,
    *,
    handle: int,
    name: str,
    collected: bool,
    root: bool,
    device: torch.device,
    site_number: int,
    identity: Identity | None = None,
    api_mode: ApiMode | None = None,
    sight: Sight | None = None,
) -> Site:
    """Replaces the module's forward by one that records. The site is what `remove` needs."""
    number = next(_numbers)
    override = module.__dict__.get("forward")
    override_key = None
    if override is not None:
        # In the module, not in the hook: so that a deep copy gets a copy of it, bound to the copy.
        override_key = f"{OVERRIDE}{number}"
        module.__dict__[override_key] = override
    shown = getattr(override, "__func__", override) if override is not None else type(module).forward
    site = Site(
        handle=str(handle),
        escaped_name=tags.escape(name),
        collected=collected,
        root=root,
        device=device,
        api_mode=api_mode,
        sight=sight,
        override_key=override_key,
        number=site_number,
        identity=identity,
    )
    copies.keep_hooks_out_of_copies(module, without_hooks)
    module.__dict__["forward"] = _hooked(module, site, number, shown)
    return site


def without_entry(
    module: torch.nn.Module, *, handle: int, device: torch.device, api_mode: ApiMode | None, sight: Sight | None
) -> tuple[Site, Any]:
    """The forward of the module's class, to be compiled under a hook that has recorded the call: it has no entry of its own, and lets the
    region be seen inside."""
    site = Site(handle=str(handle), escaped_name="", collected=False, root=False, device=device, api_mode=api_mode, sight=sight)
    return site, _hooked(module, site, next(_numbers), type(module).forward)


def _hooked(module: torch.nn.Module, site: Site, number: int, shown: Any) -> types.MethodType:
    code = _template.__code__.replace(co_name=f"forward_{number}")
    hooked = types.FunctionType(code, _template.__globals__, "forward")
    hooked.__kwdefaults__ = {"_msprobe_site": site}
    # inspect.signature(module.forward) must show the model's own arguments: trainers choose columns by it.
    functools.update_wrapper(hooked, shown, assigned=("__module__", "__doc__"), updated=())
    return types.MethodType(hooked, module)


def remove(module: torch.nn.Module, site: Site) -> None:
    """Gives the module its forward back. Where somebody has wrapped ours since, ours stays inside and only passes calls on."""
    site.active = False
    if _site_of(module.__dict__.get("forward")) is not site:
        return
    _take_off(module.__dict__, lambda below: not below.active)
    if _site_of(module.__dict__.get("forward")) is None:
        copies.leave_alone(module)


def _take_off(attributes: dict[str, Any], unwanted: Callable[[Site], bool]) -> None:
    """Takes hooks off a module's __dict__ (or a copy of it), outermost first, as long as they are unwanted."""
    while (site := _site_of(attributes.get("forward"))) is not None and unwanted(site):
        below = attributes.pop(site.override_key, None) if site.override_key is not None else None
        if below is None:
            attributes.pop("forward", None)
        else:
            attributes["forward"] = below


# Attribute of a function that stands in a module's __dict__ around a compiled callable: its compiled_parts.AroundPart.
AROUND = "_msprobe_around"


def without_hooks(attributes: dict[str, Any]) -> dict[str, Any]:
    """A copy of a module's __dict__ as it would be without hooks."""
    bare = dict(attributes)
    for key, value in bare.items():
        # Of functions only: other values may have an answer for every name.
        while isinstance(value, types.FunctionType) and (part := value.__dict__.get(AROUND)) is not None:
            bare[key] = value = part.original
    _take_off(bare, lambda _: True)
    return bare


def has_forward(module: torch.nn.Module) -> bool:
    """Whether it can be called; containers such as ModuleList cannot, unless they were given a forward."""
    return type(module).forward is not torch.nn.Module.forward or "forward" in without_hooks(module.__dict__)
