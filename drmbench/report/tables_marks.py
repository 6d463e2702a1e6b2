"""Marks and footnotes of a table: substitutes, deviations, failures, disagreement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import MethodColumn, Row, TableSource, merges
from drmbench.run.results import Summary

SUBSTITUTE, DEVIATION, DISAGREEMENT = "†", "‡", "≠"


def row_mark(row: Row) -> str:
    """Return the mark of a data set: a relative stood in, or something differs."""
    if row.entry.get("substitute"):
        return SUBSTITUTE
    return DEVIATION if row.entry.get("note") else ""


def column_mark(source: TableSource, column: MethodColumn, mode: ScalingMode) -> str:
    """Return the mark of a method whose parameters were selected in another way."""
    return DEVIATION if any(_overrides(source, column, mode)) else ""


def _overrides(
    source: TableSource, column: MethodColumn, mode: ScalingMode
) -> Iterator[str]:
    for results in source.results:
        overrides = results.selection_overrides(mode)
        yield from (overrides[label] for label in column.labels if label in overrides)


@dataclass
class Footnotes:
    """Footnotes of one table, numbered as they are first referred to.

    Attributes
    ----------
    metric : str
        Its worst value is what failed splits count as.
    reasons : dict of str to str
        Mark by text, in order.
    """

    metric: str
    reasons: dict[str, str] = field(default_factory=dict)

    def mark(self, ours: Summary) -> str:
        """Return the mark of a figure that has a reason to explain, else nothing."""
        if not ours.reason:
            return ""
        text = ours.reason
        if ours.failed and ours.failed < ours.done:
            worst = get_metric(self.metric).worst
            text = (
                f"{ours.failed} of {ours.done} splits count as {worst:g}: {ours.reason}"
            )
        return self.reasons.setdefault(text, f"[{len(self.reasons) + 1}]")

    def lines(self) -> list[str]:
        """Return the numbered footnotes."""
        return [f"{mark} {_sentence(text)}" for text, mark in self.reasons.items()]


def source_footnotes(source: TableSource, mode: ScalingMode) -> list[str]:
    """Return what † and ‡ mean in a table: data sets, selection, deviations."""
    rows = [line for row in source.rows() for line in _row_footnotes(row)]
    selections = [
        f"{DEVIATION} {', '.join(headings)}: {_sentence(text)}"
        for text, headings in _selections(source, mode).items()
    ]
    deviations = [
        f"{DEVIATION} {_sentence(text)}"
        for results in source.results
        for text in results.experiment.deviations
    ]
    return list(dict.fromkeys([*rows, *selections, *deviations]))


def _selections(source: TableSource, mode: ScalingMode) -> dict[str, list[str]]:
    """Return the columns of each other way of selection."""
    found: dict[str, list[str]] = {}
    for column in source.columns(merged=merges(mode)):
        for text in dict.fromkeys(_overrides(source, column, mode)):
            found.setdefault(text, []).append(column.heading)
    return found


def _row_footnotes(row: Row) -> Iterator[str]:
    note = row.entry.get("note") or ""
    if substitute := row.entry.get("substitute"):
        text = f"{SUBSTITUTE} {row.heading}: {substitute} stood in for it"
        yield _sentence(f"{text}: {note}" if note else text)
    elif note:
        yield f"{DEVIATION} {row.heading}: {_sentence(note)}"
    if missing := row.entry.get("missing"):
        get = row.entry.get("get")
        how = f" `{get}` would get it." if get else ""
        yield f"{row.heading} is missing: {_sentence(missing)}{how}"


def _sentence(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?")) else f"{stripped}."
