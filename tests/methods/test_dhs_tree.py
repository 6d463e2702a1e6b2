"""The Duda-Hart-Stork tree: hand-computed splits, its stopping rule and its faults."""

from __future__ import annotations

import math

import numpy as np
import pytest
from method_problems import blobs
from sklearn.exceptions import NotFittedError

from drmbench.methods.base import MethodFailedError
from drmbench.methods.dhs_tree import DHSTreeClassifier
from drmbench.methods.registry import get_method, with_overrides


def entropy(*counts: int) -> float:
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c)


def slow_best_cut(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Score and value of the best cut, straight from the definition."""
    order = sorted(range(len(x)), key=lambda row: x[row])  # stable
    labels = sorted(set(y))
    best = (-math.inf, math.nan)
    for cut in range(1, len(x)):
        weighted = 0.0
        for side in (order[:cut], order[cut:]):
            counts = [sum(y[row] == label for row in side) for label in labels]
            weighted += (len(side) / len(x)) ** 2 * entropy(*counts)
        score = entropy(*(list(y).count(label) for label in labels)) - weighted
        if score > best[0] + 1e-9:
            best = (score, x[order[cut - 1]])
    return best


def numbers(n: int) -> np.ndarray:
    return np.arange(float(n))[:, None]


def test_squared_shares_prefer_the_middle_to_the_purer_cut() -> None:
    # Two samples of class 1 among twelve, one of them the largest. The cut below the
    # largest has a pure side and the higher information gain, but entropies count by
    # the squares of the shares, so the middle wins.
    y = np.zeros(12, dtype=int)
    y[[6, 11]] = 1
    tree = DHSTreeClassifier().fit(numbers(12), y).tree_
    assert 11 / 12 * entropy(10, 1) < 0.5 * entropy(4, 2)  # plain information gain
    assert (11 / 12) ** 2 * entropy(10, 1) > 0.25 * entropy(4, 2)
    assert tree.threshold == 5.0


@pytest.mark.parametrize("seed", range(5))
def test_the_root_is_the_best_cut_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    y = (X[:, 1] + rng.normal(size=30) > 0.5).astype(int)
    scores = [slow_best_cut(column, y) for column in X.T]
    root = DHSTreeClassifier(inc_node=50).fit(X, y).tree_
    expected = max(range(3), key=lambda feature: scores[feature][0])
    assert root.feature == expected
    assert root.threshold == scores[expected][1]


def test_a_nominal_split_has_a_branch_for_each_value() -> None:
    X = np.repeat([[1.0], [2.0], [5.0]], 4, axis=0)
    y = np.repeat(["a", "b", "a"], 4)
    model = DHSTreeClassifier().fit(X, y)
    assert model.tree_.values.tolist() == [1.0, 2.0, 5.0]
    assert [child.size for child in model.tree_.children] == [4, 4, 4]
    assert model.predict([[1.0], [2.0], [5.0]]).tolist() == ["a", "b", "a"]


def test_unknown_nominal_values_become_the_nearest_known_one() -> None:
    X = np.repeat([[1.0], [2.0], [5.0]], 4, axis=0)
    model = DHSTreeClassifier().fit(X, np.repeat(["a", "b", "c"], 4))
    assert model.predict([[-9.0], [2.9], [3.6]]).tolist() == ["a", "b", "c"]


def test_a_value_that_did_not_reach_a_node_gets_its_majority() -> None:
    # Feature 0 sends rows 0-5 and 6-13 apart; among the latter feature 1 is 1 or 2.
    X = np.array([[0.0, 0.0]] * 6 + [[1.0, 1.0]] * 5 + [[1.0, 2.0]] * 3)
    y = np.array([0] * 6 + [1] * 5 + [2] * 3)
    model = DHSTreeClassifier().fit(X, y)
    assert model.tree_.feature == 0
    assert model.predict([[1.0, 0.0]]).tolist() == [1]


def test_features_with_more_values_than_allowed_are_continuous() -> None:
    y = np.repeat([0, 1], 6)
    assert math.isnan(
        DHSTreeClassifier(max_values=12).fit(numbers(12), y).tree_.threshold
    )
    assert DHSTreeClassifier(max_values=11).fit(numbers(12), y).tree_.threshold == 5.0


@pytest.mark.parametrize(("inc_node", "is_split"), [(45, True), (46, False)])
def test_nodes_below_the_percentage_are_leaves(inc_node: float, is_split: bool) -> None:
    # The second child has 9 of the 20 samples, or 45 %, and both classes.
    y = np.array([0] * 11 + [1] * 8 + [0])
    root = DHSTreeClassifier(inc_node=inc_node).fit(numbers(20), y).tree_
    assert [child.size for child in root.children] == [11, 9]
    assert bool(root.children[1].children) is is_split


def test_the_percentage_includes_the_root() -> None:
    y = np.array([0] * 11 + [1] * 9)
    assert DHSTreeClassifier(inc_node=100).fit(numbers(20), y).tree_.children


def test_pure_nodes_are_leaves_whatever_their_size() -> None:
    root = DHSTreeClassifier(inc_node=0).fit(numbers(20), [0] * 9 + [1] * 11).tree_
    assert [child.children for child in root.children] == [[], []]
    assert [child.counts.tolist() for child in root.children] == [[9, 0], [0, 11]]


def test_equally_frequent_classes_go_to_the_first_in_the_training_data() -> None:
    X, y = np.ones((4, 1)), np.array(["b", "b", "a", "a"])
    assert DHSTreeClassifier().fit(X, y).predict([[1.0]]).tolist() == ["b"]
    assert DHSTreeClassifier().fit(X, y[::-1]).predict([[1.0]]).tolist() == ["a"]


def ties_sorted_by_class() -> tuple[np.ndarray, np.ndarray]:
    """Feature 1 is 0 in all rows that feature 0 sends left; classes are sorted."""
    X = np.zeros((36, 2))
    X[:, 0] = [*range(12), *range(12), *range(20, 32)]
    X[24:, 1] = np.arange(1, 13)
    return X, np.repeat([1, 0, 2], 12)


def test_a_constant_feature_looks_perfect_where_classes_are_sorted() -> None:
    X, y = ties_sorted_by_class()
    root = DHSTreeClassifier(inc_node=5).fit(X, y).tree_
    blocked = root.children[0]
    assert blocked.size == 24
    assert blocked.constant
    assert not blocked.children


def test_the_toolbox_breaks_off_at_a_constant_feature() -> None:
    X, y = ties_sorted_by_class()
    with pytest.raises(MethodFailedError, match="toolbox breaks off"):
        DHSTreeClassifier(inc_node=5, constant_split="error").fit(X, y)
    # With a node size above 24 of 36 samples the node is a leaf before that.
    DHSTreeClassifier(inc_node=70, constant_split="error").fit(X, y)


def test_the_grid_gives_what_the_estimators_give() -> None:
    X, y = blobs((40, 25, 30), 4, gap=0.8)
    X_test = blobs((20, 20, 20), 4, seed=1, gap=0.8)[0]
    X[:, 3] = X[:, 3].round()
    method = with_overrides(get_method("c45-dhs"), grid={"inc_node": [2, 7, 20, 40]})
    together = method.predict_grid(X, y, X_test, method.candidates(), seed=0).labels
    for row, params in zip(together, method.candidates(), strict=True):
        alone = DHSTreeClassifier(**params).fit(X, y).predict(X_test)
        np.testing.assert_array_equal(row, alone)
    assert len({row.tobytes() for row in together}) > 1


def test_the_grid_fails_for_the_candidates_that_fail() -> None:
    X, y = ties_sorted_by_class()
    method = with_overrides(
        get_method("c45-dhs"),
        grid={"inc_node": [5, 70]},
        params={"constant_split": "error"},
    )
    answer = method.predict_grid(X, y, X, method.candidates(), seed=0)
    assert list(answer.failures) == [0]
    assert (answer.labels[0] == -1).all()
    assert (answer.labels[1] >= 0).all()


def test_blocks_of_features_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs((30, 30), 7, gap=0.5)
    whole = DHSTreeClassifier().fit(X, y)
    monkeypatch.setattr("drmbench.methods.dhs_tree._BLOCK_CELLS", 1)
    parts = DHSTreeClassifier().fit(X, y)
    assert (whole.tree_.feature, whole.tree_.threshold) == (
        parts.tree_.feature,
        parts.tree_.threshold,
    )
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))


def test_parameters_and_use_before_fit_are_checked() -> None:
    with pytest.raises(ValueError, match="inc_node"):
        DHSTreeClassifier(inc_node=101).fit(numbers(4), [0, 0, 1, 1])
    with pytest.raises(NotFittedError):
        DHSTreeClassifier().predict([[1.0]])
