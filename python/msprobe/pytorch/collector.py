# SPDX-License-Identifier: Apache-2.0
"""Pauses Python's garbage collector while very many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Each collection looks at all objects anew: with the hooks of 20,000 modules that takes longer than the hooks. Of two threads that
    pause it at the same time the first may end the pause for both.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
