"""Bad and degenerate input: a clear error, a warning, or the right answer.

What is right is told by the closed formula in rational arithmetic, which has no
rounding at all: the samples are small multiples of 1/8, so that kernel values of the
linear kernel are exact too.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import tracemalloc
import warnings
from fractions import Fraction

import drm_oracles as oracle
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from drmbench import (
    DRMClassifier,
    DRMClassifierCV,
    KernelRidgeRepresentationClassifier,
    LinearDRMClassifier,
)
from drmbench.drm import linear
from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.kernels import KERNEL_NAMES
from drmbench.drm.loo import (
    linear_loo_dissimilarities,
    loo_dissimilarities,
    loo_predict,
)

TIGHT = {"tol": 1e-12, "max_iter": 20_000}
ITERATIVE = [
    {"solver": "gd", **TIGHT},
    {"solver": "ppa", **TIGHT},
    {"solver": "apg", **TIGHT},
    {"solver": "apg", "step": "backtracking", **TIGHT},
]
#: Every solver of the ridge problem; "exact" is for features.
RIDGE = [{"solver": "auto"}, {"solver": "closed_form"}, *ITERATIVE]
PENALTIES = [
    {"penalty": penalty, "solver": solver}
    for penalty in ("lasso", "group_lasso")
    for solver in ("auto", "ppa", "apg")
]
LINEAR = {"kernel": "linear"}


def rbf(X, Y):
    return oracle.gram(X, Y, "rbf", 0.5)


def search(**settings):
    grid = {"alphas": [0.1, 1.0], "betas": [0.1, 1.0], "gammas": [0.5]}
    return DRMClassifierCV(**{**grid, **settings})


def called(model):
    """The name of a case, without the address of a function."""
    return " ".join(re.sub(r" at 0x\w+", "", str(model)).split())


#: Every estimator, solver, penalty and kernel at least once.
MODELS = [
    *(DRMClassifier(beta=100.0, kernel=name) for name in KERNEL_NAMES),
    *(DRMClassifier(**settings) for settings in RIDGE),
    *(DRMClassifier(**LINEAR, **settings) for settings in RIDGE),
    *(DRMClassifier(**settings) for settings in PENALTIES),
    *(DRMClassifier(**LINEAR, **settings) for settings in PENALTIES),
    DRMClassifier(**LINEAR, solver="exact"),
    DRMClassifier(kernel=rbf),
    DRMClassifier(kernel=rbf, solver="gd"),
    DRMClassifier(rank=3),
    DRMClassifier(rank=3, solver="ppa"),
    KernelRidgeRepresentationClassifier(),
    KernelRidgeRepresentationClassifier(kernel="linear"),
    LinearDRMClassifier(),
    search(),
    search(kernels=["linear", "poly", rbf], degrees=[2]),
    search(cv=2),
]


def eighths(n, p, seed=0):
    return np.random.default_rng(seed).integers(-16, 17, size=(n, p)) / 8


@pytest.fixture
def data():
    X, y = np.abs(eighths(9, 3)), np.repeat([0, 1, 2], [4, 3, 2])
    return X, y, eighths(4, 3, 1)


def exact_delta(K, y, k, alpha, beta):
    """δ of one test sample by elimination without rounding."""
    n, classes = len(y), np.unique(y)
    K, k = [[Fraction(v) for v in row] for row in K.tolist()], k.tolist()
    alpha, beta = Fraction(alpha), Fraction(beta)
    rows = []
    for i in range(n):
        share = alpha / int((y == y[i]).sum())
        row = [K[i][j] * (1 - share if y[i] == y[j] else 1) for j in range(n)]
        row[i] += alpha * K[i][i] + beta
        rows.append([*row, Fraction(k[i])])
    for j, i in itertools.combinations(range(n), 2):
        factor = rows[i][j] / rows[j][j]
        rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    w = [Fraction(0)] * n
    for j in reversed(range(n)):
        rest = sum(rows[j][i] * w[i] for i in range(j + 1, n))
        w[j] = (rows[j][n] - rest) / rows[j][j]
    delta = []
    for label in classes:
        own = [w[i] if y[i] == label else Fraction(0) for i in range(n)]
        others = [a - b for a, b in zip(w, own, strict=True)]
        quadratic = sum(
            K[i][j] * (own[i] * own[j] + others[i] * others[j])
            for i in range(n)
            for j in range(n)
        )
        fit = sum(a * Fraction(b) for a, b in zip(own, k, strict=True))
        delta.append(float(quadratic - 2 * fit))
    return np.array(delta)


def exact_deltas(X, y, X_test, alpha, beta):
    K, k = X @ X.T, X @ X_test.T
    return np.array([exact_delta(K, y, column, alpha, beta) for column in k.T])


def exact_left_out(X, y, alpha, beta):
    classes, K = np.unique(y), X @ X.T
    delta = np.full((len(y), len(classes)), np.inf)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        present = np.isin(classes, y[rest])
        delta[i, present] = exact_delta(
            K[np.ix_(rest, rest)], y[rest], K[rest, i], alpha, beta
        )
    return delta


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("model", MODELS, ids=called)
def test_values_that_are_not_finite_are_refused(data, model, bad):
    X, y, X_test = data
    spoilt, spoilt_test = X.copy(), np.abs(X_test)
    spoilt[3, 1] = spoilt_test[2, 0] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(model).fit(spoilt, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(model).fit(X, np.where(y == 1, bad, y))
    fitted = clone(model).fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(spoilt_test)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "function", [loo_dissimilarities, loo_predict, linear_loo_dissimilarities]
)
def test_leave_one_out_refuses_what_is_no_matrix_of_numbers(data, function, bad):
    X, y, _ = data
    K = X @ X.T
    spoilt = K.copy()
    spoilt[2, 2] = bad
    for matrix, labels in ((spoilt, y), (K, np.where(y == 1, bad, y)), (K * 1j, y)):
        with pytest.raises(ValueError, match=r"NaN|infinity|[Cc]omplex"):
            function(matrix, labels, 1.0, 1.0)
    with pytest.raises(ValueError, match="Unknown label type"):
        function(K, y + 0.5, 1.0, 1.0)
    with pytest.raises(TypeError, match=r"(?i)sparse"):
        function(sparse.csr_matrix(K), y, 1.0, 1.0)
    with pytest.raises(ValueError, match="expected a matrix"):
        function(K[0], y, 1.0, 1.0)


@pytest.mark.parametrize("model", MODELS, ids=called)
def test_one_class_is_refused(data, model):
    X, y, _ = data
    with pytest.raises(ValueError, match="one class"):
        clone(model).fit(X, np.zeros_like(y))


#: Name, samples and classes of training sets at the edge of what there can be.
DEGENERATE = {
    "two samples": (eighths(2, 3), [0, 1]),
    "one feature": (eighths(7, 1), [0, 0, 0, 1, 1, 2, 2]),
    "two samples of one feature": (eighths(2, 1), [0, 1]),
    "one sample per class": (eighths(4, 3), [0, 1, 2, 3]),
    "constant features": (np.ones((6, 2)), [0, 0, 1, 1, 1, 2]),
    "zeros": (np.zeros((6, 2)), [0, 0, 1, 1, 1, 2]),
    "a feature of zeros": (eighths(6, 2) * [1, 0], [0, 0, 1, 1, 1, 2]),
    "duplicates": (np.repeat(eighths(3, 2), 3, axis=0), [0, 0, 0, 1, 1, 1, 2, 2, 2]),
    "duplicates of another class": (np.tile(eighths(3, 2), (2, 1)), [0, 0, 0, 1, 1, 1]),
    "more features than samples": (eighths(5, 9), [0, 0, 1, 1, 1]),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(
    "model",
    [
        *(DRMClassifier(**LINEAR, **settings) for settings in RIDGE),
        DRMClassifier(**LINEAR, solver="exact"),
        DRMClassifier(**LINEAR, rank=9),
        *(DRMClassifier(kernel="precomputed", **settings) for settings in RIDGE),
        DRMClassifier(kernel=lambda X, Y: X @ Y.T, solver="ppa", **TIGHT),
        KernelRidgeRepresentationClassifier(kernel="linear"),
        LinearDRMClassifier(),
    ],
    ids=called,
)
@pytest.mark.parametrize("weights", [(0.5, 0.25), (8.0, 1.0)])
def test_degenerate_training_sets_are_solved_exactly(name, model, weights):
    X, y = DEGENERATE[name][0], np.array(DEGENERATE[name][1])
    X_test, (alpha, beta) = eighths(3, X.shape[1], 7), weights
    model = clone(model).set_params(beta=beta)
    if "alpha" in model.get_params():
        model.set_params(alpha=alpha)
    else:
        alpha = 0.0
    inputs, test = X, X_test
    if getattr(model, "kernel", None) == "precomputed":
        inputs, test = X @ X.T, X_test @ X.T
    if name == "zeros" and getattr(model, "rank", None):
        with pytest.raises(ValueError, match="zero on these samples"):
            model.fit(inputs, y)
        return
    found = model.fit(inputs, y).dissimilarities(test)
    expected = exact_deltas(X, y, X_test, alpha, beta)
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert np.isin(model.predict(test), y).all()


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("alpha", [0.0, 0.5, 8.0])
def test_leave_one_out_of_degenerate_training_sets(name, alpha):
    X, y = DEGENERATE[name][0], np.array(DEGENERATE[name][1])
    expected = exact_left_out(X, y, alpha, 0.25)
    for found in (
        loo_dissimilarities(X @ X.T, y, alpha, 0.25),
        linear_loo_dissimilarities(X, y, alpha, 0.25),
    ):
        finite = np.isfinite(expected)
        assert (np.isfinite(found) == finite).all()
        assert np.allclose(found[finite], expected[finite], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("model", MODELS, ids=called)
def test_every_model_survives_degenerate_training_sets(name, model):
    """One of the classes is named, or an error says why not; never NaN."""
    X, y = np.abs(DEGENERATE[name][0]), np.array(DEGENERATE[name][1])
    if isinstance(model, DRMClassifierCV) and model.cv == 2 and min(np.bincount(y)) < 2:
        pytest.skip("scikit-learn's splitter refuses classes with one sample")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConditioningWarning)
        fitted = clone(model).fit(X, y)
        assert np.isfinite(fitted.dissimilarities(X)).all()
        assert np.isin(fitted.predict(X), y).all()


WIDE = 100_000


@pytest.mark.parametrize(
    "model",
    [
        *(DRMClassifier(**settings) for settings in RIDGE[:2]),
        *(DRMClassifier(**LINEAR, solver=s) for s in ("auto", "gd", "ppa", "apg")),
        DRMClassifier(**LINEAR, solver="apg", step="backtracking"),
        DRMClassifier(**LINEAR, penalty="lasso"),
        DRMClassifier(**LINEAR, rank=5),
        KernelRidgeRepresentationClassifier(),
        search(kernels=["linear", "rbf"]),
    ],
    ids=called,
)
def test_a_hundred_thousand_features_take_little_memory(model):
    """A few copies of the samples, and the answer of their kernel matrix."""
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, WIDE)) / 100
    X_test = rng.normal(size=(100, WIDE)) / 100
    tracemalloc.start()
    try:
        delta = model.fit(X, y).dissimilarities(X_test)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 800 * 2**20
    if model.get_params().get("kernel") == "linear" and model.penalty == "ridge":
        given = clone(model).set_params(kernel="precomputed", rank=None)
        given.fit(X @ X.T, y)
        expected = given.dissimilarities(X_test @ X.T)
        if model.rank is None:
            assert np.allclose(delta, expected, rtol=1e-6, atol=1e-8)
    assert np.isfinite(delta).all()


def test_a_linear_model_that_cannot_fit_is_refused_before_memory_is_taken(monkeypatch):
    X, y = np.ones((2, WIDE)), np.array([0, 1])
    sizes = {"SC_PAGE_SIZE": 2**12, "SC_PHYS_PAGES": 2**22}
    monkeypatch.setattr(linear.os, "sysconf", sizes.get)
    for act in (
        lambda: LinearDRMClassifier().fit(X, y),
        lambda: LinearDRMClassifier().partial_fit(X, y, classes=[0, 1]),
        lambda: DRMClassifier(**LINEAR, solver="exact").fit(X, y),
        lambda: linear_loo_dissimilarities(X, y, 1.0, 1.0),
    ):
        with pytest.raises(ValueError, match=r"100,000 features takes 596 .* has 16;"):
            act()
    LinearDRMClassifier().fit(X[:, :10], y)


BETAS = [1e-8, 1e-12, 1e-14, 1e-15, 1e-17, 1e-200]


def answer_or_doubt(act):
    """Return what an act returns; None if it raises or warns that it is in doubt."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with contextlib.suppress(IllConditionedError):
            found = act()
            assert {entry.category for entry in told} <= {ConditioningWarning}
            return None if told else found
    return None


