"""scikit-learn's own checks on the estimators of the baselines."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench.methods.bayes import GaussianNaiveBayes
from drmbench.methods.knn import NearestNeighbours
from drmbench.methods.linear_svm import LiblinearSVC
from drmbench.methods.representation import (
    CollaborativeClassifier,
    ProbabilisticCollaborativeClassifier,
)
from drmbench.methods.shrinkage_lda import ShrinkageLDA
from drmbench.methods.shrunken_centroids import ShrunkenCentroids
from drmbench.methods.sparse_representation import SparseRepresentationClassifier
from drmbench.methods.svm import KernelSVC

ESTIMATORS = [
    KernelSVC(),
    KernelSVC(kernel="poly"),
    KernelSVC(kernel="linear"),
    NearestNeighbours(),
    NearestNeighbours(metric="cosine"),
    GaussianNaiveBayes(),
    GaussianNaiveBayes(zero_variance="exclude"),
    LiblinearSVC(loss="l1"),
    LiblinearSVC(loss="l2"),
    CollaborativeClassifier(),
    ProbabilisticCollaborativeClassifier(),
    SparseRepresentationClassifier(),
    ShrinkageLDA(),
    ShrunkenCentroids(),
    ShrunkenCentroids(threshold=0.5),
]


def _waived(estimator: Any) -> dict[str, str]:
    """Name the one check that no machine passes; `test_svm` shows SVC does the same.

    pytest's `xfail_strict` holds: a check that passes after all is a failure.
    """
    if getattr(estimator, "kernel", None) != "poly":
        return {}
    return {
        "check_class_weight_classifiers": "the check allows 1,000 iterations, in which"
        " libsvm does not solve (x·y + 1)³ on its unscaled data"
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_waived)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
