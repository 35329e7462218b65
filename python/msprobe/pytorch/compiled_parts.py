# SPDX-License-Identifier: Apache-2.0
"""Parts of a model that are compiled by themselves and called from its eager forward: the API level is left around the call, and a hook on
the part lets it be seen inside (compiled.py)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from msprobe.pytorch import hooks, modules, ops
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.compiled import Sight


class CompiledParts:
    """All such parts of the models of one dumper."""

    def __init__(self, mode: ApiMode, *, apis_only: bool) -> None:
        """`apis_only`: no records of modules stand around those of APIs."""
        self._mode = mode
        self._apis_only = apis_only
        self._around: list[SteppedAside] = []

    def prepare(self, model: torch.nn.Module, device: torch.device) -> set[torch.nn.Module]:
        """Prepares the parts of a model; again with the same one this changes nothing. Returns the modules whose forward is traced."""
        traced_modules = set()
        commit = None
        if device.type != "cpu" and self._apis_only:
            # A captured graph's records get their place among eager ones by their names, which are the same for all calls of an operator.
            commit = functools.partial(ops.commit, self._mode.handle, device)
        for module in model.modules():
            if (entry := _entry_of(module)) is not None:
                key, traced = entry
                traced_modules.add(traced)
                if not any(part.is_around(module, key) for part in self._around):
                    self._around.append(SteppedAside(module, key, self._mode, commit))
        return traced_modules

    def add(
        self,
        part: torch.nn.Module,
        traced: torch.nn.Module,
        hooked: list[tuple[torch.nn.Module, hooks.Site]],
        sight: Sight | None,
    ) -> None:
        """Prepares a part that is compiled after start(), if a model that is collected from holds it. `hooked` gets its hook."""
        for model, root in [(module, site) for module, site in hooked if site.root]:
            name = next((name for name, module in model.named_modules() if module is traced), None)
            if name is None or isinstance(traced, torch.jit.ScriptModule):
                continue
            self.prepare(part, root.device)
            site = next((site for module, site in hooked if module is traced), None)
            if site is None:
                site = hooks.install(
                    traced,
                    handle=int(root.handle),
                    name=modules.entry_name(name, traced),
                    collected=False,
                    root=False,
                    device=root.device,
                    site_number=-1,  # it was filtered at start(), as the account knows
                    identity=root.identity,
                )
                hooked.append((traced, site))
            site.api_mode, site.sight = self._mode, sight

    def restore(self) -> None:
        """Leaves the parts as they were."""
        for part in reversed(self._around):
            part.restore()
        self._around.clear()


class SteppedAside:
    """A compiled part of the model, called in eager code: Dynamo compiles nothing under a dispatch mode that is not its own, so the API
    level is left around the call; inside, the marks do its work."""

    def __init__(self, module: torch.nn.Module, key: str, mode: ApiMode, commit: Callable[[], None] | None) -> None:
        """`key`: where in the module's __dict__ the compiled callable lies. `commit`: called before and after it, where the records of
        a captured graph could not be told from those around it by their names."""
        self._module, self._key = module, key
        self._original = module.__dict__[key]
        original = self._original

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or not mode.is_active():
                return original(*args, **kwargs)
            if commit is None:
                with mode.stepped_aside():
                    return original(*args, **kwargs)
            commit()
            with mode.stepped_aside():
                output = original(*args, **kwargs)
            commit()
            return output

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
