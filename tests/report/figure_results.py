"""Small results of every kind that has figures, and what a drawing shows of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text
from result_files import KEEL, default_value, make_results

from drmbench.report.figures import Drawing, draw_all
from drmbench.running.results import load_results

SOLVERS = ("drm-gd", "drm-ppa", "drm-apg")


LARGE = ("poker", "ijcnn1")


#: As many of the paper's imbalanced data sets as a rank diagram needs.
EIGHT = (*KEEL, "glass6", "ecoli2", "ecoli3", "yeast3")


METHODS = ("svm-rbf", "svm-poly", "nb", "drm-rbf", "drm-poly")


FIXED = (0.01, 1.0, 100.0)


KERNELS = ("rbf", "poly")


def ablation_methods() -> list[dict[str, object]]:
    names = [f"{model}-{kernel}" for model in ("drm", "krr") for kernel in KERNELS]
    fixed = [
        {"name": n, "label": f"{n} beta={b:g}", "params": {"beta": b}}
        for n in names
        for b in FIXED
    ]
    return [{"label": name} for name in names] + fixed


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
        datasets=EIGHT,
        methods=METHODS,
        metrics=("gmean", "accuracy"),
        modes=("paper", "honest"),
        split={"kind": "folds"},
        reproduces="table8",
    )


def make_study(
    folder: Path,
    name: str,
    scores: Callable[[int, str], float],
    *,
    methods: Sequence[str] = ("drm", "drm-balanced", "svm-rbf", "rf"),
    ratios: Sequence[float] = (2,) * 10 + (20,) * 10,
    **more: Any,
) -> None:
    """Write an experiment on invented data sets, each with its own imbalance ratio.

    `scores` gives the figure of a method on the data set of a number.
    """
    datasets = [
        {
            "name": f"set{number:02d}",
            "n": 10 * round(ratio + 1),
            "p": 5,
            "class_counts": {"rare": 10, "other": 10 * round(ratio)},
        }
        for number, ratio in enumerate(ratios)
    ]
    make_results(
        folder,
        name,
        datasets=datasets,
        methods=list(methods),
        metrics=("balanced_accuracy", "accuracy", "gmean"),
        values=lambda dataset, method, *_: scores(int(dataset[3:]), method),
        **more,
    )


def draw(folder: Path) -> dict[str, Drawing]:
    return {drawing.id: drawing for drawing in draw_all(load_results(folder))}


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


def texts(part: Artist) -> list[str]:
    """Return what a figure or a part of it says."""
    return [text.get_text() for text in part.findobj(Text) if text.get_text()]


def mean_value(dataset: str, method: str, mode: str, scaling: str) -> float:
    return float(
        np.mean([default_value(dataset, method, mode, scaling, s) for s in range(5)])
    )
