"""What a figure costs: mean rank or metric against run time, one point per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.when import front
from drmbench.report.bootstrap import mean_intervals
from drmbench.report.figures.drawing import (
    INTERVAL,
    Drawing,
    NothingToDrawError,
    competing_methods,
    drm_entry,
    experiment_caption,
    fair_mode,
    is_drm,
    left_out,
    machine_sentence,
    method_names,
    methods_of,
    metric_label,
    mode_sentence,
    source_sentence,
)
from drmbench.report.figures.point_labels import label_points
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    LIGHT,
    Look,
    grid_of_panels,
    legend_above,
    log_limits,
    log_ticks,
    look_of,
    new_figure,
    plain_numbers,
)
from drmbench.report.leaderboard import board
from drmbench.report.protocol_words import times
from drmbench.report.score_pool import ScorePool
from drmbench.report.statistics import complete_part
from drmbench.running.results import Results
from drmbench.words import metric_words

#: A regime with fewer data sets or methods than these has no panel.
LEAST_DATASETS, LEAST_METHODS = 3, 3

_TIME = "selection and fit of one split (s)"


@dataclass(frozen=True, eq=False)
class Points:
    """The methods of a panel: what they reach and what they cost."""

    #: One row per method: ``seconds``, ``value`` with ``low`` and ``high``
    frame: pd.DataFrame
    sign: int  #: 1 if higher values are better, else -1
    methods: Mapping[str, Mapping[str, Any]]  #: The manifest's entries

    @property
    def front(self) -> list[str]:
        """The methods that no other beats in both, fastest first."""
        return front(self.frame.assign(value=self.sign * self.frame["value"]))

    @property
    def entry(self) -> str:
        """The DRM that stands for the method, or an empty text."""
        return drm_entry([str(name) for name in self.frame.index], self.methods)

    @property
    def drms_on_front(self) -> list[str]:
        """The DRMs that no other method beats in both."""
        return [name for name in self.front if is_drm(self.methods[name])]

    @property
    def named(self) -> list[str]:
        """The methods that are named: the better half of the front, and DRMs."""
        values = self.sign * self.frame["value"]
        middle = values.median()
        good = [name for name in self.front if values[name] >= middle]
        drms = [str(x) for x in self.frame.index if is_drm(self.methods[str(x)])]
        return list(dict.fromkeys([*good, *drms]))


def pool_points(pool: ScorePool, results: Mapping[str, Results]) -> Points:
    """Return the mean rank and the seconds of the complete methods of a regime."""
    ranked = board(pool).set_index("method").dropna(subset=["mean_rank", "seconds"])
    frame = ranked[["seconds", "mean_rank", "mean_rank_low", "mean_rank_high"]]
    frame.columns = pd.Index(["seconds", "value", "low", "high"])
    return Points(frame[frame["seconds"] > 0], -1, methods_of(results, pool.sources))


def draw_regimes(pools: Sequence[ScorePool], results: Mapping[str, Results]) -> Drawing:
    """Draw the mean rank against the run time, one panel per regime."""
    names = tuple(dict.fromkeys(name for pool in pools for name in pool.sources))
    panels_of = [pool_points(pool, results) for pool in pools]
    figure, panels = grid_of_panels(
        len(pools), columns=3, height=2.35, width=DOUBLE, margin=0.75, shared=False
    )
    for panel, pool, points in zip(panels, pools, panels_of, strict=True):
        sets = times(len(pool.scores), "data set")
        panel.set_title(f"{pool.regime.title}, {sets}")
        _draw_points(panel, points)
        panel.set_ylim(len(points.frame) + 0.8, 0.2)
        panel.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    figure.supxlabel(f"{_TIME}, median over data sets")
    figure.supylabel("mean rank, best above")
    legend_above(figure, panels)
    for panel, points in zip(panels, panels_of, strict=True):
        _label(panel, points, {name: name for name in points.frame.index})
    single = f"{names[0]}_" if len(names) == 1 else ""
    return Drawing(
        f"{single}tradeoff",
        _regimes_title(pools, panels_of),
        _regimes_caption(pools, panels_of, names),
        figure,
        names,
    )


def _regimes_title(pools: Sequence[ScorePool], panels: Sequence[Points]) -> str:
    """Say in how many regimes nothing is both faster and better than a DRM."""
    having = [p for p in zip(pools, panels, strict=True) if p[1].entry]
    on = [pool.regime.title for pool, points in having if points.drms_on_front]
    kinds = times(len(having), "kind")
    if not having:
        return "Better ranks cost time"
    if not on:
        return f"On none of {kinds} of data is a DRM on the front of rank and run time"
    if len(on) == len(having):
        every = "all" if len(on) > 1 else "the one"
        kinds = kinds.removeprefix("1 ")
        return f"A DRM is on the front of rank and run time on {every} {kinds} of data"
    return (
        f"A DRM is on the front of rank and run time on {len(on)} of {kinds} of data:"
        f" {', '.join(on)}"
    )


def _regimes_caption(
    pools: Sequence[ScorePool], panels: Sequence[Points], names: Sequence[str]
) -> str:
    counts = [
        f"{pool.regime.title}: {len(points.frame)} methods, n = {len(pool.scores)} data"
        f" sets of {len(set(pool.origin_list))} origins, ranked by"
        f" {metric_words(pool.metric)}; no other method is both faster and better than"
        f" {', '.join(points.front)}"
        for pool, points in zip(pools, panels, strict=True)
    ]
    return (
        "Mean rank, 1 being the best and above, against the seconds that selection and"
        " fit of one split take (median over data sets, logarithmic axis; other work"
        f" may have been on the machine). Bars: {INTERVAL}. The line joins the methods"
        " that no other beats in both; the better of these and the DRMs are named."
        f" {'. '.join(counts)}. {mode_sentence(pools[0].mode)}"
        f" {source_sentence(names)}"
    )


def draw_tradeoff(results: Results, origins: Mapping[str, str]) -> Drawing:
    """Draw the mean metric of one experiment against its run time."""
    mode = fair_mode(results)
    part = complete_part(results.means(mode=mode)[competing_methods(results)])
    seconds = _seconds(results, part.means, mode)
    shown = seconds[seconds > 0].index
    if len(shown) < 2:
        raise NothingToDrawError(
            f"{results.name}: fewer than two methods have complete results and times"
        )
    sources = [origins.get(str(name), str(name)) for name in part.means.index]
    frame = mean_intervals(part.means[shown], sources)
    frame = frame.rename(columns={"mean": "value"}).assign(seconds=seconds)
    points = Points(frame, get_metric(results.metric).sign, results.methods)
    figure = new_figure(DOUBLE, 3.6)
    panel = figure.subplots()
    _draw_points(panel, points)
    panel.set_xlabel(f"{_TIME}, mean")
    panel.set_ylabel(f"{metric_label(results.metric)}, mean over data sets")
    legend_above(figure, [panel])
    names = method_names(results)
    _label(panel, points, names)
    return Drawing(
        f"{results.name}_tradeoff",
        _tradeoff_title(results, points, names, len(part.means)),
        experiment_caption(
            results,
            f"Mean over data sets of the {metric_words(results.metric)} against the"
            " mean time that selection and fit of one split take, in seconds on a"
            " logarithmic axis (splits that ended well)."
            f" Bars: {INTERVAL}. The line joins the methods that no other beats in"
            " both; the better of these and the DRMs are named.",
            machine_sentence(results),
            datasets=[str(name) for name in part.means.index],
            modes=[mode],
            missing=left_out(part),
        ),
        figure,
        (results.name,),
    )


def _tradeoff_title(
    results: Results, points: Points, names: Mapping[str, str], number: int
) -> str:
    """Say who reaches most, and whether anything is both faster and better."""
    values = points.sign * points.frame["value"]
    best, metric = names[str(values.idxmax())], metric_words(results.metric)
    entry, where = points.entry, f"on {times(number, 'data set')}"
    if not entry:
        return f"{best} has the best mean {metric} {where}"
    if entry in points.front:
        drm = names[entry]
        return f"No method is both faster than {drm} and better in {metric} {where}"
    faster = points.frame["seconds"] <= points.frame.loc[entry, "seconds"]
    better = values[faster & (values > values[entry])]
    if better.empty:  # as good, and faster
        better = values[faster & (values >= values[entry])].drop(entry)
    return (
        f"{names[str(better.idxmax())]} is both faster than {names[entry]} and better"
        f" in {metric} {where}"
    )


def _seconds(results: Results, means: pd.DataFrame, mode: ScalingMode) -> pd.Series:
    """Return the mean seconds that selection and fit of a split take, by method."""
    rows = results.rows
    rows = rows[
        (rows["status"] == "ok")
        & (rows["mode"] == mode)
        & rows["dataset"].isin(means.index)
        & rows["method"].isin(means.columns)
    ]
    spent = rows[["seconds_select", "seconds_fit"]].sum(axis=1, min_count=2)
    keys = [rows[key] for key in ("method", "dataset", "split")]
    by_split = spent.groupby(keys).sum(min_count=1)
    return by_split.groupby("method").mean().reindex(means.columns)


def _draw_points(panel: Axes, points: Points) -> None:
    panel.set_xscale("log")
    panel.margins(y=0.12)
    frame = points.frame
    panel.set_xlim(*log_limits(frame["seconds"].to_numpy(dtype=float), 0.2))
    ends = frame.loc[points.front]
    panel.plot(ends["seconds"], ends["value"], color=LIGHT, lw=0.8, ls="--", zorder=1)
    seen: dict[Look, list[str]] = {}
    for name in map(str, frame.index):
        seen.setdefault(look_of(points.methods[name]), []).append(name)
    for look, names in seen.items():
        drm = is_drm(points.methods[names[0]])
        part = frame.loc[names]
        panel.vlines(
            part["seconds"],
            part["low"],
            part["high"],
            color=look.colour if drm else GREY,
            lw=1.1 if drm else 0.5,
            alpha=0.8 if drm else 0.3,
            zorder=2,
        )
        size = {"ms": 5.5 if drm else 4, "zorder": 4 if drm else 3, "ls": ""}
        look.plot(panel, part["seconds"], part["value"], **size)


def _label(panel: Axes, points: Points, names: Mapping[str, str]) -> None:
    """Write the names that matter beside their points, when limits are final."""
    log_ticks(panel.xaxis)
    panel.xaxis.set_major_formatter(plain_numbers())
    shown = points.frame.loc[points.named]
    label_points(
        panel.figure,  # type: ignore[arg-type]
        panel,
        list(zip(shown["seconds"], shown["value"], strict=True)),
        [names[name] for name in points.named],
        others=list(zip(points.frame["seconds"], points.frame["value"], strict=True)),
    )
