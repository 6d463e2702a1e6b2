"""Showing how a run goes: a live bar on a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from drmbench.run.history import History
from drmbench.run.runner import describe
from drmbench.run.store import Record
from drmbench.run.task import Task


def duration(seconds: float) -> str:
    """Say a length of time in the two units that matter.

    Examples
    --------
    >>> duration(0.42), duration(75), duration(7380)
    ('0.4 s', '1 min 15 s', '2 h 03 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


class Estimate:
    """How much time is left, learnt from earlier cells and from this run.

    Parameters
    ----------
    tasks : sequence of Task
        The cells to run.
    history : History
        Earlier cells.
    jobs : int
        Cells that run side by side.
    """

    def __init__(self, tasks: Sequence[Task], history: History, jobs: int) -> None:
        self._left = {task.key: task for task in tasks}
        self._history, self._jobs = history, max(jobs, 1)
        self.total, self.done = len(self._left), 0

    def finished(self, task: Task, record: Record) -> None:
        """Learn from a cell that ended."""
        self._left.pop(task.key, None)
        self._history.add(record)
        self.done += 1

    def seconds(self) -> float | None:
        """Return the seconds that are left; None if nothing is known yet."""
        total = self._history.total(self._left.values())
        return None if total is None else total / self._jobs

    def text(self) -> str:
        """Say how much time is left."""
        seconds = self.seconds()
        if seconds is None or not self._left:
            return ""
        return f"about {duration(seconds)} left"


def outcome_text(record: Record, metric: str) -> str:
    """Say how a cell ended: its figure, or why it has none."""
    if record["status"] != "ok":
        return f"{record['status']}: {record['reason']}"
    values = [row.get(metric) for row in record["rows"]]
    shown = " / ".join(f"{value:.4f}" for value in values if value is not None)
    return f"{metric} {shown}" if shown else "ok"


class PlainProgress:
    """One line a cell.

    Parameters
    ----------
    estimate : Estimate
        How far the run is.
    metric : callable
        Gives the metric to show for a task.
    quiet : bool
        Whether to say only what went wrong.
    """

    def __init__(
        self, estimate: Estimate, metric: Callable[[Task], str], *, quiet: bool = False
    ) -> None:
        self._estimate, self._metric, self._quiet = estimate, metric, quiet

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def started(self, task: Task) -> None:
        """Say nothing: the line comes when the cell ends."""

    def finished(self, task: Task, record: Record) -> None:
        """Print the cell's line."""
        self._estimate.finished(task, record)
        if self._quiet and record["status"] == "ok":
            return
        place = f"[{self._estimate.done}/{self._estimate.total}]"
        ended = outcome_text(record, self._metric(task))
        mark = "†" if record["rows"] and record["rows"][0].get("substitute") else ""
        left = self._estimate.text()
        self.say(
            f"{place} {mark}{describe(task)}: {ended} ({duration(record['seconds'])})"
            + (f"; {left}" if left else "")
        )

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)


class RichProgress(PlainProgress):
    """A bar with the time left, what runs now, and failures as they come."""

    def __enter__(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._running: dict[str, tuple[Task, float]] = {}
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            transient=True,
        )
        total = self._estimate.total
        self._line = self._bar.add_task("cells", total=total, left="")
        self._now = self._bar.add_task("", total=None, left="", visible=False)
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def started(self, task: Task) -> None:
        """Show the cell among those that run."""
        self._running[task.key] = (task, time.monotonic())
        self._show()

    def finished(self, task: Task, record: Record) -> None:
        """Move the bar, and print the cell if it did not end well."""
        self._running.pop(task.key, None)
        if record["status"] != "ok":
            self.say(f"{describe(task)}: {outcome_text(record, '')}")
        self._estimate.finished(task, record)
        self._show()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)

    def _show(self) -> None:
        shown = self._estimate
        self._bar.update(self._line, completed=shown.done, left=shown.text())
        now = "; ".join(describe(task) for task, _ in self._running.values())
        fields: dict[str, Any] = {"description": f"running {now}", "visible": bool(now)}
        self._bar.update(self._now, **fields)


def make_progress(
    estimate: Estimate, metric: Callable[[Task], str], *, bar: bool, verbose: bool
) -> PlainProgress:
    """Return the progress that suits where the output goes.

    Parameters
    ----------
    estimate : Estimate
        How far the run is.
    metric : callable
        Gives the metric to show for a task.
    bar : bool
        Whether a bar is wanted, if standard error is a terminal.
    verbose : bool
        Whether every cell gets a line, rather than every failure.
    """
    if bar and not verbose and sys.stderr.isatty():
        return RichProgress(estimate, metric)
    return PlainProgress(estimate, metric, quiet=not (bar or verbose))
