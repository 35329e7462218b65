# SPDX-License-Identifier: Apache-2.0
"""Functions of ours around functions of torch, for as long as a dumper is open."""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable
from typing import Any

patching = threading.Lock()  # held while patches are made and restored: dumpers are started and closed by several threads
os.register_at_fork(after_in_child=patching._at_fork_reinit)  # type: ignore[attr-defined]  # who held it is not there


class Patches:
    """Those that belong together."""

    def __init__(self) -> None:
        self._made: list[Patch] = []

    def make(self, *wanted: tuple[str, str | None, str, Callable[..., Any]]) -> None:
        """A Patch of each tuple of its arguments."""
        with patching:
            self._made = [Patch(*arguments) for arguments in wanted]

    def restore(self) -> None:
        """Puts back what was there, the last first."""
        with patching:
            for patch in reversed(self._made):
                patch.restore()
            self._made = []


class Patch:
    """Puts a function of ours around one of torch's, where it is looked up. A torch that has it elsewhere is left alone."""

    def __init__(self, module: str, owner: str | None, name: str, around: Callable[..., Any]) -> None:
        """`around(original, *args, **kwargs)` is what is called from here on."""
        self._name = name
        self._active = True
        self._owner: Any = None
        try:
            place: Any = importlib.import_module(module)
            place = getattr(place, owner) if owner is not None else place
            below = self._below = getattr(place, name)
        except (ImportError, AttributeError):
            return
        self._owner = place

        @functools.wraps(below)
        def patched(*args: Any, **kwargs: Any) -> Any:
            return around(below, *args, **kwargs) if self._active else below(*args, **kwargs)

        patched._msprobe_patch = self  # type: ignore[attr-defined]
        self._patched = patched
        setattr(place, name, patched)

    def restore(self) -> None:
        """Puts the original back. Where somebody has patched it since, ours stays inside and only passes on."""
        self._active = False
        if self._owner is None or getattr(self._owner, self._name) is not self._patched:
            return
        below = self._below
        while isinstance(patch := getattr(below, "_msprobe_patch", None), Patch) and not patch._active:
            below = patch._below  # of a dumper that was closed before this one
        setattr(self._owner, self._name, below)
