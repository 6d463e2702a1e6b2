"""The experiments that make up one table of the paper, or one that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drmbench.report.markup import Html, details, joined, section, tag
from drmbench.report.sections.experiment import (
    ExperimentContent,
    experiment_section,
    section_id,
)
from drmbench.report.sections.tables import shown
from drmbench.report.sections.words import target_words, times
from drmbench.report.table import Table, anchor


@dataclass(frozen=True)
class Group:
    """Experiments that are shown together.

    Attributes
    ----------
    id : str
        What the ids of its tables begin with.
    title : str
        Its heading where there are several experiments.
    experiments : sequence of ExperimentContent
        What is shown of each.
    tables, more_tables : sequence of Table
        Tables that are shown at once, and that are shown on demand.
    """

    id: str
    title: str
    experiments: Sequence[ExperimentContent]
    tables: Sequence[Table] = ()
    more_tables: Sequence[Table] = ()

    @property
    def anchor(self) -> str:
        """The id of its section."""
        if len(self.experiments) == 1:
            return section_id(self.experiments[0].results.name)
        return anchor(f"group-{self.id}")

    @property
    def label(self) -> str:
        """What the table of contents calls it."""
        names = ", ".join(content.results.name for content in self.experiments)
        target = self.experiments[0].results.experiment.reproduces
        return f"{names} ({target_words(target)})" if target else names


def group_section(group: Group) -> Html:
    """Return the section of a group: tables, then each experiment."""
    if len(group.experiments) == 1:
        return experiment_section(group.experiments[0], 3, _tables(group))
    names = ", ".join(content.results.name for content in group.experiments)
    return section(
        group.anchor,
        3,
        group.title,
        tag("p", f"Run as {times(len(group.experiments), 'experiment')}: {names}."),
        _tables(group),
        *(experiment_section(content, 4) for content in group.experiments),
    )


def _tables(group: Group) -> Html:
    parts = [*map(shown, group.tables)]
    if group.more_tables:
        more = times(len(group.more_tables), "more table")
        summary = f"{more}: other metrics, tests, agreement, times"
        parts.append(details(summary, *map(shown, group.more_tables)))
    return joined(parts)
