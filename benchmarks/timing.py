"""Timing helpers shared by the benchmarks: ratios within one run."""

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


def times_as_long(
    ours: Callable[[], Any],
    other: Callable[[], Any],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return the smallest time of ours over that of the other, called in turn.

    Processor time and minima, so that other work on the machine counts as little as it
    can; for code with threads of its own the clock must be ``time.perf_counter``.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, spent in zip((ours, other), times, strict=True):
            start = clock()
            function()
            spent.append(clock() - start)
    return min(times[0]) / min(times[1])


def report(what: str, ours: float, other: float, wanted: str) -> None:
    """Print one line: both times, their ratio, and the ratio that was asked for."""
    print(
        f"{what:<62} {ours:>10.4g} s {other:>12.4g} s   ratio {other / ours:>10.3g}"
        f"   wanted {wanted}"
    )
