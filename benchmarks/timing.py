"""Timing helpers shared by the benchmarks: medians, and ratios within one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(function: Callable[[], Any], repeats: int = 3) -> float:
    """Return the median wall time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def report(what: str, ours: float, other: float, wanted: str) -> None:
    """Print one line: both times, their ratio, and the ratio that was asked for."""
    print(
        f"{what:<62} {ours:>10.4g} s {other:>12.4g} s   ratio {other / ours:>10.3g}"
        f"   wanted {wanted}"
    )
