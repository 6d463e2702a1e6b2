"""Splits have the sizes asked for, are stratified, and repeat exactly."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drmbench.data.dataset import Dataset, Provenance
from drmbench.errors import InputError
from drmbench.protocol.splits import (
    Split,
    SplitPlan,
    apportion,
    given_folds,
    given_split,
    kfold_splits,
    random_splits,
)

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)
class_sizes = st.lists(st.integers(1, 30), min_size=2, max_size=8)


def labels_of(sizes: list[int]) -> np.ndarray:
    """Labels with the given class sizes, classes interleaved."""
    rng = np.random.default_rng(len(sizes))
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def make_dataset(y: np.ndarray, **extra: object) -> Dataset:
    names = tuple(f"c{label}" for label in range(int(y.max()) + 1))
    X = np.arange(len(y), dtype=float)[:, None]
    return Dataset("toy", X, y, names, Provenance("test"), **extra)  # type: ignore[arg-type]


def same(first: Split, second: Split) -> bool:
    return (
        first.number == second.number
        and np.array_equal(first.train, second.train)
        and np.array_equal(first.test, second.test)
    )


@PROPERTY
@given(sizes=class_sizes, data=st.data())
def test_random_split_has_the_sizes_and_every_class(sizes, data):
    y = labels_of(sizes)
    n, g = len(y), len(sizes)
    assume(n > g)
    train = data.draw(st.integers(g, n - 1), label="train")
    test = data.draw(st.none() | st.integers(1, n - train), label="test")
    for split in random_splits(y, train, test_size=test, repeats=2):
        assert len(split.train) == train
        assert len(split.test) == (n - train if test is None else test)
        assert not np.intersect1d(split.train, split.test).size
        assert len(np.unique(y[split.train])) == g
        assert np.array_equal(split.train, np.unique(split.train))
        assert np.array_equal(split.test, np.unique(split.test))


@PROPERTY
@given(sizes=st.lists(st.integers(5, 40), min_size=2, max_size=6), share=st.data())
def test_random_split_is_stratified_within_one(sizes, share):
    y = labels_of(sizes)
    # From a fifth on, every class has a quota of one or more: no bound is active.
    train = share.draw(st.integers(-(-len(y) // 5), len(y) - 1))
    (split,) = random_splits(y, train, repeats=1)
    quota = train * np.array(sizes) / len(y)
    assert np.all(np.abs(np.bincount(y[split.train]) - quota) < 1)
    rest = np.bincount(y[split.test], minlength=len(sizes))
    assert np.all(np.abs(rest - (np.array(sizes) - quota)) < 1)


@PROPERTY
@given(sizes=st.lists(st.integers(1, 5), min_size=2, max_size=4), data=st.data())
def test_apportion_is_the_best_division_of_all(sizes, data):
    """Against brute force over every division that the bounds allow."""
    shares = np.array(sizes)
    low = np.array([data.draw(st.integers(0, size)) for size in sizes])
    total = data.draw(st.integers(int(low.sum()), int(shares.sum())))
    quota = total * shares / shares.sum()
    ranges = [range(a, b + 1) for a, b in zip(low, shares, strict=True)]
    best = min(
        float(np.sum((np.array(parts) - quota) ** 2))
        for parts in itertools.product(*ranges)
        if sum(parts) == total
    )
    parts = apportion(total, shares, low, shares)
    assert parts.sum() == total
    assert np.all(low <= parts)
    assert np.all(parts <= shares)
    assert np.sum((parts - quota) ** 2) == pytest.approx(best)


def test_largest_remainders_get_the_rest():
    sizes = np.array([47, 16, 15, 12, 10])  # quotas 9.4, 3.2, 3, 2.4, 2
    parts = apportion(20, sizes, np.zeros(5, dtype=int), sizes)
    assert parts.tolist() == [10, 3, 3, 2, 2]


def test_three_samples_of_a_class_are_split_two_to_one():
    """Nakayama's smallest classes: 84 + 21 of 105."""
    sizes = [3, 3, 3, 15, 16, 15, 15, 16, 3, 16]
    y = labels_of(sizes)
    for split in random_splits(y, 84, name="nakayama"):
        small = np.bincount(y[split.train])[[0, 1, 2, 8]]
        assert np.all((small == 2) | (small == 3))
        assert len(split.test) == 21


def test_repetitions_differ_but_class_sizes_do_not():
    y = labels_of([10, 20, 30])
    first, second = random_splits(y, 40, repeats=2)
    assert not np.array_equal(first.train, second.train)
    assert np.array_equal(np.bincount(y[first.train]), np.bincount(y[second.train]))
    assert [first.number, second.number] == [0, 1]


