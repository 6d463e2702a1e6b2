"""How fast the three algorithms converge: the paper's second and third figure."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator
from numpy.typing import NDArray

from drmbench.errors import InputError
from drmbench.report.figures.captions import (
    caption,
    machine_sentence,
    missing_sentence,
    paper_figure,
    range_words,
    stand_in_sentence,
)
from drmbench.report.figures.drawing import Drawing, NothingToDrawError
from drmbench.report.figures.measured import (
    constants,
    log_limits,
    measured_rows,
    missing_measurements,
    panel_title,
    plot_with_band,
    series_of,
    shown_datasets,
    solver_look,
    whole,
)
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    grid_of_panels,
    legend_above,
    log_ticks,
    new_figure,
    unique_handles,
)
from drmbench.report.sections.words import times
from drmbench.run.results import Results

#: The penalty at which the paper shows the objective.
TRACE_BETA = 1e4
#: Relative gaps below this are rounding and no longer convergence.
ROUNDING = 1e-15

Trace = NDArray[np.float64]
_ACROSS = 5
_ROWS = (
    ("iterations", "iterations_sd", "iterations"),
    ("seconds_example", "seconds_sd", "time (s)"),
)


def is_convergence(results: Results) -> bool:
    """Tell whether an experiment measures convergence."""
    return bool(results.experiment.kind == "convergence")


def draw_objective(results: Results) -> Drawing:
    """Draw the gap of the objective to the lowest value found, by iteration.

    Raises
    ------
    NothingToDrawError
        If there is no trace at :data:`TRACE_BETA`.
    """
    rows = _rows_with_traces(results)
    datasets = shown_datasets(results, rows)
    figure, panels = grid_of_panels(
        len(datasets), columns=3, height=1.75, sharex=True, sharey=True
    )
    for panel, dataset in zip(panels, datasets, strict=True):
        _draw_gaps(panel, results, rows, dataset)
    panels[0].xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.supxlabel("iteration", fontsize=8)
    figure.supylabel("relative gap of the objective", fontsize=8)
    legend_above(figure, unique_handles(panels))
    return Drawing(
        f"{results.name}_objective",
        f"Objective against iteration{paper_figure(results, 2)}",
        _objective_caption(results, rows, datasets),
        figure,
    )


def _rows_with_traces(results: Results) -> pd.DataFrame:
    rows = measured_rows(results, ["beta"])
    rows = rows[np.isclose(rows["beta"], TRACE_BETA) & (rows["trace"] != "")]
    if rows.empty:
        raise NothingToDrawError(
            f"{results.name}: no finished row has a trace at β = {TRACE_BETA:g}"
        )
    return rows


def _draw_gaps(panel: Axes, results: Results, rows: pd.DataFrame, dataset: str) -> None:
    traces = dict(_traces(results, rows, dataset))
    lowest = min(float(trace.min()) for trace in traces.values())
    for label, trace in traces.items():
        look = solver_look(results, label)
        gap = (trace - lowest) / (abs(lowest) or 1.0)
        panel.plot(
            np.where(gap > ROUNDING, gap, np.nan),
            look.line,
            color=look.colour,
            marker=look.marker,
            markevery=max(1, len(gap) // 8),
            label=look.name,
        )
    panel.set_yscale("log")
    panel.set_title(panel_title(results, dataset))


def _traces(
    results: Results, rows: pd.DataFrame, dataset: str
) -> Iterator[tuple[str, Trace]]:
    for label, series in series_of(results, rows, dataset, "beta"):
        text = series["trace"].iloc[0]
        try:
            trace = np.array(json.loads(text), dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{results.name}: the trace of {label} on {dataset} is not a JSON list"
                f" of numbers: {text[:40]!r}"
            ) from error
        if trace.ndim == 1 and len(trace):
            yield label, trace


def _objective_caption(
    results: Results, rows: pd.DataFrame, datasets: list[str]
) -> str:
    return caption(
        "Objective against iteration, as (objective − lowest) / |lowest| with the"
        " lowest value that any of the algorithms found on the data set; gaps below"
        f" {ROUNDING:g}, which are rounding, are left out.",
        f"{times(len(datasets), 'data set')}, {_sizes(rows)} training samples, one test"
        f" example; {constants(rows, 'alpha', 'beta')}, linear kernel.",
        stand_in_sentence(results, datasets),
        missing_sentence(missing_measurements(results, rows, "traces", expected=1)),
    )


def _sizes(rows: pd.DataFrame) -> str:
    return f"n = {range_words(whole(rows['n_train']))}"


def draw_beta(results: Results) -> Drawing:
    """Draw the iterations and the time that a test example takes against β.

    Raises
    ------
    NothingToDrawError
        If no penalty was measured.
    """
    rows = measured_rows(results, ["beta", "iterations", "seconds_example"])
    datasets = shown_datasets(results, rows)
    figure, panels = _pairs_of_panels(len(datasets))
    for pair, dataset in zip(panels, datasets, strict=True):
        pair[0].set_title(panel_title(results, dataset))
        for panel, (mean, spread, _) in zip(pair, _ROWS, strict=True):
            _draw_against_beta(panel, results, rows, dataset, mean, spread)
    for number, (mean, _, _) in enumerate(_ROWS):
        limits = log_limits(rows[mean].to_numpy())
        for pair in panels:
            pair[number].set_ylim(*limits)
            log_ticks(pair[number].yaxis)
    legend_above(figure, _handles_of(panels, rows))
    return Drawing(
        f"{results.name}_beta",
        f"Iterations and time of one test example against β{paper_figure(results, 3)}",
        _beta_caption(results, rows, datasets),
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
        _label_pair(pair, first=column == 0)
        pairs.append(pair)
    return figure, pairs


def _label_pair(pair: tuple[Axes, Axes], *, first: bool) -> None:
    for panel, (_, _, label) in zip(pair, _ROWS, strict=True):
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.xaxis.set_major_locator(LogLocator(numticks=5))
        panel.tick_params(labelleft=first)
        if first:
            panel.set_ylabel(label)
    pair[1].tick_params(labelbottom=True)
    pair[1].set_xlabel("β")


def _draw_against_beta(
    panel: Axes,
    results: Results,
    rows: pd.DataFrame,
    dataset: str,
    mean: str,
    spread: str,
) -> None:
    for label, series in series_of(results, rows, dataset, "beta"):
        look = solver_look(results, label)
        plot_with_band(panel, look, series["beta"], series[mean], series[spread])
        unfinished = series[series["converged"] < 1]
        panel.plot(
            unfinished["beta"],
            unfinished[mean],
            look.marker,
            mec=look.colour,
            mfc="white",
        )


def _handles_of(panels: list[tuple[Axes, Axes]], rows: pd.DataFrame) -> list[Line2D]:
    handles = unique_handles(pair[0] for pair in panels)
    if (rows["converged"] < 1).any():
        words = "hollow: not all converged"
        hollow = Line2D([], [], ls="", marker="o", mec=GREY, mfc="white", label=words)
        handles.append(hollow)
    return handles


def _beta_caption(results: Results, rows: pd.DataFrame, datasets: list[str]) -> str:
    measure = results.experiment.measure
    stopping = [
        f"tolerance {measure.tol:g}",
        f"at most {measure.iterations:,} iterations",
    ]
    return caption(
        "Iterations until the tolerance was met (above) and time of one test example"
        " (below) against β: mean and ± 1 standard deviation over"
        f" {range_words(whole(rows['examples']))} test examples."
        " Hollow markers: some examples did not meet the tolerance.",
        f"{times(len(datasets), 'data set')}, {_sizes(rows)} training samples;"
        f" {', '.join(filter(None, [constants(rows, 'alpha'), *stopping]))}, linear"
        " kernel.",
        machine_sentence(results),
        stand_in_sentence(results, datasets),
        missing_sentence(missing_measurements(results, rows, "values of β")),
    )
