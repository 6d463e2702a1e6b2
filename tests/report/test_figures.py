"""Figures show the stored rows, say what is missing, and are the same bytes twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib._pylab_helpers import Gcf
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from result_files import BETAS, SIZES, default_value, make_results
from support import Run

from drmbench.errors import InputError
from drmbench.protocol.published import find_cell, published_cells
from drmbench.report.figures import Drawing, draw_all, to_svg, write_figures
from drmbench.report.figures.labels import label_points
from drmbench.report.figures.render import FORMATS, rendered
from drmbench.report.figures.style import (
    DOUBLE,
    SINGLE,
    family_look,
    log_ticks,
    new_figure,
)
from drmbench.report.results import load_results
from drmbench.report.statistics import critical_difference

SOLVERS = ("drm-gd", "drm-ppa", "drm-apg")
LARGE = ("poker", "ijcnn1")
KEEL = ("haberman", "ecoli1", "glass4", "new-thyroid2")
METHODS = ("svm-rbf", "svm-poly", "nb", "drm-rbf", "drm-poly")
FIXED = (0.01, 1.0, 100.0)


def ablation_methods() -> list[dict[str, str]]:
    names = [f"{model}-{kernel}" for model in ("drm", "krr") for kernel in KERNELS]
    fixed = [{"name": n, "label": f"{n} beta={b:g}"} for n in names for b in FIXED]
    return [{"label": name} for name in names] + fixed


KERNELS = ("rbf", "poly")


def make_everything(folder: Path) -> None:
    """Write a small experiment of each kind that has figures."""
    measured = {"datasets": LARGE, "methods": SOLVERS, "reproduces": "figure1"}
    make_results(folder, "timing", kind="timing", **measured)
    make_results(folder, "convergence", kind="convergence", **measured)
    make_results(
        folder,
        "ablation",
        datasets=KEEL,
        methods=ablation_methods(),
        metrics=("gmean",),
        modes=("maxabs",),
        split={"kind": "folds"},
        reproduces="figure4",
    )
    make_results(
        folder,
        "imbalanced",
        datasets=KEEL,
        methods=METHODS,
        metrics=("gmean", "accuracy"),
        modes=("paper", "honest"),
        split={"kind": "folds"},
        reproduces="table8",
    )


def draw(folder: Path) -> dict[str, Drawing]:
    return {drawing.id: drawing for drawing in draw_all(load_results(folder))}


@pytest.fixture(scope="module")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    make_everything(folder)
    return folder


@pytest.fixture(scope="module")
def drawings(results_folder: Path) -> dict[str, Drawing]:
    return draw(results_folder)


def rows_of(folder: Path, name: str, **values: str) -> pd.DataFrame:
    rows = pd.read_csv(folder / name / "results.csv")
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def change_rows(folder: Path, name: str, column: str, value: object, **where: str):
    """Write a value into a column of some rows."""
    path = folder / name / "results.csv"
    rows = pd.read_csv(path, dtype={column: object})
    chosen = np.logical_and.reduce([rows[key] == value for key, value in where.items()])
    rows.loc[chosen, column] = value
    rows.to_csv(path, index=False)


def line(panel: Axes, label: str) -> np.ndarray:
    (found,) = (item for item in panel.get_lines() if item.get_label() == label)
    return np.column_stack([found.get_xdata(), found.get_ydata()])


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def mean_value(dataset: str, method: str, mode: str, scaling: str) -> float:
    return float(
        np.mean([default_value(dataset, method, mode, scaling, s) for s in range(5)])
    )


def test_every_figure_is_drawn_once(drawings: dict[str, Drawing]) -> None:
    assert list(drawings) == [
        "ablation_selected",
        "ablation_fixed_beta_rbf",
        "ablation_fixed_beta_poly",
        "ablation_ranks",
        "ablation_tradeoff",
        "convergence_objective",
        "convergence_beta",
        "imbalanced_ranks",
        "imbalanced_published",
        "imbalanced_tradeoff",
        "imbalanced_modes",
        "timing_time",
    ]


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


def test_ranks_have_a_panel_a_mode(drawings: dict[str, Drawing]) -> None:
    panels = drawings["imbalanced_ranks"].figure.axes
    titles = [panel.get_title(loc="left") for panel in panels]
    assert titles == ["honest mode", "paper mode"]
    assert len(drawings["ablation_ranks"].figure.axes) == 1
    assert not any("beta=" in text for text in texts(drawings["ablation_ranks"].figure))


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


def test_captions_say_how_many_and_under_which_protocol(
    drawings: dict[str, Drawing],
) -> None:
    for name, drawing in drawings.items():
        if name.startswith(("timing", "convergence")):
            assert "2 data sets, n = 100" in drawing.caption
            assert "α = 0.001" in drawing.caption
        else:
            assert "4 data sets (n = 214 to 336 samples), 5 splits" in drawing.caption
            assert "Protocol: the data set's own folds" in drawing.caption
            assert "selected by leave-one-out" in drawing.caption
        assert "Not shown" not in drawing.caption
    assert "optimistic" in drawings["imbalanced_published"].caption
    assert drawings["timing_time"].title.endswith("(Figure 1 of the paper)")


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


@pytest.mark.parametrize("kind", ["classification", "timing", "convergence"])
@pytest.mark.parametrize("values", ["failed", None])
def test_nothing_usable_gives_messages(
    tmp_path: Path, kind: str, values: str | None
) -> None:
    make_results(
        tmp_path,
        "empty",
        kind=kind,
        datasets=KEEL,
        methods=["drm-rbf", "krr-rbf"],
        values=lambda *cell: values,
        modes=("paper", "honest"),
        reproduces="table8",
    )
    said: list[str] = []
    assert list(draw_all(load_results(tmp_path), say=said.append)) == []
    assert len(said) == {"classification": 5, "timing": 1, "convergence": 2}[kind]
    assert all(message.startswith("no figure: empty: ") for message in said)


def test_no_results_at_all() -> None:
    assert list(draw_all({})) == []


def test_a_trace_that_is_no_trace(tmp_path: Path) -> None:
    make_results(
        tmp_path, "c", kind="convergence", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "c", "trace", "[1, 2", beta=1e4)
    with pytest.raises(InputError, match=r"c: the trace of drm-gd on poker is not"):
        draw(tmp_path)


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


def test_matplotlib_is_left_as_it_was(tmp_path: Path) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    with mpl.rc_context({"font.size": 31.0, "axes.grid": False}):
        before = dict(mpl.rcParams)
        for drawing in draw_all(load_results(tmp_path)):
            assert dict(mpl.rcParams) == before  # also between two drawings
            to_svg(drawing)
        assert dict(mpl.rcParams) == before
    assert not Gcf.figs


DRAW_AGAIN = """
import sys
from pathlib import Path
from drmbench.report.figures import write_figures
write_figures(Path(sys.argv[1]), ["timing"], Path(sys.argv[2]))
"""


def test_another_process_writes_the_same_bytes(
    drawings: dict[str, Drawing], results_folder: Path, tmp_path: Path
) -> None:
    """Also with other hashes of texts and other settings of the user's."""
    (tmp_path / "matplotlibrc").write_text("font.size: 31\nsavefig.dpi: 20\n")
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "7",
        "MATPLOTLIBRC": str(tmp_path),
        "SOURCE_DATE_EPOCH": "1",
    }
    command = [sys.executable, "-c", DRAW_AGAIN, str(results_folder), str(tmp_path)]
    subprocess.run(command, check=True, env=environment)
    for suffix in FORMATS:
        written = (tmp_path / "figures" / f"timing_time.{suffix}").read_bytes()
        assert written == rendered(drawings["timing_time"], suffix), suffix


