# SPDX-License-Identifier: Apache-2.0
"""Lets torch_npu's backend `npugraphs` run operators that declare a mutation.

AOT wraps such an operator in `auto_functionalized_v2`. While it captures, npugraphs has a dispatch mode active for which that wrapper has
no rule, so that any operator with a `Tensor(a!)` fails (seen with torch 2.13 and torch_npu 2.13). The names used here are private to
both: where they are gone, nothing is registered, and the backend is as it was.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMESPACE = "msprobe"

_done = False


def register_rule() -> None:
    """Adds the rule once a process; other people's operators are passed on as if there were none."""
    global _done
    if _done:
        return
    _done = True
    try:
        functionalize: Any = importlib.import_module("torch._higher_order_ops.auto_functionalize")
        mode = importlib.import_module("torch_npu.npu.graphs")._GraphDispatchMode
        wrapper, dense = functionalize.auto_functionalized_v2, functionalize.auto_functionalized_v2_dense
    except (ImportError, AttributeError):
        return

    def run(_mode: Any, operator: Any, **kwargs: Any) -> Any:
        if operator.namespace != _NAMESPACE:
            return dense(operator, **kwargs)
        # The token's content means nothing: no copy is made of it, and the operator gets it as it is.
        bases = kwargs.pop("_all_bases")
        plain = {name: value for name, value in kwargs.items() if not name.startswith("_")}
        operator(token=bases[kwargs["_token_base_index"]], **plain)
        return (None, *bases)

    if mode not in wrapper.python_key_table:
        wrapper.py_impl(mode)(run)
