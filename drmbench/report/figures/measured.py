"""What the solvers cost: the paper's first three figures, of time and convergence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator
from numpy.typing import NDArray

from drmbench.errors import InputError
from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    caption,
    dataset_name,
    machine_sentence,
    paper_figure,
    range_words,
)
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    SOLVERS,
    Look,
    grid_of_panels,
    legend_above,
    log_ticks,
    new_figure,
)
from drmbench.report.protocol_words import times
from drmbench.running.results import Results

#: The penalty at which the paper shows the objective.
TRACE_BETA = 1e4
#: Relative gaps below this are rounding and no longer convergence.
ROUNDING = 1e-15
#: A band that would reach zero, which has no place on a logarithmic axis, ends at this
#: share of the mean.
BAND_ENDS = 0.1

_ACROSS = 5
#: Column of the means and of the deviations, and label, of each row of panels.
_ROWS = (
    ("iterations", "iterations_sd", "iterations"),
    ("seconds_example", "seconds_sd", "time (s)"),
)


def draw_time(results: Results) -> Drawing:
    """Draw the time of one test example against the training size, log-log."""
    rows = _measured_rows(results, ["n_train", "seconds_example"])
    datasets = _shown_datasets(results, rows)
    figure, panels = grid_of_panels(len(datasets), columns=3, height=1.75)
    guides = []
    for panel, dataset in zip(panels, datasets, strict=True):
        panel.set(xscale="log", yscale="log", title=dataset_name(results, dataset))
        _plot_series(panel, results, rows, dataset, "n_train", *_ROWS[1][:2])
        # Time proportional to n, below all curves.
        part = rows[rows["dataset"] == dataset]
        ends = np.array([part["n_train"].min(), part["n_train"].max()], dtype=float)
        guide = 0.5 * (part["seconds_example"] / part["n_train"]).min() * ends
        panel.plot(ends, guide, color=GREY, lw=0.8, ls=(0, (1, 1)), label="slope 1")
        guides.append(guide[0])
    mean, spread = rows["seconds_example"], rows["seconds_sd"].fillna(0)
    panels[0].set_ylim(*log_limits(np.concatenate([mean, mean + spread, guides])))
    log_ticks(panels[0].xaxis)
    log_ticks(panels[0].yaxis)
    figure.supxlabel("training samples n")
    figure.supylabel("time of one test example (s)")
    legend_above(figure, panels)
    return Drawing(
        f"{results.name}_time",
        "Time of one test example against the number of training samples"
        + paper_figure(results, 1),
        _caption(
            results,
            rows,
            "Time of one test example against the number n of training samples: mean"
            f" over {range_words(rows['examples'].dropna())} test examples, and a band"
            f" of ± 1 standard deviation (not below {BAND_ENDS:g} of the mean); the"
            " dotted line is proportional to n.",
            f"; {constants(rows, 'alpha', 'beta', 'iterations')}, linear kernel.",
            machine_sentence(results),
            counted="sizes",
        ),
        figure,
    )


def draw_objective(results: Results) -> Drawing:
    """Draw the gap of the objective to the lowest value found, by iteration."""
    rows = _measured_rows(results, ["beta"])
    rows = rows[np.isclose(rows["beta"], TRACE_BETA) & (rows["trace"] != "")]
    if rows.empty:
        raise NothingToDrawError(
            f"{results.name}: no finished row has a trace at β = {TRACE_BETA:g}"
        )
    datasets = _shown_datasets(results, rows)
    figure, panels = grid_of_panels(len(datasets), columns=3, height=1.75)
    for panel, dataset in zip(panels, datasets, strict=True):
        _draw_gaps(panel, results, rows, dataset)
        panel.set_title(dataset_name(results, dataset))
    panels[0].xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.supxlabel("iteration")
    figure.supylabel("relative gap of the objective")
    legend_above(figure, panels)
    return Drawing(
        f"{results.name}_objective",
        f"Objective against iteration{paper_figure(results, 2)}",
        _caption(
            results,
            rows,
            "Objective against iteration, as (objective − lowest) / |lowest| with the"
            " lowest value that any of the algorithms found on the data set; gaps below"
            f" {ROUNDING:g}, which are rounding, are left out.",
            " training samples, one test example;"
            f" {constants(rows, 'alpha', 'beta')}, linear kernel.",
            counted="traces",
            expected=1,
        ),
        figure,
    )


def _draw_gaps(panel: Axes, results: Results, rows: pd.DataFrame, dataset: str) -> None:
    traces = {}
    for label, series in _series(results, rows, dataset, "beta"):
        text = series["trace"].iloc[0]
        try:
            trace = np.array(json.loads(text), dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{results.name}: the trace of {label} on {dataset} is not a JSON list"
                f" of numbers: {text[:40]!r}"
            ) from error
        if trace.ndim == 1 and len(trace):
            traces[label] = trace
    lowest = min(float(trace.min()) for trace in traces.values())
    for label, trace in traces.items():
        look = _solver_look(results, label)
        gap = (trace - lowest) / (abs(lowest) or 1.0)
        shown = np.where(gap > ROUNDING, gap, np.nan)
        look.plot(panel, shown, markevery=max(1, len(gap) // 8))
    panel.set_yscale("log")


def draw_beta(results: Results) -> Drawing:
    """Draw the iterations and the time that a test example takes against β."""
    rows = _measured_rows(results, ["beta", "iterations", "seconds_example"])
    datasets = _shown_datasets(results, rows)
    figure, panels = _pairs_of_panels(len(datasets))
    for pair, dataset in zip(panels, datasets, strict=True):
        pair[0].set_title(dataset_name(results, dataset))
        for panel, (mean, spread, _) in zip(pair, _ROWS, strict=True):
            _plot_series(panel, results, rows, dataset, "beta", mean, spread)
    for number, (mean, _, _) in enumerate(_ROWS):
        limits = log_limits(rows[mean].to_numpy())
        for pair in panels:
            pair[number].set_ylim(*limits)
            log_ticks(pair[number].yaxis)
    words = "hollow: not all converged"
    hollow = Line2D([], [], ls="", marker="o", mec=GREY, mfc="white", label=words)
    some = (rows["converged"] < 1).any()
    legend_above(figure, (pair[0] for pair in panels), *([hollow] if some else []))
    measure = results.experiment.measure
    return Drawing(
        f"{results.name}_beta",
        f"Iterations and time of one test example against β{paper_figure(results, 3)}",
        _caption(
            results,
            rows,
            "Iterations until the tolerance was met (above) and time of one test"
            " example (below) against β: mean and ± 1 standard deviation over"
            f" {range_words(rows['examples'].dropna())} test examples."
            " Hollow markers: some examples did not meet the tolerance.",
            f" training samples; {constants(rows, 'alpha')}, tolerance {measure.tol:g},"
            f" at most {measure.iterations:,} iterations, linear kernel.",
            machine_sentence(results),
            counted="values of β",
        ),
        figure,
    )


def _pairs_of_panels(number: int) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """Return a figure and a pair of panels, one above the other, for each data set."""
    columns = min(_ACROSS, number)
    bands = -(-number // columns)
    figure = new_figure(DOUBLE, 2.9 * bands + 0.45)
    grid = figure.subplots(2 * bands, columns, squeeze=False, sharex=True)
    pairs = []
    for place in range(columns * bands):
        band, column = divmod(place, columns)
        pair = (grid[2 * band, column], grid[2 * band + 1, column])
        if place >= number:
            pair[0].remove()
            pair[1].remove()
            continue
        for panel, (_, _, label) in zip(pair, _ROWS, strict=True):
            panel.set(xscale="log", yscale="log", ylabel="" if column else label)
            panel.xaxis.set_major_locator(LogLocator(numticks=5))
            panel.tick_params(labelleft=column == 0)
        pair[1].tick_params(labelbottom=True)
        pair[1].set_xlabel("β")
        pairs.append(pair)
    return figure, pairs


def _solver_look(results: Results, label: str) -> Look:
    """Return how a solver is drawn; one beyond the paper is grey."""
    other = Look(GREY, "D", "-.", label)
    return SOLVERS.get(results.methods[label]["name"], other)


def _measured_rows(results: Results, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows that ended well and have all of some numbers."""
    rows = results.rows[results.rows["status"] == "ok"]
    rows = rows.dropna(subset=list(columns))
    if rows.empty:
        raise NothingToDrawError(
            f"{results.name}: no finished row has {' and '.join(columns)}"
        )
    return rows


