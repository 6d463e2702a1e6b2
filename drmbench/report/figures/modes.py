"""How much the paper's protocol flatters: paper mode minus honest mode, per method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from drmbench.report.figures.captions import (
    caption,
    missing_sentence,
    protocol_sentence,
    sizes_sentence,
    stand_in_sentence,
)
from drmbench.report.figures.classified import (
    free_methods,
    is_classification,
    method_names,
    metric_label,
)
from drmbench.report.figures.drawing import Drawing, NothingToDrawError
from drmbench.report.figures.style import (
    BLACK,
    GREY,
    LABEL_SIZE,
    PALE,
    SINGLE,
    family_look,
    new_figure,
)
from drmbench.report.protocol_words import times
from drmbench.run.results import Results

#: Where dots are across a row, by turns, so that equal ones can be seen.
_ACROSS = np.array([0.0, 0.09, -0.09, 0.18, -0.18])


def has_both_modes(results: Results) -> bool:
    """Tell whether an experiment was run in both the paper's and the honest mode."""
    return is_classification(results) and {"paper", "honest"} <= set(results.modes)


def draw_modes(results: Results) -> Drawing:
    """Draw the difference between the two modes on each data set, a row a method.

    Raises
    ------
    NothingToDrawError
        If no method has complete results in both modes on a data set.
    """
    methods = free_methods(results)
    both = (results.means(mode="paper") - results.means(mode="honest"))[methods]
    shown = both.dropna(axis=0, how="all").dropna(axis=1, how="all")
    if shown.empty:
        raise NothingToDrawError(
            f"{results.name}: no method has complete results in both modes"
        )
    figure = new_figure(SINGLE, 0.21 * shown.shape[1] + 0.75)
    panel = figure.subplots()
    names = method_names(results)
    for row, method in enumerate(shown.columns):
        _draw_row(panel, row, shown[method].dropna(), results.methods[method]["family"])
    panel.axvline(0, color=GREY, lw=0.8, zorder=1)
    panel.set_yticks(range(shown.shape[1]), [names[m] for m in shown.columns])
    panel.set_ylim(shown.shape[1] - 0.4, -0.6)
    # Below the figure, not the panel, which long names of methods make narrow.
    figure.supxlabel(
        f"{metric_label(results.metric)}: paper mode − honest mode",
        fontsize=LABEL_SIZE,
    )
    return Drawing(
        f"{results.name}_modes",
        f"Paper mode minus honest mode: {results.experiment.title}",
        _caption(results, both, [str(name) for name in shown.index]),
        figure,
    )


def _draw_row(panel: Axes, row: int, values: pd.Series[float], family: str) -> None:
    look = family_look(family)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    panel.plot([low, high], [row, row], color=PALE, lw=7, solid_capstyle="butt")
    panel.plot([middle], [row], "|", color=BLACK, ms=10, mew=1.4)
    panel.plot(
        values,
        row + np.resize(_ACROSS, len(values)),
        look.marker,
        color=look.colour,
        alpha=0.7,
        ms=3.5,
        mew=0,
    )


def _caption(results: Results, both: pd.DataFrame, datasets: Sequence[str]) -> str:
    gaps = int(both.loc[list(datasets)].isna().sum().sum())
    missing = [name for name in map(str, both.index) if name not in datasets]
    if gaps:
        missing.append(f"{times(gaps, 'cell')} without complete results in both modes")
    return caption(
        f"{metric_label(results.metric)} in paper mode minus that in honest mode: a dot"
        " a data set, the bar from the lower to the upper quartile, its tick the"
        " median. To the right of zero the paper's protocol shows a higher figure.",
        f"Mean over all dots {both.stack().mean():+.4f}.",
        sizes_sentence(results, datasets),
        protocol_sentence(results, "paper", "honest"),
        stand_in_sentence(results, datasets),
        missing_sentence(missing),
    )
