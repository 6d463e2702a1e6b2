"""The low-rank kernel factor and the linear algorithms on it."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from drmbench import DRMClassifier, KernelRidgeRepresentationClassifier
from drmbench.drm import low_rank
from drmbench.drm.kernels import SPARSE_KERNELS, Kernel, gram, kernel_diagonal
from drmbench.drm.low_rank import LowRankMap, pivoted_cholesky

quick = settings(max_examples=25, deadline=None, derandomize=True)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.arange(60) % 3, rng.normal(size=(10, 3))


def rbf(X, Y):
    return oracle.gram(X, Y, "rbf", 0.3)


RBF = Kernel.of_callable(rbf)


def test_full_rank_is_exact(data):
    X, _, X_test = data
    found = pivoted_cholesky(X, RBF, rank=60)
    F = found.factor
    features = LowRankMap(RBF, X[found.landmarks], F[found.landmarks])
    assert np.allclose(F @ F.T, rbf(X, X), atol=1e-8)
    assert np.allclose(features.transform(X_test) @ F.T, rbf(X_test, X), atol=1e-4)
    assert np.allclose(features.transform(X), F, atol=1e-6)


def test_residual_is_the_trace_error_and_falls(data):
    X, _, _ = data
    residuals = []
    for rank in (2, 5, 10, 20):
        found = pivoted_cholesky(X, RBF, rank)
        F = found.factor
        assert F.shape == (60, rank)
        error = np.trace(rbf(X, X) - F @ F.T) / 60
        assert np.isclose(found.residual, error)
        residuals.append(error)
        best = np.sort(np.linalg.eigvalsh(rbf(X, X)))[:-rank].sum() / 60
        assert best <= error <= 6 * best
    assert residuals == sorted(residuals, reverse=True)


def test_the_factor_is_the_nystroem_approximation(data):
    """``K[:, L] K[L, L]⁻¹ K[L, :]`` for the chosen landmarks L."""
    X, _, _ = data
    found = pivoted_cholesky(X, RBF, 8)
    landmarks = found.landmarks
    C = rbf(X, X[landmarks])
    nystroem = C @ np.linalg.solve(rbf(X[landmarks], X[landmarks]), C.T)
    F = found.factor
    assert np.allclose(F @ F.T, nystroem, atol=1e-8)
    F = LowRankMap.of(X, RBF, 8).transform(X)
    landmarks = np.isclose(np.einsum("ij,ij->i", F, F), 1.0, atol=1e-10)
    assert np.count_nonzero(landmarks) == 8  # only theirs is all of k(x, x)
    C = rbf(X, X[landmarks])
    nystroem = C @ np.linalg.solve(rbf(X[landmarks], X[landmarks]), C.T)
    assert np.allclose(F @ F.T, nystroem, atol=1e-8)


def test_duplicates_stop_it_early():
    X = np.repeat(np.random.default_rng(1).normal(size=(4, 2)), 5, axis=0)
    found = pivoted_cholesky(X, RBF, 15)
    assert found.factor.shape == (20, 4)
    assert found.residual < 1e-12


@pytest.mark.parametrize("solver", ["auto", "closed_form", "gd", "ppa", "apg", "exact"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "callable"])
def test_full_rank_classifier_is_the_kernel_classifier(data, solver, kernel):
    X, y, X_test = data
    settings = {"alpha": 0.2, "beta": 0.5, "gamma": 0.3, "degree": 2}
    chosen = rbf if kernel == "callable" else kernel
    full = DRMClassifier(kernel=chosen, **settings).fit(X, y)
    low = DRMClassifier(
        kernel=chosen, solver=solver, rank=60, tol=1e-10, max_iter=5000, **settings
    ).fit(X, y)
    expected = full.dissimilarities(X_test)
    assert np.allclose(low.dissimilarities(X_test), expected, atol=1e-4)
    assert (low.predict(X_test) == full.predict(X_test)).all()


def test_rank_needs_samples(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="cannot take a precomputed"):
        DRMClassifier(kernel="precomputed", rank=3).fit(rbf(X, X), y)


KERNELS = {
    "linear": Kernel("linear"),
    "poly": Kernel("poly", gamma=0.5, degree=3),
    "polynomial": Kernel("polynomial", degree=2),
    "rbf": Kernel("rbf", gamma=0.7),
    "cosine": Kernel("cosine"),
    "laplacian": Kernel("laplacian", gamma=0.7),
    "chi2": Kernel("chi2", gamma=0.7),
    "callable": RBF,
}


@pytest.mark.parametrize("name", [*KERNELS, "additive_chi2", "sigmoid"])
def test_the_diagonal_is_that_of_the_kernel_matrix(name):
    X = np.abs(np.random.default_rng(0).normal(size=(150, 4)))
    X[3] = 0.0
    kernel = KERNELS.get(name) or Kernel(name, gamma=0.3)
    expected = np.diagonal(gram(X, kernel=kernel))
    assert np.allclose(kernel_diagonal(X, kernel), expected, rtol=1e-12)
    if name in SPARSE_KERNELS:
        assert np.allclose(kernel_diagonal(sparse.csr_matrix(X), kernel), expected)


def test_an_overflowing_diagonal_is_named():
    with pytest.raises(ValueError, match="poly kernel of degree 200 overflows"):
        kernel_diagonal(np.full((2, 2), 1e3), Kernel("poly", degree=200))


@quick
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_landmarks_do_not_depend_on_the_order_of_samples(seed, rank):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(30, 3)), rng.uniform(0.1, 5.0, size=30)
    order = rng.permutation(30)
    first = LowRankMap.of(X, RBF, rank, weights)
    second = LowRankMap.of(X[order], RBF, rank, weights[order])
    assert np.array_equal(first.landmarks, second.landmarks)
    assert np.allclose(first.triangle, second.triangle, atol=1e-8)


@quick
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_a_sample_that_counts_twice_is_drawn_like_two(seed, rank):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 5, size=30)
    weighted = LowRankMap.of(X, RBF, rank, weights.astype(float))
    repeated = LowRankMap.of(np.repeat(X, weights, axis=0), RBF, rank)
    assert np.array_equal(weighted.landmarks, repeated.landmarks)


def test_heavy_samples_stay_among_many_candidates(monkeypatch):
    """Of a class that is 1 % of the samples and half of the weight, half are drawn."""
    monkeypatch.setattr(low_rank, "CANDIDATES", 500)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    X[:100] += 50.0
    weights = np.full(10_000, 0.5 / 9900)
    weights[:100] = 0.5 / 100
    features = LowRankMap.of(X, Kernel("rbf", gamma=100.0), 60, weights)
    rare = np.count_nonzero(features.landmarks[:, 0] > 25.0)
    assert 20 <= rare <= 40
    plain = LowRankMap.of(X, Kernel("rbf", gamma=100.0), 60)
    assert np.count_nonzero(plain.landmarks[:, 0] > 25.0) < 6


def test_a_kernel_that_is_zero_has_no_landmarks():
    with pytest.raises(ValueError, match="linear kernel is zero"):
        DRMClassifier(kernel="linear", rank=2).fit(np.zeros((4, 2)), [0, 0, 1, 1])


def nystroem(landmarks, kernel):
    """Return the approximated kernel as a function, by its textbook formula."""
    inverse = np.linalg.pinv(gram(landmarks, kernel=kernel), hermitian=True)

    def function(X, Y):
        left = gram(X, landmarks, kernel=kernel)
        return left @ inverse @ gram(Y, landmarks, kernel=kernel).T

    return function


def in_pieces(model, X, y, weights=None, sizes=(20, 1, 25, 14)):
    cuts = np.cumsum((0, *sizes))
    for start, stop in itertools.pairwise(cuts):
        piece = slice(start, stop)
        given = None if weights is None else weights[piece]
        model.partial_fit(X[piece], y[piece], [0, 1, 2], sample_weight=given)
    return model


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_a_stream_is_the_closed_form_of_the_approximated_kernel(data, name, weighted):
    X, y, X_test = (np.abs(part) for part in data)
    weights = np.random.default_rng(5).uniform(0.2, 3.0, 60) if weighted else None
    kernel = KERNELS[name]
    common = {"alpha": 0.3, "beta": 0.4}
    common["class_weight"] = "balanced" if weighted else None
    model = DRMClassifier(
        kernel=kernel.function or kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        rank=3,
        **common,
    )
    in_pieces(model, X, y, weights)
    low = nystroem(model._map.landmarks, kernel)
    full = DRMClassifier(kernel=low, solver="closed_form", **common)
    expected = full.fit(X, y, sample_weight=weights).dissimilarities(X_test)
    oracle.assert_close(model.dissimilarities(X_test), expected, 1e-9)
    assert (model.predict(X_test) == full.predict(X_test)).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 2: 0.5}])
def test_pieces_equal_all_at_once(data, make, class_weight, monkeypatch):
    X, y, X_test = data
    y = np.minimum(y * (np.arange(60) % 4), 2)  # of different sizes
    weights = np.random.default_rng(5).integers(0, 3, 60)
    weights[:3] = 1
    fixed = LowRankMap.of(X, Kernel("rbf", gamma=0.3), 12)
    monkeypatch.setattr(LowRankMap, "of", lambda *_: fixed)
    model = DRMClassifier(
        alpha=0.2, beta=0.5, gamma=0.3, rank=12, class_weight=class_weight
    )
    whole = clone(model).fit(make(X), y, sample_weight=weights)
    streamed = in_pieces(clone(model), make(X), y, weights)
    expected = whole.dissimilarities(make(X_test))
    oracle.assert_close(streamed.dissimilarities(make(X_test)), expected, 1e-10)
    continued = clone(model).fit(make(X[:40]), y[:40], sample_weight=weights[:40])
    continued.partial_fit(make(X[40:]), y[40:], sample_weight=weights[40:])
    oracle.assert_close(continued.dissimilarities(make(X_test)), expected, 1e-10)
    restored = pickle.loads(pickle.dumps(streamed))
    assert (restored.predict(X_test) == whole.predict(X_test)).all()


@pytest.mark.parametrize("kind", ["exact", "gd"])
def test_representations_are_those_of_the_approximated_kernel(data, kind):
    X, y, X_test = data
    weights = np.random.default_rng(5).integers(0, 3, 60)
    model = DRMClassifier(
        alpha=0.2, beta=0.5, gamma=0.3, rank=12, solver=kind, tol=1e-12, max_iter=9999
    ).fit(X, y, sample_weight=weights)
    low = nystroem(model._map.landmarks, Kernel("rbf", gamma=0.3))
    full = DRMClassifier(alpha=0.2, beta=0.5, kernel=low, solver="closed_form")
    full.fit(X, y, sample_weight=weights)
    expected = full.representation(X_test)
    assert np.allclose(model.representation(X_test), expected, atol=1e-8)
    assert model.solve_trace(X_test[0]).stop_reason == (
        "direct" if kind == "exact" else "tolerance"
    )


def test_a_stream_has_no_representations(data):
    X, y, X_test = data
    for model in (
        DRMClassifier(rank=5).partial_fit(X, y, [0, 1, 2]),
        DRMClassifier(rank=5).fit(X, y).partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match="partial_fit keeps only sums"):
            model.representation(X_test)
        with pytest.raises(ValueError, match="partial_fit keeps only sums"):
            model.solve_trace(X_test[0])
        assert model.decision_function(X_test).shape == (10, 3)


def test_partial_fit_is_there_only_with_a_rank(data):
    X, y, _ = data
    assert not hasattr(DRMClassifier(), "partial_fit")
    assert hasattr(KernelRidgeRepresentationClassifier(rank=2), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        DRMClassifier().partial_fit(X, y, [0, 1, 2])
    assert "needs rank=" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "gd"}, "solver='gd' needs all samples at once"),
        ({"penalty": "lasso"}, "solver='auto' needs all samples at once"),
        ({"kernel": "precomputed"}, "cannot take a precomputed kernel"),
        ({"kernel": "sigmoid"}, "not positive semidefinite"),
    ],
)
def test_what_cannot_be_streamed(data, parameters, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        DRMClassifier(rank=3, **parameters).partial_fit(X, y, [0, 1, 2])


def test_wrong_pieces_are_refused_and_change_nothing(data):
    X, y, X_test = data
    model = DRMClassifier(rank=5)
    with pytest.raises(ValueError, match="needs classes="):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="positive weights"):
        model.partial_fit(X, y, [0, 1, 2], sample_weight=np.zeros(60))
    model.partial_fit(X, y, [0, 1, 2])
    before = model.dissimilarities(X_test)
    with pytest.raises(ValueError, match=r"did not announce: \[7\]"):
        model.partial_fit(X, np.where(y == 2, 7, y))
    with pytest.raises(ValueError, match="differ from those of the first"):
        model.partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    changed = pickle.loads(pickle.dumps(model)).set_params(alpha=2.0, rank=6)
    with pytest.raises(ValueError, match="alpha, rank changed after fitting"):
        changed.partial_fit(X, y)
    model.partial_fit(X, y, sample_weight=np.zeros(60))
    assert np.array_equal(model.dissimilarities(X_test), before)


def test_fit_and_predict_never_hold_all_features(monkeypatch):
    monkeypatch.setattr(low_rank, "CANDIDATES", 500)
    n, rank = 60_000, 40
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(int)
    model = DRMClassifier(gamma=0.5, rank=rank, beta=0.1)
    tracemalloc.start()
    correct = (model.fit(X, y).predict(X) == y).mean()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * rank / 2
    assert correct > 0.98
