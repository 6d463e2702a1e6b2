"""The registry: complete, lazy, faithful to the paper's columns, safe to change."""

from __future__ import annotations

import csv
import dataclasses
import importlib
import subprocess
import sys
from collections import Counter
from importlib import resources

import numpy as np
import pytest
from method_problems import blobs, few_candidates

import drmbench.methods
from drmbench.errors import InputError
from drmbench.methods import registry
from drmbench.methods.base import Method
from drmbench.methods.registry import get_method, list_methods, with_overrides

METHODS = list_methods()
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def published_columns() -> set[str]:
    tables = resources.files("drmbench.paper")
    columns = set()
    for name in ("table3_accuracy", "table5_large_scale", "table8_gmean"):
        text = (tables / f"{name}.csv").read_text(encoding="utf-8")
        columns |= {row["method"] for row in csv.DictReader(text.splitlines())}
    text = (tables / "table9_gmean_sampling.csv").read_text(encoding="utf-8")
    sampling = {row["method"] for row in csv.DictReader(text.splitlines())}
    return columns | (sampling - {"DRM"})  # the better of the two DRM columns


def test_every_column_of_the_paper_has_its_methods() -> None:
    """One each, but two kernels or distances where the paper merges them."""
    columns = Counter(method.column for method in METHODS if method.column)
    merged = ("SMOTE+SVM", "SMOTE+KNN")
    assert columns == {
        column: 2 if column.endswith(merged) else 1 for column in published_columns()
    }


@each_method
def test_entries_are_complete(method: Method) -> None:
    assert method.citation
    assert method.title
    assert get_method(method.name) is method
    assert not set(method.grid) & set(method.defaults)
    assert set(method.paper_params) <= set(method.defaults)
    assert all(len(values) > 1 for values in method.grid.values())


@each_method
def test_the_preference_orders_all_candidates(method: Method) -> None:
    candidates = method.candidates()
    if method.prefer is None:
        assert len(candidates) == 1
    else:
        keys = [method.prefer(params) for params in candidates]
        assert len(set(keys)) == len(candidates)


@each_method
def test_estimators_predict_and_do_so_again(method: Method) -> None:
    X, y = blobs((9, 9), 4)
    params = few_candidates(method)[0]
    first, second = (method.build(params, 5).fit(X, y).predict(X) for _ in range(2))
    assert first.shape == y.shape
    np.testing.assert_array_equal(first, second)


#: scikit-learn's trees take values for equal that differ by less than 1e-7.
ABSOLUTE_GAP = {"rf-500", "rf-500-balanced", "extra-trees", "balanced-rf"}
ABSOLUTE_GAP |= {"easy-ensemble", "rusboost"}


@pytest.mark.parametrize(
    "method",
    [method for method in METHODS if method.scale_invariant],
    ids=lambda method: method.name,
)
def test_scaling_features_changes_nothing_for_invariant_methods(method: Method) -> None:
    X, y = blobs((25, 25, 20), 4, gap=0.8)
    X_test = blobs((30, 30, 30), 4, seed=1, gap=0.8)[0]
    factors = np.array([1e-6, 0.3, 7.0, 1e2 if method.name in ABSOLUTE_GAP else 1e5])
    for params in few_candidates(method):
        plain = method.build(params, 0).fit(X, y).predict(X_test)
        scaled = method.build(params, 0).fit(X / factors, y).predict(X_test / factors)
        np.testing.assert_array_equal(plain, scaled)


def test_only_trees_and_standardising_methods_are_invariant() -> None:
    invariant = {method.name for method in METHODS if method.scale_invariant}
    forests = {"rf", "rf-500", "rf-500-balanced", "extra-trees", "balanced-rf"}
    boosted = {"hgb", "hgb-balanced", "easy-ensemble", "rusboost"}
    assert invariant == {"c45", "c45-plain", "slda", *forests, *boosted}


def test_unknown_methods_get_near_misses_and_all_names() -> None:
    with pytest.raises(InputError, match="Did you mean 'svm-rbf'") as caught:
        get_method("svm-rfb")
    assert "knn-cosine" in str(caught.value)


def test_a_second_method_of_the_same_name_is_refused() -> None:
    with pytest.raises(ValueError, match="second method 'knn-euclidean'"):
        registry.add_method(get_method("knn-euclidean"))


def test_an_added_method_is_listed_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_added", {})
    own = dataclasses.replace(get_method("nb"), name="own")
    registry.add_method(own)
    assert get_method("own") is own
    assert list_methods() == (*METHODS, own)
    with pytest.raises(ValueError, match="second method 'own'"):
        registry.add_method(own)


@pytest.mark.parametrize("module", registry.FAMILIES)
def test_the_listed_names_are_those_of_the_modules(module: str) -> None:
    methods = importlib.import_module(f"drmbench.methods.{module}").METHODS
    assert tuple(method.name for method in methods) == registry.FAMILIES[module]


def test_overrides_replace_grids_and_fix_parameters() -> None:
    method = with_overrides(
        get_method("drm-rbf"),
        grid={"beta": [1, 2], "width": ["sigma", "variance"]},
        params={"sigma": 3.0},
    )
    assert list(method.grid) == ["alpha", "beta", "width"]
    assert method.defaults == {"sigma": 3.0}
    assert len(method.candidates()) == 7 * 2 * 2
    assert with_overrides(get_method("nb")) == get_method("nb")


@pytest.mark.parametrize(
    ("name", "grid", "params", "message"),
    [
        ("svm-rbf", {"c": [1]}, {}, "has no parameter 'c'. Did you mean 'C'"),
        ("svm-rbf", {}, {"gamma": 1}, "Valid: C, sigma, width, max_iter"),
        ("svm-rbf", {"C": 1}, {}, "must be a list of one value or more"),
        ("svm-rbf", {"C": []}, {}, "must be a list of one value or more"),
        ("svm-rbf", {"C": "10"}, {}, "must be a list of one value or more"),
        ("svm-rbf", {"C": [1]}, {"C": 1}, "both in the grid and fixed"),
        ("svm-rbf", {"C": [1, -1]}, {}, "C=-1.*'C' parameter .* must be a float"),
        ("svm-rbf", {"sigma": [0]}, {}, "division by zero"),
        ("drm-rbf", {}, {"width": "wide"}, "width must be 'sigma' or 'variance'"),
        ("smote-knn", {"n_neighbors": ["many"]}, {}, "'n_neighbors' parameter"),
        ("rf", {}, {"max_features": "all"}, "'max_features' parameter"),
    ],
)
def test_bad_overrides_say_what_is_valid(
    name: str, grid: dict[str, list[object]], params: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        with_overrides(get_method(name), grid=grid, params=params)


@pytest.mark.parametrize(
    "use", ["import drmbench.methods", "drmbench.methods.method_names()"]
)
def test_importing_the_package_loads_no_numerical_library(use: str) -> None:
    code = (
        f"import sys, drmbench.methods; {use};"
        "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("name", drmbench.methods.__all__)
def test_every_exported_name_can_be_imported(name: str) -> None:
    assert getattr(drmbench.methods, name) is not None
    assert name in dir(drmbench.methods)


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'SVM'"):
        _ = drmbench.methods.SVM
