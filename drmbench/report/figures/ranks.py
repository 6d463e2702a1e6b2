"""Critical-difference diagrams: which methods' mean ranks can be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    competing_methods,
    drm_entry,
    experiment_caption,
    experiment_scores,
    fair_mode,
    is_drm,
    left_out,
    listed,
    ordinal,
)
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    INK,
    look_of,
    new_figure,
)
from drmbench.report.scores import Scores
from drmbench.report.statistics import (
    CompletePart,
    cliques,
    complete_part,
    critical_difference,
    friedman,
    mean_ranks,
)
from drmbench.running.results import Results
from drmbench.words import metric_words

#: A diagram of fewer data sets or methods than these says nothing.
LEAST_DATASETS, LEAST_METHODS = 8, 3
_LEVEL = 0.45  # between bars of cliques, in lines of text
_LINE = 0.165  # height of a line, in inches


@dataclass(frozen=True, eq=False)
class Standing:
    """Who competes, and how they stand."""

    #: The means that count: data sets x methods
    part: CompletePart
    ranks: pd.Series[float]  #: Mean ranks, best first
    cd: float  #: Nemenyi's critical difference
    methods: dict[str, dict[str, Any]]  #: The manifest's entry of each method
    #: Methods of the tables that are not ranked, because they miss data sets
    unranked: tuple[str, ...] = ()

    @classmethod
    def of(cls, scores: Scores) -> Standing | None:
        """Rank the methods that compete, or return None if too few are complete.

        A method is called by its label; by the table's heading where that stands for
        several.
        """
        parts = (*scores.source.lenders, *scores.source.results)
        known = {x: r.methods[x] for r in parts for x in competing_methods(r)}
        names = {
            column.heading: column.labels[0] if len(column.labels) == 1 else ""
            for column in scores.columns
        }
        methods = {
            names[column.heading] or column.heading: known[column.labels[0]]
            for column in scores.ranked
            if column.labels and column.labels[0] in known
        }
        shown = scores.ranked_scores()
        shown.columns = pd.Index([names[str(x)] or str(x) for x in shown.columns])
        part = complete_part(shown[list(methods)])
        n, k = part.means.shape
        if n < LEAST_DATASETS or k < LEAST_METHODS:
            return None
        ranks = mean_ranks(part.means).sort_values(kind="stable")
        unranked = tuple(column.heading for column in scores.unranked)
        return cls(part, ranks, critical_difference(k, n), methods, unranked)

    @property
    def title(self) -> str:
        """Who leads, where the DRM is, and whether the two can be told apart."""
        order = [str(name) for name in self.ranks.index]
        leader, where = order[0], f"{len(self.part.means)} data sets"
        drms = [name for name in order if is_drm(self.methods[name])]
        entry = drm_entry(order, self.methods)
        told = [
            name for name in order if self.ranks[name] - self.ranks[leader] > self.cd
        ]
        leads = f"{leader} leads {len(order)} methods on {where}"
        if not entry:
            near = len(order) - 1 - len(told)
            return f"{leads}; {near} of the others cannot be told apart from it"
        if leader in drms:
            others = [name for name in order if name not in drms]
            beaten = [name for name in others if name in told]
            found = (
                f"{leads}, told apart from {len(beaten)} of the {len(others)} non-DRMs"
            )
            place = ordinal(order.index(entry) + 1)
            return found if leader == entry else f"{found}; {entry} is {place}"
        best = drms[0]
        apart = "" if best in told else "not "
        found = f"{leads}; {best} is {ordinal(order.index(best) + 1)}"
        found += f", {apart}told apart from it"
        if best == entry:
            return found
        return f"{found}; {entry} is {ordinal(order.index(entry) + 1)}"

    @cached_property
    def bars(self) -> list[tuple[float, float, int]]:
        """The ends of each clique's bar, and its level: bars may not touch."""
        ends: list[float] = []
        placed = []
        for group in cliques(self.ranks, self.cd):
            low, high = float(self.ranks[group[0]]), float(self.ranks[group[-1]])
            free = (number for number, end in enumerate(ends) if end < low - 0.1)
            level = next(free, len(ends))
            ends[level : level + 1] = [high]
            placed.append((low, high, level))
        return placed

    @property
    def depth(self) -> float:
        """The lines that the bars take."""
        return _LEVEL * (1 + max((level for _, _, level in self.bars), default=-1))

    @property
    def height(self) -> float:
        """The lines that a panel takes: scale, bars, and half of the names."""
        return 4.2 + self.depth + (len(self.ranks) + 1) // 2


