"""What the paper's claims are tested on: stored results, or its own tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from typing import Literal

import numpy as np
import pandas as pd

from drmbench.paper import published_table
from drmbench.protocol.allowance import ROUNDING
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.paired import Compared, Relation
from drmbench.report.scores import TableSource, scores_of
from drmbench.running.results import Results

Status = Literal["reproduced", "partly", "not reproduced", "not testable"]
#: Data sets or columns, as claims name them.
Names = Sequence[str]
#: Columns by the name of the group they form, such as a classifier's kernels.
Groups = Mapping[str, Sequence[str]]

_NAMED = 3  # columns that are listed; of more, the number is said


class NotTestableError(Exception):
    """A claim cannot be tested on what there is; the text says why."""


@dataclass(frozen=True)
class Finding:
    """What a check found."""

    status: Status  #: The answer
    numbers: str  #: The figures behind it, in a sentence
    explanation: str = ""  #: What it was tested on, and what it was not
    #: The differences behind a claim that one method is better, tested
    comparisons: tuple[Compared, ...] = ()
    #: For how many things it holds, of how many, where it is about several
    counted: tuple[int, int] | None = None


def and_not(
    text: str, exceptions: Sequence[str], lead: str = "not ", between: str = ", "
) -> str:
    """Add to a sentence for what it does not hold, if for anything."""
    return f"{text}; {lead}{between.join(exceptions)}" if exceptions else text


@dataclass(frozen=True)
class Rules:
    """How counts and tests become words; the numbers are in ``paper/claims.yaml``."""

    partly_share: float  #: Share of what is claimed from which a claim holds in part
    enough_share: float  #: Share of the claim's data sets without which nothing is said
    level: float  #: Corrected p value below which one method is ahead of another
    equivalent: float  #: Methods whose difference is surely no larger are equivalent

    def relation(self, comparison: Compared) -> Relation:
        """Return what a comparison allows to claim."""
        return comparison.relation(self.level, self.equivalent)

    def ahead(self, comparisons: Iterable[Compared]) -> int:
        """Return in how many comparisons ours is ahead."""
        return sum(self.relation(one) == "ahead" for one in comparisons)

    def grade(self, holds: float, claimed: float) -> Status:
        """Return the status of a claim of which so much holds.

        Examples
        --------
        >>> rules = Rules(0.5, 0.5, level=0.05, equivalent=0.01)
        >>> rules.grade(7, 7), rules.grade(4, 7), rules.grade(3, 7)
        ('reproduced', 'partly', 'not reproduced')
        """
        if holds >= claimed - ROUNDING:
            return "reproduced"
        if holds >= self.partly_share * claimed - ROUNDING:
            return "partly"
        return "not reproduced"


@dataclass(frozen=True)
class ScoreTable:
    """Figures by data set (row) and column."""

    #: The figures; NaN where there is none, as for the paper's dashes
    values: pd.DataFrame
    names: Mapping[str, str]  #: Row of each spelling of a data set's name, case folded
    #: Rows that are no evidence, and why
    excluded: Mapping[str, str] = field(default_factory=dict)
    #: Row and column of figures that are not complete
    unfinished: frozenset[tuple[str, str]] = frozenset()

    def why_not(self, name: str, columns: Iterable[str]) -> str:
        """Return why a data set is no evidence on some columns; empty if it is."""
        row = self.names.get(name.casefold())
        if row is None:
            return "not in the run"
        if row in self.excluded:
            return self.excluded[row]
        undone = [column for column in columns if (row, column) in self.unfinished]
        if len(undone) > _NAMED:
            return f"{len(undone)} columns not complete"
        return f"{', '.join(undone)} not complete" if undone else ""

    def rows(self, names: Names, columns: Names) -> pd.DataFrame:
        """Return the figures of data sets, the rows called as they are asked for."""
        found = [self.names[name.casefold()] for name in names]
        return self.values.loc[found, list(columns)].set_axis(list(names), axis=0)

    def joined(self, other: ScoreTable) -> ScoreTable:
        """Add other data sets, or other columns of the same data sets."""
        return ScoreTable(
            self.values.combine_first(other.values),
            {**other.names, **self.names},
            {**other.excluded, **self.excluded},
            self.unfinished | other.unfinished,
        )


@cache
def printed_scores(table: str) -> ScoreTable:
    """Return the figures that the paper prints in a table, named by its file."""
    published = published_table(table.partition("_")[0])
    assert published is not None, table
    figures = {
        column: [published.cells[row, column].mean for row in published.rows]
        for column in published.columns
    }
    return ScoreTable(
        pd.DataFrame(figures, index=list(published.rows), dtype=float),
        {name.casefold(): name for name in published.rows},
    )


def stored_scores(results: Results, mode: ScalingMode, metric: str = "") -> ScoreTable:
    """Return the means of stored results, by label and by the paper's column.

    No `metric` means the experiment's own.
    """
    labels = TableSource(results.name, "", (results,))
    published = published_table(results.experiment.reproduces)
    paper = replace(labels, published=published)
    found = {
        (row.dataset, column.heading): scores.entries[row.heading, column.heading].ours
        for source in (paper, labels)
        for scores in [scores_of(source, mode, metric or results.metric, merged=True)]
        for row in scores.rows
        for column in scores.columns
        if column.labels
    }
    for label, method in results.methods.items():  # columns of no table of the paper
        for dataset in results.datasets if method.get("column") else ():
            found.setdefault((dataset, method["column"]), found[dataset, label])
    figures = {
        column: [found[dataset, column].mean for dataset in results.datasets]
        for column in dict.fromkeys(column for _, column in found)
    }
    return ScoreTable(
        pd.DataFrame(figures, index=list(results.datasets), dtype=float),
        {
            spelling.casefold(): name
            for name, entry in results.datasets.items()
            for spelling in (name, *entry.get("paper_names", ()))
        },
        {
            name: f"{stand_in} stands in for it" if stand_in else "data missing"
            for name, entry in results.datasets.items()
            if (stand_in := entry.get("substitute")) or entry.get("missing")
        },
        frozenset(p for p, figure in found.items() if figure.done < figure.expected),
    )


@dataclass(frozen=True)
class Picked:
    """The rows and columns of a score table that a check needs."""

    rules: Rules  #: How counts become a status
    values: pd.DataFrame  #: Figures of the data sets that are evidence
    excluded: Mapping[str, str]  #: Data sets of the claim that are not, and why
    absent: tuple[str, ...]  #: Columns of the claim that were not run

    def best(self, columns: Names) -> pd.Series[float]:
        """Return the best figure of each row; no figure is worse than any."""
        present = [column for column in columns if column in self.values]
        return self.values[present].max(axis=1).fillna(-np.inf)

    def worst(self, columns: Names) -> pd.Series[float]:
        """Return the worst figure of each row; no figure is worse than any."""
        return self.values[list(columns)].fillna(-np.inf).min(axis=1)

    def best_column(self, row: str, columns: Names) -> str:
        """Return the column with a row's best figure."""
        present = [column for column in columns if column in self.values]
        return str(self.values.loc[row, present].fillna(-np.inf).idxmax())

    def finding(
        self,
        holds: float,
        claimed: float,
        numbers: str,
        comparisons: tuple[Compared, ...] = (),
        counted: tuple[int, int] | None = None,
    ) -> Finding:
        """Return the finding, with what was left out; then never fully reproduced.

        Data sets may be left out, and the text says so; a rival may not.
        """
        status, remarks = self.rules.grade(holds, claimed), []
        if self.excluded:
            total = len(self.values) + len(self.excluded)
            remarks.append(
                f"Tested on {len(self.values)} of {total} data sets"
                f" (not {_by_reason(self.excluded)})."
            )
        if self.absent:
            remarks.append(f"Not run: {', '.join(self.absent)}.")
            status = "partly" if status == "reproduced" else status
        return Finding(status, numbers, " ".join(remarks), comparisons, counted)