def _shown_datasets(results: Results, rows: pd.DataFrame) -> list[str]:
    """Return the data sets that have rows, in the manifest's order."""
    there = set(rows["dataset"])
    return [name for name in results.datasets if name in there]


def _series(
    results: Results, rows: pd.DataFrame, dataset: str, x: str
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give each method's rows on a data set, sorted along the horizontal axis."""
    for label in results.methods:
        chosen = rows[(rows["dataset"] == dataset) & (rows["method"] == label)]
        if len(chosen):
            yield label, chosen.sort_values(x)


def _plot_series(
    panel: Axes,
    results: Results,
    rows: pd.DataFrame,
    dataset: str,
    x: str,
    mean: str,
    spread: str,
) -> None:
    """Draw each method's means as a line in a band of ± a deviation, on log axes.

    Against β the markers are hollow where not all examples converged.
    """
    for label, series in _series(results, rows, dataset, x):
        look = _solver_look(results, label)
        at, middle = (series[name].to_numpy(dtype=float) for name in (x, mean))
        room = np.nan_to_num(series[spread].to_numpy(dtype=float))
        lower = np.maximum(middle - room, BAND_ENDS * middle)
        colour, marker = look.colour, look.marker
        panel.fill_between(at, lower, middle + room, color=colour, alpha=0.18, lw=0)
        look.plot(panel, at, middle)
        if x == "beta":
            hollow = series["converged"].to_numpy() < 1
            panel.plot(at[hollow], middle[hollow], marker, mec=colour, mfc="white")


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


def _caption(
    results: Results,
    rows: pd.DataFrame,
    shown: str,
    setting: str,
    *more: str,
    counted: str,
    expected: int | None = None,
) -> str:
    """Return a caption that says what is shown, on what, and what was not measured.

    Without `expected` the manifest says how many rows a method has on a data set.
    """
    datasets = _shown_datasets(results, rows)
    counts = rows.groupby(["dataset", "method"]).size().to_dict()
    missing = []
    for dataset, entry in results.datasets.items():
        if dataset not in datasets:
            missing.append(f"{dataset} ({entry.get('missing') or 'not run'})")
            continue
        wanted = expected or int(entry["splits"])
        for label in results.methods:
            count = counts.get((dataset, label), 0)
            if count < wanted:
                missing.append(f"{label} on {dataset} ({count} of {wanted} {counted})")
    sizes = range_words(rows["n_train"].dropna())
    tested = f"{times(len(datasets), 'data set')}, n = {sizes}{setting}"
    return caption(results, datasets, missing, shown, tested, *more)


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
