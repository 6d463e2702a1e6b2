"""Time of one example against the training size: the paper's first figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from drmbench.report.figures.captions import (
    caption,
    machine_sentence,
    missing_sentence,
    paper_figure,
    range_words,
    stand_in_sentence,
)
from drmbench.report.figures.drawing import Drawing
from drmbench.report.figures.measured import (
    BAND_ENDS,
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
    GREY,
    grid_of_panels,
    legend_above,
    log_ticks,
    unique_handles,
)
from drmbench.report.protocol_words import times
from drmbench.run.results import Results

_COLUMNS = ["n_train", "seconds_example"]


def is_timing(results: Results) -> bool:
    """Tell whether an experiment measures time against the training size."""
    return bool(results.experiment.kind == "timing")


def draw_time(results: Results) -> Drawing:
    """Draw the time of one test example against the training size, log-log.

    Raises
    ------
    NothingToDrawError
        If no size was measured.
    """
    rows = measured_rows(results, _COLUMNS)
    datasets = shown_datasets(results, rows)
    figure, panels = grid_of_panels(
        len(datasets), columns=3, height=1.75, sharex=True, sharey=True
    )
    for panel, dataset in zip(panels, datasets, strict=True):
        _draw_panel(panel, results, rows, dataset)
    panels[0].set_ylim(*_limits(rows))
    log_ticks(panels[0].xaxis)
    log_ticks(panels[0].yaxis)
    figure.supxlabel("training samples n", fontsize=8)
    figure.supylabel("time of one test example (s)", fontsize=8)
    legend_above(figure, unique_handles(panels))
    return Drawing(
        f"{results.name}_time",
        "Time of one test example against the number of training samples"
        + paper_figure(results, 1),
        _caption(results, rows, datasets),
        figure,
    )


def _draw_panel(
    panel: Axes, results: Results, rows: pd.DataFrame, dataset: str
) -> None:
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_title(panel_title(results, dataset))
    for label, series in series_of(results, rows, dataset, "n_train"):
        plot_with_band(
            panel,
            solver_look(results, label),
            series["n_train"],
            series["seconds_example"],
            series["seconds_sd"],
        )
    _draw_guide(panel, rows[rows["dataset"] == dataset])


def _draw_guide(panel: Axes, rows: pd.DataFrame) -> None:
    """Draw time proportional to n, below all curves."""
    ends = np.array([rows["n_train"].min(), rows["n_train"].max()], dtype=float)
    height = 0.5 * (rows["seconds_example"] / rows["n_train"]).min()
    panel.plot(ends, height * ends, color=GREY, lw=0.8, ls=(0, (1, 1)), label="slope 1")


def _limits(rows: pd.DataFrame) -> tuple[float, ...]:
    """Return limits for means, upper ends of bands, and guides."""
    mean, spread = rows["seconds_example"], rows["seconds_sd"].fillna(0)
    guides = [
        0.5 * (part["seconds_example"] / part["n_train"]).min() * part["n_train"].min()
        for _, part in rows.groupby("dataset")
    ]
    return log_limits(np.concatenate([mean, mean + spread, guides]))


def _caption(results: Results, rows: pd.DataFrame, datasets: list[str]) -> str:
    return caption(
        "Time of one test example against the number n of training samples: mean over"
        f" {range_words(whole(rows['examples']))} test examples, and a band of ± 1"
        f" standard deviation (not below {BAND_ENDS:g} of the mean); the"
        " dotted line is proportional to n.",
        f"{times(len(datasets), 'data set')}, n ="
        f" {range_words(whole(rows['n_train']))};"
        f" {constants(rows, 'alpha', 'beta', 'iterations')}, linear kernel.",
        machine_sentence(results),
        stand_in_sentence(results, datasets),
        missing_sentence(missing_measurements(results, rows, "sizes")),
    )
