"""Over-sampling: tiny minorities, seeds, and one over-sampling per grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imblearn.over_sampling import SMOTE, BorderlineSMOTE
from method_problems import blobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench.methods import oversampling
from drmbench.methods.base import MethodFailedError
from drmbench.methods.oversampling import (
    METHODS,
    SAMPLERS,
    OversampledClassifier,
    TooFewMinoritySamplesError,
    oversample,
)
from drmbench.methods.safe_level_smote import SafeLevelSMOTE

Array = NDArray[Any]


def imbalanced(n_minority: int, n_majority: int = 20) -> tuple[Array, Array]:
    """Two overlapping clouds, so that some of the minority are in danger."""
    random = np.random.default_rng(n_minority)
    y = np.repeat([0, 1], [n_majority, n_minority])
    return random.normal(size=(len(y), 2)) + y[:, np.newaxis], y


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        OversampledClassifier("smote", KNeighborsClassifier(3), random_state=0),
        OversampledClassifier("borderline-smote", SVC(), random_state=0),
        OversampledClassifier("safe-level-smote", SVC(), random_state=0),
    ]
)
def test_scikit_learn_checks(estimator: OversampledClassifier, check: Any) -> None:
    check(estimator)


# --- tiny minorities -----------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("n_minority", [2, 3, 5])
def test_neighbours_are_clamped_and_recorded(sampler: str, n_minority: int) -> None:
    X, y = imbalanced(n_minority)
    model = OversampledClassifier(sampler, KNeighborsClassifier(1), random_state=0)
    model.fit(X, y)
    assert model.k_neighbors_ == n_minority - 1
    assert model.clamped_
    assert (
        f"k_neighbors {n_minority - 1} instead of 5: class 1 has {n_minority} samples"
        in model.notes_[0]
    )
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_large_minority_is_not_clamped(sampler: str) -> None:
    X, y = imbalanced(6)
    model = OversampledClassifier(sampler, KNeighborsClassifier(1), random_state=0)
    model.fit(X, y)
    assert model.k_neighbors_ == 5
    assert not model.clamped_
    assert model.notes_ == ()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_single_minority_sample_is_refused(sampler: str) -> None:
    X, y = imbalanced(1)
    model = OversampledClassifier(sampler, KNeighborsClassifier(1))
    with pytest.raises(
        TooFewMinoritySamplesError, match="class 1 has 1 sample"
    ) as info:
        model.fit(X, y)
    assert isinstance(info.value, MethodFailedError)
    assert sampler in str(info.value)


def test_the_smallest_of_several_classes_counts() -> None:
    X = np.random.default_rng(0).normal(size=(16, 2))
    y = np.repeat(np.array(["large", "small", "medium"], dtype=object), [9, 3, 4])
    result = oversample(X, y, "smote", random_state=0)
    assert result.k_neighbors == 2
    assert result.note == "k_neighbors 2 instead of 5: class 'small' has 3 samples"
    assert np.unique(result.y, return_counts=True)[1].tolist() == [9, 9, 9]


def test_borderline_smote_clamps_its_second_number_too() -> None:
    X, y = imbalanced(3, n_majority=5)
    result = oversample(X, y, "borderline-smote", random_state=0)
    assert "m_neighbors 7 instead of 10: there are 8 samples" in result.note
    assert "m_neighbors" not in oversample(X, y, "smote", random_state=0).note


# --- what the samplers generate ------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("smote", SMOTE(k_neighbors=2, random_state=7)),
        ("borderline-smote", BorderlineSMOTE(k_neighbors=2, random_state=7)),
        ("safe-level-smote", SafeLevelSMOTE(k_neighbors=2, random_state=7)),
    ],
)
def test_the_classifier_is_trained_on_what_the_sampler_returns(
    name: str, algorithm: Any
) -> None:
    X, y = imbalanced(3)
    expected_X, expected_y = algorithm.fit_resample(X, y)
    assert len(expected_X) == 40
    model = OversampledClassifier(name, SVC(), random_state=7).fit(X, y)
    by_hand = SVC().fit(expected_X, expected_y)
    np.testing.assert_array_equal(
        model.decision_function(X), by_hand.decision_function(X)
    )


def test_without_samples_in_danger_borderline_smote_changes_nothing() -> None:
    X, y = imbalanced(4)
    X[y == 1] += 100
    result = oversample(X, y, "borderline-smote", k_neighbors=3, m_neighbors=3)
    np.testing.assert_array_equal(result.X, X)
    assert result.note == "class 1 left at 4 samples: none of them is in danger"


def test_without_safe_pairs_safe_level_smote_changes_nothing() -> None:
    X = np.array([[0.0], [0.1], [10.0], [10.1], [20.0]])
    y = np.array([1, 0, 1, 0, 0])
    result = oversample(X, y, "safe-level-smote", k_neighbors=1)
    np.testing.assert_array_equal(result.X, X)
    assert result.note == "class 1 left at 2 samples: no pair of them is safe"


def test_classes_of_one_size_are_left_alone() -> None:
    X, y = np.eye(3), np.array([0, 1, 2])
    model = OversampledClassifier("smote", KNeighborsClassifier(1)).fit(X, y)
    assert model.notes_ == ("nothing generated: all classes have the same size",)
    assert model.predict(X).tolist() == [0, 1, 2]


def test_an_unknown_sampler_is_refused() -> None:
    X, y = imbalanced(3)
    with pytest.raises(ValueError, match=r"no sampler 'smoke'; valid: smote, border"):
        oversample(X, y, "smoke")
    with pytest.raises(ValueError, match="'sampler' parameter"):
        OversampledClassifier("smoke", SVC()).fit(X, y)


# --- seeds ---------------------------------------------------------------------------


def test_one_seed_makes_everything_repeatable() -> None:
    X, y = make_classification(weights=[0.8], flip_y=0.2, random_state=0)

    def probabilities(seed: int) -> Array:
        forest = RandomForestClassifier(5)
        model = OversampledClassifier("smote", forest, random_state=seed)
        return np.asarray(model.fit(X, y).predict_proba(X))

    np.testing.assert_array_equal(probabilities(0), probabilities(0))
    assert not np.array_equal(probabilities(0), probabilities(1))


def test_a_seed_of_the_classifier_is_kept() -> None:
    X, y = imbalanced(6)
    for own, used in [(None, 3), (8, 8)]:
        inner = make_pipeline(StandardScaler(), Perceptron(random_state=own))
        model = OversampledClassifier("smote", inner, random_state=3).fit(X, y)
        assert model.classifier_.get_params()["perceptron__random_state"] == used
        assert inner.get_params()["perceptron__random_state"] == own


# --- resampling once for many classifiers --------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_resampled_data_can_be_shared(sampler: str) -> None:
    X, y = imbalanced(4)
    wrapper = OversampledClassifier(sampler, SVC(), random_state=0)
    shared = oversample(X, y, sampler, random_state=0)
    for C in (0.1, 1.0, 10.0):
        together = SVC(C=C).fit(shared.X, shared.y)
        alone = clone(wrapper).set_params(classifier__C=C).fit(X, y)
        np.testing.assert_array_equal(
            together.decision_function(X), alone.decision_function(X)
        )
        assert alone.notes_ == (shared.note,)
        assert alone.k_neighbors_ == shared.k_neighbors == 3


def test_grid_search_reaches_the_classifier() -> None:
    X, y = imbalanced(9)
    wrapper = OversampledClassifier("smote", KNeighborsClassifier(), random_state=0)
    search = GridSearchCV(wrapper, {"classifier__n_neighbors": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_["classifier__n_neighbors"] in (1, 3)


def test_only_what_the_classifier_offers_is_offered() -> None:
    knn = OversampledClassifier("smote", KNeighborsClassifier())
    assert hasattr(knn, "predict_proba")
    assert not hasattr(knn, "decision_function")
    svm = OversampledClassifier("smote", SVC())
    assert hasattr(svm, "decision_function")


# --- the methods of the registry -----------------------------------------------------

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
