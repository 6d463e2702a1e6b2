"""A comparison within a time that a person has: what fits, and cheap methods first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from drmbench.config.model import Experiment
from drmbench.running.progress import duration
from drmbench.running.runner import Run, RunOptions
from drmbench.running.task import Task

#: Share of a budget that a plan may fill: estimates are rough.
_FILL = 0.9
#: Seconds within which a first ranking should be there, workers started.
_FIRST = 5.0


@dataclass(frozen=True)
class Cut:
    """What of a comparison fits into a budget."""

    budget: float  #: The seconds it has
    #: How often the folds are drawn, and were to be drawn
    repeats: int
    asked: int
    dropped: tuple[str, ...] = ()  #: Labels of the methods that are left out

    def describe(self) -> str:
        """Say what was cut; empty if nothing was.

        Examples
        --------
        >>> Cut(60.0, 1, 3, ("rf",)).describe()
        'To fit into 1 min 00 s: the folds are drawn once, not 3 times; left out: rf.'
        >>> Cut(60.0, 3, 3).describe()
        ''
        """
        parts = []
        if self.repeats < self.asked:
            now = "once" if self.repeats == 1 else f"{self.repeats} times"
            parts.append(f"the folds are drawn {now}, not {self.asked} times")
        if self.dropped:
            parts.append(f"left out: {', '.join(self.dropped)}")
        start = f"To fit into {duration(self.budget)}: "
        return f"{start}{'; '.join(parts)}." if parts else ""


def fitting(experiment: Experiment, options: RunOptions, budget: float) -> Cut:
    """Return what of a comparison of one data set fits into so many seconds.

    Repeats are cut first, down to one, then methods, those first that are expected to
    take longest; one remains in any case. Cells that are done cost nothing. Where no
    time is known nothing is cut.
    """
    run = Run([experiment], options, dry=True)
    split, labels = experiment.split, [ref.label for ref in experiment.methods]
    for repeats in range(split.repeats, 0, -1):
        if _fits(run, _tasks(run, repeats * split.k, labels), budget):
            return Cut(budget, repeats, split.repeats)
    by_cost = sorted(labels, key=lambda label: _cost(run, split.k, label))
    kept = by_cost
    while len(kept) > 1 and not _fits(run, _tasks(run, split.k, kept), budget):
        kept = kept[:-1]
    dropped = tuple(label for label in labels if label not in kept)
    return Cut(budget, 1, split.repeats, dropped)


def first_methods(run: Run) -> list[str]:
    """Return the cheap methods, for a first ranking; empty if that is not worth it.

    There is none where they are fewer than two, or all.
    """
    (planned,) = run.experiments
    splits = planned.plan.experiment.split
    cells = splits.k * splits.repeats
    chosen: list[str] = []
    for label in sorted(planned.methods, key=lambda name: _cost(run, cells, name)):
        tasks = _tasks(run, cells, [*chosen, label])
        forecast = run.estimator.forecast(tasks, run.options.jobs)
        if forecast is None or forecast.wall > _FIRST:
            break
        chosen.append(label)
    some = 2 <= len(chosen) < len(planned.methods)
    return chosen if some and _tasks(run, cells, chosen) else []


def _tasks(run: Run, cells: int, labels: Collection[str]) -> list[Task]:
    """Return the cells to be run of some methods on the first splits."""
    return [t for t in run.new if t.number < cells and t.method.label in labels]


def _cost(run: Run, cells: int, label: str) -> float:
    found = map(run.estimator.estimate, _tasks(run, cells, [label]))
    return sum(estimate.seconds for estimate in found if estimate is not None)


def _fits(run: Run, tasks: list[Task], budget: float) -> bool:
    forecast = run.estimator.forecast(tasks, run.options.jobs)
    return forecast is None or forecast.wall <= _FILL * budget
