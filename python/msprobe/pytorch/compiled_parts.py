# SPDX-License-Identifier: Apache-2.0
"""Parts of a model that are compiled by themselves and called from its eager forward: the API level is left around the call, and a hook on
the part lets it be seen inside (compiled.py). What has been recorded eagerly goes to the host before the call, since a graph that was
captured from the part brings its own records at its replay."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch

from msprobe.pytorch import hooks, modules, ops
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.compiled import Sight
from msprobe.pytorch.patches import Patch, patching

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
        self._patches: list[Patch] = []

    def open(self) -> None:
        """From here on parts that are compiled later are told of."""
        if self._mode is None and not torch.accelerator.is_available():
            return
        with patching:
            self._patches = [
                Patch("torch.nn.modules.module", "Module", "compile", self._compile_in_place),
                Patch("torch._dynamo.eval_frame", "OptimizedModule", "_initialize", self._compile_around),
            ]

    def close(self) -> None:
        """Leaves the parts, and torch, as they were."""
        with patching:
            for patch in reversed(self._patches):
                patch.restore()
            self._patches = []
        for part in reversed(self._around):
            part.restore()
        self._around.clear()

    def prepare(self, model: torch.nn.Module, device: torch.device) -> set[torch.nn.Module]:
        """Prepares the parts of a model; again with the same one this changes nothing. Returns the modules whose hook leads the API level
        into a region."""
        if self._mode is None and device.type == "cpu":
            return set()
        traced_modules = set()
        for module in model.modules():
            if (entry := _entry_of(module)) is not None:
                key, traced = entry
                traced_modules.add(traced)
                if not any(part.is_around(module, key) for part in self._around):
                    self._around.append(AroundPart(module, key, self._handle, device, self._mode))
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

    def __init__(self, module: torch.nn.Module, key: str, handle: int, device: torch.device, mode: ApiMode | None) -> None:
        """`key`: where in the module's __dict__ the compiled callable lies."""
        self._module, self._key = module, key
        self._original = module.__dict__[key]
        original = self._original
        capturing = torch.get_device_module(device).is_current_stream_capturing if device.type != "cpu" else None

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return original(*args, **kwargs)
            # In a capture of the whole the forward around it commits for all.
            if capturing is not None and hooks.is_in_forward(handle) and not capturing():
                ops.commit_part(handle, device)
            if mode is None or not mode.is_active():
                return original(*args, **kwargs)
            with mode.stepped_aside():
                return original(*args, **kwargs)

        self._call = call
        module.__dict__[key] = call

    def is_around(self, module: torch.nn.Module, key: str) -> bool:
        """Whether it stands there already."""
        return module is self._module and module.__dict__.get(key) is self._call

    def restore(self) -> None:
        """Puts the compiled callable back, unless somebody has replaced ours since."""
        if self._module.__dict__.get(self._key) is self._call:
            self._module.__dict__[self._key] = self._original


def _entry_of(module: torch.nn.Module) -> tuple[str, torch.nn.Module] | None:
    """Of a module that is compiled by itself: where its compiled callable lies in its __dict__, and the module whose forward is traced."""
    if modules.is_compiled(module) and "forward" in module.__dict__:
        return "forward", module._orig_mod  # type: ignore[return-value]
    if module.__dict__.get("_compiled_call_impl") is not None:
        return "_compiled_call_impl", module
    return None
