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


def test_time_against_size(drawings: dict[str, Drawing], results_folder: Path) -> None:
    panels = drawings["timing_time"].figure.axes
    assert [panel.get_title() for panel in panels] == list(LARGE)
    for panel in panels:
        rows = rows_of(results_folder, "timing", dataset=panel.get_title())
        for label, method in (("DRM-GD", "drm-gd"), ("DRM-APG", "drm-apg")):
            chosen = rows[rows["method"] == method]
            expected = chosen[["n_train", "seconds_example"]].to_numpy()
            assert np.allclose(line(panel, label), expected)
        (x0, y0), (x1, y1) = line(panel, "slope 1")
        assert (x0, x1) == (SIZES[0], SIZES[-1])
        assert y1 / y0 == pytest.approx(x1 / x0)
        assert y1 < rows["seconds_example"].max()
        assert len(panel.collections) == len(SOLVERS)
        assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")


def test_the_band_is_one_deviation_and_never_reaches_zero(tmp_path: Path) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "timing", "seconds_sd", 9.0, n_train=SIZES[0])
    rows = rows_of(tmp_path, "timing")
    (band,) = draw(tmp_path)["timing_time"].figure.axes[0].collections
    corners = band.get_paths()[0].vertices
    for n, mean, spread in rows[["n_train", "seconds_example", "seconds_sd"]].values:
        low, *_, high = sorted(corners[np.isclose(corners[:, 0], n)][:, 1])
        assert high == pytest.approx(mean + spread)
        assert low == pytest.approx(max(mean - spread, mean / 10))


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
        if item.get_markerfacecolor() == "white"
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