def test_files_have_no_date_and_no_version(drawings: dict[str, Drawing]) -> None:
    drawing = drawings["imbalanced_tradeoff"]
    assert "<dc:date>" not in to_svg(drawing)
    for suffix in FORMATS:
        content = rendered(drawing, suffix)
        assert b"CreationDate" not in content
        assert mpl.__version__.encode() not in content


def test_the_index_has_all_captions_and_keeps_other_figures(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_results(
            tmp_path, name, kind="timing", datasets=["poker"], methods=["drm-gd"]
        )
    written = write_figures(tmp_path, [], tmp_path)
    assert [path.name for path in written] == [
        *(f"{name}_time.{suffix}" for name in ("one", "two") for suffix in FORMATS),
        "README.md",
    ]
    index = written[-1].read_text()
    captions = [drawing.caption for drawing in draw(tmp_path).values()]
    assert all(caption in index for caption in captions)
    write_figures(tmp_path, ["two"], tmp_path)
    assert written[-1].read_text() == index
    (tmp_path / "figures" / "one_time.png").unlink()
    write_figures(tmp_path, ["two"], tmp_path)
    assert "one_time" not in written[-1].read_text()


def test_the_command_draws_and_says_what_it_cannot(run: Run, tmp_path: Path) -> None:
    make_results(
        tmp_path, "c", kind="convergence", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "c", "trace", "", method="drm-gd")
    answer = run("figures", "c", "--results", str(tmp_path), "--out", str(tmp_path))
    assert answer.code == 0
    names = [Path(text).name for text in answer.out.splitlines()]
    assert names == ["c_beta.svg", "c_beta.pdf", "c_beta.png", "README.md"]
    assert answer.err == (
        "drmbench: no figure: c: no finished row has a trace at β = 10000\n"
    )


def test_wrong_names_and_folders(run: Run, tmp_path: Path) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    wrong = run("figures", "timming", "--results", str(tmp_path))
    assert wrong.code == 2
    assert "Did you mean 'timing'?" in wrong.err
    nowhere = run("figures", "--results", str(tmp_path / "nowhere"))
    assert nowhere.code == 2
    assert "has no results to draw" in nowhere.err
    (tmp_path / "taken").write_text("")
    taken = run("figures", "--results", str(tmp_path), "--out", str(tmp_path / "taken"))
    assert taken.code == 2
    assert "cannot write to" in taken.err
