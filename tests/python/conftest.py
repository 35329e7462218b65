# SPDX-License-Identifier: Apache-2.0
"""What all Python tests share: a skipped test is a failed one, which tests run only on hostnpu, the repository's folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Generator
from pathlib import Path

import pytest

# Tests in folders called `inside` run on hostnpu, started by tests that do not; there torch_npu can be found.
collect_ignore_glob = [] if importlib.util.find_spec("torch_npu") else ["**/inside"]


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    # An expected failure (xfail) is reported as skipped too; it did run.
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed: what a test needs is part of the set-up. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[2]
