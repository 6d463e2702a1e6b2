"""Which experiments make up a table, and its rows and columns.

The paper's Table 3 is run as three experiments; a table of the paper has the paper's
rows and columns, any other the order of the experiment's config.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from drmbench.metrics import METRICS
from drmbench.paper import PublishedTable, published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.run.results import Results

#: How figures of a scaling mode came about, in titles.
MODE_TITLES: dict[ScalingMode, str] = {
    "paper": "paper mode (optimistic)",
    "honest": "honest mode",
    "none": "unscaled data",
    "maxabs": "max-abs scaling",
}


def merges(mode: ScalingMode) -> bool:
    """Tell whether tables of a mode may show the higher of several methods.

    Which is higher is known on the test part only, so honest mode may not.
    """
    return mode != "honest"


@dataclass(frozen=True, eq=False)
class Row:
    """A data set of a table.

    Attributes
    ----------
    heading : str
        The paper's spelling in a table of the paper, else the data set's name.
    dataset : str
        The data set's name.
    results : tuple of Results
        Those that have it; the first is asked first.
    published : str
        The paper's spelling, or empty.
    """

    heading: str
    dataset: str
    results: tuple[Results, ...]
    published: str = ""

    @property
    def entry(self) -> dict[str, Any]:
        """What the manifest says of the data set."""
        return self.results[0].datasets[self.dataset]


@dataclass(frozen=True)
class MethodColumn:
    """A method of a table, or several of which the best is shown.

    Attributes
    ----------
    heading : str
        The paper's column in a table of the paper, else the method's label.
    labels : tuple of str
        The methods' labels; several where the paper reports the higher of them.
    published : str
        The paper's column, or empty.
    competes : bool
        Whether it counts in wins and ranks. Variants that an experiment adds to a
        table of the paper are shown, and do not crowd the ranks.
    """

    heading: str
    labels: tuple[str, ...]
    published: str = ""
    competes: bool = True


@dataclass(frozen=True, eq=False)
class TableSource:
    """One or more experiments that are shown as one table.

    Attributes
    ----------
    id : str
        ``table3``, or the experiment's name.
    title : str
        What the table shows.
    results : tuple of Results
        The experiments; no data set is in two of them.
    published : PublishedTable or None
        The paper's table.
    lenders : tuple of Results
        Experiments that have methods which the paper's table borrows.
    """

    id: str
    title: str
    results: tuple[Results, ...]
    published: PublishedTable | None = None
    lenders: tuple[Results, ...] = field(default=())

    @property
    def metric(self) -> str:
        """The metric of the paper's table, else the experiment's first."""
        return self.published.metric if self.published else self.results[0].metric

    @property
    def digits(self) -> int:
        """Decimals to print."""
        return self.published.digits if self.published else 4

    @property
    def metrics(self) -> tuple[str, ...]:
        """One-number metrics that all rows have, the table's own first."""
        common = [
            name
            for name in self.results[0].experiment.metrics
            if name in METRICS
            and METRICS[name].scalar
            and all(name in results.rows.columns for results in self.results)
        ]
        return tuple(sorted(common, key=lambda name: name != self.metric))

    @property
    def modes(self) -> tuple[ScalingMode, ...]:
        """Scaling modes that any of the experiments was run in."""
        return tuple(
            dict.fromkeys(m for results in self.results for m in results.modes)
        )

    def rows(self) -> tuple[Row, ...]:
        """Return the data sets: the paper's in the paper's order, then others."""
        owners = {name: r for r in self.results for name in r.datasets}
        rows = {name: self._row(name, owner) for name, owner in owners.items()}
        order = self.published.rows if self.published else ()
        ranked = {name: number for number, name in enumerate(order)}
        return tuple(
            sorted(
                rows.values(), key=lambda row: ranked.get(row.published, len(ranked))
            )
        )

    def _row(self, dataset: str, owner: Results) -> Row:
        known = self.published.rows if self.published else ()
        spellings = owner.datasets[dataset].get("paper_names") or ()
        published = next((name for name in spellings if name in known), "")
        lenders = tuple(r for r in self.lenders if dataset in r.datasets)
        return Row(published or dataset, dataset, (owner, *lenders), published)

    def absent_rows(self) -> tuple[str, ...]:
        """Return the paper's rows that belong to none of the experiments."""
        there = {row.published for row in self.rows()}
        known = self.published.rows if self.published else ()
        return tuple(name for name in known if name not in there)

    def columns(self, *, merged: bool = True) -> tuple[MethodColumn, ...]:
        """Return the methods: the paper's columns in its order, then others.

        Parameters
        ----------
        merged : bool
            Whether methods of which the paper reports the higher are one column.
        """
        own = _labels_of_columns(self.results)
        if self.published is None:
            return tuple(MethodColumn(label, (label,)) for label in own)
        paper = [
            column
            for name in self.published.columns
            for column in self._columns_of(name, own, merged=merged)
        ]
        shown = {label for column in paper for label in column.labels}
        others = (MethodColumn(x, (x,), competes=False) for x in own if x not in shown)
        return (*paper, *others)

    def _columns_of(
        self, column: str, own: Mapping[str, str], *, merged: bool
    ) -> list[MethodColumn]:
        labels = self._labels(column, own)
        if len(labels) > 1 and not merged:
            return [MethodColumn(label, (label,)) for label in labels]
        return [MethodColumn(column, labels, column)]

    def _labels(self, column: str, own: Mapping[str, str]) -> tuple[str, ...]:
        """Return the methods that a column of the paper's table shows."""
        assert self.published is not None
        parts = self.published.higher_of.get(column)
        if parts is None:
            labels = tuple(label for label, name in own.items() if name == column)
            return labels if self.published.merges else _plainest(labels)
        known = {**_labels_of_columns(self.lenders), **own}
        return tuple(
            label
            for part in parts
            for label in _plainest(x for x, name in known.items() if name == part)
        )


