# SPDX-License-Identifier: Apache-2.0
"""What the tests of comparisons share."""

from __future__ import annotations

import pytest
from pt_files import PtTool


@pytest.fixture(scope="module")
def tool():
    """Reads and compares .pt files."""
    tool = PtTool()
    yield tool
    tool.close()


@pytest.fixture
def compare(tool, tmp_path):
    """compare(target, golden, **options): two tensors by way of torch.save."""
    import torch

    def compare(target, golden, **options):
        torch.save(target, tmp_path / "target.pt")
        torch.save(golden, tmp_path / "golden.pt")
        return tool.compare(tmp_path / "target.pt", tmp_path / "golden.pt", **options)

    return compare
