"""Figures of classification show the stored rows, beside the paper's figures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from figure_results import (
    EIGHT,
    FIXED,
    KERNELS,
    METHODS,
    change_rows,
    draw,
    line,
    mean_value,
    texts,
)
from result_files import KEEL, make_results

from drmbench.paper import find_cell, published_cells
from drmbench.report.figures import Drawing, to_svg
from drmbench.report.figures.style import NEUTRALS, SOLVERS, look_of
from drmbench.report.statistics import critical_difference

#: Mode and scaling of the ablation.
MAXABS = ("maxabs", "maxabs")


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


def test_drm_minus_krr_with_beta_fixed(drawings: dict[str, Drawing]) -> None:
    panels = drawings["ablation_fixed_beta"].figure.axes
    names = [panel.get_title() for panel in panels]
    assert sorted(names) == sorted(KEEL)
    largest = []
    for panel in panels:
        for kernel, title in zip(KERNELS, ("rbf", "polynomial"), strict=True):
            drm, krr = (
                [
                    mean_value(panel.get_title(), f"{m}-{kernel} beta={b:g}", *MAXABS)
                    for b in FIXED
                ]
                for m in ("drm", "krr")
            )
            expected = np.column_stack([FIXED, np.subtract(drm, krr)])
            assert np.allclose(line(panel, f"{title} kernel"), expected)
        shown = [line(panel, f"{x} kernel")[:, 1] for x in ("rbf", "polynomial")]
        largest.append(np.abs(shown).max())
    assert largest == sorted(largest, reverse=True)


def test_a_sweep_over_beta_is_known_by_its_parameters(tmp_path: Path) -> None:
    """Whatever its labels; it does not compete, and a single fixed β does."""
    names = ("drm-rbf", "krr-rbf")
    fixed = [
        {"name": name, "label": f"{name} no. {number}", "params": {"beta": beta}}
        for name in names
        for number, beta in enumerate(FIXED)
    ]
    sets = [f"set{number}" for number in range(8)]
    make_results(tmp_path, "swept", datasets=sets, methods=[*names, "nb", "rf", *fixed])
    alone = {"name": "drm-rbf", "label": "drm at 1", "params": {"beta": 1.0}}
    make_results(tmp_path, "alone", datasets=sets, methods=[alone, "svm-rbf", "nb"])
    drawings = draw(tmp_path)
    for panel in drawings["swept_fixed_beta"].figure.axes:
        assert np.allclose(line(panel, "rbf kernel")[:, 0], FIXED)
    assert not any("no. " in text for text in texts(drawings["swept_ranks"].figure))
    assert any("drm at 1" in text for text in texts(drawings["alone_ranks"].figure))
    assert "alone_fixed_beta" not in drawings


@pytest.mark.parametrize(
    ("better", "title"),
    [
        (0.0, "differ by less than a standard deviation on every data set"),
        (0.3, "better than KRR by more than a standard deviation in 4 of 4 cases"),
        (-0.3, "in 0 of 4 cases and worse in 4"),
    ],
)
def test_the_title_of_the_ablation_follows_the_rows(
    tmp_path: Path, better: float, title: str
) -> None:
    cells = {(d, "drm-rbf"): 0.5 + better for d in KEEL}
    cells |= {(d, "krr-rbf"): 0.5 for d in KEEL}
    methods = ["drm-rbf", "krr-rbf"]
    make_results(tmp_path, "mine", datasets=KEEL, methods=methods, values=cells)
    drawing = draw(tmp_path)["mine_selected"]
    assert title in drawing.title
    assert f"mean difference {better:+.4f}" in drawing.caption


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
    assert "3 methods, N = 10 data sets" in drawing.caption
    assert "p < 0.001" in drawing.caption
    leads = "drm-rbf leads 3 methods on 10 data sets"
    assert drawing.title == f"{leads}, told apart from 1 of the 2 non-DRMs"


@pytest.mark.parametrize(
    ("order", "title"),
    [
        ("ndse", "nb leads 4 methods on 10 data sets; drm is 2nd, not told apart"),
        ("nsed", "nb leads 4 methods on 10 data sets; drm is 4th, told apart from it"),
        ("nsbd", "drm-balanced is 3rd, told apart from it; drm is 4th"),
        ("nsek", "nb leads 4 methods on 10 data sets; 1 of the others cannot be told"),
    ],
)
def test_the_title_of_ranks_follows_the_rows(
    tmp_path: Path, order: str, title: str
) -> None:
    names = {"n": "nb", "d": "drm", "s": "svm-rbf", "e": "rf", "b": "drm-balanced"}
    methods = [{**names, "k": "knn-euclidean"}[letter] for letter in order]
    datasets = [f"set{number}" for number in range(10)]
    cells = {(d, m): 0.9 - 0.1 * i for d in datasets for i, m in enumerate(methods)}
    make_results(tmp_path, "mine", datasets=datasets, methods=methods, values=cells)
    assert title in draw(tmp_path)["mine_ranks"].title


def test_few_data_sets_or_methods_have_no_ranks(tmp_path: Path) -> None:
    sets = [f"set{number}" for number in range(8)]
    three = ["drm-rbf", "svm-rbf", "nb"]
    make_results(tmp_path, "enough", datasets=sets, methods=[*three, "rf"])
    make_results(tmp_path, "short", datasets=sets[1:], methods=[*three, "c45"])
    make_results(tmp_path, "narrow", datasets=sets, methods=["slda", "lda-shrinkage"])
    make_results(tmp_path, "part", datasets=sets, methods=three)
    ranks = [name for name in draw(tmp_path) if name.endswith("_ranks")]
    assert ranks == ["enough_ranks"]  # which has all that part has, and more


def test_ranks_have_the_methods_that_the_tables_rank(tmp_path: Path) -> None:
    """Also those that the paper does not have; what misses a data set is named."""
    make_results(
        tmp_path,
        "imbalanced",
        datasets=EIGHT,
        methods=("drm-rbf", "nb", "svm-balanced", "c45-plain"),
        metrics=("gmean",),
        reproduces="table8",
        values={
            **{(name, "svm-balanced"): 0.99 for name in EIGHT},
            (EIGHT[0], "c45-plain"): "it failed",
        },
    )
    drawing = draw(tmp_path)["imbalanced_ranks"]
    shown = texts(drawing.figure)
    assert "svm-balanced  1.00" in shown
    assert not any("c45-plain" in text for text in shown)
    assert "c45-plain (no complete results)" in drawing.caption


def test_ranks_of_over_sampling_have_the_plain_drm_and_one_kind_of_names(
    tmp_path: Path,
) -> None:
    """They are in honest mode, and the lender has no diagram of its own."""
    common = {"datasets": EIGHT, "metrics": ("gmean",), "modes": ("paper", "honest")}
    drm, smote = ("drm-rbf", "drm-poly"), ("smote-svm", "smote-svm-poly", "smote-rf")
    make_results(tmp_path, "imbalanced", methods=drm, reproduces="table8", **common)
    make_results(tmp_path, "sampling", methods=smote, reproduces="table9", **common)
    drawings = draw(tmp_path)
    (panel,) = drawings["sampling_ranks"].figure.axes
    shown = {word for text in texts(panel) for word in text.split()}
    assert {*drm, *smote} <= shown
    assert not any("+" in word for word in shown)
    caption = drawings["sampling_ranks"].caption
    assert "drm-rbf, drm-poly: of the experiment imbalanced" in caption
    assert drawings["sampling_ranks"].experiments == ("sampling", "imbalanced")
    assert "imbalanced_ranks" not in drawings


def test_ours_minus_the_papers_in_deviations(drawings: dict[str, Drawing]) -> None:
    panel, scale = drawings["imbalanced_published"].figure.axes
    columns = [text.get_text() for text in panel.get_xticklabels()]
    rows = [text.get_text() for text in panel.get_yticklabels()]
    assert columns == ["SVM(R)", "SVM(P)", "NB", "DRM(R)", "DRM(P)"]
    assert sorted(rows) == sorted(EIGHT)
    (mesh,) = panel.collections
    shown = mesh.get_array().reshape(len(rows), len(columns))
    cells = published_cells("table8_gmean")
    published = find_cell(cells, ["new thyroid 2"], "DRM(P)")
    ours = max(
        mean_value("new-thyroid2", "drm-poly", "paper", s) for s in ("none", "separate")
    )
    assert published is not None
    expected = (ours - published.mean) / max(published.spread, 0.005)
    place = rows.index("new-thyroid2"), columns.index("DRM(P)")
    assert shown[place] == pytest.approx(expected)
    assert scale.get_xlim() == (-3, 3)


@pytest.mark.parametrize(
    ("off", "title"),
    [
        ({}, "100% of our figures are within one standard deviation of the paper's"),
        ({"drm-rbf": 0.5}, "the DRM's less often (0%) than others"),
        ({"nb": 0.5}, "the DRM's more often (100%) than others"),
    ],
)
def test_the_title_of_the_heat_map_follows_the_rows(
    tmp_path: Path, off: dict[str, float], title: str
) -> None:
    cells = published_cells("table8_gmean")
    methods = {"drm-rbf": "DRM(R)", "nb": "NB"}

    def value(dataset: str, method: str, *_: object) -> float:
        names = {"ecoli1": "ecoli1", "haberman": "haberman"}
        found = find_cell(cells, [names[dataset]], methods[method])
        mean = found.mean if found is not None and found.mean is not None else 0.5
        return float(mean) - off.get(method, 0.0)

    sets = ("haberman",)
    common = {"metrics": ("gmean",), "reproduces": "table8", "values": value}
    make_results(tmp_path, "mine", datasets=sets, methods=list(methods), **common)
    assert title in draw(tmp_path)["mine_published"].title


def test_a_relative_is_not_compared_with_the_paper(tmp_path: Path) -> None:
    sets = ["haberman", {"name": "ecoli1", "substitute": "ecoli2"}]
    make_results(tmp_path, "part", datasets=sets, methods=["nb"], reproduces="table8")
    drawing = draw(tmp_path)["part_published"]
    (mesh,) = drawing.figure.axes[0].collections
    assert mesh.get_array().size == 1
    assert "Not compared, a relative stands in: ecoli1." in drawing.caption


def test_time_against_rank(drawings: dict[str, Drawing]) -> None:
    drawing = drawings["imbalanced_tradeoff"]
    (panel,) = drawing.figure.axes
    means = pd.DataFrame(
        {m: [mean_value(d, m, "honest", "selected") for d in EIGHT] for m in METHODS}
    )
    expected = means.rank(axis=1, ascending=False).mean()
    points = [x for x in panel.get_lines() if x.get_marker() not in ("None", "")]
    found = np.concatenate([x.get_ydata() for x in points])
    assert np.allclose(sorted(found), sorted(expected))
    seconds = {value for item in points for value in item.get_xdata()}
    assert seconds == {2.0 + 0.5}  # selection and fit
    assert panel.get_xscale() == "log"
    assert panel.get_ylim()[0] > panel.get_ylim()[1]  # the best rank is above


def test_an_experiment_of_mixed_data_has_a_figure_of_score_and_time(
    tmp_path: Path,
) -> None:
    """Its kinds have too few data sets each."""
    sets = [{"name": "a", "p": 500}, {"name": "b", "p": 500}, "c", "d"]
    values = {(x, "drm-rbf"): 0.9 for x in "abcd"} | {(x, "nb"): 0.1 for x in "abcd"}
    methods = ["drm-rbf", "nb", "svm-rbf"]
    make_results(tmp_path, "mine", datasets=sets, methods=methods, values=values)
    drawing = draw(tmp_path)["mine_tradeoff"]
    (panel,) = drawing.figure.axes
    shown = np.concatenate([x.get_ydata() for x in panel.get_lines()[1:]])
    assert {0.1, 0.9} <= set(np.round(shown, 9))
    assert drawing.title.startswith("No method is both faster than drm-rbf and better")
    change_rows(tmp_path, "mine", "accuracy", 0.99, method="nb")
    change_rows(tmp_path, "mine", "seconds_fit", 0.1, method="nb")
    title = draw(tmp_path)["mine_tradeoff"].title
    assert (
        title == "nb is both faster than drm-rbf and better in accuracy on 4 data sets"
    )


def test_one_thing_has_one_colour(drawings: dict[str, Drawing]) -> None:
    """Methods have their own in every figure; neutral ones are of a short list."""
    drm = look_of({"name": "drm-rbf", "family": "drm"})
    svm = look_of({"name": "svm-rbf", "family": "svm"})
    used = {x.colour for x in SOLVERS.values()}
    assert len({drm.colour, svm.colour, *used}) == 2 + len(SOLVERS)
    for name in ("imbalanced_ranks", "imbalanced_tradeoff"):
        (panel,) = drawings[name].figure.axes
        colours = {x.get_color() for x in panel.get_lines() if x.get_marker() == "o"}
        assert colours == {drm.colour}
    neutral = {colour.lower() for colour in NEUTRALS}
    for drawing in drawings.values():
        if not drawing.id.endswith("published"):  # a scale of colours
            found = set(re.findall(r"#[0-9a-f]{6}", to_svg(drawing)))
            greys = {x for x in found if x[1:3] == x[3:5] == x[5:7]}
            assert greys <= neutral, drawing.id


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
