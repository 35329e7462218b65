# SPDX-License-Identifier: Apache-2.0
"""msprobe: see inside a captured PyTorch graph. The dumpers are in `msprobe.pytorch`; importing this costs no torch.

`msprobe.compare(target, golden)` compares two dumps, `msprobe.view(dump)` makes a page of one.
"""

from __future__ import annotations

from msprobe._name_clash import check_name_clash

TYPE_CHECKING = False  # what type checkers take for typing's, whose import costs 5 ms
if TYPE_CHECKING:
    from msprobe._compare import CompareResult, Divergence, PairResult, WorstRow, compare
    from msprobe._view import ViewedDump, ViewResult, view

__version__ = "0.1.0"
__all__ = ["CompareResult", "Divergence", "PairResult", "ViewResult", "ViewedDump", "WorstRow", "compare", "view"]

check_name_clash()


def __getattr__(name: str) -> object:
    """Loads what `compare` and `view` need when it is asked for: most programs import msprobe for its dumpers."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from msprobe import _compare, _view  # noqa: PLC0415

    return getattr(_compare if hasattr(_compare, name) else _view, name)
