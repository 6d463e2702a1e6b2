"""Generated data: exact class sizes, one stream whatever the chunks, known error."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from drmbench.data.synthetic import class_sizes, iter_synthetic, make_synthetic
from drmbench.errors import InputError

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)


@given(
    n=st.integers(2, 2000),
    classes=st.integers(2, 30),
    imbalance=st.floats(1, 1e4, allow_nan=False),
)
@PROPERTY
def test_sizes_are_exact_falling_and_never_empty(
    n: int, classes: int, imbalance: float
) -> None:
    n = max(n, classes)
    sizes = class_sizes(n, classes, imbalance)
    assert sizes.sum() == n
    assert sizes.min() >= 1
    assert np.all(np.diff(sizes) <= 0)


@pytest.mark.parametrize(
    ("n", "classes", "imbalance", "expected"),
    [
        (100, 2, 1, [50, 50]),
        (100, 3, 1, [34, 33, 33]),
        (100, 2, 9, [90, 10]),
        (210, 3, 16, [160, 40, 10]),
        (5, 5, 1000, [1, 1, 1, 1, 1]),
        (7, 3, 1000, [5, 1, 1]),
        (6, 5, 5, [2, 1, 1, 1, 1]),
    ],
)
def test_sizes_by_hand(
    n: int, classes: int, imbalance: float, expected: list[int]
) -> None:
    assert class_sizes(n, classes, imbalance).tolist() == expected
    data = make_synthetic(n, 3, classes, imbalance)
    assert list(data.class_counts.values()) == expected


@given(
    n=st.integers(2, 900),
    p=st.integers(1, 6),
    classes=st.integers(2, 5),
    seed=st.integers(0, 9),
    chunk=st.integers(1, 1000),
)
@PROPERTY
def test_chunks_are_the_same_rows_whatever_their_size(
    n: int, p: int, classes: int, seed: int, chunk: int
) -> None:
    n = max(n, classes)
    chunks = list(iter_synthetic(n, p, classes, 3.0, seed, chunk=chunk))
    whole = make_synthetic(n, p, classes, 3.0, seed)
    assert all(len(y) == chunk for _, y in chunks[:-1])
    np.testing.assert_array_equal(np.concatenate([X for X, _ in chunks]), whole.X)
    np.testing.assert_array_equal(np.concatenate([y for _, y in chunks]), whole.y)


def test_same_seed_same_data_other_seed_other_data() -> None:
    fingerprints = [make_synthetic(300, 4, seed=seed).fingerprint for seed in (1, 1, 2)]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]


def test_classes_are_mixed() -> None:
    y = make_synthetic(10_000, 1, classes=3, imbalance=4).y
    shares = np.bincount(y) / y.size
    for start in range(0, 10_000, 1000):
        stretch = np.bincount(y[start : start + 1000], minlength=3) / 1000
        np.testing.assert_allclose(stretch, shares, atol=0.02)


@pytest.mark.parametrize(("p", "classes"), [(8, 4), (1, 2), (2, 3)])
def test_moments_of_each_class(p: int, classes: int) -> None:
    data = make_synthetic(40_000, p, classes, separation=5.0)
    means = np.array([data.X[data.y == c].mean(axis=0) for c in range(classes)])
    gaps = np.linalg.norm(means[:-1] - means[1:], axis=1)
    np.testing.assert_allclose(gaps, 5.0, atol=0.06)
    residuals = data.X - means[data.y]
    np.testing.assert_allclose(np.cov(residuals.T), np.eye(p), atol=0.03)


def test_error_of_the_best_rule_is_the_known_one() -> None:
    data = make_synthetic(50_000, 10, separation=2.0)
    # Between two equal spheres the best border is halfway between their centres.
    predicted = (data.X[:, 1] > data.X[:, 0]).astype(int)
    assert np.mean(predicted != data.y) == pytest.approx(norm.cdf(-1.0), abs=0.005)


def test_memory_depends_on_the_chunk_and_not_on_n() -> None:
    peaks = []
    for n in (20_000, 200_000):
        tracemalloc.start()
        rows = sum(len(y) for _, y in iter_synthetic(n, 10, chunk=2000))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert rows == n
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 3_000_000


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"n": 1, "p": 1}, "n must be at least the number of classes, 2, not 1"),
        ({"n": 9, "p": 0}, "p must be at least 1"),
        ({"n": 9, "p": 1, "classes": 1}, "classes must be at least 2"),
        ({"n": 9, "p": 1, "imbalance": 0.5}, "imbalance must be a number from 1 on"),
        ({"n": 9, "p": 1, "imbalance": float("nan")}, "imbalance must be"),
        ({"n": 9, "p": 1, "separation": -1.0}, "separation must be"),
        ({"n": 9, "p": 1, "seed": -1}, "seed must be at least 0"),
    ],
)
def test_parameters_out_of_range_are_refused(
    parameters: dict[str, int], expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        make_synthetic(**parameters)


def test_chunks_have_at_least_one_row() -> None:
    with pytest.raises(InputError, match="chunk must be at least 1"):
        iter_synthetic(10, 2, chunk=0)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": 10**12, "p": 20}, "n × p must be at most 268,435,456"),
        ({"n": 10, "p": 10**12}, "not 10 × 1,000,000,000,000"),
        ({"n": 10**400, "p": 1}, "not a larger number × 1"),
        ({"n": 10**7, "p": 2, "classes": 2 * 10**6}, "classes must be at most 1,000,"),
    ],
)
def test_what_no_memory_holds_is_refused(sizes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_synthetic(**sizes)


@pytest.mark.parametrize("sizes", [(10**400, 1), (10, 10**400), (10**16, 1)])
def test_streams_have_bounds_too(sizes: tuple[int, int]) -> None:
    with pytest.raises(InputError, match=r"[np] must be at most"):
        iter_synthetic(*sizes)
    first, _ = next(iter_synthetic(10**12, 3, chunk=10))
    assert first.shape == (10, 3)
