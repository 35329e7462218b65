# SPDX-License-Identifier: Apache-2.0
"""Times contenders side by side: in turns, so that a busy machine is busy for all of them, and by their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of one call of each, after one call that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for work in contenders.values():
        work()
    for _ in range(rounds):
        for name, work in contenders.items():
            begin = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def against(value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None) -> str:
    """A measured number, its bar, and whether it holds."""
    held = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
    bar = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}"
    return f"{value:.2f}{unit} ({bar}: {'holds' if held else 'DOES NOT HOLD'})"


def show(title: str, lines: Mapping[str, str]) -> None:
    print(title)
    width = max(map(len, lines))
    for name, text in lines.items():
        print(f"  {name:<{width}}  {text}")
