"""What stored rows say, as numbers for the text: each a small function over the rows.

REPRODUCTION.md and parts of the README are templates that call these functions, so
that a number in the text is one that the rows give. A sentence that is true only for
some rows stands behind :func:`Findings.holds`, which refuses the text when it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.errors import CheckFailedError
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.claim_evidence import Rules
from drmbench.report.claims import Ground, Kind, Verdict, counts, judge, load_claims
from drmbench.report.paired import Compared, compare_over_datasets, corrected
from drmbench.report.scores import Scores, TableSource, scores_of, table_sources
from drmbench.report.statistics import complete_part, mean_ranks
from drmbench.running.results import Results


class OutdatedTextError(CheckFailedError):
    """The rows no longer say what a sentence of a template says."""


class Findings:
    """The numbers of the text, computed from stored results.

    ``origins`` has the origin of data sets that share one, such as those that KEEL cut
    from the same table; without it, each data set is its own.
    """

    def __init__(
        self, results: Mapping[str, Results], origins: Mapping[str, str] | None = None
    ) -> None:
        self.results = results
        self.origins = origins or {}
        self._sources = {source.id: source for source in table_sources(results)}
        self._scored = cache(self._scores_of)

    # ------------------------------------------------------------- scores and sets

    def source(self, table: str) -> TableSource:
        """Return the experiments of a table of the paper, or an experiment alone."""
        return self._sources[table]

    def _scores_of(self, table: str, mode: ScalingMode, metric: str) -> Scores:
        source = self.source(table)
        return scores_of(source, mode, metric or source.metric)

    def scores(
        self,
        table: str,
        mode: ScalingMode = "honest",
        *,
        of: Sequence[str] = (),
        only: Callable[[str], bool] | None = None,
        metric: str = "",
    ) -> pd.DataFrame:
        """Return data sets x methods, higher being better, NaN where not complete.

        ``of`` names the experiments whose data sets are wanted, ``only`` which data
        sets of these.
        """
        found = self._scored(table, mode, metric)
        kept = [
            row.heading
            for row in found.rows
            if (not of or row.results[0].name in of)
            and (only is None or only(row.dataset))
        ]
        return found.scores().loc[kept].dropna(how="all")

    def paper_columns(self, table: str, mode: ScalingMode = "honest") -> list[str]:
        """Return the columns of a table that are the paper's methods."""
        labels = {
            label
            for column in self.source(table).columns()
            if column.published
            for label in column.labels
        }
        return [
            column.heading
            for column in self._scored(table, mode, "").columns
            if labels & set(column.labels)
        ]

    def sets(self, table: str, mode: ScalingMode = "honest", **part: Any) -> int:
        """Return how many data sets have a figure of any method."""
        return len(self.scores(table, mode, **part))

    def complete_sets(
        self, table: str, mode: ScalingMode = "honest", **part: Any
    ) -> int:
        """Return how many data sets have a figure of every method that is ranked."""
        return len(complete_part(self.scores(table, mode, **part)).means)

    def unfailed_sets(self, table: str, mode: ScalingMode = "honest") -> int:
        """Return on how many data sets no method failed on any split."""
        entries = self._scored(table, mode, "").frame
        bad = set(entries["dataset"][entries["failed"] > 0])
        return len({*entries["dataset"]} - bad)

    def complete_methods(
        self, table: str, mode: ScalingMode = "honest", **part: Any
    ) -> list[str]:
        """Return the methods that have a figure on all data sets."""
        return list(self.scores(table, mode, **part).dropna(axis=1).columns)

    def in_paper(self, dataset: str) -> bool:
        """Tell whether a data set is the paper's, or a relative of one of these."""
        return dataset in _paper_sets()

    def beyond_paper(self, dataset: str) -> bool:
        """Tell whether a data set is none of the paper's."""
        return not self.in_paper(dataset)

    def catalogued(self, dataset: str) -> DatasetEntry:
        """Return what the catalogue says of a data set."""
        return load_catalogue().entry(dataset)

    def shared_sets(self, table: str) -> int:
        """Return how many data sets of an experiment are the paper's."""
        return sum(self.in_paper(row.dataset) for row in self.source(table).rows())

    # ------------------------------------------------------------------ comparisons

    def versus(
        self,
        table: str,
        ours: str,
        theirs: str,
        mode: ScalingMode = "honest",
        **part: Any,
    ) -> Compared:
        """Compare two methods over the data sets on which both are complete."""
        return self.against(table, ours, [theirs], mode, **part)[0]

    def against(
        self,
        table: str,
        ours: str | Sequence[str],
        others: Sequence[str],
        mode: ScalingMode = "honest",
        **part: Any,
    ) -> tuple[Compared, ...]:
        """Compare one or several methods with others, corrected for all together."""
        means = self.scores(table, mode, **part)
        names = [ours] if isinstance(ours, str) else list(ours)
        return corrected(
            [
                compare_over_datasets(name, other, _differences(means, name, other))
                for name in names
                for other in others
                if other not in names
            ]
        )

    def by_origin(
        self, table: str, ours: str, theirs: str, mode: ScalingMode = "honest"
    ) -> Compared:
        """Compare two methods by their mean differences within each origin."""
        found = self._scored(table, mode, "")
        names = {row.heading: row.dataset for row in found.rows}
        means = self.scores(table, mode)
        gains = (means[ours] - means[theirs]).dropna()
        datasets = [names[str(heading)] for heading in gains.index]
        groups = [self.origins.get(name, name) for name in datasets]
        averaged = gains.groupby(groups).mean().to_numpy(dtype=np.float64)
        return compare_over_datasets(ours, theirs, averaged)

    @property
    def rules(self) -> Rules:
        """How tests become words."""
        return load_claims()[0]

    def relation(self, comparison: Compared) -> str:
        """Return what a comparison allows to claim, by the rules of the claims."""
        return self.rules.relation(comparison)

    def count(self, comparisons: Iterable[Compared], relation: str) -> int:
        """Return how many comparisons have a relation."""
        return sum(self.relation(one) == relation for one in comparisons)

    def not_ahead(self, comparisons: Iterable[Compared]) -> list[Compared]:
        """Return the comparisons in which ours is not ahead."""
        return [one for one in comparisons if self.relation(one) != "ahead"]

    def ranks(
        self,
        table: str,
        mode: ScalingMode = "honest",
        columns: Sequence[str] = (),
        **part: Any,
    ) -> dict[str, float]:
        """Return mean ranks, best first, among all methods or the named columns.

        Methods with a figure on fewer than half of the data sets have no rank, and the
        data sets are those on which all others are complete.
        """
        means = self.scores(table, mode, **part)
        means = means[list(columns)] if columns else means
        ranked = mean_ranks(means).sort_values(kind="stable")
        return {str(name): float(rank) for name, rank in ranked.items()}

    def place(self, ranks: Mapping[str, float], method: str) -> int:
        """Return the place of a method in a ranking."""
        return list(ranks).index(method) + 1

    def best_of(self, ranks: Mapping[str, float], methods: Sequence[str]) -> str:
        """Return the method among some that is ranked first."""
        return next(name for name in ranks if name in methods)

    def figure(
        self,
        table: str,
        dataset: str,
        method: str,
        mode: ScalingMode = "honest",
        metric: str = "",
    ) -> float:
        """Return a method's figure on a data set."""
        return float(self.scores(table, mode, metric=metric)[method][dataset])

    # ------------------------------------------------------------------- the claims

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The paper's claims, judged."""
        return judge(self.results)

    def claim(self, name: str) -> Verdict:
        """Return the verdict on a claim."""
        return next(verdict for verdict in self.verdicts if verdict.id == name)

    def counted(self, name: str, ground: str = "") -> str:
        """Say for how many of how many things a claim holds.

        A ground is a scaling mode, or ``printed`` for the paper's own tables; without
        one it is the first.
        """
        grounds = self.claim(name).grounds
        found = grounds[ground] if ground else next(iter(grounds.values()))
        if found.counted is None:
            raise OutdatedTextError(
                f"the claim {name} is {found.status}: rewrite what the template says"
            )
        return "{} of {}".format(*found.counted)

    def relations(self, name: str, relation: str) -> int:
        """Return how many of the comparisons behind a claim have a relation."""
        found = next(iter(self.claim(name).findings.values()))
        return self.count(found.comparisons, relation)

    def claim_counts(self, kind: Kind, ground: Ground) -> list[int]:
        """Return how many claims hold, hold in part, do not, and cannot be tested."""
        found = counts([one for one in self.verdicts if one.kind == kind], ground)
        return [
            found["reproduced"],
            found["partly"],
            found["not reproduced"],
            found["not testable"],
        ]

    # ------------------------------------------------------------------------- refusing

    def holds(self, condition: object, caller: Callable[[], str]) -> str:
        """Return the sentence of a ``call`` block, or refuse it if it is not true.

        Raises
        ------
        OutdatedTextError
            With the sentence that the rows no longer support.
        """
        text = str(caller())
        if not condition:
            said = " ".join(text.split())
            raise OutdatedTextError(
                f"the rows no longer say this, rewrite it in the template: {said!r}"
            )
        return text


def _differences(means: pd.DataFrame, ours: str, theirs: str) -> Any:
    gains = (means[ours] - means[theirs]).dropna()
    return gains.to_numpy(dtype=np.float64)


@cache
def _paper_sets() -> frozenset[str]:
    """Return the paper's data sets, and those that may stand in for one."""
    entries = [entry for entry in load_catalogue() if entry.paper]
    related = {entry.substitute.dataset for entry in entries if entry.substitute}
    return frozenset({entry.name for entry in entries} | related)
