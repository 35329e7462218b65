# SPDX-License-Identifier: Apache-2.0
"""Graphs that a model captures or replays by hand in the middle of its eager forward: each brings its own records to the host, at every
replay, behind what ran eagerly before it."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import torch

from msprobe.pytorch import hooks, ops
from msprobe.pytorch.patches import Patches

_MODULE = "torch_npu.npu.graphs"


class HandGraphs:
    """Those of the models of one dumper."""

    def __init__(self, handle: int, device: torch.device) -> None:
        """`device`: any that a model uses; the records of all are sent on their way."""
        self._handle = handle
        self._device = device
        self._patches = Patches()
        # The error that a thread was handling when a capture began; it lives as long as it is handled. Captures may be tried again there.
        self._handled: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def open(self) -> None:
        """From here on captures end with, and replays begin after, what the thread has recorded."""
        if _MODULE not in sys.modules:
            return
        self._patches.make(
            (_MODULE, "NPUGraph", "capture_begin", self._begin_capture),
            (_MODULE, "NPUGraph", "capture_end", self._end_capture),
            (_MODULE, "NPUGraph", "replay", self._replay),
        )

    def close(self) -> None:
        """Graphs are on their own again; those captured meanwhile keep what was captured."""
        self._patches.restore()

    def _begin_capture(self, below: Callable[..., None], graph: Any, *args: Any, **kwargs: Any) -> None:
        self._handled[graph] = id(sys.exc_info()[1])
        below(graph, *args, **kwargs)

    def _end_capture(self, below: Callable[..., None], graph: Any, *args: Any, **kwargs: Any) -> None:
        error = sys.exc_info()[1]
        # Any other error: the capture has failed, and what it holds will never run.
        if error is None or id(error) == self._handled.get(graph):
            self._commit()
        below(graph, *args, **kwargs)

    def _replay(self, below: Callable[..., None], graph: Any, *args: Any, **kwargs: Any) -> None:
        self._commit()
        below(graph, *args, **kwargs)

    def _commit(self) -> None:
        """Outside forwards a capture ends with a commit anyway, and nothing is left before a replay."""
        if hooks.is_in_forward(self._handle):
            ops.commit_part(self._handle, self._device)
