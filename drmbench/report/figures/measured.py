"""Rows of the timing and convergence experiments, and what their panels share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from drmbench.report.figures.captions import dataset_name
from drmbench.report.figures.drawing import NothingToDrawError
from drmbench.report.figures.style import GREY, SOLVERS, Look
from drmbench.run.results import Results

_BAND = 0.18
#: A band that would reach zero, which has no place on a logarithmic axis, ends at this
#: share of the mean.
BAND_ENDS = 0.1


def solver_look(results: Results, label: str) -> Look:
    """Return how a solver is drawn; one beyond the paper is grey."""
    other = Look(GREY, "D", "-.", label)
    return SOLVERS.get(results.methods[label]["name"], other)


def measured_rows(results: Results, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows that ended well and have all of some numbers.

    Raises
    ------
    NothingToDrawError
        If there is none.
    """
    rows = results.rows[results.rows["status"] == "ok"]
    rows = rows.dropna(subset=list(columns))
    if rows.empty:
        raise NothingToDrawError(
            f"{results.name}: no finished row has {' and '.join(columns)}"
        )
    return rows


def whole(numbers: pd.Series[float]) -> list[int]:
    """Return counts, which a column with gaps holds as floats, as integers."""
    return [int(number) for number in numbers.dropna()]


def shown_datasets(results: Results, rows: pd.DataFrame) -> list[str]:
    """Return the data sets that have rows, in the manifest's order."""
    there = set(rows["dataset"])
    return [name for name in results.datasets if name in there]


def series_of(
    results: Results, rows: pd.DataFrame, dataset: str, x: str
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give each method's rows on a data set, sorted along the horizontal axis."""
    for label in results.methods:
        chosen = rows[(rows["dataset"] == dataset) & (rows["method"] == label)]
        if len(chosen):
            yield label, chosen.sort_values(x)


def plot_with_band(
    panel: Axes, look: Look, x: Any, mean: Any, spread: Any, **options: Any
) -> None:
    """Draw means as a line and mean ± spread as a band, for a logarithmic axis.

    The band ends at :data:`BAND_ENDS` of the mean where it would reach below.
    """
    x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
    spread = np.nan_to_num(np.asarray(spread, dtype=float))
    lower = np.maximum(mean - spread, BAND_ENDS * mean)
    panel.fill_between(x, lower, mean + spread, color=look.colour, alpha=_BAND, lw=0)
    panel.plot(
        x,
        mean,
        look.line,
        color=look.colour,
        marker=look.marker,
        label=look.name,
        **options,
    )


def log_limits(values: NDArray[np.float64], margin: float = 0.08) -> tuple[float, ...]:
    """Return limits of a logarithmic axis that leave a margin around the values.

    Examples
    --------
    >>> [round(edge, 3) for edge in log_limits(np.array([1.0, 100.0]), 0.5)]
    [0.1, 1000.0]
    """
    low, high = np.log10(values.min()), np.log10(values.max())
    room = max(margin * (high - low), 0.1)
    return float(10 ** (low - room)), float(10 ** (high + room))


def panel_title(results: Results, dataset: str) -> str:
    """Return a data set's name, marked if a relative stands in for it."""
    return dataset_name(results.datasets[dataset])


def missing_measurements(
    results: Results, rows: pd.DataFrame, noun: str, expected: int | None = None
) -> list[str]:
    """Return what is expected but not measured, each with what there is.

    Parameters
    ----------
    results : Results
        The experiment.
    rows : DataFrame
        The rows that are drawn.
    noun : str
        What a row is one of, such as ``sizes``.
    expected : int or None
        Rows of a method on a data set; None is what the manifest says.
    """
    counts = rows.groupby(["dataset", "method"]).size().to_dict()
    missing = []
    for dataset, entry in results.datasets.items():
        if dataset not in set(rows["dataset"]):
            missing.append(f"{dataset} ({entry.get('missing') or 'not run'})")
            continue
        wanted = expected or int(entry["splits"])
        missing += [
            f"{label} on {dataset} ({counts.get((dataset, label), 0)} of {wanted}"
            f" {noun})"
            for label in results.methods
            if counts.get((dataset, label), 0) < wanted
        ]
    return missing


def constants(rows: pd.DataFrame, *names: str) -> str:
    """Say the values of columns that hold settings, such as ``alpha``.

    Examples
    --------
    >>> constants(pd.DataFrame({"alpha": [0.001, 0.001], "beta": [1.0, 10.0]}),
    ...           "alpha", "beta")
    'α = 0.001, β = 1 to 10'
    """
    signs = {"alpha": "α", "beta": "β"}
    said = []
    for name in names:
        low, high = rows[name].min(), rows[name].max()
        values = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        said.append(f"{signs.get(name, name)} = {values}")
    return ", ".join(said)
