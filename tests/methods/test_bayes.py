"""Naive Bayes against scipy's densities, and where a variance is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_problems import blobs
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB

from drmbench.methods.base import MethodFailedError, naive_left_out_predictions
from drmbench.methods.bayes import (
    METHODS,
    GaussianNaiveBayes,
    left_out_labels,
    left_out_moments,
    moments,
)

PAPER = {"zero_variance": "exclude", "var_smoothing": 1e-9}


def test_joint_probabilities_equal_scipys_densities() -> None:
    X, y = blobs((9, 12, 7), 4)
    model = GaussianNaiveBayes(zero_variance="fail").fit(X, y)
    queries = blobs((4, 4), 4, seed=1)[0]
    expected = [
        np.log(np.mean(y == c))
        + norm.logpdf(
            queries, X[y == c].mean(axis=0), X[y == c].std(axis=0, ddof=1)
        ).sum(axis=1)
        for c in range(3)
    ]
    found = model.predict_joint_log_proba(queries) - 4 * np.log(2 * np.pi) / 2
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-12)


def test_smoothing_is_scikit_learns() -> None:
    X, y = blobs((50, 60), 3)
    X[y == 1, 2] = 4.0  # no variance in one class
    ours, theirs = GaussianNaiveBayes().fit(X, y), GaussianNB().fit(X, y)
    unbiased = np.array([[50 / 49], [60 / 59]])
    expected = (theirs.var_ - theirs.epsilon_) * unbiased + theirs.epsilon_
    np.testing.assert_allclose(ours.var_, expected, rtol=1e-9)


def test_a_constant_column_has_no_variance_whatever_its_mean_rounds_to() -> None:
    X = np.full((3, 1), 0.1)
    assert X.mean() != 0.1
    assert moments(X).squares == 0.0
    assert moments(X).means == 0.1


def test_a_class_without_density_is_never_predicted_or_refused() -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.0], [4.0, 0.0], [5.0, 2.0], [7.0, 3.0]])
    y = [0, 0, 1, 1, 1]
    excluding = GaussianNaiveBayes(zero_variance="exclude").fit(X, y)
    assert excluding.predict(X).tolist() == [1, 1, 1, 1, 1]
    assert GaussianNaiveBayes().fit(X, y).predict(X).tolist() == [0, 0, 1, 1, 1]
    with pytest.raises(MethodFailedError, match="feature 1 has no variance in class 0"):
        GaussianNaiveBayes(zero_variance="fail").fit(X, y)


def test_excluding_every_class_is_a_failure() -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.0], [4.0, 2.0], [5.0, 2.0]])
    with pytest.raises(MethodFailedError, match="every class has"):
        GaussianNaiveBayes(zero_variance="exclude").fit(X, [0, 0, 1, 1])


def test_a_single_sample_has_no_variance() -> None:
    X, y = np.array([[0.0], [5.0], [6.0]]), [0, 1, 1]
    assert GaussianNaiveBayes().fit(X, y).predict(X).tolist() == [0, 1, 1]
    with pytest.raises(MethodFailedError, match="class 0"):
        GaussianNaiveBayes(zero_variance="fail").fit(X, y)


def test_data_without_any_variance_leave_the_prior() -> None:
    model = GaussianNaiveBayes().fit(np.ones((5, 2)), [0, 0, 1, 1, 1])
    assert model.predict(np.ones((1, 2))).tolist() == [1]


def test_left_out_moments_do_not_cancel() -> None:
    X = np.array([[0.0], [1e-8], [3e-8], [1e6]])
    found = left_out_moments(X)
    for left_out in range(4):
        rest = np.delete(X, left_out, axis=0)
        np.testing.assert_allclose(found.means[left_out], rest.mean(axis=0))
        np.testing.assert_allclose(
            found.variances[left_out], rest.var(axis=0, ddof=1), rtol=1e-9
        )


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    data=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.7, 2.0, 1e3]), st.floats(-3, 3)),
        min_size=8,
        max_size=14,
    ),
    zero_variance=st.sampled_from(["smooth", "exclude", "fail"]),
)
def test_left_out_predictions_equal_refits_with_repeated_values(
    data: list[tuple[float, float]], zero_variance: str
) -> None:
    X = np.array(data) + 1e-3 * np.arange(len(data))[:, None] * [0.0, 1.0]
    y = np.arange(len(X)) % 2
    candidates: list[dict[str, Any]] = [
        {"zero_variance": zero_variance, "var_smoothing": 1e-9}
    ]
    method = METHODS[0]
    assert method.predict_left_out is not None
    found = method.predict_left_out(X, y, candidates, seed=0)
    expected = naive_left_out_predictions(method, X, y, candidates, seed=0)
    assert found.failures.keys() == expected.failures.keys()
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_the_papers_reading_is_used_in_paper_mode_only() -> None:
    assert METHODS[0].defaults["zero_variance"] == "smooth"
    assert METHODS[0].paper_params == {"zero_variance": "exclude"}
    X, y = blobs((6, 6), 2)
    X[y == 1, 0] = 1.0
    assert (left_out_labels(X, y, **PAPER) == 0).all()