def draw_ranks(results: Results, others: Mapping[str, Results]) -> Drawing:
    """Draw the mean ranks in the fair mode; bars join what cannot be told apart.

    The methods that compete are those that the tables rank; the experiment's table of
    the paper may borrow columns from `others`.
    """
    scores = experiment_scores(results, fair_mode(results), others.values())
    standing = Standing.of(scores)
    if standing is None:
        raise NothingToDrawError(
            f"{results.name}: mean ranks need {LEAST_METHODS} methods with complete"
            f" results on {LEAST_DATASETS} data sets"
        )
    figure = new_figure(DOUBLE, _LINE * standing.height + 0.1)
    _draw_panel(figure.subplots(), standing)
    lenders = [found.name for found in scores.source.lenders if scores.lent]
    return Drawing(
        f"{results.name}_ranks",
        standing.title,
        _caption(results, scores, standing),
        figure,
        (results.name, *lenders),
    )


def _draw_panel(panel: Axes, standing: Standing) -> None:
    k = len(standing.ranks)
    panel.set_axis_off()
    panel.set_xlim(1, k)
    panel.set_ylim(3.0 - standing.height, 3.0)
    panel.plot([1, k], [0, 0], color=INK, lw=0.8)
    for rank in range(1, k + 1):
        panel.plot([rank, rank], [0, 0.3], color=INK, lw=0.8)
        panel.text(rank, 0.45, str(rank), ha="center", va="bottom", fontsize=7)
    width = min(standing.cd, k - 1)
    panel.plot([1, 1 + width], [1.75, 1.75], color=INK, lw=1.2, marker="|", ms=5)
    beyond = " (more than the scale)" if standing.cd > k - 1 else ""
    text = f"CD = {standing.cd:.2f}{beyond}"
    panel.text(1 + width / 2, 1.95, text, ha="center", va="bottom", fontsize=7)
    for low, high, level in standing.bars:
        y = -0.5 - _LEVEL * level
        panel.plot([low - 0.04, high + 0.04], [y, y], color=INK, lw=2.6, zorder=3)
    half = (k + 1) // 2
    for place, name in enumerate(standing.ranks.index):
        left = place < half
        y = -1.2 - standing.depth - (place if left else k - 1 - place)
        _draw_name(panel, standing, name, (1 if left else k, y))


def _draw_name(
    panel: Axes, standing: Standing, name: str, end: tuple[float, float]
) -> None:
    """Draw the line from a rank down and out to the name, and the rank itself."""
    rank, method = float(standing.ranks[name]), standing.methods[name]
    look, (edge, y) = look_of(method), end
    panel.plot([rank, rank, edge], [0, y, y], color=GREY, lw=0.7, zorder=1)
    look.plot(panel, [rank], [0], ms=4.5, clip_on=False)
    shift, side = (-4, "right") if edge == 1 else (4, "left")
    panel.annotate(
        f"{name}  {rank:.2f}" if side == "right" else f"{rank:.2f}  {name}",
        end,
        xytext=(shift, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize=7,
        color=look.colour if is_drm(method) else INK,
        weight="bold" if is_drm(method) else "normal",
    )


def _caption(results: Results, scores: Scores, standing: Standing) -> str:
    headings = set(standing.part.means.index)
    shown = [row.dataset for row in scores.rows if row.heading in headings]
    test = friedman(standing.part.means)
    value = "p < 0.001" if test.f_p < 0.001 else f"p = {test.f_p:.3f}"
    lenders = [found.name for found in scores.source.lenders]
    lent = f"{listed(scores.lent)}: of the experiment {listed(lenders)}, selected as"
    return experiment_caption(
        results,
        f"Mean ranks by {metric_words(scores.metric)}, 1 being the best: {test.k}"
        f" methods, N = {test.n} data sets. Bars join methods whose mean ranks differ"
        " by less than Nemenyi's critical difference (CD) at the 5% level: they cannot"
        " be told apart. Friedman's test (Iman and Davenport) that all are alike:"
        f" {value}. DRMs are in colour.",
        f"{lent} there." if scores.lent else "",
        datasets=shown,
        modes=[scores.mode],
        missing=left_out(standing.part, standing.unranked),
    )
