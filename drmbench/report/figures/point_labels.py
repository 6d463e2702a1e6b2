"""Names beside points: they overlap neither each other nor the points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from drmbench.report.figures.style import GREY, lay_out

_SIZE = 7.0
#: Distances of a label from its point to try, in points.
_DISTANCES = (5.0, 8.0, 13.0, 19.0, 26.0, 34.0, 43.0, 53.0)
_LEADER_FROM = 13.0  # the distance from which on a thin line leads to the point
_ANGLES = [math.radians(angle) for angle in (0, 180, 90, 270, 45, 315, 135, 225)]
_DIRECTIONS = np.round([[math.cos(angle), math.sin(angle)] for angle in _ANGLES], 6)
#: Half the side of a square around each point in which no other point's label is, in
#: points; a label beside a marker seems to belong to it.
_MARKER = 8.0
_SPOT = 3.0  # the same around a point without a name
_LINE = np.full(2, 5.0)  # room around each step of that line
_STEPS = 12  # in which the way from a point to its label is looked at
#: Square points of overlap that a point of way is worth, and one through something.
_FAR, _CROSSING = 1.0, 8.0
_LEADER = {"arrowstyle": "-", "color": GREY, "lw": 0.5, "shrinkA": 0, "shrinkB": 2}

Array = NDArray[np.float64]


def label_points(
    figure: Figure,
    panel: Axes,
    points: Sequence[tuple[float, float]],
    names: list[str],
    *,
    others: Sequence[tuple[float, float]] = (),
) -> None:
    """Write each name beside its point, given in the panel's coordinates.

    `others` are points without a name, which names stay off as well. Call it last: it
    needs the final limits of the panel.
    """
    lay_out(figure)  # which decides where the panel is
    scale = figure.dpi / 72
    at = np.asarray(panel.transData.transform(points)) / scale
    inside = np.array(panel.get_window_extent().extents) / scale
    sizes = [_text_size(figure, panel, name) / scale for name in names]
    taken = np.hstack([at - _MARKER, at + _MARKER])
    if len(others):
        spots = np.asarray(panel.transData.transform(others)) / scale
        apart = np.abs(spots[:, None] - at).max(axis=2).min(axis=1)
        spots = spots[apart > 0.5]  # the points themselves are there already
        taken = np.vstack([taken, np.hstack([spots - _SPOT, spots + _SPOT])])
    gaps = np.sort(np.linalg.norm(at[:, None] - at, axis=2), axis=1)
    for number in np.argsort(gaps[:, :3].sum(axis=1)).tolist():  # most crowded first
        # Centres of the label relative to its point, nearest first.
        reach = np.array(_DISTANCES)[:, None, None] + sizes[number] / 2
        centres = (reach * _DIRECTIONS).reshape(-1, 2)
        boxes = _boxes(at[number] + centres, sizes[number])
        rest = np.delete(taken, number, axis=0)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
        cost = _overlap(boxes, rest) + (area - _overlap(boxes, inside[None]))
        cost += _way_cost(at[number], centres, rest)
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
