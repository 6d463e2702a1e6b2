"""Figures of time and convergence show the stored rows, and name what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from figure_results import (
    LARGE,
    SOLVERS,
    change_rows,
    draw,
    line,
    rows_of,
    texts,
)
from result_files import BETAS, SIZES, make_results

from drmbench.errors import InputError
from drmbench.report.figures import Drawing
from drmbench.report.figures.measured import straight_lines
from drmbench.report.figures.style import PAPER


def test_time_against_size(drawings: dict[str, Drawing], results_folder: Path) -> None:
    panels = drawings["timing_time"].figure.axes
    assert [panel.get_title() for panel in panels] == list(LARGE)
    for panel in panels:
        rows = rows_of(results_folder, "timing", dataset=panel.get_title())
        for label, method in (("DRM-GD", "drm-gd"), ("DRM-APG", "drm-apg")):
            chosen = rows[rows["method"] == method]
            expected = chosen[["n_train", "seconds_example"]].to_numpy()
            assert np.allclose(line(panel, label), expected * [1, 1e3])
        assert len(panel.collections) == len(SOLVERS)
        assert (panel.get_xscale(), panel.get_yscale()) == ("linear", "linear")
        assert (panel.get_xlim()[0], panel.get_ylim()[0]) == (0, 0)
    assert "time of one test example (ms)" in texts(drawings["timing_time"].figure)


def test_bars_are_one_deviation_and_end_at_zero(tmp_path: Path) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "timing", "seconds_sd", 9.0, n_train=SIZES[0])
    rows = rows_of(tmp_path, "timing")
    (bars,) = draw(tmp_path)["timing_time"].figure.axes[0].collections
    ends = [segment[:, 1] for segment in bars.get_segments()]
    for (low, high), mean, spread in zip(
        ends, rows["seconds_example"], rows["seconds_sd"], strict=True
    ):
        assert high == pytest.approx(1e3 * (mean + spread))
        assert low == pytest.approx(1e3 * max(mean - spread, 0))


@pytest.mark.parametrize(
    ("seconds", "title"),
    [
        ([0.1, 0.2, 0.4], "grows linearly with n: straight lines explain at least 100"),
        ([0.1, 0.5, 0.1], "grows linearly with n in 0 of 1 cases"),
    ],
)
def test_time_is_linear_only_if_it_is(
    tmp_path: Path, seconds: list[float], title: str
) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    for size, value in zip(SIZES, seconds, strict=True):
        change_rows(tmp_path, "timing", "seconds_example", value, n_train=size)
    drawing = draw(tmp_path)["timing_time"]
    assert title in drawing.title
    lines = straight_lines(rows_of(tmp_path, "timing"))
    fit = np.polyfit(SIZES, seconds, 1)
    assert np.allclose(lines[["slope", "fixed"]].to_numpy()[0], fit)
    left = np.var(np.array(seconds) - np.polyval(fit, SIZES)) / np.var(seconds)
    assert lines["r2"].to_numpy()[0] == pytest.approx(1 - left)


def test_the_titles_of_convergence_follow_the_rows(tmp_path: Path) -> None:
    make_results(tmp_path, "c", kind="convergence", datasets=["poker"], methods=SOLVERS)
    trace = json.dumps([0.0, -1.0, -1.0])
    change_rows(tmp_path, "c", "trace", trace, method="drm-apg", beta=1e4)
    drawings = draw(tmp_path)
    assert drawings["c_objective"].title.startswith("DRM-APG is the first to come")
    for beta, iterations in zip(BETAS, (1, 2, 3), strict=True):
        change_rows(tmp_path, "c", "iterations", iterations, beta=beta)
    assert "fewer iterations in 0 of 3 cases" in draw(tmp_path)["c_beta"].title
    for beta, iterations in zip(BETAS, (3, 2, 1), strict=True):
        change_rows(tmp_path, "c", "iterations", iterations, beta=beta)
    title = draw(tmp_path)["c_beta"].title
    assert title.startswith("A larger β needs fewer iterations with every algorithm")


def test_objective_is_the_gap_to_the_lowest_value(tmp_path: Path) -> None:
    make_results(
        tmp_path, "slow", kind="convergence", datasets=["poker"], methods=SOLVERS
    )
    trace = json.dumps([0.0, -3.0, -4.0])
    change_rows(tmp_path, "slow", "trace", trace, method="drm-ppa", beta=1e4)
    (panel,) = draw(tmp_path)["slow_objective"].figure.axes
    gaps = line(panel, "DRM-PPA")
    assert np.allclose(gaps[:2], [[0, 1], [1, 0.25]])
    assert np.isnan(gaps[2, 1])  # the lowest itself has no place on the axis
    others = -1.0 + 0.5 ** np.arange(8)
    assert np.allclose(line(panel, "DRM-GD")[:, 1], (others + 4) / 4)


def test_iterations_and_time_against_beta(
    drawings: dict[str, Drawing], results_folder: Path
) -> None:
    panels = drawings["convergence_beta"].figure.axes
    labels = [panel.get_ylabel() for panel in panels if panel.get_ylabel()]
    assert labels == ["iterations", "time (s)"]
    rows = rows_of(results_folder, "convergence", dataset="poker", method="drm-ppa")
    for place, column in ((0, "iterations"), (len(LARGE), "seconds_example")):
        expected = rows[["beta", column]].to_numpy()
        assert np.allclose(line(panels[place], "DRM-PPA"), expected)
        assert np.allclose(expected[:, 0], BETAS)


def test_what_did_not_converge_is_hollow(tmp_path: Path) -> None:
    make_results(
        tmp_path, "c", kind="convergence", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "c", "converged", 0.5, beta=BETAS[0])
    figure = draw(tmp_path)["c_beta"].figure
    hollow = [
        item
        for item in figure.axes[0].get_lines()
        if item.get_markerfacecolor() == PAPER
    ]
    assert np.allclose(np.concatenate([item.get_xdata() for item in hollow]), BETAS[:1])
    assert "hollow: not all converged" in texts(figure)


def test_missing_measurements_and_relatives_are_named(tmp_path: Path) -> None:
    make_results(
        tmp_path,
        "timing",
        kind="timing",
        datasets=[{"name": "poker", "substitute": "poker-lsn"}, "ijcnn1"],
        methods=["drm-gd"],
        values={("poker", "drm-gd"): [1.0, "timeout: 10 s"], ("ijcnn1", "drm-gd"): ()},
    )
    drawing = draw(tmp_path)["timing_time"]
    assert [panel.get_title() for panel in drawing.figure.axes] == ["poker†"]
    assert "a relative stands in: poker (poker-lsn)" in drawing.caption
    missing = "Not shown: drm-gd on poker (1 of 3 sizes), ijcnn1 (not run)."
    assert drawing.caption.endswith(missing)


def test_a_trace_that_is_no_trace(tmp_path: Path) -> None:
    make_results(
        tmp_path, "c", kind="convergence", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "c", "trace", "[1, 2", beta=1e4)
    with pytest.raises(InputError, match=r"c: the trace of drm-gd on poker is not"):
        draw(tmp_path)
