"""Figures of classification show the stored rows, beside the paper's figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from figure_results import (
    FIXED,
    KERNELS,
    METHODS,
    draw,
    line,
    mean_value,
    texts,
)
from result_files import KEEL, make_results

from drmbench.paper import find_cell, published_cells
from drmbench.report.figures import Drawing
from drmbench.report.figures.style import (
    family_look,
)
from drmbench.report.statistics import critical_difference


def test_drm_against_krr_selected(drawings: dict[str, Drawing]) -> None:
    panels = drawings["ablation_selected"].figure.axes
    assert [panel.get_title() for panel in panels] == [
        "rbf kernel",
        "polynomial kernel",
    ]
    for panel, kernel in zip(panels, KERNELS, strict=True):
        for bars, model in zip(panel.containers, ("drm", "krr"), strict=True):
            expected = [
                mean_value(d, f"{model}-{kernel}", "maxabs", "maxabs") for d in KEEL
            ]
            assert np.allclose(bars.lines[0].get_xdata(), expected)
            assert bars.get_label() == model.upper()
    assert [t.get_text() for t in panels[0].get_yticklabels()] == list(KEEL)


@pytest.mark.parametrize("kernel", KERNELS)
def test_drm_against_krr_with_beta_fixed(
    drawings: dict[str, Drawing], kernel: str
) -> None:
    panels = drawings[f"ablation_fixed_beta_{kernel}"].figure.axes
    assert [panel.get_title() for panel in panels] == list(KEEL)
    for panel in panels:
        for model in ("drm", "krr"):
            labels = [f"{model}-{kernel} beta={beta:g}" for beta in FIXED]
            means = [
                mean_value(panel.get_title(), label, "maxabs", "maxabs")
                for label in labels
            ]
            expected = np.column_stack([FIXED, means])
            assert np.allclose(line(panel, model.upper()), expected)


def test_a_sweep_over_beta_is_known_by_its_parameters(tmp_path: Path) -> None:
    """Whatever its labels; it does not compete, and a single fixed β does."""
    names = ("drm-rbf", "krr-rbf")
    fixed = [
        {"name": name, "label": f"{name} no. {number}", "params": {"beta": beta}}
        for name in names
        for number, beta in enumerate(FIXED)
    ]
    make_results(tmp_path, "swept", datasets=KEEL, methods=[*names, *fixed])
    alone = {"name": "drm-rbf", "label": "drm at 1", "params": {"beta": 1.0}}
    make_results(tmp_path, "alone", datasets=KEEL, methods=[alone, "svm-rbf", "nb"])
    drawings = draw(tmp_path)
    for panel in drawings["swept_fixed_beta_rbf"].figure.axes:
        assert np.allclose(line(panel, "DRM")[:, 0], FIXED)
    assert not any("no. " in text for text in texts(drawings["swept_ranks"].figure))
    assert not any("no. " in text for text in texts(drawings["swept_tradeoff"].figure))
    assert any("drm at 1" in text for text in texts(drawings["alone_ranks"].figure))
    assert "alone_fixed_beta_rbf" not in drawings


def test_ranks_and_bars(tmp_path: Path) -> None:
    """Three methods in the same order on ten data sets: ranks 1, 2 and 3."""
    order = {"drm-rbf": 0.9, "svm-rbf": 0.8, "nb": 0.7}
    datasets = [f"set{number}" for number in range(10)]
    cells = {(d, m): value for d in datasets for m, value in order.items()}
    make_results(tmp_path, "mine", datasets=datasets, methods=list(order), values=cells)
    drawing = draw(tmp_path)["mine_ranks"]
    shown = texts(drawing.figure)
    assert {"drm-rbf  1.00", "svm-rbf  2.00", "3.00  nb"} <= set(shown)
    assert f"CD = {critical_difference(3, 10):.2f}" in shown
    thick = [x for x in drawing.figure.axes[0].get_lines() if x.get_linewidth() > 2]
    ends = [np.round(item.get_xdata(), 1).tolist() for item in thick]
    assert ends == [[1, 2], [2, 3]]  # CD is 1.05: neighbours are not told apart
    assert "p < 0.001 (honest mode, 3 methods, N = 10 data sets)" in drawing.caption


def test_ranks_have_the_methods_that_the_tables_rank(tmp_path: Path) -> None:
    """Also those that the paper does not have; what misses a data set is named."""
    make_results(
        tmp_path,
        "imbalanced",
        datasets=KEEL,
        methods=("drm-rbf", "nb", "svm-balanced", "c45-plain"),
        metrics=("gmean",),
        reproduces="table8",
        values={
            **{(name, "svm-balanced"): 0.99 for name in KEEL},
            (KEEL[0], "c45-plain"): "it failed",
        },
    )
    drawing = draw(tmp_path)["imbalanced_ranks"]
    shown = texts(drawing.figure)
    assert "svm-balanced  1.00" in shown
    assert not any("c45-plain" in text for text in shown)
    assert "c45-plain (no complete results)" in drawing.caption


def test_ranks_have_a_panel_a_mode(drawings: dict[str, Drawing]) -> None:
    panels = drawings["imbalanced_ranks"].figure.axes
    titles = [panel.get_title(loc="left") for panel in panels]
    assert titles == ["honest mode", "paper mode"]
    assert len(drawings["ablation_ranks"].figure.axes) == 1
    assert not any("beta=" in text for text in texts(drawings["ablation_ranks"].figure))


def test_ranks_of_over_sampling_have_the_drm_of_the_imbalanced_experiment(
    tmp_path: Path,
) -> None:
    """Kernels are merged in paper mode and apart in honest mode, as in the tables."""
    common = {"datasets": KEEL, "metrics": ("gmean",), "modes": ("paper", "honest")}
    drm, smote = ("drm-rbf", "drm-poly"), ("smote-svm", "smote-svm-poly", "smote-rf")
    make_results(tmp_path, "imbalanced", methods=drm, reproduces="table8", **common)
    make_results(tmp_path, "sampling", methods=smote, reproduces="table9", **common)
    drawing = draw(tmp_path)["sampling_ranks"]
    honest, paper = (
        {word for text in texts(panel) for word in text.split()}
        for panel in drawing.figure.axes
    )
    assert {*drm, "smote-svm", "smote-svm-poly", "SMOTE+RF"} <= honest
    assert {"DRM", "SMOTE+SVM", "SMOTE+RF"} <= paper
    assert not {*drm, *smote} & paper
    assert "drm-rbf, drm-poly: of the experiment imbalanced" in drawing.caption


def test_ours_against_the_paper(drawings: dict[str, Drawing]) -> None:
    panels = drawings["imbalanced_published"].figure.axes
    columns = {
        text.get_text(): panel
        for panel in panels
        for text in panel.get_legend().get_texts()
    }
    assert list(columns) == ["SVM(R)", "SVM(P)", "NB", "DRM(R)", "DRM(P)"]
    assert columns["SVM(R)"] is columns["SVM(P)"]
    cells = published_cells("table8_gmean")
    published = find_cell(cells, ["new thyroid 2"], "DRM(P)")
    ours = max(
        mean_value("new-thyroid2", "drm-poly", "paper", s) for s in ("none", "separate")
    )
    points = line(columns["DRM(P)"], "DRM(P)")
    assert published is not None
    assert np.isclose(points, [published.mean, ours]).all(axis=1).sum() == 1
    assert len(points) == len(KEEL)
    for panel in panels:
        identity = panel.get_lines()[0]
        assert np.array_equal(identity.get_xdata(), identity.get_ydata())


def test_a_relative_is_not_compared_with_the_paper(tmp_path: Path) -> None:
    sets = ["haberman", {"name": "ecoli1", "substitute": "ecoli2"}]
    make_results(tmp_path, "part", datasets=sets, methods=["nb"], reproduces="table8")
    drawing = draw(tmp_path)["part_published"]
    assert len(line(drawing.figure.axes[0], "NB")) == 1
    assert "Not shown: ecoli1 (ecoli2 stands in)." in drawing.caption


def test_time_against_metric(drawings: dict[str, Drawing]) -> None:
    drawing = drawings["imbalanced_tradeoff"]
    (panel,) = drawing.figure.axes
    points = [x for x in panel.get_lines() if x.get_marker() not in ("None", "")]
    found = sorted(float(item.get_ydata()[0]) for item in points)
    expected = sorted(
        float(np.mean([mean_value(d, m, "honest", "selected") for d in KEEL]))
        for m in METHODS
    )
    assert np.allclose(found, expected)
    assert {float(item.get_xdata()[0]) for item in points} == {2.0 + 0.5 + 0.25}
    assert {"SVM(R)", "NB", "DRM(P)"} <= set(texts(drawing.figure))
    assert panel.get_xscale() == "log"


def test_paper_mode_minus_honest_mode(drawings: dict[str, Drawing]) -> None:
    (panel,) = drawings["imbalanced_modes"].figure.axes
    names = [text.get_text() for text in panel.get_yticklabels()]
    assert names == ["SVM(R)", "SVM(P)", "NB", "DRM(R)", "DRM(P)"]
    dots = [x for x in panel.get_lines() if x.get_marker() == family_look("nb").marker]
    expected = [
        max(mean_value(d, "nb", "paper", s) for s in ("none", "separate"))
        - mean_value(d, "nb", "honest", "selected")
        for d in KEEL
    ]
    assert np.allclose(dots[0].get_xdata(), expected)
    ticks = [item for item in panel.get_lines() if item.get_marker() == "|"]
    assert ticks[2].get_xdata()[0] == pytest.approx(np.median(expected))


def test_what_is_incomplete_is_left_out_and_named(tmp_path: Path) -> None:
    sets = [*KEEL, {"name": "yeast3", "missing": "no source has it"}]
    cells = {("glass4", "krr-rbf"): [0.5, 0.5], ("ecoli1", "drm-rbf"): "out of memory"}
    make_results(
        tmp_path,
        "ablation",
        datasets=sets,
        methods=["drm-rbf", "krr-rbf"],
        values=cells,
    )
    drawing = draw(tmp_path)["ablation_selected"]
    drm, krr = drawing.figure.axes[0].containers
    assert (len(drm.lines[0].get_xdata()), len(krr.lines[0].get_xdata())) == (3, 3)
    assert drawing.caption.endswith(
        "Not shown: yeast3 (no source has it), drm-rbf on ecoli1 (failed),"
        " krr-rbf on glass4 (2 of 5 splits)."
    )
