"""Results that are the paper's own figures, and other results for its claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from result_files import make_results

from drmbench.data.catalogue import load_catalogue
from drmbench.methods.registry import list_methods
from drmbench.paper import find_cell, published_cells, table_rows
from drmbench.report.claims import Verdict, judge
from drmbench.running.results import load_results

RIVALS = ("svm-rbf", "svm-poly", "knn-euclidean", "knn-cosine", "rf", "c45", "nb")
TABLE3 = (*RIVALS, "drm-rbf", "drm-poly")
TABLE8 = (*RIVALS, "slda", "drm-rbf", "drm-poly")
LARGE = ("l1-svm", "l2-svm", "drm-gd", "drm-ppa", "drm-apg")
SOLVERS = ("drm-gd", "drm-ppa", "drm-apg")
SAMPLED = tuple(
    f"{sampler}-{classifier}"
    for sampler in ("smote", "borderline-smote", "safe-level-smote")
    for classifier in ("svm", "knn", "rf")
)
FACTOR = 0.5  # what honest mode loses in these tests

Value = float | str | None


def names_of(group: str) -> list[str]:
    return [entry.name for entry in load_catalogue().group(group)]


@cache
def paper_names(dataset: str) -> tuple[str, ...]:
    entry = next(e for e in load_catalogue() if e.name == dataset)
    assert entry.paper is not None
    return entry.paper.names


@cache
def column_of(method: str) -> str | None:
    return next(m.column for m in list_methods() if m.name == method)


def as_published(table: str) -> Callable[..., Value]:
    """Give the published figures in paper mode, and the DRM's halved in honest mode."""
    cells = published_cells(table)

    def value(dataset: str, method: str, mode: str, scaling: str, split: int) -> Value:
        cell = find_cell(cells, paper_names(dataset), column_of(method))
        assert cell is not None, (dataset, method)
        if cell.mean is None:
            return "a dash in the paper"
        worse = mode == "honest" and method.startswith("drm")
        return cell.mean * FACTOR if worse else cell.mean

    return value


def judged(folder: Path) -> dict[str, Verdict]:
    return {verdict.id: verdict for verdict in judge(load_results(folder))}


def make_table3(folder: Path, name: str, **options: Any) -> None:
    settings: dict[str, Any] = {
        "datasets": names_of(name),
        "methods": TABLE3,
        "values": as_published("table3_accuracy"),
        "modes": ("paper", "honest"),
        "reproduces": "table3",
        "splits": 2,
    }
    make_results(folder, name, **{**settings, **options})


def make_large(folder: Path) -> None:
    figures = {
        (row["dataset"], row["method"]): float(row["accuracy"])
        for row in table_rows("table5_large_scale")
    }

    def value(dataset: str, method: str, mode: str, scaling: str, split: int) -> Value:
        keys = ((name, column_of(method)) for name in paper_names(dataset))
        return next(figures[key] for key in keys if key in figures)

    make_results(
        folder,
        "large",
        datasets=[{"name": name, "n_test": 10_000} for name in names_of("large")],
        methods=LARGE,
        values=value,
        modes=("maxabs",),
        splits=1,
    )


def make_timing(folder: Path, seconds: Mapping[str, float]) -> None:
    make_results(
        folder,
        "timing",
        kind="timing",
        datasets=["shuttle", "ijcnn1"],
        methods=SOLVERS,
        values=lambda _, method, *rest: seconds[method],
    )
