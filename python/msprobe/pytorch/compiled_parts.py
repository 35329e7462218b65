# SPDX-License-Identifier: Apache-2.0
"""Parts of a model that are compiled by themselves and called from its eager forward: the API level is left around the call, and a hook on
the part lets it be seen inside (compiled.py). What has been recorded eagerly goes to the host before the call, since a graph that was
captured from the part brings its own records at its replay.

A part may also keep `torch.compile(self.forward)` in an attribute, made before its forward was hooked, as serving engines do when they load
a model: then what is compiled is the forward as it is at the call. If that attribute is `forward` itself, the hook stands around it, and
what is compiled is the class's forward, seen inside.
"""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from msprobe.pytorch import hooks, modules, ops
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.compiled import Sight
from msprobe.pytorch.patches import Patches

Hooked = list[tuple[torch.nn.Module, hooks.Site]]


class CompiledParts:
    """All such parts of the models of one dumper."""

    def __init__(
        self, handle: int, mode: ApiMode | None, sight: Sight | None, when_compiled: Callable[[torch.nn.Module], None]
    ) -> None:
        """`mode`, `sight`: None without the API level. `when_compiled`: a method, called with each module that is compiled by itself from
        `open` on. It is not kept alive: a dumper that is dropped without close() must not live on in patches."""
        self._handle = handle
        self._mode = mode
        self._sight = sight
        self._tell = weakref.WeakMethod(when_compiled)
        self._around: list[AroundPart] = []
        self._patches = Patches()

    def open(self) -> None:
        """From here on parts that are compiled later are told of."""
        if self._mode is None and not torch.accelerator.is_available():
            return
        self._patches.make(
            ("torch.nn.modules.module", "Module", "compile", self._compile_in_place),
            ("torch._dynamo.eval_frame", "OptimizedModule", "_initialize", self._compile_around),
        )

    def close(self) -> None:
        """Leaves the parts, and torch, as they were."""
        self._patches.restore()
        for part in reversed(self._around):
            part.restore()
        self._around.clear()

    def prepare(self, model: torch.nn.Module, device: torch.device) -> set[torch.nn.Module]:
        """Prepares the parts of a model; again with the same one this changes nothing. Returns the modules whose hook leads the API level
        into a region."""
        traced_modules = set()
        for module in model.modules():
            for key, traced in _entries_of(module):
                if self._mode is None and device.type == "cpu" and not _is_of_own_forward(module.__dict__[key], module):
                    continue
                traced_modules.add(traced)
                if not any(part.is_around(module, key) for part in self._around):
                    self._around.append(AroundPart(module, key, self._handle, device, self._mode, self._sight))
        return traced_modules if self._mode is not None else set()

    def add(self, part: torch.nn.Module, hooked: Hooked) -> None:
        """Prepares a part that is compiled after start(), if a model that is collected from holds it. `hooked` gets its hook."""
        traced = modules.uncompiled(part)
        for model, root in [(module, site) for module, site in hooked if site.root]:
            name = next((name for name, module in model.named_modules() if module is traced), None)
            if name is None or isinstance(traced, torch.jit.ScriptModule) or not self.prepare(part, root.device):
                continue
            site = next((site for module, site in hooked if module is traced), None)
            if site is None:
                site = hooks.install(
                    traced,
                    handle=self._handle,
                    name=modules.entry_name(name, traced),
                    collected=False,
                    root=False,
                    device=root.device,
                    site_number=-1,  # it was filtered at start(), as the account knows
                    identity=root.identity,
                )
                hooked.append((traced, site))
            site.api_mode, site.sight = self._mode, self._sight

    def _compile_in_place(self, below: Callable[..., None], module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        below(module, *args, **kwargs)
        self._when_compiled(module)

    def _compile_around(self, below: Callable[..., None], optimised: torch.nn.Module) -> None:
        below(optimised)
        self._when_compiled(optimised)

    def _when_compiled(self, module: torch.nn.Module) -> None:
        if (tell := self._tell()) is not None:
            tell(module)


class AroundPart:
    """A compiled part of the model, called in eager code. Dynamo compiles nothing under a dispatch mode that is not its own, so the API
    level is left around the call; inside, the marks do its work."""

    def __init__(
        self,
        module: torch.nn.Module,
        key: str,
        handle: int,
        device: torch.device,
        mode: ApiMode | None,
        sight: Sight | None,
    ) -> None:
        """`key`: where in the module's __dict__ the compiled callable lies."""
        self._module, self._key = module, key
        self.original = original = module.__dict__[key]
        self.active = True
        self._inside: hooks.Site | None = None
        capturing = torch.get_device_module(device).is_current_stream_capturing if device.type != "cpu" else None
        of_own_forward = None
        if _is_of_own_forward(original, module):
            inside = None
            if key == "forward" or key.startswith(hooks.OVERRIDE):
                self._inside, inside = hooks.without_entry(module, handle=handle, device=device, api_mode=mode, sight=sight)
            of_own_forward = _OwnForward(module, key, original, inside)
        hooked_around = of_own_forward is None or self._inside is not None

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return original(*args, **kwargs) if hooked_around else module.forward(*args, **kwargs)
            # In a capture of the whole the forward around it commits for all.
            if capturing is not None and hooks.is_in_forward(handle) and not capturing():
                ops.commit_part(handle, device)
            compiled = original if of_own_forward is None else of_own_forward.compiled()
            if mode is None or not mode.is_active():
                return compiled(*args, **kwargs)
            with mode.stepped_aside():
                return compiled(*args, **kwargs)

        setattr(call, hooks.AROUND, self)
        if not hooked_around:
            call.__dict__.pop("_torchdynamo_inline", None)  # what Dynamo would trace in its place: the forward as it was
        self._call = call
        module.__dict__[key] = call

    def is_around(self, module: torch.nn.Module, key: str) -> bool:
        """Whether it stands there already."""
        return module is self._module and module.__dict__.get(key) is self._call

    def restore(self) -> None:
        """Puts the compiled callable back: in its place, or where a hook keeps what it stands before. Where somebody has replaced ours
        since, nothing is changed; another dumper's that stands around it takes both away."""
        self.active = False
        if self._inside is not None:
            self._inside.active = False
        attributes = self._module.__dict__
        for key in [key for key, value in attributes.items() if value is self._call]:
            attributes[key] = _alive(self.original)


class _OwnForward:
    """A compiled callable that a module keeps of its own forward, and the same one, with the same settings, of the forward that the module
    has at the call: hooked, or as it was."""

    def __init__(
        self, module: torch.nn.Module, key: str, original: Callable[..., Any], inside: Callable[..., Any] | None
    ) -> None:
        """`inside`: always to be compiled instead, where the module's forward is the compiled callable."""
        self._module, self._key, self._original, self._inside = module, key, original, inside
        # A forward, and the compiled one: threads must see both or neither.
        self._compiled: tuple[Any, Callable[..., Any]] = (None, original)
        self._told = False

    def compiled(self) -> Callable[..., Any]:
        """What is to be called now."""
        forward = self._inside or self._module.__dict__.get("forward")
        original: Callable[..., Any] = _alive(self._original)
        if forward is None or hooks.AROUND in original.__dict__:  # another dumper's, which does the same
            return original
        of, compiled = self._compiled
        if of is not forward:
            compiled = self._compiled_over(forward, original)
            self._compiled = forward, compiled
        return compiled

    def _compiled_over(self, forward: Callable[..., Any], original: Any) -> Callable[..., Any]:
        code = original.__code__
        if _WHAT_IS_COMPILED not in code.co_freevars:
            if not self._told:
                self._told = True
                warnings.warn(
                    f"msprobe: {type(self._module).__name__} is called through a compiled callable made before start() (its attribute "
                    f"{self._key}), and this torch does not tell what it is made of: the module's own inputs and results are not recorded, "
                    "those of the modules in it are. Make it after start()",
                    stacklevel=4,
                )
            return original  # type: ignore[no-any-return]
        cells = [
            types.CellType(forward) if name == _WHAT_IS_COMPILED else cell
            for name, cell in zip(code.co_freevars, original.__closure__, strict=True)
        ]
        return types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, tuple(cells))


def _alive(original: Any) -> Any:
    """The compiled callable, or what another open dumper has put around it."""
    while (part := original.__dict__.get(hooks.AROUND)) is not None and not part.active:
        original = part.original
    return original


_WHAT_IS_COMPILED = "fn"  # the variable of that name in the function that torch.compile(function) returns


def _is_of_own_forward(value: Any, module: torch.nn.Module) -> bool:
    """Whether it is what torch.compile returned for the forward that the module's class has."""
    if not isinstance(value, types.FunctionType):
        return False
    compiled = getattr(value, "_torchdynamo_orig_callable", None)
    return getattr(compiled, "__self__", None) is module and getattr(compiled, "__func__", None) is type(module).forward


def _entries_of(module: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """Of a module that is compiled by itself: where its compiled callables lie in its __dict__, and the module whose forward is traced."""
    if modules.is_compiled(module):
        if "forward" in module.__dict__:
            yield "forward", module._orig_mod  # type: ignore[misc]
        return
    if module.__dict__.get("_compiled_call_impl") is not None:
        yield "_compiled_call_impl", module
    for key in [key for key, value in module.__dict__.items() if _is_of_own_forward(value, module)]:
        yield key, module
