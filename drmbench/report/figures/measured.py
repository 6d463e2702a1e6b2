"""What the solvers cost: the paper's first three figures, of time and convergence."""

from __future__ import annotations

import json
import math
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
    PAPER,
    SOLVERS,
    Look,
    grid_of_panels,
    legend_above,
    log_limits,
    log_ticks,
    new_figure,
    plain_numbers,
)
from drmbench.report.protocol_words import times
from drmbench.running.results import Results

#: The penalty at which the paper shows the objective.
TRACE_BETA = 1e4
#: Relative gaps below this are rounding and no longer convergence.
ROUNDING = 1e-15
#: From this relative gap on an algorithm is near the lowest objective.
NEAR = 1e-6
#: Time grows linearly where a straight line explains this share of its variance.
STRAIGHT = 0.95
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
    """Draw the time of one test example against the training size, on linear axes."""
    rows = _measured_rows(results, ["n_train", "seconds_example"])
    datasets = _shown_datasets(results, rows)
    figure, panels = grid_of_panels(
        len(datasets), columns=3, height=1.9, width=DOUBLE, shared=False
    )
    lines = straight_lines(rows)
    for panel, dataset in zip(panels, datasets, strict=True):
        panel.set_title(dataset_name(results, dataset))
        for label, series in _series(results, rows, dataset, "n_train"):
            _plot_sizes(panel, _solver_look(results, label), series)
        for line in lines[lines["dataset"] == dataset].to_dict("records"):
            look = _solver_look(results, str(line["method"]))
            # From zero on: a line that misses it shows a cost that does not grow.
            ends = np.array([0.0, line["largest"]])
            fitted = 1e3 * (line["fixed"] + line["slope"] * ends)
            panel.plot(ends, fitted, color=look.colour, ls=look.line, lw=0.9, zorder=1)
        panel.set(xlim=(0, None), ylim=(0, None))
        panel.xaxis.set_major_locator(MaxNLocator(4))
        panel.xaxis.set_major_formatter(plain_numbers())
    figure.supxlabel("training samples n")
    figure.supylabel("time of one test example (ms)")
    legend_above(figure, panels)
    return Drawing(
        f"{results.name}_time",
        _time_title(lines) + paper_figure(results, 1),
        _caption(
            results,
            rows,
            "Time of one test example in milliseconds against the number n of training"
            f" samples: mean over {range_words(rows['examples'].dropna())} test"
            " examples and ± 1 standard deviation. Axes are linear and begin at zero;"
            " lines are straight, by least squares"
            f" ({_fits(results, lines)}), and where they begin above zero there is a"
            " cost that does not grow with n.",
            f"; {constants(rows, 'alpha', 'beta', 'iterations')}, linear kernel.",
            machine_sentence(results),
            counted="sizes",
        ),
        figure,
        (results.name,),
    )


def straight_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Fit the time of an example by a straight line in n, by least squares.

    One row per data set and method with at least three sizes: ``dataset``, ``method``,
    ``fixed`` and ``slope`` in seconds, ``r2``, the share of the variance it explains,
    and ``largest``, the largest n.
    """
    records = []
    for (dataset, method), part in rows.groupby(["dataset", "method"], sort=False):
        n, seconds = (
            part[name].to_numpy(dtype=float) for name in ("n_train", "seconds_example")
        )
        if len(np.unique(n)) < 3:
            continue
        slope, fixed = np.polyfit(n, seconds, 1)
        left = float(((seconds - fixed - slope * n) ** 2).sum())
        whole = float(((seconds - seconds.mean()) ** 2).sum())
        r2 = 1 - left / whole if whole else 1.0
        records.append((dataset, method, fixed, slope, r2, n.max()))
    columns = ["dataset", "method", "fixed", "slope", "r2", "largest"]
    return pd.DataFrame(records, columns=columns)


def _time_title(lines: pd.DataFrame) -> str:
    """Say whether time grows along a straight line."""
    if lines.empty:
        return "Time of one test example against the number of training samples"
    straight = lines["r2"] >= STRAIGHT
    if straight.all():
        least = math.floor(1e3 * lines["r2"].min()) / 1e3
        return (
            "Time of one test example grows linearly with n: straight lines explain"
            f" at least {least:.1%} of it"
        )
    return (
        f"Time of one test example grows linearly with n in {int(straight.sum())} of"
        f" {len(lines)} cases (straight lines explain {STRAIGHT:.0%})"
    )


def _fits(results: Results, lines: pd.DataFrame) -> str:
    by_method = lines.groupby("method", sort=False)["r2"].min()
    said = [
        f"{_solver_look(results, str(method)).name} R² ≥"
        f" {math.floor(1e3 * r2) / 1e3:.3f}"
        for method, r2 in by_method.items()
    ]
    return ", ".join(said) or "fewer than three sizes: no line"


def _plot_sizes(panel: Axes, look: Look, series: pd.DataFrame) -> None:
    """Draw mean milliseconds and ± a deviation at each size."""
    n, middle = (
        series[name].to_numpy(dtype=float) for name in ("n_train", "seconds_example")
    )
    room = np.nan_to_num(series["seconds_sd"].to_numpy(dtype=float))
    lower = np.maximum(middle - room, 0.0)
    panel.vlines(n, 1e3 * lower, 1e3 * (middle + room), color=look.colour, lw=0.8)
    look.plot(panel, n, 1e3 * middle, ls="")


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
        _objective_title(results, reached(results, rows)) + paper_figure(results, 2),
        _caption(
            results,
            rows,
            "Objective against iteration, as (objective − lowest) / |lowest| with the"
            " lowest value that any of the algorithms found on the data set; the dotted"
            f" line is a gap of {NEAR:g}; gaps below {ROUNDING:g}, which are rounding,"
            " are left out.",
            " training samples, one test example;"
            f" {constants(rows, 'alpha', 'beta')}, linear kernel.",
            counted="traces",
            expected=1,
        ),
        figure,
        (results.name,),
    )


def reached(results: Results, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first iteration at which each method's gap is at most :data:`NEAR`.

    One row per data set and method: ``dataset``, ``method``, ``iteration``, which is
    NaN where the gap never is.
    """
    records = []
    for dataset in _shown_datasets(results, rows):
        for label, gap in _gaps(results, rows, dataset).items():
            near = np.flatnonzero(gap <= NEAR)
            records.append((dataset, label, float(near[0]) if len(near) else math.nan))
    return pd.DataFrame(records, columns=["dataset", "method", "iteration"])


