"""What a check may look at: the results or tables of one claim, in one mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.claim_checks.outcome import (
    NotTestableError,
    Outcome,
    Rules,
    Status,
)
from drmbench.report.claim_checks.scores import (
    ScoreTable,
    joined,
    printed_scores,
    stored_scores,
)
from drmbench.run.results import Results


@dataclass(frozen=True)
class Picked:
    """The rows and columns of a score table that a check needs.

    Attributes
    ----------
    values : DataFrame
        Figures of the data sets that are evidence.
    excluded : mapping of str to str
        Data sets of the claim that are not, and why.
    absent : tuple of str
        Columns of the claim that were not run.
    """

    values: pd.DataFrame
    excluded: Mapping[str, str]
    absent: tuple[str, ...]

    def best(self, columns: Sequence[str]) -> pd.Series[float]:
        """Return the best figure of each row; no figure is worse than any."""
        present = [column for column in columns if column in self.values]
        return self.values[present].max(axis=1).fillna(-np.inf)

    def worst(self, columns: Sequence[str]) -> pd.Series[float]:
        """Return the worst figure of each row; no figure is worse than any."""
        return self.values[list(columns)].fillna(-np.inf).min(axis=1)

    def best_column(self, row: str, columns: Sequence[str]) -> str:
        """Return the column with a row's best figure."""
        present = [column for column in columns if column in self.values]
        return str(self.values.loc[row, present].fillna(-np.inf).idxmax())

    def outcome(self, status: Status, numbers: str) -> Outcome:
        """Return the outcome, with what was left out; then never fully reproduced.

        Data sets may be left out, and the text says so; a rival may not.
        """
        remarks = []
        if self.excluded:
            total = len(self.values) + len(self.excluded)
            remarks.append(
                f"Tested on {len(self.values)} of {total} data sets"
                f" (not {_by_reason(self.excluded)})."
            )
        if self.absent:
            remarks.append(f"Not run: {', '.join(self.absent)}.")
            status = "partly" if status == "reproduced" else status
        return Outcome(status, numbers, " ".join(remarks))


def _by_reason(reasons: Mapping[str, str]) -> str:
    """Return names and why, names with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, why in reasons.items():
        names.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(those)}: {why}" for why, those in names.items())


@dataclass(frozen=True)
class Evidence:
    """The results, or the paper's tables, on which a claim is tested.

    Attributes
    ----------
    rules : Rules
        How counts become a status.
    results : mapping of str to Results
        Results of the claim's experiments.
    tables : tuple of str
        The paper's tables, for claims about these.
    mode : str or None
        Scaling mode to look at.
    read : callable
        :func:`~drmbench.report.claim_checks.scores.stored_scores`, or a function that
        remembers what it gave.
    """

    rules: Rules
    results: Mapping[str, Results]
    tables: tuple[str, ...] = ()
    mode: ScalingMode | None = None
    read: Callable[[Results, ScalingMode, str | None], ScoreTable] = stored_scores

    def scores(self, metric: str | None = None) -> ScoreTable:
        """Return the figures of all results and tables, joined."""
        printed = [printed_scores(table) for table in self.tables]
        stored = [
            self.read(results, self.mode or results.modes[0], metric)
            for results in self.results.values()
        ]
        return joined(printed + stored)

    def pick(
        self,
        datasets: Sequence[str],
        family: Sequence[str],
        rivals: Sequence[str] = (),
        *,
        metric: str | None = None,
    ) -> Picked:
        """Return the rows of data sets that are evidence on some columns.

        Raises
        ------
        NotTestableError
            If a column of the family was not run, or too few data sets are left.
        """
        table = self.scores(metric)
        lacking = [column for column in family if column not in table.values]
        if lacking:
            raise NotTestableError(f"not run: {', '.join(lacking)}")
        present = [column for column in rivals if column in table.values]
        if rivals and not present:
            raise NotTestableError(f"not run: {', '.join(rivals)}")
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
        return Picked(table.rows(kept, columns), excluded, absent)

    def measured(self) -> pd.DataFrame:
        """Return the rows of a timing or convergence experiment that went well.

        Raises
        ------
        NotTestableError
            If there is none.
        """
        (results,) = self.results.values()
        rows = results.rows[results.rows["status"] == "ok"]
        rows = rows[rows["substitute"] == ""]
        if rows.empty:
            raise NotTestableError("no row of the results went well")
        return rows
