"""The behaviour of C45Classifier that its users rely on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench.methods.c45 import C45Classifier
from drmbench.methods.c45_examples import Examples, TrainingData
from drmbench.methods.c45_splits import AttributeTest
from drmbench.methods.c45_tree import (
    C45Node,
    CompiledTree,
    ErrorBasedPruning,
    collapse,
    compile_tree,
)

SHARES = [None, 0.0, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.3]


@parametrize_with_checks([C45Classifier(), C45Classifier(min_error_share=0.1)])
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def _mixed_problem(seed: int = 0) -> dict[str, Any]:
    """Numeric and nominal features, unknown values, noise and weights."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(250, 5)).round(2)
    X[:, 3:] = random.integers(0, 4, size=(250, 2))
    y = (X[:, 0] + (X[:, 3] == 1) + 0.7 * random.normal(size=250) > 0.3).astype(int)
    y += X[:, 1] > 1.2
    X[random.uniform(size=X.shape) < 0.1] = np.nan
    return {"X": X, "y": y, "sample_weight": random.uniform(0.5, 2.0, size=250)}


def _assert_same_tree(first: CompiledTree, second: CompiledTree) -> None:
    for name in ("attribute", "threshold", "first_child", "n_children"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_allclose(first.counts, second.counts)
    np.testing.assert_allclose(first.share, second.share)


@pytest.mark.parametrize(
    "options",
    [{}, {"subtree_raising": False}, {"pruned": False}, {"collapse": False}],
    ids=str,
)
def test_one_grown_tree_answers_all_prepruning_levels(options: dict[str, bool]) -> None:
    problem = _mixed_problem()
    model = C45Classifier(categorical_features=[3, 4], **options)
    fitted = model.fit_levels(levels=SHARES, **problem)
    for share, quick in zip(SHARES, fitted, strict=True):
        slow = C45Classifier(
            categorical_features=[3, 4], min_error_share=share, **options
        ).fit(**problem)
        assert quick.get_params() == slow.get_params()
        _assert_same_tree(quick.tree_, slow.tree_)
        np.testing.assert_array_equal(
            quick.predict_proba(problem["X"]), slow.predict_proba(problem["X"])
        )


def test_levels_leave_the_object_unfitted_and_reject_bad_shares() -> None:
    X, y = load_iris(return_X_y=True)
    model = C45Classifier()
    model.fit_levels(X, y, [0.05])
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="min_error_share"):
        model.fit_levels(X, y, [1.5])


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_prepruning_splits_exactly_the_nodes_above_the_share(share: float) -> None:
    problem = _mixed_problem(seed=1)
    free, cut = (
        C45Classifier(min_error_share=level, pruned=False, collapse=False)
        .fit(**problem)
        .tree_
        for level in (None, share)
    )
    inner = cut.counts[cut.attribute >= 0]
    assert np.all(1 - inner.max(axis=1) / inner.sum(axis=1) > share)
    assert cut.n_nodes < free.n_nodes


def test_a_share_that_is_just_met_makes_a_leaf() -> None:
    X, y = np.arange(20.0)[:, None], np.array([0] * 19 + [1])
    options = {"min_samples_leaf": 1, "mdl_correction": False, "pruned": False}
    leaf = C45Classifier(min_error_share=0.05, **options).fit(X, y)
    split = C45Classifier(min_error_share=0.0499, **options).fit(X, y)
    assert (leaf.get_n_leaves(), split.get_n_leaves()) == (1, 2)


def test_unknown_values_are_divided_in_training_and_prediction() -> None:
    # Known: 6 of class 0 below and 3 of class 1 above; unknown: one of class 1.
    X = np.array([[1.0]] * 6 + [[2.0]] * 3 + [[np.nan]])
    y = np.array([0] * 6 + [1] * 4)
    model = C45Classifier(pruned=False).fit(X, y)
    assert model.export_text() == ("x0 <= 1: 0 (6.67/0.67)\nx0 > 1: 1 (3.33)")
    low, high = np.array([0.9, 0.1]), np.array([0.0, 1.0])
    expected = [low, high, 2 / 3 * low + 1 / 3 * high]
    found = model.predict_proba([[0.0], [5.0], [np.nan]])
    np.testing.assert_allclose(found, expected)


def test_laplace_adds_one_to_every_class() -> None:
    X = np.array([[0.0]] * 4 + [[1.0]] * 3)
    y = np.array(["a"] * 4 + ["b"] * 3)
    found = C45Classifier(laplace=True).fit(X, y).predict_proba([[0.0], [1.0]])
    np.testing.assert_allclose(found, [[5 / 6, 1 / 6], [1 / 5, 4 / 5]])


