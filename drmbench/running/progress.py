"""Showing how a run goes: a bar on a terminal or in a notebook, else plain lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from drmbench.running.estimate import Estimator
from drmbench.running.store import Record
from drmbench.running.task import Task


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


def describe(task: Task) -> str:
    """Name a cell for people."""
    mode = "" if task.kind != "classification" else f", {task.mode}"
    return f"{task.dataset.name}, {task.method.label}{mode}, split {task.number}"


class PlainProgress:
    """One line per cell; only what went wrong if ``quiet``.

    The estimator learns from the cells of this run.
    """

    def __init__(
        self, tasks: Sequence[Task], estimator: Estimator, jobs: int, *, quiet: bool
    ) -> None:
        self._left = {task.key: task for task in tasks}
        self._estimator, self._jobs, self._quiet = estimator, max(jobs, 1), quiet
        self._total, self._done = len(self._left), 0

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def started(self, task: Task) -> None:
        """Say nothing: the line comes when the cell ends."""

    def dropped(self, task: Task) -> None:
        """Forget a cell that this run leaves to the next."""
        self._left.pop(task.key, None)

    def finished(self, task: Task, record: Record) -> None:
        """Print the cell's line."""
        self._count(task, record)
        if self._quiet and record["status"] == "ok":
            return
        metric, rows = task.protocol.metrics[0], record["rows"]
        figures = [row.get(metric) for row in rows]
        shown = " / ".join(f"{value:.4f}" for value in figures if value is not None)
        ended = f"{metric} {shown}" if shown else "ok"
        if record["status"] != "ok":
            ended = f"{record['status']}: {record['reason']}"
        mark = "†" if rows and rows[0].get("substitute") else ""
        left = self._time_left()
        self.say(
            f"[{self._done}/{self._total}] {mark}{describe(task)}: {ended}"
            f" ({duration(record['seconds'])})" + (f"; {left}" if left else "")
        )

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)

    def _count(self, task: Task, record: Record) -> None:
        self._left.pop(task.key, None)
        self._estimator.add(task, float(record["seconds"]))
        self._done += 1

    def _time_left(self) -> str:
        """Say how much time is left, if that is known."""
        forecast = self._estimator.forecast(self._left.values(), self._jobs)
        if forecast is None or not self._left:
            return ""
        return f"about {duration(forecast.wall)} left"


class RichProgress(PlainProgress):
    """A bar as wide as the terminal, what runs below it, and failures as they come."""

    def __enter__(self) -> RichProgress:
        from rich.console import Console, Group, RenderableType
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.text import Text

        self._running: dict[str, Task] = {}
        self._failed = 0
        shown = self

        class Bar(Progress):
            def get_renderable(self) -> RenderableType:
                now = Text(shown._now(), style="dim", no_wrap=True, overflow="ellipsis")
                return Group(self.make_tasks_table(self.tasks), now)

        self._bar = Bar(
            TextColumn("cells"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("[red]{task.fields[failed]}"),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            expand=True,
            transient=True,
        )
        self._line = self._bar.add_task("", total=self._total, failed="", left="")
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def started(self, task: Task) -> None:
        """Show the cell among those that run."""
        self._running[task.key] = task
        self._show()

    def dropped(self, task: Task) -> None:
        """Show the cell no longer."""
        super().dropped(task)
        self._running.pop(task.key, None)
        self._show()

    def finished(self, task: Task, record: Record) -> None:
        """Move the bar, and print the cell if it failed."""
        self._running.pop(task.key, None)
        if record["status"] != "ok":
            self.say(f"{describe(task)}: {record['status']}: {record['reason']}")
            self._failed += record["status"] != "skipped"
        self._count(task, record)
        self._show()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)

    def _show(self) -> None:
        self._bar.update(
            self._line,
            completed=self._done,
            failed=f"{self._failed} failed" if self._failed else "",
            left=self._time_left(),
        )

    def _now(self) -> str:
        """Name the cells that run, as many as the line has room for."""
        running = list(self._running.values())
        named = "; ".join(map(describe, running))
        return f"{len(running)} running: {named}" if running else ""


class NotebookProgress(PlainProgress):
    """A bar of letters that a notebook can show, and failures as they come."""

    def __enter__(self) -> NotebookProgress:
        from tqdm import tqdm

        shown = {"desc": "cells", "unit": "cell", "leave": False}
        self._bar = tqdm(total=self._total, disable=not self._total, **shown)
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()

    def finished(self, task: Task, record: Record) -> None:
        """Move the bar, and print the cell if it failed."""
        if record["status"] != "ok":
            self.say(f"{describe(task)}: {record['status']}: {record['reason']}")
        self._count(task, record)
        self._bar.update()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.write(text, file=sys.stderr)


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    return "ipykernel" in sys.modules


def progress_kind(bar: bool) -> type[PlainProgress]:
    """Return how a run is shown here, with a bar if that is wanted and possible."""
    if bar and sys.stderr.isatty():
        return RichProgress
    return NotebookProgress if bar and in_notebook() else PlainProgress