def test_seed_and_name_change_the_splits_and_nothing_else_does():
    y = labels_of([10, 20])
    base = random_splits(y, 20, seed=1, name="iris")
    again = random_splits(y, 20, seed=1, name="iris")
    fewer = random_splits(y, 20, seed=1, name="iris", repeats=2)
    assert all(map(same, base, again))
    assert all(map(same, base[:2], fewer))
    for other in (
        random_splits(y, 20, seed=2, name="iris"),
        random_splits(y, 20, seed=1, name="wine"),
    ):
        assert not same(base[0], other[0])


def test_splits_are_the_same_in_another_process():
    code = (
        "import numpy as np; from drmbench.protocol.splits import random_splits;"
        "y = np.arange(30) % 3;"
        "print([s.test.tolist() for s in random_splits(y, 20, name='x')])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    here = [s.test.tolist() for s in random_splits(np.arange(30) % 3, 20, name="x")]
    assert outputs == {f"{here}\n"}


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (0, None, "0 training and 30 test rows of 30 leaves a part empty"),
        (30, None, "30 training and 0 test rows of 30 leaves a part empty"),
        (20, 11, "needs 31 rows, there are 30"),
        (2, None, "each of the 3 classes in training; use at least 3"),
    ],
)
def test_impossible_sizes_are_refused_with_the_numbers(train, test, message):
    with pytest.raises(InputError, match=message) as caught:
        random_splits(np.arange(30) % 3, train, test_size=test, name="toy")
    assert str(caught.value).startswith("toy: ")


@PROPERTY
@given(sizes=class_sizes, data=st.data())
def test_kfold_deals_every_row_once_and_evenly(sizes, data):
    y = labels_of(sizes)
    k = data.draw(st.integers(2, len(y)))
    splits = kfold_splits(y, k)
    assert np.array_equal(
        np.sort(np.concatenate([s.test for s in splits])), np.arange(len(y))
    )
    assert all(len(s.train) + len(s.test) == len(y) for s in splits)
    counts = np.array([np.bincount(y[s.test], minlength=len(sizes)) for s in splits])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_repeated_kfold_is_numbered_through_and_dealt_again():
    y = labels_of([12, 13])
    splits = kfold_splits(y, 5, repeats=2)
    assert [split.number for split in splits] == list(range(10))
    assert not np.array_equal(splits[0].test, splits[5].test)


@pytest.mark.parametrize("k", [1, 31])
def test_kfold_refuses_an_impossible_k(k):
    with pytest.raises(InputError, match=f"{k} folds of 30 rows; k must be between 2"):
        kfold_splits(np.arange(30) % 3, k)


def test_no_repetition_is_refused():
    with pytest.raises(InputError, match="repeats must be 1 or more, not 0"):
        random_splits(np.arange(30) % 3, 20, repeats=0)


def test_given_folds_become_splits_and_excluded_rows_are_in_none():
    folds = np.array([0, 1, 2, 0, 1, -1])
    splits = given_folds(make_dataset(np.array([0, 1, 0, 1, 0, 1]), folds=folds))
    assert [s.test.tolist() for s in splits] == [[0, 3], [1, 4], [2]]
    assert splits[2].train.tolist() == [0, 1, 3, 4]


def test_given_split_is_returned_as_it_is():
    y = np.array([0, 1, 0, 1])
    (split,) = given_split(make_dataset(y, split=(np.array([3, 0]), np.array([1]))))
    assert split.train.tolist() == [0, 3]
    assert split.test.tolist() == [1]


@pytest.mark.parametrize("kind", ["given", "folds"])
def test_a_data_set_without_its_own_split_says_so(kind):
    with pytest.raises(InputError, match=r"toy comes without .* of its own"):
        SplitPlan(kind).splits(make_dataset(np.array([0, 1, 0, 1])))


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (SplitPlan("random", train=20, repeats=3), (3, 20, 10)),
        (SplitPlan("random", train=0.5, test=5, repeats=2), (2, 15, 5)),
        (SplitPlan("kfold", k=3, repeats=2), (6, 20, 10)),
    ],
)
def test_a_plan_makes_its_splits(plan, expected):
    splits = plan.splits(make_dataset(np.arange(30) % 3))
    assert (len(splits), len(splits[0].train), len(splits[0].test)) == expected


def test_a_random_plan_without_a_size_is_refused():
    with pytest.raises(InputError, match="toy: a random split needs a training size"):
        SplitPlan("random").splits(make_dataset(np.arange(30) % 3))
