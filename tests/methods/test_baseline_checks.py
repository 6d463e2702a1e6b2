"""scikit-learn's own checks on the estimators of the baselines; none is waived."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench.methods.bayes import GaussianNaiveBayes
from drmbench.methods.knn import NearestNeighbours
from drmbench.methods.linear_svm import LiblinearSVC
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
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