def test_a_branch_without_examples_predicts_like_its_parent() -> None:
    data = TrainingData(
        columns=np.array([[0.0] * 5 + [1.0] * 4]),
        classes=np.array([0] * 5 + [1] * 4, dtype=np.uint8),
        n_classes=2,
        n_categories=np.array([3]),
        n_examples=9.0,
    )
    root = C45Node.leaf(data, Examples(np.arange(9), np.ones(9)))
    root.grow(data, AttributeTest(0, None, 3))
    found = compile_tree(root).predict(np.array([[0.0], [2.0]]), laplace=False)
    np.testing.assert_allclose(found, [[1.0, 0.0], [5 / 9, 4 / 9]])


def test_weights_of_zero_leave_examples_out() -> None:
    problem = _mixed_problem()
    kept = np.arange(250) % 4 != 0
    weight = np.where(kept, problem["sample_weight"], 0.0)
    whole = C45Classifier().fit(problem["X"], problem["y"], weight)
    part = C45Classifier().fit(problem["X"][kept], problem["y"][kept], weight[kept])
    _assert_same_tree(whole.tree_, part.tree_)


def test_value_gap_decides_whether_close_values_are_told_apart() -> None:
    X, y = np.arange(20.0)[:, None] * 1e-6, np.arange(20) // 10
    assert C45Classifier().fit(X, y).get_n_leaves() == 1
    assert C45Classifier(value_gap=0.0).fit(X, y).get_n_leaves() == 2


def test_mdl_correction_refuses_a_threshold_not_worth_its_cost() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 1)), random.integers(0, 2, size=200)
    sizes = [
        C45Classifier(pruned=False, collapse=False, mdl_correction=corrected)
        .fit(X, y)
        .get_n_leaves()
        for corrected in (True, False)
    ]
    assert sizes[0] == 1
    assert sizes[1] > 1


def test_text_uses_names_categories_and_decimals() -> None:
    X = pd.DataFrame(
        {"size": np.repeat([0.123456, 0.654321], 10), "colour": [3.0, 5.0] * 10}
    )
    y = np.where(X["size"] < 0.5, np.where(X["colour"] == 3, "red", "blue"), "none")
    model = C45Classifier(categorical_features=[False, True]).fit(X, y)
    assert model.export_text(decimals=2) == (
        "size <= 0.12\n"
        "|   colour = 3: red (5.0)\n"
        "|   colour = 5: blue (5.0)\n"
        "size > 0.12: none (10.0)"
    )
    assert model.export_text(feature_names=["size", "colour"]).startswith(
        "size <= 0.123456\n"
    )
    assert (model.get_depth(), model.get_n_leaves()) == (2, 3)


def test_text_of_a_single_leaf() -> None:
    assert C45Classifier().fit([[0.0], [1.0]], ["a", "a"]).export_text() == ": a (2.0)"


@pytest.mark.parametrize("wrong", [[2], [-1], [0.5], [[0]], [True], ["x0"]], ids=str)
def test_wrong_categorical_features_are_named(wrong: list[Any]) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]), [0, 1, 0]
    with pytest.raises(ValueError, match="feature numbers from 0 to 1"):
        C45Classifier(categorical_features=wrong).fit(X, y)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("confidence_factor", 0.6), ("min_samples_leaf", 0), ("value_gap", -1.0)],
)
def test_parameters_out_of_range_are_named(parameter: str, value: float) -> None:
    with pytest.raises(ValueError, match=parameter):
        C45Classifier(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


def test_a_column_without_any_value_is_never_used() -> None:
    X, y = load_iris(return_X_y=True)
    empty = np.full((150, 1), np.nan)
    for nominal in ([], [0]):
        model = C45Classifier(categorical_features=nominal)
        model.fit(np.hstack([empty, X]), y)
        assert not np.any(model.tree_.attribute == 0)
        assert model.score(np.hstack([empty, X]), y) == C45Classifier().fit(X, y).score(
            X, y
        )


def test_a_tree_deeper_than_the_recursion_limit() -> None:
    depth = 1500
    data = TrainingData(
        columns=np.arange(depth + 1.0)[None, :],
        classes=(np.arange(depth + 1) % 2).astype(np.uint8),
        n_classes=2,
        n_categories=np.zeros(1, dtype=np.intp),
        n_examples=depth + 1.0,
    )
    root = node = C45Node.leaf(data, Examples(np.arange(depth + 1), np.ones(depth + 1)))
    for level in range(depth):
        node.grow(data, AttributeTest(0, float(level), 2))
        node = node.children[1]
    copy = root.copy()
    collapse(copy)
    chain = compile_tree(copy)
    assert chain.depth == depth
    assert chain.predict(data.columns.T, laplace=False).argmax(axis=1).tolist() == (
        data.classes.tolist()
    )
    ErrorBasedPruning(data, confidence=0.25, raising=False).prune(copy)
    assert compile_tree(copy).n_nodes == 1