SINGULAR = {
    "more samples than features": eighths(9, 3),
    "some duplicates": eighths(9, 3)[[0, 0, 2, 3, 4, 4, 4, 7, 8]],
    "only duplicates": eighths(9, 3)[[0, 0, 0, 0, 4, 4, 4, 4, 4]],
    "a constant feature": eighths(9, 3) * [1, 0, 1] + [0, 1, 0],
    "more features than samples": eighths(9, 12),
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 1000.0])
def test_a_tiny_beta_gives_the_right_answer_or_is_told(name, beta, alpha):
    """To a twentieth of the largest δ, where neither an error nor a warning came."""
    X, y = SINGULAR[name], np.repeat([0, 1], [4, 5])
    X_test = eighths(2, X.shape[1], 3)
    K, k = X @ X.T, X_test @ X.T
    weights = {"alpha": alpha, "beta": beta}
    expected = exact_deltas(X, y, X_test, alpha, beta)
    left_out = exact_left_out(X, y, alpha, beta)
    given = DRMClassifier(kernel="precomputed", **weights)
    models = [
        DRMClassifier(**LINEAR, solver="closed_form", **weights),
        DRMClassifier(**LINEAR, solver="exact", **weights),
        DRMClassifier(**LINEAR, rank=9, **weights),
        LinearDRMClassifier(**weights),
    ]
    acts = [(lambda m=m: m.fit(X, y).dissimilarities(X_test), expected) for m in models]
    acts += [
        (lambda: given.fit(K, y).dissimilarities(k), expected),
        (lambda: loo_dissimilarities(K, y, alpha, beta), left_out),
        (lambda: linear_loo_dissimilarities(X, y, alpha, beta), left_out),
    ]
    for act, right in acts:
        found = answer_or_doubt(act)
        if found is not None:
            assert np.abs(found - right).max() <= 0.05 * np.abs(right).max()


