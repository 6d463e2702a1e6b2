"""What the timing and convergence experiments measure, and whether it can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drmbench.config.datasets import ChosenSet
from drmbench.config.model import Measurement
from drmbench.config.problems import Problems
from drmbench.config.schema import MEASURE
from drmbench.config.tree import Table

#: Keys of ``measure`` that only one kind of experiment uses.
_KIND_OF = {"sizes": "timing", "tol": "convergence"}


def choose_measure(
    table: Table, kind: str, chosen: Sequence[ChosenSet], problems: Problems
) -> Measurement:
    """Return what is measured.

    Parameters
    ----------
    table : Table
        The checked ``measure`` of the file.
    kind : str
        Kind of the experiment.
    chosen : sequence of ChosenSet
        The data sets.
    problems : Problems
        Where keys without effect and impossible sizes are noted.
    """
    for key, owner in _KIND_OF.items():
        if key in table and kind != owner:
            problems.add(
                table.line_of(key),
                f"measure.{key}: only kind {owner} has it; the kind here is {kind}",
            )
    if kind == "timing" and len(table.items("betas")) > 1:
        problems.add(
            table.line_of("betas"), "measure.betas: timing is measured at one beta"
        )
    _check_sizes(table, chosen, problems)
    said = table.values(*MEASURE.names())
    return Measurement(**{key: _frozen(value) for key, value in said.items()})


def _check_sizes(table: Table, chosen: Sequence[ChosenSet], problems: Problems) -> None:
    """Refuse a training size that cannot have all classes of a data set."""
    smallest = min(table.value("sizes", []), default=None)
    if smallest is None:
        return
    for one in chosen:
        if smallest < one.classes:
            problems.add(
                table.line_of("sizes"),
                f"measure.sizes: {smallest} rows cannot have each of the"
                f" {one.classes} classes of {one.name}",
            )
            return


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
