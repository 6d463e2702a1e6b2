"""SafeLevelSMOTE against the published algorithm, case by case."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.utils.estimator_checks import estimator_checks_generator
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.datasets import make_classification
from sklearn.neighbors import NearestNeighbors

from drmbench.methods.safe_level_smote import (
    NothingGeneratedWarning,
    SafeLevelSMOTE,
    gap_bounds,
)

Array = NDArray[Any]
MINORITY, MAJORITY = 1, 0


def published_gap(sl_p: int, sl_n: int) -> tuple[float, float] | None:
    """Return the range of the gap, branch by branch as printed in the article."""
    ratio = sl_p / sl_n if sl_n != 0 else math.inf
    if ratio == math.inf and sl_p == 0:
        return None
    if ratio == math.inf:
        return 0.0, 0.0
    if ratio == 1:
        return 0.0, 1.0
    if ratio > 1:
        return 0.0, 1 / ratio
    return 1 - ratio, 1.0


def nearest(X: Array, row: int, candidates: list[int], k: int) -> list[int]:
    others = [other for other in candidates if other != row]
    return sorted(others, key=lambda other: np.linalg.norm(X[other] - X[row]))[:k]


def brute_force_levels(X: Array, y: Array, k: int) -> dict[int, int]:
    everyone = list(range(len(X)))
    return {
        row: sum(y[near] == MINORITY for near in nearest(X, row, everyone, k))
        for row in np.flatnonzero(y == MINORITY).tolist()
    }


def generated(X: Array, y: Array, n_samples: int, k: int, seed: int = 0) -> Array:
    """Return the synthetic minority samples only."""
    target = int(np.sum(y == MINORITY)) + n_samples
    sampler = SafeLevelSMOTE(
        sampling_strategy={MINORITY: target}, k_neighbors=k, random_state=seed
    )
    X_new, y_new = sampler.fit_resample(X, y)
    np.testing.assert_array_equal(X_new[: len(X)], X)
    assert np.all(y_new[len(y) :] == MINORITY)
    return np.asarray(X_new[len(X) :])


def on_a_line(minority: list[float], majority: list[float]) -> tuple[Array, Array]:
    X = np.array([*minority, *majority])[:, np.newaxis]
    return X, np.repeat([MINORITY, MAJORITY], [len(minority), len(majority)])


CHECKS = list(estimator_checks_generator(SafeLevelSMOTE(random_state=0)))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[check.func.__name__ for _, check in CHECKS]
)
def test_imbalanced_learn_checks(estimator: SafeLevelSMOTE, check: Any) -> None:
    check(estimator)


# --- the five cases ------------------------------------------------------------------


def test_gap_bounds_are_the_published_ones() -> None:
    for sl_p in range(8):
        for sl_n in range(8):
            published = published_gap(sl_p, sl_n)
            if published is not None:
                bounds = gap_bounds(np.array([sl_p]), np.array([sl_n]))
                np.testing.assert_allclose(np.ravel(bounds), published, atol=1e-15)


def test_case_1_two_unsafe_samples_generate_nothing() -> None:
    X, y = on_a_line([0.0, 10.0], [0.1, 9.9, 20.0, 21.0])
    sampler = SafeLevelSMOTE(k_neighbors=1, random_state=0)
    with pytest.warns(NothingGeneratedWarning, match="class 1 was left at 2 samples"):
        X_new, y_new = sampler.fit_resample(X, y)
    np.testing.assert_array_equal(X_new, X)
    np.testing.assert_array_equal(y_new, y)
    assert list(sampler.not_generated_) == [MINORITY]


def test_cases_2_and_5_with_an_unsafe_sample_copy_the_safe_one() -> None:
    # The nearest to 0 is 1 (safe level 1); the nearest to 1 is the majority's 1.5 (0).
    # From 0 the gap is 0, from 1 it is 1: both give 0.
    X, y = on_a_line([0.0, 1.0], [1.5, 8.0, 9.0, 10.0])
    np.testing.assert_array_equal(generated(X, y, 50, k=1), np.zeros((50, 1)))


def test_case_5_from_an_unsafe_sample_copies_its_safe_neighbour() -> None:
    # For k = 1 the pairs are 0 with 0.1, both safe, and the unsafe 5 with 0.1.
    X, y = on_a_line([0.0, 0.1, 5.0], [5.1, 50.0, 51.0, 52.0])
    new = generated(X, y, 3000, k=1)
    assert new.max() <= 0.1 + 1e-12
    assert np.isclose(new, 0.1, rtol=0, atol=1e-12).mean() == pytest.approx(1 / 3, 0.1)


def test_case_3_equally_safe_samples_fill_the_box_between_them() -> None:
    X = np.array([[0.0, 0.0], [1.0, 2.0], [50.0, 50.0], [51.0, 51.0], [52.0, 50.0]])
    y = np.array([MINORITY, MINORITY, MAJORITY, MAJORITY, MAJORITY])
    gaps = generated(X, y, 500, k=1) / [1.0, 2.0]
    for attribute in gaps.T:
        assert stats.kstest(attribute, "uniform").pvalue > 0.01
    # Each attribute has a gap of its own, so the samples leave the segment.
    assert abs(stats.pearsonr(*gaps.T).statistic) < 0.2


def test_cases_4_and_5_stay_on_the_side_of_the_safer_sample() -> None:
    # Safe levels for k = 2: 2 at -1 and at 0, but 1 at 1.2 (the majority is at 2).
    # From 0 the gap towards 1.2 is at most 1/2; from 1.2 towards 0 at least 1/2.
    X, y = on_a_line([-1.0, 0.0, 1.2], [2.0, 9.0, 10.0, 11.0])
    new = generated(X, y, 2000, k=2)
    assert -1 <= new.min() < -0.95
    assert 0.57 < new.max() <= 0.6


def test_case_4_alone_is_uniform_up_to_the_published_bound() -> None:
    # Safe levels for k = 2: 1 at 1.2, 2 at 0 and at -0.1; between 0.1 and 0.6 there can
    # only be samples of pairs with 1.2, in the half towards 0 or -0.1.
    X, y = on_a_line([-0.1, 0.0, 1.2], [2.0, 9.0, 10.0, 11.0])
    new = generated(X, y, 4000, k=2)
    inside = new[(new > 0.05) & (new < 0.5)]
    assert stats.kstest(inside, "uniform", args=(0.05, 0.45)).pvalue > 0.01
    assert new.max() <= 0.6


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 5),
    n_minority=st.integers(6, 12),
    n_features=st.integers(1, 3),
)
def test_every_sample_belongs_to_a_pair_the_article_allows(
    seed: int, k: int, n_minority: int, n_features: int
) -> None:
    random = np.random.default_rng(seed)
    y = np.repeat([MINORITY, MAJORITY], [n_minority, 25])
    X = random.normal(size=(len(y), n_features)) + 0.7 * y[:, np.newaxis]
    levels = brute_force_levels(X, y, k)
    boxes = []
    for p in levels:
        for n in nearest(X, p, list(levels), k):
            gap = published_gap(levels[p], levels[n])
            if gap is not None:
                boxes.append(np.sort([X[p] + g * (X[n] - X[p]) for g in gap], axis=0))
    if not boxes:
        return
    for sample in generated(X, y, 30, k=k, seed=seed):
        assert any(
            np.all((low - 1e-12 <= sample) & (sample <= high + 1e-12))
            for low, high in boxes
        )


def test_safe_levels_are_recorded() -> None:
    X, y = make_classification(n_samples=80, weights=[0.8], random_state=3)
    sampler = SafeLevelSMOTE(random_state=0)
    sampler.fit_resample(X, y)
    expected = list(brute_force_levels(X, y, 5).values())
    assert sampler.safe_levels_[MINORITY].tolist() == expected


# --- how many, and from which --------------------------------------------------------


def test_unsafe_pairs_do_not_lower_the_number_generated() -> None:
    # 20 and 30 are unsafe among themselves for k = 1; 0 and 1 are safe.
    X, y = on_a_line([0.0, 1.0, 20.0, 30.0], [20.1, 30.1, 50, 51, 52, 53, 54, 55])
    sampler = SafeLevelSMOTE(k_neighbors=1, random_state=0)
    X_new, y_new = sampler.fit_resample(X, y)
    assert np.bincount(y_new).tolist() == [8, 8]
    assert X_new[len(X) :].max() <= 1
    assert sampler.not_generated_ == {}


def test_pairs_are_drawn_evenly() -> None:
    couples = [0.0, 0.1, 5.0, 5.1, 10.0, 10.1]
    X, y = on_a_line(couples, [100.0, 101.0])
    new = generated(X, y, 3000, k=1)
    assert np.all(np.abs(np.bincount((new.ravel() // 5).astype(int)) - 1000) < 100)


def test_several_classes_are_each_levelled_against_all_others() -> None:
    X, y = make_classification(
        n_samples=200,
        n_classes=3,
        n_informative=5,
        weights=[0.7, 0.2, 0.1],
        random_state=0,
    )
    sampler = SafeLevelSMOTE(random_state=0)
    _, y_new = sampler.fit_resample(X, y)
    assert np.bincount(y_new).tolist() == [np.sum(y == 0)] * 3
    everyone = list(range(len(X)))
    for label in (1, 2):
        expected = [
            sum(y[near] == label for near in nearest(X, row, everyone, 5))
            for row in np.flatnonzero(y == label).tolist()
        ]
        assert sampler.safe_levels_[label].tolist() == expected


def test_a_sample_is_not_its_own_neighbour_among_duplicates() -> None:
    X, y = on_a_line([1.0] * 8, [1.0, 1.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0])
    sampler = SafeLevelSMOTE(k_neighbors=7, random_state=0)
    X_new, _ = sampler.fit_resample(X, y)
    assert X_new[-1] == 1.0
    # Ten equal points: any seven of the nine others, of which two are the majority's.
    assert set(sampler.safe_levels_[MINORITY]) <= {5, 6, 7}


def test_a_minority_no_larger_than_k_is_refused() -> None:
    X, y = on_a_line([0.0, 1.0, 2.0], [5.0, 6.0, 7.0, 8.0])
    with pytest.raises(ValueError, match="n_neighbors"):
        SafeLevelSMOTE(k_neighbors=3).fit_resample(X, y)


# --- interface -----------------------------------------------------------------------


def test_the_seed_decides() -> None:
    X, y = make_classification(weights=[0.8], random_state=0)
    first, again, other = (
        SafeLevelSMOTE(random_state=seed).fit_resample(X, y)[0] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_data_give_the_same_samples(form: Any) -> None:
    X, y = make_classification(weights=[0.8], random_state=0)
    X[np.abs(X) < 0.5] = 0.0
    dense, _ = SafeLevelSMOTE(random_state=0).fit_resample(X, y)
    result, _ = SafeLevelSMOTE(random_state=0).fit_resample(form(X), y)
    assert isinstance(result, form)
    np.testing.assert_allclose(result.toarray(), dense)


def test_a_neighbour_search_counts_the_sample_itself() -> None:
    X, y = make_classification(weights=[0.8], random_state=0)
    by_number, _ = SafeLevelSMOTE(k_neighbors=4, random_state=0).fit_resample(X, y)
    search = NearestNeighbors(n_neighbors=5)
    by_search, _ = SafeLevelSMOTE(k_neighbors=search, random_state=0).fit_resample(X, y)
    np.testing.assert_array_equal(by_number, by_search)


def test_the_warning_points_at_the_caller() -> None:
    X, y = on_a_line([0.0, 10.0], [0.1, 9.9, 20.0, 21.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SafeLevelSMOTE(k_neighbors=1).fit_resample(X, y)
    assert [warning.filename for warning in caught] == [__file__]
