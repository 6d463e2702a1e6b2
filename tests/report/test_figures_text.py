"""Captions, labels and numbers on axes: complete, legible, none over another."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pytest
from matplotlib.text import Text

from drmbench.report.figures import Drawing
from drmbench.report.figures.point_labels import label_points
from drmbench.report.figures.style import (
    DOUBLE,
    SINGLE,
    log_ticks,
    new_figure,
)


def test_captions_say_how_many_and_under_which_protocol(
    drawings: dict[str, Drawing],
) -> None:
    for name, drawing in drawings.items():
        if name.startswith(("timing", "convergence")):
            assert "2 data sets, n = 100" in drawing.caption
            assert "α = 0.001" in drawing.caption
        else:
            assert re.search(r"\d data sets", drawing.caption)
        if name.startswith("ablation"):
            assert "4 data sets (n = 214 to 336 samples), 5 splits" in drawing.caption
            assert "Protocol: the data set's own folds" in drawing.caption
            assert "selected by leave-one-out" in drawing.caption
        (experiment,) = drawing.experiments
        command = f"drawn by `drmbench figures {experiment}`."
        assert f"Source: experiment {experiment}; {command}" in drawing.caption
        assert "Not shown" not in drawing.caption
    assert "optimistic" in drawings["imbalanced_published"].caption
    assert drawings["timing_time"].title.endswith("(Figure 1 of the paper)")


def overlaps(boxes: Iterable[np.ndarray]) -> int:
    found = list(boxes)
    return sum(
        bool((np.maximum(a[0], b[0]) < np.minimum(a[1], b[1])).all())
        for number, a in enumerate(found)
        for b in found[:number]
    )


def test_labels_of_crowded_points_do_not_overlap() -> None:
    random = np.random.default_rng(0)
    points = [(float(x), float(y)) for x, y in random.normal(size=(20, 2))]
    points += [(0.0, 0.0), (0.01, 0.0)]  # two that nearly coincide
    figure = new_figure(DOUBLE, 3.6)
    panel = figure.subplots()
    panel.plot(*zip(*points, strict=True), "o")
    panel.margins(0.15)
    label_points(figure, panel, points, [f"method-{n}" for n in range(len(points))])
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    boxes = [Text.get_window_extent(t, renderer).get_points() for t in panel.texts]
    assert len(boxes) == len(points)
    assert overlaps(boxes) == 0
    low, high = panel.get_window_extent().get_points()
    assert all((box[0] >= low).all() and (box[1] <= high).all() for box in boxes)


@pytest.mark.parametrize("limits", [(4, 9), (4, 60), (0.02, 300), (1e-5, 1e-2)])
def test_logarithmic_axes_have_a_few_numbers(limits: tuple[float, float]) -> None:
    figure = new_figure(SINGLE, 2)
    panel = figure.subplots()
    panel.set(xscale="log", xlim=limits)
    log_ticks(panel.xaxis)
    figure.draw_without_rendering()
    inside = [v for v in panel.get_xticks() if limits[0] <= v <= limits[1]]
    assert 3 <= len(inside) <= 6
    assert not any(text.get_text() for text in panel.get_xticklabels(minor=True))


def test_letters_are_large_enough_and_nothing_is_cut_off(
    drawings: dict[str, Drawing],
) -> None:
    for drawing in drawings.values():
        figure = drawing.figure
        assert figure.get_figwidth() in (SINGLE, DOUBLE)
        sizes = [t.get_fontsize() for t in figure.findobj(Text) if t.get_text()]
        assert min(sizes) >= 7
        drawn = figure.get_tightbbox(figure.canvas.get_renderer())
        whole = [0, 0, figure.get_figwidth(), figure.get_figheight()]
        assert drawn.x0 >= -0.01, drawing.id
        assert drawn.y0 >= -0.01, drawing.id
        assert drawn.x1 <= whole[2] + 0.01, drawing.id
        assert drawn.y1 <= whole[3] + 0.01, drawing.id
