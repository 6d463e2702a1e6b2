"""Forests of many trees, plain and for classes of different size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from imblearn.ensemble import BalancedRandomForestClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from drmbench.methods.base import Method, Params

_BREIMAN = "L. Breiman: Random forests. Machine Learning 45(1):5-32, 2001."
_NAMED_COUNTS = ("log2", "sqrt")


def fewest_features_first(max_features: Any) -> tuple[int, float]:
    """Sort key of what a split may look at: named counts, counts, shares, all.

    Examples
    --------
    >>> sorted([None, 0.3, "sqrt", 5, "log2"], key=fewest_features_first)
    ['log2', 'sqrt', 5, 0.3, None]
    """
    if max_features is None:
        return (3, 0.0)
    if isinstance(max_features, str):
        return (0, float(_NAMED_COUNTS.index(max_features)))
    return (1 if isinstance(max_features, int) else 2, float(max_features))


def _method(
    name: str,
    title: str,
    citation: str,
    forest: Callable[..., Any],
    *,
    n_estimators: int = 500,
    **fixed: Any,
) -> Method:
    def build(params: Params, seed: int) -> Any:
        return forest(random_state=seed, **params)

    return Method(
        name=name,
        title=title,
        family="rf",
        citation=citation,
        build=build,
        grid={"max_features": ("sqrt", 0.3), "min_samples_leaf": (1, 3, 5)},
        defaults={"n_estimators": n_estimators, **fixed},
        stochastic=True,
        scale_invariant=True,
        prefer=lambda params: (
            -params["min_samples_leaf"],
            fewest_features_first(params["max_features"]),
        ),
    )


METHODS = (
    _method("rf-500", "Random forest, 500 trees", _BREIMAN, RandomForestClassifier),
    _method(
        "rf-500-balanced",
        "Random forest, 500 trees, balanced class weights",
        _BREIMAN,
        RandomForestClassifier,
        class_weight="balanced",
    ),
    _method(
        "extra-trees",
        "Extremely randomised trees",
        "P. Geurts, D. Ernst, L. Wehenkel: Extremely randomized trees. Machine Learning"
        " 63(1):3-42, 2006.",
        ExtraTreesClassifier,
    ),
    _method(
        "balanced-rf",
        "Balanced random forest (under-sampling for each tree)",
        "C. Chen, A. Liaw, L. Breiman: Using random forest to learn imbalanced data."
        " Technical report 666, University of California, Berkeley, 2004.",
        BalancedRandomForestClassifier,
        n_estimators=200,
        # As the report has it: a bootstrap sample of one size from every class.
        sampling_strategy="all",
        replacement=True,
        bootstrap=False,
    ),
)
