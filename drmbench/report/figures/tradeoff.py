"""What accuracy costs: mean metric against mean time, one point per method."""

from __future__ import annotations

from typing import cast

import pandas as pd
from matplotlib.axes import Axes

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    competing_methods,
    experiment_caption,
    fair_mode,
    left_out,
    machine_sentence,
    method_names,
    metric_label,
)
from drmbench.report.figures.point_labels import label_points
from drmbench.report.figures.style import (
    DOUBLE,
    LIGHT,
    SINGLE,
    family_look,
    log_ticks,
    new_figure,
)
from drmbench.report.statistics import complete_part
from drmbench.run.results import Results
from drmbench.words import metric_words

_SECONDS = ["seconds_select", "seconds_fit", "seconds_predict"]
#: More methods than these need two columns for their labels.
_NARROW = 10


def draw_tradeoff(results: Results) -> Drawing:
    """Draw the mean metric against the mean total time of a split."""
    mode = fair_mode(results)
    part = complete_part(results.means(mode=mode)[competing_methods(results)])
    points = _points(results, part.means, mode)
    if len(points) < 2:
        raise NothingToDrawError(
            f"{results.name}: fewer than two methods have complete results and times"
        )
    width, height = (SINGLE, 2.9) if len(points) <= _NARROW else (DOUBLE, 3.6)
    figure = new_figure(width, height)
    panel = figure.subplots()
    _draw_points(panel, results, points)
    panel.set_xlabel("selection, fit and prediction of a split, mean (s)")
    panel.set_ylabel(f"{metric_label(results.metric)}, mean over data sets")
    names = method_names(results)
    log_ticks(panel.xaxis)
    label_points(
        figure,
        panel,
        list(zip(points["seconds"], points["metric"], strict=True)),
        [names[str(label)] for label in points.index],
    )
    return Drawing(
        f"{results.name}_tradeoff",
        f"{metric_label(results.metric)} against time: {results.experiment.title}",
        experiment_caption(
            results,
            f"Mean over data sets of the {metric_words(results.metric)} against the"
            " mean time that selection, fit and prediction of one split take (splits"
            " that ended well). The line joins the methods that no other beats in"
            " both.",
            machine_sentence(results),
            datasets=[str(name) for name in part.means.index],
            modes=[mode],
            missing=left_out(part),
        ),
        figure,
    )


def _points(results: Results, means: pd.DataFrame, mode: ScalingMode) -> pd.DataFrame:
    """Return mean seconds of a split and mean metric, one row per method."""
    rows = results.rows
    rows = rows[
        (rows["status"] == "ok")
        & (rows["mode"] == mode)
        & rows["dataset"].isin(means.index)
        & rows["method"].isin(means.columns)
    ]
    total = rows.assign(seconds=rows[_SECONDS].sum(axis=1, min_count=1))
    by_split = total.groupby(["method", "dataset", "split"])["seconds"].sum(min_count=1)
    points = pd.DataFrame(
        {
            "seconds": by_split.groupby("method").mean().reindex(means.columns),
            "metric": means.mean(),
        }
    )
    return points[points["seconds"] > 0]


def _draw_points(panel: Axes, results: Results, points: pd.DataFrame) -> None:
    panel.set_xscale("log")
    panel.margins(0.14, 0.12)
    # The methods that no other beats in both, fastest first.
    by_time = points.sort_values(["seconds", "metric"], ascending=[True, False])
    best_before = by_time["metric"].cummax().shift(fill_value=-float("inf"))
    front = by_time[by_time["metric"] > best_before]
    panel.plot(
        front["seconds"], front["metric"], color=LIGHT, lw=0.8, ls="--", zorder=1
    )
    for label, point in points.iterrows():
        look = family_look(results.methods[cast(str, label)]["family"])
        panel.plot(
            [point["seconds"]], [point["metric"]], look.marker, color=look.colour, ms=5
        )