def test_an_ordinary_beta_is_answered_without_doubt():
    X, y = SINGULAR["some duplicates"], np.repeat([0, 1], [4, 5])
    for beta in (1e-3, 1.0):
        for act in (
            lambda b=beta: LinearDRMClassifier(beta=b).fit(X, y).dissimilarities(X),
            lambda b=beta: DRMClassifier(beta=b).fit(X, y).dissimilarities(X),
            lambda b=beta: loo_dissimilarities(X @ X.T, y, 1.0, b),
            lambda b=beta: linear_loo_dissimilarities(X, y, 1.0, b),
        ):
            assert answer_or_doubt(act) is not None


def test_a_search_tells_of_the_tiny_beta_it_chose():
    X, y = SINGULAR["only duplicates"], np.repeat([0, 1], [4, 5])
    for kernels in ("rbf", "linear"):
        tiny = search(kernels=kernels, alphas=[0.0], betas=[1e-15])
        with pytest.warns(ConditioningWarning):
            tiny.fit(X, y)


@pytest.mark.parametrize("size", [1e100, 1e160, 1e300])
@pytest.mark.parametrize("model", MODELS, ids=called)
def test_samples_that_overflow_are_an_error_or_finite(data, model, size):
    X, y, _ = data
    if callable(getattr(model, "kernel", None)):
        pytest.skip("what a user's function does with such numbers is its own affair")
    model = clone(model)
    if hasattr(model, "max_iter"):
        model.set_params(max_iter=100)
    if isinstance(model, DRMClassifier) and model.penalty != "ridge":
        model.set_params(beta=0.1)  # the default switches all samples off
    if isinstance(model, DRMClassifierCV) and "poly" in model.kernels:
        model.set_params(kernels=["linear", "poly"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConditioningWarning)
        with contextlib.suppress(IllConditionedError):
            delta = clone(model).fit(X * size, y).dissimilarities(X * size)
            assert np.isfinite(delta).all()
            assert (delta != 0).any()
        model.fit(X, y)
        with contextlib.suppress(IllConditionedError):
            assert np.isfinite(model.dissimilarities(X * size)).all()


def negative_part(n, lowest):
    """A symmetric matrix with one negative eigenvalue, and its classes."""
    rng = np.random.default_rng(5)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    K = (Q * np.r_[lowest, np.linspace(0.5, 2.0, n - 1)]) @ Q.T
    return (K + K.T) / 2, np.arange(n) % 3


def looked_up(K):
    """A kernel function of samples that are the numbers of rows and columns of K."""
    return lambda X, Y: K[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]


@pytest.mark.parametrize("settings", [*RIDGE, *PENALTIES], ids=called)
@pytest.mark.parametrize("way", ["precomputed", "function"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_an_indefinite_kernel_has_no_answer(settings, way, alpha):
    K, y = negative_part(12, -1.5)
    lowest = np.linalg.eigvalsh(oracle.q_matrix(K, y, alpha))[0]
    assert lowest < -0.1
    X = K if way == "precomputed" else np.arange(12.0)[:, None]
    kernel = "precomputed" if way == "precomputed" else looked_up(K)
    model = DRMClassifier(alpha=alpha, kernel=kernel, **settings)
    for share in (0.01, 0.5, 0.99):
        with pytest.raises(IllConditionedError, match="not positive"):
            model.set_params(beta=-share * lowest).fit(X, y)
    model.set_params(beta=-1.5 * lowest)
    if "penalty" in settings:
        with pytest.raises(IllConditionedError, match="not positive"):
            model.fit(X, y)
        return
    expected = [oracle.dissimilarities(K, y, k, alpha, -1.5 * lowest) for k in K]
    assert np.allclose(model.fit(X, y).dissimilarities(X), expected, atol=1e-7)


@pytest.mark.parametrize("settings", [*ITERATIVE, *PENALTIES], ids=called)
def test_rounding_is_not_taken_for_a_negative_eigenvalue(settings):
    """Single precision leaves eigenvalues of about -1e-7 where there are zeros."""
    X, y = eighths(30, 2) / 3, np.arange(30) % 3
    K = (X @ X.T).astype(np.float32).astype(np.float64)
    assert np.linalg.eigvalsh(K)[0] < -1e-9
    settings = {key: value for key, value in settings.items() if key not in TIGHT}
    for alpha in (0.0, 1.0):
        model = DRMClassifier(alpha=alpha, beta=1e-9, kernel="precomputed", **settings)
        assert np.isfinite(model.fit(K, y).dissimilarities(K)).all()


@pytest.mark.parametrize("polynomial", [{"coef0": -3.0, "degree": 3}, {"degree": 1.5}])
def test_an_indefinite_polynomial_has_no_answer_by_iteration(polynomial):
    X, y = np.abs(eighths(12, 2)), np.arange(12) % 2
    settings = {"kernel": "poly", "coef0": 1.0, **polynomial, "alpha": 0.0}
    K = (X @ X.T + settings["coef0"]) ** settings["degree"]
    beta = -0.5 * np.linalg.eigvalsh(K)[0]
    assert beta > 1e-6
    for solver in ("closed_form", "gd", "ppa", "apg"):
        with pytest.raises(IllConditionedError, match="not positive"):
            DRMClassifier(**settings, solver=solver, beta=beta).fit(X, y)


def test_an_indefinite_kernel_function_has_no_low_rank():
    K, y = negative_part(12, -1.5)
    X = np.arange(12.0)[:, None]
    for matrix in (K, -np.eye(12)):
        model = DRMClassifier(kernel=looked_up(matrix), rank=12)
        with pytest.raises(IllConditionedError, match="positive semidefinite"):
            model.fit(X, y)
    lopsided = np.eye(12) + np.triu(np.full((12, 12), 0.3), 1)
    with pytest.raises(IllConditionedError, match="not symmetric"):
        DRMClassifier(kernel=looked_up(lopsided), rank=12).fit(X, y)


@pytest.mark.parametrize("settings", [*RIDGE, *PENALTIES], ids=called)
def test_the_symmetric_part_of_a_function_is_used_with_a_warning(settings):
    rng = np.random.default_rng(2)
    y, X = np.arange(12) % 3, np.arange(12.0)[:, None]
    K = np.eye(12) + 0.05 * rng.normal(size=(12, 12))
    function = DRMClassifier(kernel=looked_up(K), **settings)
    given = DRMClassifier(kernel="precomputed", **settings)
    with pytest.warns(UserWarning, match=r"kernel function's matrix .* not symmetric"):
        function.fit(X, y)
    with pytest.warns(UserWarning, match=r"precomputed .* not symmetric"):
        given.fit(K, y)
    half = clone(given).fit((K + K.T) / 2, y)
    expected = half.dissimilarities(K)
    assert np.allclose(function.dissimilarities(X), expected, atol=1e-12)
    assert np.allclose(given.dissimilarities(K), expected, atol=1e-12)


@pytest.mark.parametrize("cv", ["loo", 2])
def test_a_search_uses_the_symmetric_part_of_a_function(cv):
    rng = np.random.default_rng(2)
    y, X = np.arange(12) % 3, np.arange(12.0)[:, None]
    K = np.eye(12) + 0.05 * rng.normal(size=(12, 12))
    ours = search(kernels=looked_up(K), cv=cv)
    with pytest.warns(UserWarning, match=r"kernel function's matrix .* not symmetric"):
        ours.fit(X, y)
    if cv == "loo":
        half = search(kernels="precomputed").fit((K + K.T) / 2, y)
        key = "mean_test_score"
        assert np.array_equal(ours.cv_results_[key], half.cv_results_[key])
