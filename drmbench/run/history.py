"""How long cells took in earlier runs, to estimate those to come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median
from typing import Any

from drmbench.run.store import Record
from drmbench.run.task import Task


class History:
    """Median seconds of finished cells, from the most alike to the least.

    Parameters
    ----------
    records : iterable of dict
        Records of finished cells.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._seconds: dict[tuple[Any, ...], list[float]] = defaultdict(list)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Learn from a finished cell."""
        dataset, method, mode = record["dataset"], record["method"], record["mode"]
        for likeness in ((dataset, method, mode), (method, mode), (method,), ()):
            self._seconds[likeness].append(float(record["seconds"]))

    def estimate(self, task: Task) -> float | None:
        """Return the median seconds of the cells most like a task; None if unknown."""
        label, mode = task.method.label, task.mode
        for likeness in ((task.dataset.name, label, mode), (label, mode), (label,), ()):
            if likeness in self._seconds:
                return median(self._seconds[likeness])
        return None

    def total(self, tasks: Iterable[Task]) -> float | None:
        """Return the sum of the estimates; None if any is unknown."""
        estimates = [self.estimate(task) for task in tasks]
        if any(seconds is None for seconds in estimates):
            return None
        return sum(seconds for seconds in estimates if seconds is not None)