def _plainest(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the first label: a config gives variants of a method longer ones."""
    return tuple(sorted(labels, key=len)[:1])


def _labels_of_columns(results: Iterable[Results]) -> dict[str, str]:
    """Return the paper's column (or an empty text) of each method's label."""
    return {
        label: entry.get("column") or ""
        for found in results
        for label, entry in found.methods.items()
    }


def table_sources(results: Mapping[str, Results]) -> list[TableSource]:
    """Combine classification experiments to tables.

    Experiments that reproduce the same table of the paper are one table, unless a data
    set is in two of them. Of a single experiment that has only a part of the paper's
    rows the table is called after the experiment.
    """
    sources: list[TableSource] = []
    for found in results.values():
        if found.experiment.kind == "classification":
            _add(sources, found, results)
    return sources


def _add(
    sources: list[TableSource], found: Results, results: Mapping[str, Results]
) -> None:
    published = published_table(found.experiment.reproduces)
    for number, source in enumerate(sources):
        if published and source.published is published and _disjoint(source, found):
            sources[number] = _paper_source(
                (*source.results, found), published, results
            )
            return
    if published is None:
        title = found.experiment.title or found.name
        sources.append(TableSource(found.name, title, (found,)))
    else:
        taken = any(source.id == published.id for source in sources)
        source = _paper_source((found,), published, results, called_after_it=taken)
        sources.append(source)


def _disjoint(source: TableSource, found: Results) -> bool:
    return not any(set(r.datasets) & set(found.datasets) for r in source.results)


def _paper_source(
    parts: tuple[Results, ...],
    published: PublishedTable,
    results: Mapping[str, Results],
    *,
    called_after_it: bool = False,
) -> TableSource:
    lenders = tuple(
        other
        for other in results.values()
        if published.borrows_from
        and other.experiment.reproduces == published.borrows_from
    )
    title = f"Table {published.number}. {published.title}"
    source = TableSource(published.id, title, parts, published, lenders)
    partly = bool(source.absent_rows()) and len(parts) == 1
    if not (partly or called_after_it):
        return source
    name = parts[0].name
    return TableSource(name, f"{title} (part: {name})", parts, published, lenders)
