"""Over-sampled methods: training data only, seeded, one over-sampling a grid."""

from __future__ import annotations

import numpy as np
import pytest
from method_problems import blobs

from drmbench.methods import oversampling
from drmbench.methods.oversampling import METHODS, oversample

BY_NAME = {method.name: method for method in METHODS}


def test_every_sampler_meets_every_classifier() -> None:
    samplers = ("smote", "borderline-smote", "safe-level-smote")
    classifiers = ("svm", "svm-poly", "knn", "knn-cosine", "rf", "drm", "drm-poly")
    assert set(BY_NAME) == {f"{s}-{c}" for s in samplers for c in classifiers}
    for name in ("borderline-smote-svm", "borderline-smote-svm-poly"):
        assert BY_NAME[name].column == "BorSMOTE+SVM"
    assert BY_NAME["safe-level-smote-drm-poly"].column is None


def test_the_second_kernel_or_distance_is_what_the_name_says() -> None:
    assert "degree" in BY_NAME["smote-svm-poly"].grid
    assert "degree" in BY_NAME["smote-drm-poly"].grid
    assert "sigma" in BY_NAME["smote-svm"].grid
    X, y = blobs((12, 5), 2)
    method = BY_NAME["smote-knn-cosine"]
    model = method.build(method.candidates()[0], 0).fit(X, y)
    assert model.classifier_.metric == "cosine"


def test_a_grid_shares_one_oversampling(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs((20, 6), 3)
    calls = []

    def counting(*args: object, **kwargs: object) -> object:
        calls.append(kwargs["k_neighbors"])
        return oversample(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(oversampling, "oversample", counting)
    method = BY_NAME["smote-knn"]
    assert method.predict_grid is not None
    candidates = method.candidates()
    method.predict_grid(X, y, X, candidates, seed=0)
    assert calls == [5]
    fewer = [{**params, "k_neighbors": 3} for params in candidates]
    method.predict_grid(X, y, X, candidates + fewer, seed=0)
    assert calls == [5, 5, 3]


def test_the_classifier_sees_balanced_training_data_and_nothing_else() -> None:
    X, y = blobs((20, 6), 3)
    model = BY_NAME["smote-knn"].build(BY_NAME["smote-knn"].candidates()[0], 0)
    model.fit(X, y)
    seen = model.classifier_
    assert np.bincount(seen._y).tolist() == [20, 20]
    np.testing.assert_array_equal(seen._X[:26], X)


def test_the_left_out_sample_does_not_shape_the_synthetic_ones() -> None:
    X, y = blobs((12, 5), 2)
    method = BY_NAME["smote-knn"]
    assert method.predict_left_out is not None
    candidates = method.candidates()[:2]
    left_out = int(np.flatnonzero(y == 1)[0])
    found = method.predict_left_out(X, y, candidates, seed=0).labels[:, left_out]
    rest = np.arange(len(X)) != left_out
    for label, params in zip(found, candidates, strict=True):
        model = method.build(params, 0).fit(X[rest], y[rest])
        assert model.predict(X[[left_out]])[0] == label
        assert not (X[left_out] == model.classifier_._X).all(axis=1).any()


def test_a_single_minority_sample_fails_every_candidate_with_the_reason() -> None:
    X, y = blobs((8, 1), 2)
    method = BY_NAME["smote-svm"]
    assert method.predict_grid is not None
    candidates = method.candidates()[:3]
    found = method.predict_grid(X, y, X, candidates, seed=0)
    assert list(found.failures) == [0, 1, 2]
    assert "1 sample" in found.failures[0]


def test_the_seed_decides_the_synthetic_samples() -> None:
    X, y = blobs((20, 5), 2)
    method = BY_NAME["smote-knn"]
    params = method.candidates()[0]
    seen = [method.build(params, s).fit(X, y).classifier_._X for s in (0, 0, 1)]
    np.testing.assert_array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])
