"""A small folder of results in which everything occurs that the report must show."""

from __future__ import annotations

from pathlib import Path

from result_files import make_results

FAILURE = "could not be fitted: the matrix <A> is singular & small"
TIMEOUT = "timeout: stopped after 600 s"
MISSING = "no public source; the authors' file is needed"
DEVIATION = "the paper's test part has 1,000,000 rows; ours <b>fewer</b> & others"


def make_sample_results(folder: Path) -> Path:
    """Write four experiments into a folder and return it."""
    datasets = [
        {"name": "iris", "files": {"iris.csv": "sha256:" + "a" * 64}},
        {"name": "gcm", "missing": MISSING, "get": "drmbench data fetch gcm"},
        {
            "name": "wine",
            "substitute": "wine-red",
            "note": "A relative with other classes.",
            "files": {"wine.csv": "sha256:" + "b" * 64},
        },
        "zoo-3",
    ]
    values = {
        ("wine", "nb"): FAILURE,
        ("zoo-3", "svm-rbf"): [0.9, 0.8, TIMEOUT, 0.7, 0.6],
        ("zoo-3", "nb"): [0.9, 0.8],
    }
    make_results(
        folder,
        "gene",
        datasets=datasets,
        methods=[
            {"label": "drm-rbf", "grid": {"alpha": [0.001, 1.0], "beta": [1.0]}},
            *("drm-poly", "svm-rbf", "knn-euclidean", "rf", "nb"),
        ],
        values=values,
        modes=("paper", "honest"),
        reproduces="table3",
        deviations=[DEVIATION],
        title="Accuracy on gene expression",
        timeout=600.0,
    )
    make_results(
        folder,
        "imbalanced",
        datasets=["haberman", "glass4", "ecoli1", "yeast4"],
        methods=["drm-rbf", "svm-rbf", "knn-euclidean", "nb"],
        metrics=("gmean", "accuracy"),
        modes=("paper", "honest"),
        reproduces="table8",
        split={"kind": "folds"},
    )
    solvers = ["drm-gd", "drm-ppa", "drm-apg"]
    for name, figure in (("timing", "figure1"), ("convergence", "figure3")):
        make_results(
            folder,
            name,
            kind=name,
            datasets=["iris", "wine"],
            methods=solvers,
            reproduces=figure,
        )
    return folder
