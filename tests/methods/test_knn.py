"""Nearest neighbours against a plain search, and the rules for ties."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_problems import blobs
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from drmbench.methods import knn
from drmbench.methods.knn import NearestNeighbours, distances, nearest, vote

SMALL_INTEGERS = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=4, max_size=12
)


def plainly_nearest(X: NDArray[np.float64], query: NDArray[np.float64]) -> list[int]:
    squared = [sum((a - b) ** 2 for a, b in zip(row, query, strict=True)) for row in X]
    return sorted(range(len(X)), key=lambda place: (squared[place], place))


def plain_vote(labels: list[int]) -> int:
    counts = Counter(labels)
    return next(label for label in labels if counts[label] == max(counts.values()))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(points=SMALL_INTEGERS, k=st.integers(1, 5), seed=st.integers(0, 99))
def test_predictions_with_many_ties_equal_a_plain_search(
    points: list[tuple[int, int]], k: int, seed: int
) -> None:
    X = np.array(points, dtype=np.float64)
    y = np.random.default_rng(seed).integers(0, 3, len(X))
    queries = np.array([[0.0, 0.0], [1.0, -1.0], [0.5, 0.0]])
    expected = [
        plain_vote([int(y[i]) for i in plainly_nearest(X, query)[:k]])
        for query in queries
    ]
    model = NearestNeighbours(n_neighbors=k).fit(X, y)
    assert model.predict(queries).tolist() == expected


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_odd_votes_of_two_classes_equal_scikit_learn(metric: str) -> None:
    X, y = blobs((40, 50), 4)
    queries = blobs((30, 30), 4, seed=1)[0]
    ours = NearestNeighbours(n_neighbors=5, metric=metric).fit(X, y)
    theirs = KNeighborsClassifier(5, metric=metric).fit(X, y)
    np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))


def test_a_tied_vote_goes_to_the_nearest_of_the_tied_classes() -> None:
    labels = np.array([[0, 1, 1, 2, 2], [2, 1, 1, 2, 0], [3, 3, 3, 1, 1]])
    assert vote(labels).tolist() == [1, 2, 3]


def test_equal_distances_are_taken_in_the_order_of_the_rows() -> None:
    X = np.array([[1.0], [-1.0], [1.0], [-1.0], [0.5]])
    assert nearest(X, np.zeros((1, 1)), 4, "euclidean").tolist() == [[4, 0, 1, 2]]


def test_more_neighbours_than_samples_means_all_samples() -> None:
    model = NearestNeighbours(n_neighbors=8).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert model.predict([[0.0]]).tolist() == [1]


def test_zero_rows_are_far_from_directions_and_near_each_other() -> None:
    X = np.array([[0.0, 0.0], [2.0, 0.0], [-3.0, 0.0]])
    expected = [[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    np.testing.assert_array_equal(distances(X, X, "cosine"), expected)


def test_distances_survive_a_large_offset() -> None:
    offset = 1e8
    X = np.array([[0.0], [0.25], [1.0]]) + offset
    np.testing.assert_array_equal(
        distances(X, X, "euclidean"),
        [[0.0, 0.25, 1.0], [0.25, 0.0, 0.75], [1.0, 0.75, 0.0]],
    )
    # Nearly parallel rows: 1 - cos is about half the angle squared, 5e-19 here.
    rows = np.array([[1.0, 0.0], [1.0, 1e-9]])
    assert distances(rows, rows, "cosine")[0, 1] == pytest.approx(5e-19, rel=1e-6)


def test_blocks_do_not_change_the_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs((20, 20), 3)
    whole = knn.nearest(X, X, 5, "cosine", others=True)
    monkeypatch.setattr(knn, "_BLOCK_ENTRIES", 100)
    np.testing.assert_array_equal(knn.nearest(X, X, 5, "cosine", others=True), whole)


def test_larger_k_is_preferred() -> None:
    method = knn.METHODS[0]
    assert method.prefer is not None
    best = min(method.candidates(), key=method.prefer)
    assert best == {"n_neighbors": 8}
