# SPDX-License-Identifier: Apache-2.0
"""One browser for all tests of a file, and the pages that several tests look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pages
import pytest


@pytest.fixture(scope="session")
def browser() -> Iterator[pages.Browser]:
    browser = pages.Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of one pair of dumps: a fault in layer 9, NaN in layer 20, an unmatched call."""
    folder = tmp_path_factory.mktemp("pair")
    pages.write_sides(folder, "", fault_at=9, nan_at=20)
    return pages.compared(folder)


@pytest.fixture(scope="session")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two ranks and three steps; rank1 is faulty from step 1 on."""
    folder = tmp_path_factory.mktemp("whole")
    for step in range(3):
        for rank in range(2):
            fault = 9 if rank == 1 and step > 0 else None
            pages.write_sides(folder, f"step{step}/rank{rank}", fault_at=fault, seed=10 * step + rank)
    return pages.compared(folder)
