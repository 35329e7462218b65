# SPDX-License-Identifier: Apache-2.0
"""msprobe for PyTorch: `from msprobe.pytorch import AclGraphDumper, acl_save, flush`."""

from __future__ import annotations

try:
    from msprobe.lib import aclgraph_dump_ext as _aclgraph_dump_ext  # noqa: F401
except ImportError as error:
    _remedy = (
        ""
        if error.name is None
        else "; this msprobe was built without the module aclgraph_dump: build it with "
        "`python3 setup.py bdist_wheel --include-mod=aclgraph_dump` or `pip install .`, with torch (and torch_npu for NPUs) installed"
    )
    raise ImportError(f"Failed to import msprobe.lib.aclgraph_dump_ext: {error}{_remedy}") from error

from msprobe.pytorch.dumper import AclGraphDumper
from msprobe.pytorch.save import acl_save, flush

__all__ = ["AclGraphDumper", "acl_save", "flush"]
