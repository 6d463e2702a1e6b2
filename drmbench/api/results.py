"""What ``run`` and ``compare`` return: stored results, as frames, text and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from drmbench.errors import InputError, did_you_mean, quoted
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.comparison import score_table
from drmbench.report.analyses.seconds import measured_tables
from drmbench.report.facts import overviews
from drmbench.report.html import render
from drmbench.report.protocol_words import selection_words, split_words
from drmbench.report.ranking import ranking_table
from drmbench.report.render import to_text
from drmbench.report.scores import table_sources
from drmbench.report.table import Table, figure_cell, sentence
from drmbench.report.verdict import verdict
from drmbench.running.compare import ranking, seconds_of
from drmbench.running.results import Results, Summary, read_results, rows_expected
from drmbench.words import MODES


class RunResults:
    """The stored results of an experiment.

    Printed, it is the table that ``drmbench run`` ends with; a notebook shows it as
    HTML, the best method of each data set in bold.

    Attributes
    ----------
    folder : Path
        Where the results are stored: rows, manifest and journal.
    stored : drmbench.running.results.Results
        What was read from there.

    Examples
    --------
    Those that come with drmbench:

    >>> from drmbench.shipped import shipped_reference
    >>> results = RunResults(shipped_reference() / "quick")
    >>> results.summary().columns.tolist()[:4]
    ['dataset', 'method', 'mean', 'sd']
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stored: Results = read_results(folder)

    @property
    def frame(self) -> pd.DataFrame:
        """All rows: one per data set, method, scaling and split."""
        return self.stored.rows.copy()

    @property
    def failures(self) -> pd.DataFrame:
        """The rows without a result, and why."""
        rows = self.stored.rows
        columns = ["dataset", "method", "mode", "split", "status", "reason"]
        return rows.loc[rows["status"] != "ok", columns].reset_index(drop=True)

    @property
    def complete(self) -> bool:
        """Whether every row that should be there has a result."""
        done = int((self.stored.rows["status"] == "ok").sum())
        return done == rows_expected(self.stored)

    def summary(
        self, metric: str | None = None, mode: ScalingMode | None = None
    ) -> pd.DataFrame:
        """Return means and standard deviations over the splits.

        Parameters
        ----------
        metric : str, optional
            One of the experiment's; by default the first.
        mode : str, optional
            One of its scaling modes; by default the first.

        Returns
        -------
        DataFrame
            One row per data set and method: mean, sd, and how many splits are done,
            were expected and have failed, with the reason.
        """
        return self._framed(self._cells(metric, mode))

    def _framed(self, cells: Iterable[Summary]) -> pd.DataFrame:
        columns = ["dataset", "method", "mean", "spread", "done", "expected", "failed"]
        frame = pd.DataFrame(
            [vars(cell) for cell in cells], columns=[*columns, "reason"]
        )
        return frame.rename(columns={"spread": "sd"})

    def table(
        self, metric: str | None = None, mode: ScalingMode | None = None
    ) -> pd.DataFrame:
        """Return data sets x methods with ``mean ± sd`` as text.

        The parameters are those of :meth:`summary`.
        """
        results = self.stored
        frame = pd.DataFrame(index=[*results.datasets], columns=[*results.methods])
        for cell in self._cells(metric, mode):
            text = figure_cell(cell.mean, cell.spread, 4).text
            frame.loc[cell.dataset, cell.method] = text
        return frame

    def _cells(self, metric: str | None, mode: ScalingMode | None) -> Iterator[Summary]:
        experiment = self.stored.experiment
        if experiment.kind != "classification":
            kind = f"an experiment of the kind {experiment.kind}"
            raise InputError(f"{kind} has no scores; its rows are in frame")
        for said, valid in ((metric, experiment.metrics), (mode, experiment.scaling)):
            if said is not None and said not in valid:
                near, listed = did_you_mean(said, valid), ", ".join(valid)
                raise InputError(
                    f"no results of {quoted(said)}.{near} There are: {listed}"
                )
        return (
            self.stored.summary(dataset, method, mode=mode, metric=metric)
            for dataset in self.stored.datasets
            for method in self.stored.methods
        )

    def __repr__(self) -> str:
        parts = []
        for heading, table, remarks in overviews(self.stored):
            shown = to_text(table) if table is not None else ""
            parts += [heading, shown, "\n".join(remarks)]
        return "\n\n".join([*filter(None, parts), f"results: {self.folder}"])

    def _repr_html_(self) -> str:
        tables, lines = self._tables(), self._lines()
        return str(render("notebook.html.j2", shown=tables, lines=lines))

    def _tables(self) -> list[Table]:
        results = self.stored
        scores = [
            score_table(source, mode, source.metric, "ours")
            for source in table_sources({results.name: results})
            for mode in source.modes
        ]
        return [*scores, *measured_tables(results)]

    def _lines(self) -> list[str]:
        """Say what the tables do not say of how the figures came about."""
        return [f"Splits: {split_words(self.stored.experiment.split)}."]


class Comparison(RunResults):
    """The results of methods on one data set, best first.

    Printed, it is the ranking with the verdict; a notebook shows it as HTML.

    Attributes
    ----------
    folder : Path
        Where the results are stored, with the data and the equivalent ``config.yaml``;
        a temporary folder is removed with this object.
    remarks : str
        What was cut to fit into a budget; empty if nothing was.

    Examples
    --------
    >>> import drmbench
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = drmbench.compare(X, y, methods=["nb"], repeats=1, progress=False)
    >>> found.ranking["method"].tolist()
    ['nb']
    """

    def __init__(self, folder: Path, remarks: str = "") -> None:
        super().__init__(folder)
        self.remarks = remarks

    @property
    def ranking(self) -> pd.DataFrame:
        """The methods, best first; those without a figure last, with the reason."""
        frame = self._framed(ranking(self.stored))
        frame.index = pd.RangeIndex(1, len(frame) + 1, name="place")
        seconds = [
            seconds_of(self.stored, dataset, method)
            for dataset, method in zip(frame["dataset"], frame["method"], strict=True)
        ]
        return frame.drop(columns="dataset").assign(seconds=seconds)

    @property
    def verdict(self) -> str:
        """Which method did best, and how sure that is."""
        return verdict(self.stored)

    def __repr__(self) -> str:
        table = to_text(ranking_table(self.stored))
        said = "\n".join([self.verdict, self._scaled])
        parts = [table, said, self.remarks, f"results: {self.folder}"]
        return "\n\n".join(filter(None, parts))

    def _tables(self) -> list[Table]:
        return [ranking_table(self.stored)]

    def _lines(self) -> list[str]:
        selection = sentence(selection_words(self.stored))
        said = [self.verdict, *([self.remarks] if self.remarks else [])]
        return [*said, *super()._lines(), self._scaled, f"Selection: {selection}"]

    @property
    def _scaled(self) -> str:
        return MODES[self.stored.modes[0]].note
