"""Critical-difference diagrams: which methods' mean ranks can be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from matplotlib.axes import Axes

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    competing_methods,
    experiment_caption,
    experiment_scores,
    fair_mode,
    left_out,
    listed,
)
from drmbench.report.figures.style import (
    BLACK,
    DOUBLE,
    GREY,
    base_family,
    family_look,
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

#: Ranks over fewer data sets than these say nothing.
_FEWEST = 3
_LEVEL = 0.45  # between bars of cliques, in lines of text
_LINE = 0.165  # height of a line, in inches


@dataclass(frozen=True, eq=False)
class Standing:
    """Who competes in a scaling mode, and how they stand."""

    mode: ScalingMode  #: The scaling mode
    #: The means that count: data sets x methods, named as in the tables
    part: CompletePart
    ranks: pd.Series[float]  #: Mean ranks, best first
    cd: float  #: Nemenyi's critical difference
    families: dict[str, str]  #: The family of each method, by its name in the tables
    #: Methods of the tables that are not ranked, because they miss data sets
    unranked: tuple[str, ...] = ()

    @classmethod
    def of(cls, scores: Scores) -> Standing | None:
        """Rank the methods that compete, or return None if too few are complete."""
        parts = (*scores.source.lenders, *scores.source.results)
        methods = {x: r.methods[x] for r in parts for x in competing_methods(r)}
        families = {
            column.heading: base_family(methods[label]["family"])
            for column in scores.ranked
            for label in column.labels[:1]
            if label in methods
        }
        part = complete_part(scores.ranked_scores()[list(families)])
        n, k = part.means.shape
        if n < _FEWEST or k < 2:
            return None
        ranks = mean_ranks(part.means).sort_values(kind="stable")
        unranked = tuple(column.heading for column in scores.unranked)
        cd = critical_difference(k, n)
        return cls(scores.mode, part, ranks, cd, families, unranked)

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
    """Draw the mean ranks, one panel per mode; bars join what cannot be told apart.

    The methods that compete are those that the tables rank; the experiment's table of
    the paper may borrow columns from `others`.
    """
    fair = fair_mode(results)
    modes = (fair, *(mode for mode in results.modes if mode != fair))
    compared = [experiment_scores(results, mode, others.values()) for mode in modes]
    standings = [s for scores in compared if (s := Standing.of(scores))]
    if not standings:
        raise NothingToDrawError(
            f"{results.name}: mean ranks need two methods with complete results on"
            f" {_FEWEST} data sets"
        )
    lines = [standing.height for standing in standings]
    figure = new_figure(DOUBLE, _LINE * sum(lines) + 0.2 * len(lines))
    panels = figure.subplots(len(lines), squeeze=False, height_ratios=lines)[:, 0]
    for panel, standing in zip(panels, standings, strict=True):
        _draw_panel(panel, standing)
        if len(standings) > 1:
            panel.set_title(f"{standing.mode} mode", loc="left")
    return Drawing(
        f"{results.name}_ranks",
        f"Mean ranks: {results.experiment.title}",
        _caption(results, compared[0], standings),
        figure,
    )


def _draw_panel(panel: Axes, standing: Standing) -> None:
    k = len(standing.ranks)
    panel.set_axis_off()
    panel.set_xlim(1, k)
    panel.set_ylim(3.0 - standing.height, 3.0)
    panel.plot([1, k], [0, 0], color=BLACK, lw=0.8)
    for rank in range(1, k + 1):
        panel.plot([rank, rank], [0, 0.3], color=BLACK, lw=0.8)
        panel.text(rank, 0.45, str(rank), ha="center", va="bottom", fontsize=7)
    width = min(standing.cd, k - 1)
    panel.plot([1, 1 + width], [1.75, 1.75], color=BLACK, lw=1.2, marker="|", ms=5)
    beyond = " (more than the scale)" if standing.cd > k - 1 else ""
    text = f"CD = {standing.cd:.2f}{beyond}"
    panel.text(1 + width / 2, 1.95, text, ha="center", va="bottom", fontsize=7)
    for low, high, level in standing.bars:
        y = -0.5 - _LEVEL * level
        panel.plot([low - 0.04, high + 0.04], [y, y], color=BLACK, lw=2.6, zorder=3)
    half = (k + 1) // 2
    for place, name in enumerate(standing.ranks.index):
        left = place < half
        y = -1.2 - standing.depth - (place if left else k - 1 - place)
        _draw_name(panel, standing, name, (1 if left else k, y))


def _draw_name(
    panel: Axes, standing: Standing, name: str, end: tuple[float, float]
) -> None:
    """Draw the line from a rank down and out to the name, and the rank itself."""
    rank, family = float(standing.ranks[name]), standing.families[name]
    look, (edge, y) = family_look(family), end
    panel.plot([rank, rank, edge], [0, y, y], color=GREY, lw=0.7, zorder=1)
    panel.plot([rank], [0], look.marker, color=look.colour, ms=4.5, clip_on=False)
    shift, side = (-4, "right") if edge == 1 else (4, "left")
    panel.annotate(
        f"{name}  {rank:.2f}" if side == "right" else f"{rank:.2f}  {name}",
        end,
        xytext=(shift, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize=7,
        color=look.colour if family == "drm" else BLACK,
        weight="bold" if family == "drm" else "normal",
    )


def _caption(results: Results, scores: Scores, standings: Sequence[Standing]) -> str:
    headings = set(standings[0].part.means.index)
    shown = [row.dataset for row in scores.rows if row.heading in headings]
    tests = []
    modes: dict[str, list[str]] = {}  # in which something is left out
    for standing in standings:
        test = friedman(standing.part.means)
        value = "p < 0.001" if test.f_p < 0.001 else f"p = {test.f_p:.3f}"
        sizes = f"{test.k} methods, N = {test.n} data sets"
        tests.append(f"{value} ({standing.mode} mode, {sizes})")
        for text in left_out(standing.part, standing.unranked):
            modes.setdefault(text, []).append(standing.mode)
    gaps = [
        text if len(found) == len(standings) else f"{text} in {found[0]} mode"
        for text, found in modes.items()
    ]
    lenders = [found.name for found in scores.source.lenders]
    lent = f"{listed(scores.lent)}: of the experiment {listed(lenders)}, selected as"
    return experiment_caption(
        results,
        f"Mean ranks by {metric_words(scores.metric)}, 1 being the best. Bars join"
        " methods whose mean ranks differ by less than Nemenyi's critical difference"
        " (CD) at the 5% level. Friedman's test (Iman and Davenport):"
        f" {'; '.join(tests)}.",
        f"{lent} there." if scores.lent else "",
        datasets=shown,
        modes=[standing.mode for standing in standings],
        missing=gaps,
    )
