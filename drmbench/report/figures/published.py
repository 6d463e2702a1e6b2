"""Our figures against the published ones, a panel a family of methods."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from drmbench.paper import published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.figures.captions import (
    caption,
    missing_sentence,
    protocol_sentence,
    sizes_sentence,
)
from drmbench.report.figures.classified import (
    comparison_of,
    is_classification,
    metric_label,
)
from drmbench.report.figures.drawing import Drawing, NothingToDrawError
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    LIGHT,
    SINGLE,
    Look,
    base_family,
    family_look,
    grid_of_panels,
)
from drmbench.report.protocol_words import target_words
from drmbench.run.results import Results, Summary

#: How a family's first, second and third column are filled.
_FILLS = ("full", "none", "left")


@dataclass(frozen=True)
class Pair:
    """A published cell and ours.

    Attributes
    ----------
    column : str
        The paper's column.
    published, spread : float
        The published mean and standard deviation; 0 if it has none.
    ours : Summary
        Our figure.
    family : str
        Family of our method.
    """

    column: str
    published: float
    spread: float
    ours: Summary
    family: str


def has_published(results: Results) -> bool:
    """Tell whether an experiment reproduces a table of the paper."""
    return is_classification(results) and published_table(_table(results)) is not None


def _table(results: Results) -> str:
    return str(results.experiment.reproduces)


def compared_mode(results: Results) -> ScalingMode:
    """Return the mode that is compared: the paper's if it was run, else the first."""
    return "paper" if "paper" in results.modes else results.modes[0]


def pairs_of(results: Results) -> Iterator[Pair]:
    """Give each published cell that has a complete figure of ours.

    They come column by column. A data set for which a relative stands in is not
    compared.
    """
    comparison = comparison_of(results, compared_mode(results))
    rows = [row for row in comparison.rows if not row.entry.get("substitute")]
    for column in comparison.columns:
        for row in rows:
            entry = comparison.entries[row.heading, column.heading]
            if entry.paper and entry.paper.mean is not None and entry.ours.complete:
                family = base_family(results.methods[entry.ours.method]["family"])
                spread = entry.paper.spread or 0.0
                mean = entry.paper.mean
                yield Pair(column.heading, mean, spread, entry.ours, family)


def draw_published(results: Results) -> Drawing:
    """Draw our means against the published ones, with the line of equality.

    Raises
    ------
    NothingToDrawError
        If no published cell has a complete figure of ours.
    """
    families: dict[str, list[Pair]] = {}
    for pair in pairs_of(results):
        families.setdefault(pair.family, []).append(pair)
    if not families:
        raise NothingToDrawError(
            f"{results.name}: no published cell has a complete figure of ours"
        )
    pairs = [pair for chosen in families.values() for pair in chosen]
    figure, panels = _square_panels(list(families.values()))
    for panel, chosen in zip(panels, families.values(), strict=True):
        _draw_family(panel, chosen, _limits(pairs))
    comparison = comparison_of(results, compared_mode(results))
    figure.supxlabel(f"{metric_label(comparison.metric)}, published", fontsize=8)
    figure.supylabel(f"{metric_label(comparison.metric)}, ours", fontsize=8)
    where = target_words(_table(results))
    return Drawing(
        f"{results.name}_published",
        f"Ours against {where} of the paper: {results.experiment.title}",
        _caption(results, pairs, f"{metric_label(comparison.metric)}, {where}"),
        figure,
    )


def _square_panels(families: Sequence[Sequence[Pair]]) -> tuple[Figure, list[Axes]]:
    """Return panels that are about as high as wide below their legends."""
    width = SINGLE if len(families) <= 2 else DOUBLE
    columns = min(4, len(families))
    legend = 0.15 * max(len({pair.column for pair in pairs}) for pairs in families)
    return grid_of_panels(
        len(families),
        columns=columns,
        height=(width - 0.4) / columns + legend + 0.13,
        width=width,
        margin=0.25,
        sharex=True,
        sharey=True,
    )


def _limits(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return common limits that hold every mean; error bars may leave them."""
    values = [value for pair in pairs for value in (pair.published, pair.ours.mean)]
    room = 0.05 * (max(values) - min(values)) + 0.01
    return min(values) - room, max(values) + room


def _draw_family(
    panel: Axes, pairs: Sequence[Pair], limits: tuple[float, float]
) -> None:
    panel.plot(limits, limits, color=GREY, lw=0.8, zorder=1)
    panel.set(xlim=limits, ylim=limits, aspect="equal")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    columns = list(dict.fromkeys(pair.column for pair in pairs))
    for number, column in enumerate(columns):
        chosen = [pair for pair in pairs if pair.column == column]
        fill = _FILLS[number % len(_FILLS)]
        _draw_column(panel, chosen, family_look(chosen[0].family), fill)
    panel.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        borderpad=0,
        handlelength=1,
        handletextpad=0.4,
        labelspacing=0.2,
    )


def _draw_column(panel: Axes, pairs: Sequence[Pair], look: Look, fill: str) -> None:
    published = [pair.published for pair in pairs]
    ours = [pair.ours.mean for pair in pairs]
    panel.errorbar(
        published,
        ours,
        xerr=[pair.spread for pair in pairs],
        yerr=[0.0 if math.isnan(p.ours.spread) else p.ours.spread for p in pairs],
        fmt="none",
        ecolor=LIGHT,
        elinewidth=0.6,
        alpha=0.6,
    )
    panel.plot(
        published,
        ours,
        look.marker,
        color=look.colour,
        fillstyle=fill,
        markerfacecoloralt="white",
        label=pairs[0].column,
    )


def _caption(results: Results, pairs: Sequence[Pair], what: str) -> str:
    datasets = [d for d in results.datasets if any(d == p.ours.dataset for p in pairs)]
    differences = [pair.ours.mean - pair.published for pair in pairs]
    near = sum(abs(difference) <= 0.005 for difference in differences)
    return caption(
        f"Ours against the paper's ({what}), a panel a family of methods; on the line"
        " both are equal, above it ours is higher. Bars: ± 1 standard deviation over"
        " the splits, where there is one.",
        f"{len(pairs)} published cells; {near} within 0.005 of ours; mean difference"
        f" {sum(differences) / len(differences):+.4f}.",
        sizes_sentence(results, datasets),
        protocol_sentence(results, compared_mode(results)),
        missing_sentence(_not_compared(results, datasets)),
    )


def _not_compared(results: Results, shown: Sequence[str]) -> list[str]:
    return [
        f"{name} ({_why_not(entry.get('substitute'), entry.get('missing'))})"
        for name, entry in results.datasets.items()
        if name not in shown
    ]


def _why_not(substitute: str | None, missing: str | None) -> str:
    if substitute:
        return f"{substitute} stands in"
    return missing or "no complete results or not in the table"