def _by_reason(reasons: Mapping[str, str]) -> str:
    """Return names and why, names with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, why in reasons.items():
        names.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(those)}: {why}" for why, those in names.items())


@dataclass(frozen=True)
class Evidence:
    """The results, or the paper's tables, on which a claim is tested."""

    rules: Rules  #: How counts become a status
    results: Mapping[str, Results]  #: Results of the claim's experiments
    tables: tuple[str, ...] = ()  #: The paper's tables, for claims about these
    mode: ScalingMode | None = None  #: Scaling mode to look at
    #: :func:`stored_scores`, or a function that remembers what it gave
    read: Callable[[Results, ScalingMode, str], ScoreTable] = stored_scores

    def finding(
        self,
        holds: float,
        claimed: float,
        numbers: str,
        counted: tuple[int, int] | None = None,
    ) -> Finding:
        """Return the finding of a check that leaves nothing out."""
        return Finding(self.rules.grade(holds, claimed), numbers, counted=counted)

    def scores(self, metric: str = "") -> ScoreTable:
        """Return the figures of all results and tables, joined."""
        stored = (
            self.read(results, self.mode or results.modes[0], metric)
            for results in self.results.values()
        )
        return reduce(ScoreTable.joined, [*map(printed_scores, self.tables), *stored])

    def pick(
        self, datasets: Names, family: Names, rivals: Names = (), *, metric: str = ""
    ) -> Picked:
        """Return the rows of data sets that are evidence on some columns.

        A claim is not testable if a column of the family was not run, or too few data
        sets are left.
        """
        table = self.scores(metric)
        lacking = [column for column in family if column not in table.values]
        present = [column for column in rivals if column in table.values]
        if lacking or (rivals and not present):
            raise NotTestableError(f"not run: {', '.join(lacking or rivals)}")
        columns = [*family, *present]
        reasons = {name: table.why_not(name, columns) for name in datasets}
        kept = [name for name, why in reasons.items() if not why]
        excluded = {name: why for name, why in reasons.items() if why}
        if not kept or len(kept) < self.rules.enough_share * len(datasets):
            raise NotTestableError(
                f"only {len(kept)} of {len(datasets)} data sets can be used"
                f" (not {_by_reason(excluded)})"
            )
        absent = tuple(column for column in rivals if column not in present)
        return Picked(self.rules, table.rows(kept, columns), excluded, absent)

    def measured(self) -> pd.DataFrame:
        """Return the rows of a timing or convergence experiment that went well."""
        (results,) = self.results.values()
        rows = results.rows
        rows = rows[(rows["status"] == "ok") & (rows["substitute"] == "")]
        if rows.empty:
            raise NotTestableError("no row of the results went well")
        return rows