def _objective_title(results: Results, found: pd.DataFrame) -> str:
    """Say which algorithm is near the lowest objective first, on how many data sets."""
    wide = found.pivot(index="dataset", columns="method", values="iteration")
    first = wide.eq(wide.min(axis=1), axis=0)
    wins, sets = first.sum(), times(len(wide), "data set")
    goal = f"within {NEAR:g} of the lowest objective"
    if not wins.max():
        return f"No algorithm comes {goal} on any of {sets}"
    leader = _solver_look(results, str(wins.idxmax())).name
    if wins.max() == len(wide):
        return f"{leader} is the first to come {goal} on every one of {sets}"
    return f"{leader} is the first to come {goal} on {wins.max()} of {sets}"


def _gaps(
    results: Results, rows: pd.DataFrame, dataset: str
) -> dict[str, NDArray[np.float64]]:
    """Return each method's relative gap to the lowest value on a data set."""
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
    return {
        label: (trace - lowest) / (abs(lowest) or 1.0)
        for label, trace in traces.items()
    }


def _draw_gaps(panel: Axes, results: Results, rows: pd.DataFrame, dataset: str) -> None:
    for label, gap in _gaps(results, rows, dataset).items():
        shown = np.where(gap > ROUNDING, gap, np.nan)
        every = max(1, len(gap) // 8)
        _solver_look(results, label).plot(panel, shown, markevery=every)
    panel.axhline(NEAR, color=GREY, lw=0.7, ls=(0, (1, 1.5)), zorder=1)
    panel.set_yscale("log")


def draw_beta(results: Results) -> Drawing:
    """Draw the iterations and the time that a test example takes against β."""
    rows = _measured_rows(results, ["beta", "iterations", "seconds_example"])
    datasets = _shown_datasets(results, rows)
    figure, panels = _pairs_of_panels(len(datasets))
    for pair, dataset in zip(panels, datasets, strict=True):
        pair[0].set_title(dataset_name(results, dataset))
        for panel, (mean, spread, _) in zip(pair, _ROWS, strict=True):
            _plot_series(panel, results, rows, dataset, mean, spread)
    for number, (mean, _, _) in enumerate(_ROWS):
        limits = log_limits(rows[mean].to_numpy())
        for pair in panels:
            pair[number].set_ylim(*limits)
            log_ticks(pair[number].yaxis)
    words = "hollow: not all converged"
    hollow = Line2D([], [], ls="", marker="o", mec=GREY, mfc=PAPER, label=words)
    some = (rows["converged"] < 1).any()
    legend_above(figure, (pair[0] for pair in panels), *([hollow] if some else []))
    measure = results.experiment.measure
    return Drawing(
        f"{results.name}_beta",
        _beta_title(results, rows) + paper_figure(results, 3),
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
        (results.name,),
    )


def _beta_title(results: Results, rows: pd.DataFrame) -> str:
    """Say whether a larger β needs fewer iterations, and who needs the fewest."""
    columns = ["dataset", "method"]
    wide = rows.pivot_table(index=columns, columns="beta", values="iterations")
    fewer = (wide.iloc[:, -1] < wide.iloc[:, 0]).sum() if wide.shape[1] > 1 else 0
    counts = rows.groupby(["dataset", "beta", "method"])["iterations"].mean().unstack()
    first = counts.eq(counts.min(axis=1), axis=0).sum()
    least = _solver_look(results, str(first.idxmax())).name
    who = f"{least} needs the fewest in {first.max()} of {len(counts)} cases"
    if wide.shape[1] > 1 and fewer == len(wide):
        return f"A larger β needs fewer iterations with every algorithm; {who}"
    return (
        f"A larger β needs fewer iterations in {fewer} of {len(wide)} cases of data set"
        f" and algorithm; {who}"
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
    mean: str,
    spread: str,
) -> None:
    """Draw each method's means against β as a line in a band of ± a deviation.

    Markers are hollow where not all examples converged.
    """
    for label, series in _series(results, rows, dataset, "beta"):
        look = _solver_look(results, label)
        at, middle = (series[name].to_numpy(dtype=float) for name in ("beta", mean))
        room = np.nan_to_num(series[spread].to_numpy(dtype=float))
        lower = np.maximum(middle - room, BAND_ENDS * middle)
        colour, marker = look.colour, look.marker
        panel.fill_between(at, lower, middle + room, color=colour, alpha=0.18, lw=0)
        look.plot(panel, at, middle)
        hollow = series["converged"].to_numpy() < 1
        panel.plot(at[hollow], middle[hollow], marker, mec=colour, mfc=PAPER)


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
