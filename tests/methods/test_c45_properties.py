"""Properties that every C4.5 tree has, whatever the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drmbench.methods.c45 import C45Classifier

RELAXED = settings(max_examples=40, deadline=None, derandomize=True)
SEEDS = st.integers(0, 100_000)


def _problem(seed: int, gaps: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    n, p = int(random.integers(15, 80)), int(random.integers(1, 5))
    X = random.uniform(-2, 2, size=(n, p)).round(2)
    y = np.digitize(X[:, 0] + 0.5 * random.normal(size=n), [-0.5, 0.7])
    return np.where(random.uniform(size=X.shape) < gaps, np.nan, X), y


def _assert_same_partition(first: C45Classifier, second: C45Classifier) -> None:
    np.testing.assert_array_equal(first.tree_.attribute, second.tree_.attribute)
    np.testing.assert_array_equal(first.tree_.counts, second.tree_.counts)


@RELAXED
@given(
    seed=SEEDS,
    transform=st.sampled_from([np.exp, np.cbrt, np.arctan, lambda x: 1e-3 * x - 7]),
    pruned=st.booleans(),
)
def test_increasing_transforms_do_not_change_the_partition(
    seed: int, transform: Callable[[np.ndarray], np.ndarray], pruned: bool
) -> None:
    X, y = _problem(seed)
    model = C45Classifier(value_gap=0.0, pruned=pruned, subtree_raising=False)
    plain = model.fit(X, y)
    moved = C45Classifier(**model.get_params()).fit(transform(X), y)
    _assert_same_partition(plain, moved)
    np.testing.assert_array_equal(
        plain.predict_proba(X), moved.predict_proba(transform(X))
    )


@RELAXED
@given(seed=SEEDS)
def test_the_order_of_features_matters_only_for_ties(seed: int) -> None:
    X, y = _problem(seed)
    p = X.shape[1]
    plain, reverse = (
        C45Classifier(min_samples_leaf=4).fit(X[:, order], y)
        for order in (np.arange(p), np.arange(p)[::-1])
    )
    renamed = np.where(reverse.tree_.attribute < 0, -1, p - 1 - reverse.tree_.attribute)
    # The first of tied features wins, so ties give another tree in reverse order.
    assume(np.array_equal(plain.tree_.attribute, renamed))
    order = np.random.default_rng(seed).permutation(p)
    mixed = C45Classifier(min_samples_leaf=4).fit(X[:, order], y)
    np.testing.assert_array_equal(plain.predict(X), mixed.predict(X[:, order]))
    assert plain.tree_.n_nodes == mixed.tree_.n_nodes


@RELAXED
@given(labels=st.lists(st.integers(0, 1), min_size=2, max_size=20))
def test_an_unpruned_tree_learns_distinct_values_by_heart(labels: list[int]) -> None:
    # Up to 20 examples of two classes, a numeric branch may hold a single one.
    X, y = np.arange(len(labels), dtype=float)[:, None], np.array(labels)
    model = C45Classifier(min_samples_leaf=1, mdl_correction=False, pruned=False)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), y)


@RELAXED
@given(seed=SEEDS, gaps=st.sampled_from([0.0, 0.15]))
def test_a_whole_weight_is_as_many_copies(seed: int, gaps: float) -> None:
    X, y = _problem(seed, gaps)
    times = np.random.default_rng(seed).integers(1, 4, size=y.size)
    weighted = C45Classifier().fit(X, y, times)
    copied = C45Classifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.export_text() == copied.export_text()
    np.testing.assert_allclose(
        weighted.predict_proba(X), copied.predict_proba(X), atol=1e-12
    )


@RELAXED
@given(seed=SEEDS, gaps=st.sampled_from([0.1, 0.5]), laplace=st.booleans())
def test_probabilities_are_distributions(seed: int, gaps: float, laplace: bool) -> None:
    X, y = _problem(seed, gaps)
    model = C45Classifier(categorical_features=[0], laplace=laplace).fit(X, y)
    unseen = X + np.array([100.0] + [0.0] * (X.shape[1] - 1))
    for examples in (X, unseen, np.full_like(X, np.nan)):
        found = model.predict_proba(examples)
        assert np.all(found >= 0.0)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-5)


@RELAXED
@given(seed=SEEDS)
def test_every_split_has_two_branches_of_the_minimum_weight(seed: int) -> None:
    X, y = _problem(seed)
    tree = C45Classifier(min_samples_leaf=3, subtree_raising=False).fit(X, y).tree_
    for node in np.flatnonzero(tree.attribute >= 0):
        weights = tree.counts[tree.children(node)].sum(axis=1)
        assert np.count_nonzero(weights >= 3) >= 2


@RELAXED
@given(seed=SEEDS)
def test_simplifying_a_tree_never_enlarges_it(seed: int) -> None:
    X, y = _problem(seed)
    grown, collapsed, replaced = (
        C45Classifier(subtree_raising=False, **options).fit(X, y).tree_.n_nodes
        for options in ({"pruned": False, "collapse": False}, {"pruned": False}, {})
    )
    assert grown >= collapsed >= replaced
