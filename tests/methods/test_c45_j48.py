"""C45Classifier against Weka's J48: same trees, predictions and probabilities."""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drmbench.methods.c45 import C45Classifier

FIXTURES = Path(__file__).parent / "fixtures" / "j48"


def _load_cases() -> Any:
    spec = importlib.util.spec_from_file_location(
        "j48_cases", FIXTURES / "j48_cases.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


j48_cases = _load_cases()


@cache
def _case(name: str) -> Any:
    return j48_cases.CASES[name]()


@cache
def _fixture(name: str) -> dict[str, Any]:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def _fit(name: str, option: str) -> C45Classifier:
    case, (_, parameters) = _case(name), j48_cases.OPTIONS[option]
    model = C45Classifier(categorical_features=case.nominal, **parameters)
    return model.fit(case.X, case.y, case.weights)


def _thresholds(model: C45Classifier, node: int = 0) -> list[float]:
    tree = model.tree_
    if tree.attribute[node] < 0:
        return []
    children = range(tree.n_nodes)[tree.children(node)]
    below = [value for child in children for value in _thresholds(model, child)]
    own = tree.threshold[node]
    return below if np.isnan(own) else [own, *below]


@pytest.mark.parametrize("name", j48_cases.CASES)
def test_the_data_are_those_j48_saw(name: str) -> None:
    assert _case(name).checksum == _fixture(name)["checksum"]


@pytest.mark.parametrize("option", j48_cases.OPTIONS)
@pytest.mark.parametrize("name", j48_cases.CASES)
def test_same_tree_and_predictions_as_j48(name: str, option: str) -> None:
    model, theirs = _fit(name, option), _fixture(name)["trees"][option]
    assert model.export_text() == theirs["text"]
    assert _thresholds(model) == theirs["thresholds"]
    assert model.get_n_leaves() == theirs["leaves"]
    assert model.tree_.n_nodes == theirs["size"]
    X_test = _case(name).X_test
    probabilities = model.predict_proba(X_test[::7])
    np.testing.assert_allclose(probabilities, theirs["probabilities"], atol=1e-8)
    if option != "laplace":  # J48 predicts without its own correction there
        predicted = "".join(str(label) for label in model.predict(X_test))
        assert predicted == theirs["predictions"]


def test_the_cases_exercise_every_kind_of_pruning() -> None:
    size = {
        name: {option: tree["size"] for option, tree in _fixture(name)["trees"].items()}
        for name in j48_cases.CASES
    }
    assert any(s["unpruned"] < s["grown"] for s in size.values()), "collapsing"
    assert any(s["no_raising"] < s["unpruned"] for s in size.values()), "replacement"
    assert any(s["pruned"] != s["no_raising"] for s in size.values()), "raising"


def test_tic_tac_toe_is_the_known_data_set() -> None:
    case = _case("tic_tac_toe")
    assert case.X_test.shape == (958, 9)
    assert np.unique(case.X_test, axis=0).shape == (958, 9)


def test_unseen_category_gives_the_nodes_own_distribution() -> None:
    # What J48 does with a declared value that no training example has.
    X = np.array([[0.0]] * 5 + [[1.0]] * 4)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    model = C45Classifier(categorical_features=[0]).fit(X, y)
    assert model.get_n_leaves() == 2
    np.testing.assert_allclose(model.predict_proba([[7.0]]), [[4 / 9, 5 / 9]])
