"""Every method ranked on each kind of data: mean ranks with intervals, best above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from drmbench.report.figures.drawing import (
    INTERVAL,
    Drawing,
    is_drm,
    methods_of,
    mode_sentence,
    ordinal,
    source_sentence,
)
from drmbench.report.figures.style import DOUBLE, GREY, grid_of_panels, look_of
from drmbench.report.leaderboard import board
from drmbench.report.protocol_words import times
from drmbench.report.score_pool import ScorePool
from drmbench.running.results import Results
from drmbench.words import metric_words

_LINE = 0.14  # height of a method's line, in inches


def draw_standings(
    pools: Sequence[ScorePool], results: Mapping[str, Results]
) -> Drawing:
    """Draw the mean rank of every method, one panel per regime."""
    names = tuple(dict.fromkeys(name for pool in pools for name in pool.sources))
    boards = [_ranked(pool) for pool in pools]
    figure, panels = grid_of_panels(
        len(pools),
        columns=3,
        height=0.6 + _LINE * max(map(len, boards)),
        width=DOUBLE,
        margin=0.2,
        shared=False,
    )
    for panel, pool, ranked in zip(panels, pools, boards, strict=True):
        _draw_panel(panel, ranked, methods_of(results, pool.sources))
        panel.set_title(f"{pool.regime.title}\n{times(len(pool.scores), 'data set')}")
    figure.supxlabel("mean rank, 1 being the best")
    return Drawing(
        "standings",
        _title(pools, boards),
        _caption(pools, boards, names),
        figure,
        names,
    )


def _ranked(pool: ScorePool) -> pd.DataFrame:
    return board(pool).dropna(subset=["mean_rank"]).set_index("method")


def _draw_panel(
    panel: Axes, ranked: pd.DataFrame, methods: Mapping[str, Mapping[str, Any]]
) -> None:
    for place, (name, line) in enumerate(ranked.iterrows()):
        look, drm = look_of(methods[str(name)]), is_drm(methods[str(name)])
        ends = [line["mean_rank_low"], line["mean_rank_high"]]
        colour = look.colour if drm else GREY
        panel.plot(ends, [place, place], color=colour, lw=1.4 if drm else 0.8)
        look.plot(panel, [line["mean_rank"]], [place], ls="", ms=4.5 if drm else 3.5)
    panel.set_ylim(len(ranked) - 0.4, -0.6)
    panel.set_yticks(range(len(ranked)), [str(name) for name in ranked.index])
    panel.tick_params(axis="y", length=0)
    for label, name in zip(panel.get_yticklabels(), ranked.index, strict=True):
        if is_drm(methods[str(name)]):
            label.set(color=look_of(methods[str(name)]).colour, weight="bold")
    panel.grid(axis="y", visible=False)
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def _title(pools: Sequence[ScorePool], boards: Sequence[pd.DataFrame]) -> str:
    """Say where the DRM stands on each kind of data."""
    places = [
        f"{ordinal(list(ranked.index).index(pool.entry) + 1)} of {len(ranked)}"
        f" ({pool.regime.title})"
        for pool, ranked in zip(pools, boards, strict=True)
        if pool.entry
    ]
    if not places:
        return f"Every method ranked on {times(len(pools), 'kind')} of data"
    return f"By mean rank the DRM is {', '.join(places)}"


def _caption(
    pools: Sequence[ScorePool], boards: Sequence[pd.DataFrame], names: Sequence[str]
) -> str:
    counts = [
        f"{pool.regime.title}: {len(ranked)} methods, n = {len(pool.scores)} data sets"
        f" of {len(set(pool.origin_list))} origins, ranked by"
        f" {metric_words(pool.metric)}"
        for pool, ranked in zip(pools, boards, strict=True)
    ]
    return (
        f"Mean ranks of all methods with complete results. Bars: {INTERVAL}. DRMs are"
        f" in colour. {'; '.join(counts)}. {mode_sentence(pools[0].mode)}"
        f" {source_sentence(names)}"
    )
