"""What accuracy costs: mean metric against mean time, one point per method.

Labels of the points overlap neither each other nor the points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

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
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    LIGHT,
    SINGLE,
    family_look,
    lay_out,
    log_ticks,
    new_figure,
)
from drmbench.report.statistics import complete_part
from drmbench.running.results import Results
from drmbench.words import metric_words

_SECONDS = ["seconds_select", "seconds_fit", "seconds_predict"]
#: More methods than these need two columns for their labels.
_NARROW = 10

_SIZE = 7.0
#: Distances of a label from its point to try, in points.
_DISTANCES = (5.0, 8.0, 13.0, 19.0, 26.0, 34.0, 43.0, 53.0)
_LEADER_FROM = 13.0  # the distance from which on a thin line leads to the point
_ANGLES = [math.radians(angle) for angle in (0, 180, 90, 270, 45, 315, 135, 225)]
_DIRECTIONS = np.round([[math.cos(angle), math.sin(angle)] for angle in _ANGLES], 6)
#: Half the side of a square around each point in which no other point's label is, in
#: points; a label beside a marker seems to belong to it.
_MARKER = 8.0
_LINE = np.full(2, 5.0)  # room around each step of that line
_STEPS = 12  # in which the way from a point to its label is looked at
#: Square points of overlap that a point of way is worth, and one through something.
_FAR, _CROSSING = 1.0, 8.0
_LEADER = {"arrowstyle": "-", "color": GREY, "lw": 0.5, "shrinkA": 0, "shrinkB": 2}

Array = NDArray[np.float64]


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


def label_points(
    figure: Figure, panel: Axes, points: Sequence[tuple[float, float]], names: list[str]
) -> None:
    """Write each name beside its point, given in the panel's coordinates.

    Call it last: it needs the final limits of the panel.
    """
    lay_out(figure)  # which decides where the panel is
    scale = figure.dpi / 72
    at = np.asarray(panel.transData.transform(points)) / scale
    inside = np.array(panel.get_window_extent().extents) / scale
    sizes = [_text_size(figure, panel, name) / scale for name in names]
    taken = np.hstack([at - _MARKER, at + _MARKER])
    gaps = np.sort(np.linalg.norm(at[:, None] - at, axis=2), axis=1)
    for number in np.argsort(gaps[:, :3].sum(axis=1)).tolist():  # most crowded first
        # Centres of the label relative to its point, nearest first.
        reach = np.array(_DISTANCES)[:, None, None] + sizes[number] / 2
        centres = (reach * _DIRECTIONS).reshape(-1, 2)
        boxes = _boxes(at[number] + centres, sizes[number])
        others = np.delete(taken, number, axis=0)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
        cost = _overlap(boxes, others) + (area - _overlap(boxes, inside[None]))
        cost += _way_cost(at[number], centres, others)
        best = int(np.argmin(cost))
        far = _DISTANCES[best // len(_ANGLES)] >= _LEADER_FROM
        line = at[number] + _way(centres[best]) if far else np.empty((0, 2))
        taken = np.vstack([taken, boxes[best], _boxes(line, _LINE)])
        note = panel.annotate(
            names[number],
            points[number],
            xytext=(float(centres[best, 0]), float(centres[best, 1])),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=_SIZE,
            bbox={"pad": 0.5, "fc": "none", "ec": "none"},
            arrowprops=_LEADER if far else None,
        )
        note.set_in_layout(False)


def _text_size(figure: Figure, panel: Axes, name: str) -> Array:
    """Return the width and height of a text, in pixels."""
    text = panel.text(0, 0, name, fontsize=_SIZE, transform=None, parse_math=False)
    extent = text.get_window_extent(cast(Any, figure.canvas).get_renderer())
    text.remove()
    return np.array([extent.width, extent.height])


def _boxes(centres: Array, size: Array) -> Array:
    """Return left, lower, right and upper edge of boxes of a size."""
    return np.hstack([centres - size / 2, centres + size / 2])


def _overlap(boxes: Array, taken: Array) -> Array:
    """Return the area that each box shares with what is taken."""
    low = np.maximum(boxes[:, None, :2], taken[:, :2])
    high = np.minimum(boxes[:, None, 2:], taken[:, 2:])
    return np.asarray(np.clip(high - low, 0, None).prod(axis=2).sum(axis=1))


def _way(centre: Array) -> Array:
    """Return steps on the way from a point to a label's centre."""
    return np.linspace(0, 1, _STEPS)[:, None] * centre


def _way_cost(at: Array, centres: Array, taken: Array) -> Array:
    """Return what the way to each label costs: the distance, and what it crosses."""
    ways = at + np.stack([_way(centre) for centre in centres])
    steps = ways[:, :, None]
    inside = (steps > taken[:, :2]).all(axis=3) & (steps < taken[:, 2:]).all(axis=3)
    crossed = np.linalg.norm(centres, axis=1) / _STEPS * inside.sum(axis=(1, 2))
    return np.asarray(_FAR * np.repeat(_DISTANCES, len(_ANGLES)) + _CROSSING * crossed)
