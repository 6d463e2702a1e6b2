"""The names that experiment files may use, without importing what they stand for."""

from __future__ import annotations

from collections.abc import Sequence

#: Methods that are known to exist without asking the registry, which imports
#: scikit-learn and so takes longer than all the rest of checking a file. A method that
#: is not listed is only slower to check.
QUICK_METHODS = (
    "svm-rbf",
    "svm-poly",
    "svm-linear",
    "svm-balanced",
    "knn-euclidean",
    "knn-cosine",
    "rf",
    "c45",
    "c45-plain",
    "c45-dhs",
    "nb",
    "slda",
    "drm-rbf",
    "drm-poly",
    "drm-linear",
    "krr-rbf",
    "krr-poly",
    "drm-gd",
    "drm-ppa",
    "drm-apg",
    "drm-exact",
    "l1-svm",
    "l2-svm",
    *(
        f"{sampler}-{classifier}"
        for sampler in ("smote", "borderline-smote", "safe-level-smote")
        for classifier in (
            *("svm", "svm-poly", "knn", "knn-cosine", "rf", "drm", "drm-poly"),
        )
    ),
)

#: The methods whose single solves the kinds timing and convergence measure.
SOLVERS = ("drm-gd", "drm-ppa", "drm-apg")


def method_names() -> Sequence[str]:
    """Return the names of the methods."""
    from drmbench.methods.registry import list_methods

    return tuple(method.name for method in list_methods())


def dataset_names() -> Sequence[str]:
    """Return the names of the catalogue's data sets."""
    from drmbench.data.catalogue import load_catalogue

    return load_catalogue().names


def group_names() -> Sequence[str]:
    """Return the names of the catalogue's groups."""
    from drmbench.data.catalogue import load_catalogue

    return tuple(load_catalogue().groups)


def metric_names() -> Sequence[str]:
    """Return the names of the metrics."""
    from drmbench.metrics import METRICS

    return tuple(METRICS)


def scalar_metric_names() -> Sequence[str]:
    """Return the names of the metrics that are one number."""
    from drmbench.metrics import METRICS

    return tuple(name for name, metric in METRICS.items() if metric.scalar)
