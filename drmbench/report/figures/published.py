"""Ours against the paper: our figures and its own, our protocol and its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    competing_methods,
    experiment_caption,
    experiment_scores,
    method_names,
    metric_label,
)
from drmbench.report.figures.style import (
    BLACK,
    DOUBLE,
    GREY,
    LIGHT,
    PALE,
    SINGLE,
    Look,
    base_family,
    family_look,
    grid_of_panels,
    new_figure,
)
from drmbench.report.protocol_words import target_words, times
from drmbench.report.scores import ScoreCell, Scores
from drmbench.running.results import Results

#: Cells that have both figures, by column of the paper's table.
Columns = dict[str, list[ScoreCell]]

#: How a family's first, second and third column are filled.
_FILLS = ("full", "none", "left")
#: Where dots are across a row, by turns, so that equal ones can be seen.
_ACROSS = np.array([0.0, 0.09, -0.09, 0.18, -0.18])


def draw_published(results: Results) -> Drawing:
    """Draw our means against the published ones, with the line of equality.

    The mode is the paper's if it was run, else the first. A data set for which a
    relative stands in is not compared.
    """
    mode = "paper" if "paper" in results.modes else results.modes[0]
    scores = experiment_scores(results, mode)
    families = _compared(results, scores)
    if not families:
        raise NothingToDrawError(
            f"{results.name}: no published cell has a complete figure of ours"
        )
    columns = [column for family in families.values() for column in family.values()]
    cells = [cell for column in columns for cell in column]
    figure, panels = _square_panels(families)
    means = [mean for cell in cells for mean in (_published(cell), cell.ours.mean)]
    room = 0.05 * (max(means) - min(means)) + 0.01
    limits = min(means) - room, max(means) + room  # error bars may leave them
    for panel, (name, family) in zip(panels, families.items(), strict=True):
        _draw_family(panel, family, family_look(name), limits)
    label = metric_label(scores.metric)
    figure.supxlabel(f"{label}, published")
    figure.supylabel(f"{label}, ours")
    where = target_words(results.experiment.reproduces)
    return Drawing(
        f"{results.name}_published",
        f"Ours against {where} of the paper: {results.experiment.title}",
        _published_caption(results, cells, f"{label}, {where}", mode),
        figure,
    )


def _compared(results: Results, scores: Scores) -> dict[str, Columns]:
    """Return the cells that have both figures, by family and column."""
    families: dict[str, Columns] = {}
    rows = [row for row in scores.rows if not row.entry.get("substitute")]
    for column in scores.columns:
        for row in rows:
            cell = scores.entries[row.heading, column.heading]
            if not math.isnan(cell.difference):
                family = base_family(results.methods[cell.ours.method]["family"])
                columns = families.setdefault(family, {})
                columns.setdefault(column.heading, []).append(cell)
    return families


def _published(cell: ScoreCell) -> float:
    assert cell.paper is not None
    assert cell.paper.mean is not None
    return cell.paper.mean


def _square_panels(families: Mapping[str, Columns]) -> tuple[Figure, list[Axes]]:
    """Return panels that are about as high as wide below their legends."""
    width = SINGLE if len(families) <= 2 else DOUBLE
    columns = min(4, len(families))
    legend = 0.15 * max(map(len, families.values()))
    return grid_of_panels(
        len(families),
        columns=columns,
        height=(width - 0.4) / columns + legend + 0.13,
        width=width,
        margin=0.25,
    )


def _draw_family(
    panel: Axes, columns: Columns, look: Look, limits: tuple[float, float]
) -> None:
    panel.plot(limits, limits, color=GREY, lw=0.8, zorder=1)
    panel.set(xlim=limits, ylim=limits, aspect="equal")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    for number, (column, cells) in enumerate(columns.items()):
        means = [_published(cell) for cell in cells], [cell.ours.mean for cell in cells]
        spreads = [cell.ours.spread for cell in cells]
        panel.errorbar(
            *means,
            xerr=[cell.paper.spread or 0.0 if cell.paper else 0.0 for cell in cells],
            yerr=[0.0 if math.isnan(spread) else spread for spread in spreads],
            fmt="none",
            ecolor=LIGHT,
            elinewidth=0.6,
            alpha=0.6,
        )
        panel.plot(
            *means,
            look.marker,
            color=look.colour,
            fillstyle=_FILLS[number % len(_FILLS)],
            markerfacecoloralt="white",
            label=column,
        )
    panel.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        borderpad=0,
        handlelength=1,
        handletextpad=0.4,
        labelspacing=0.2,
    )


def _published_caption(
    results: Results, cells: Sequence[ScoreCell], what: str, mode: ScalingMode
) -> str:
    there = {cell.ours.dataset for cell in cells}
    differences = [cell.difference for cell in cells]
    near = sum(abs(difference) <= 0.005 for difference in differences)
    missing = []
    for name, entry in results.datasets.items():
        if name not in there:
            why = entry.get("missing") or "no complete results or not in the table"
            relative = entry.get("substitute")
            missing.append(f"{name} ({f'{relative} stands in' if relative else why})")
    return experiment_caption(
        results,
        f"Ours against the paper's ({what}), one panel per family of methods; on the"
        " line both are equal, above it ours is higher. Bars: ± 1 standard deviation"
        " over the splits, where there is one."
        f" {len(cells)} published cells; {near} within 0.005 of ours; mean difference"
        f" {sum(differences) / len(differences):+.4f}.",
        datasets=[dataset for dataset in results.datasets if dataset in there],
        modes=[mode],
        missing=missing,
    )


def draw_modes(results: Results) -> Drawing:
    """Draw paper mode minus honest mode on each data set, one row per method."""
    methods = competing_methods(results)
    both = (results.means(mode="paper") - results.means(mode="honest"))[methods]
    shown = both.dropna(axis=0, how="all").dropna(axis=1, how="all")
    if shown.empty:
        raise NothingToDrawError(
            f"{results.name}: no method has complete results in both modes"
        )
    figure = new_figure(SINGLE, 0.21 * shown.shape[1] + 0.75)
    panel = figure.subplots()
    for row, method in enumerate(shown.columns):
        values = shown[method].dropna()
        look = family_look(results.methods[method]["family"])
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        panel.plot([low, high], [row, row], color=PALE, lw=7, solid_capstyle="butt")
        panel.plot([middle], [row], "|", color=BLACK, ms=10, mew=1.4)
        heights = row + np.resize(_ACROSS, len(values))
        panel.plot(
            values, heights, look.marker, color=look.colour, alpha=0.7, ms=3.5, mew=0
        )
    panel.axvline(0, color=GREY, lw=0.8, zorder=1)
    names = method_names(results)
    panel.set_yticks(range(shown.shape[1]), [names[m] for m in shown.columns])
    panel.set_ylim(shown.shape[1] - 0.4, -0.6)
    # Below the figure, not the panel, which long names of methods make narrow.
    label = metric_label(results.metric)
    figure.supxlabel(f"{label}: paper mode − honest mode")
    return Drawing(
        f"{results.name}_modes",
        f"Paper mode minus honest mode: {results.experiment.title}",
        _modes_caption(results, both, [str(name) for name in shown.index]),
        figure,
    )


def _modes_caption(
    results: Results, both: pd.DataFrame, datasets: Sequence[str]
) -> str:
    gaps = int(both.loc[list(datasets)].isna().sum().sum())
    missing = [name for name in map(str, both.index) if name not in datasets]
    if gaps:
        missing.append(f"{times(gaps, 'cell')} without complete results in both modes")
    return experiment_caption(
        results,
        f"{metric_label(results.metric)} in paper mode minus that in honest mode: one"
        " dot per data set, the bar from the lower to the upper quartile, its tick the"
        " median. To the right of zero the paper's protocol shows a higher figure."
        f" Mean over all dots {both.stack().mean():+.4f}.",
        datasets=datasets,
        modes=["paper", "honest"],
        missing=missing,
    )
