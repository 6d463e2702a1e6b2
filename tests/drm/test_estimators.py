"""The scikit-learn side: conventions, invariances, robustness and clear errors."""

from __future__ import annotations

import contextlib
import pickle
import warnings

import drm_oracles as oracle
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench import (
    DRMClassifier,
    DRMClassifierCV,
    KernelRidgeRepresentationClassifier,
    LinearDRMClassifier,
)
from drmbench.drm.errors import ConditioningWarning, IllConditionedError

quick = settings(max_examples=25, deadline=None, derandomize=True)


def checks_that_cannot_hold(estimator):
    """Say which check of scikit-learn asks for what an estimator cannot do."""
    settings = estimator.get_params()
    reason = None
    if settings.get("kernel") == "chi2":
        reason = "the check has features below 0"
    elif settings.get("kernel") in ("rbf", "laplacian") and (
        settings["rank"] is None and settings.get("penalty", "ridge") == "ridge"
    ):
        reason = (
            "the check's samples are so far apart that most see nothing of the heavy"
            " class; tests/drm/test_weights.py has it with a wider kernel"
        )
    return {"check_class_weight_classifiers": reason} if reason else {}


@parametrize_with_checks(
    [
        DRMClassifier(),
        DRMClassifier(kernel="linear"),
        DRMClassifier(kernel="poly", solver="apg", beta=10.0),
        DRMClassifier(kernel="linear", solver="ppa"),
        DRMClassifier(penalty="group_lasso", beta=0.1),
        DRMClassifier(rank=5),
        DRMClassifier(kernel="laplacian"),
        DRMClassifier(kernel="cosine"),
        DRMClassifier(kernel="chi2"),
        KernelRidgeRepresentationClassifier(),
        LinearDRMClassifier(),
        DRMClassifierCV(alphas=[0.1, 1], betas=[0.1, 1], gammas=[0.1, 1]),
    ],
    expected_failed_checks=checks_that_cannot_hold,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, size=(15, 4)) for c in range(3)])
    return X, np.repeat([0, 1, 2], 15), rng.normal(1.0, 1.5, size=(12, 4))


@quick
@given(oracle.problems(), oracle.kernels, oracle.alphas, oracle.betas)
def test_dissimilarities_by_definition(problem, kernel, alpha, beta):
    X, y = problem
    X_test = np.random.default_rng(1).normal(size=(3, X.shape[1]))
    name, parameter = kernel
    model = DRMClassifier(
        alpha=alpha,
        beta=beta,
        kernel=name,
        gamma=parameter if name == "rbf" else None,
        degree=parameter,
    ).fit(X, y)
    K, k = oracle.gram(X, X, name, parameter), oracle.gram(X, X_test, name, parameter)
    expected = np.array(
        [oracle.dissimilarities(K, y, k[:, m], alpha, beta) for m in range(3)]
    )
    oracle.assert_close(model.dissimilarities(X_test), expected, 1e-8)
    assert (model.predict(X_test) == np.unique(y)[expected.argmin(axis=1)]).all()


@quick
@given(oracle.problems())
def test_sample_order_and_class_names_do_not_matter(problem):
    X, y = problem
    rng = np.random.default_rng(2)
    X_test, order = rng.normal(size=(5, X.shape[1])), rng.permutation(len(y))
    names = np.array(["zulu", "alpha", "mike", "echo", "tango", "kilo"])
    model = DRMClassifier(gamma=0.4).fit(X, y)
    shuffled = DRMClassifier(gamma=0.4).fit(X[order], y[order])
    named = DRMClassifier(gamma=0.4).fit(X, names[y])
    delta = model.dissimilarities(X_test)
    assert np.allclose(shuffled.dissimilarities(X_test), delta)
    assert np.allclose(
        shuffled.representation(X_test), model.representation(X_test)[:, order]
    )
    assert (named.predict(X_test) == names[model.predict(X_test)]).all()
    columns = np.searchsorted(named.classes_, names[model.classes_])
    assert np.allclose(named.dissimilarities(X_test)[:, columns], delta)


@pytest.mark.parametrize("solver", ["closed_form", "gd", "ppa", "apg"])
def test_ways_to_give_the_same_kernel(data, solver):
    X, y, X_test = data

    def rbf(A, B):
        return oracle.gram(A, B, "rbf", 0.2)

    models = [
        (DRMClassifier(gamma=0.2, solver=solver).fit(X, y), X_test),
        (DRMClassifier(kernel=rbf, solver=solver).fit(X, y), X_test),
        (
            DRMClassifier(kernel="precomputed", solver=solver).fit(rbf(X, X), y),
            rbf(X_test, X),
        ),
    ]
    first, *others = (model.dissimilarities(inputs) for model, inputs in models)
    for other in others:
        assert np.allclose(other, first, atol=1e-6)


def test_batches_and_threads_change_nothing(data):
    X, y, X_test = data
    whole = DRMClassifier(solver="gd").fit(X, y)
    cut = DRMClassifier(solver="gd", batch_size=5, n_jobs=2).fit(X, y)
    assert np.allclose(cut.dissimilarities(X_test), whole.dissimilarities(X_test))
    assert np.allclose(cut.representation(X_test), whole.representation(X_test))


def test_two_classes_follow_scikit_learns_sign(data):
    X, y, X_test = data
    model = DRMClassifier().fit(X[:30], y[:30])
    scores, delta = model.decision_function(X_test), model.dissimilarities(X_test)
    assert scores.shape == (12,)
    assert np.allclose(scores, delta[:, 0] - delta[:, 1])
    assert (model.predict(X_test) == (scores > 0)).all()
    assert DRMClassifier().fit(X, y).decision_function(X_test).shape == (12, 3)


def test_krr_is_drm_without_scatter(data):
    X, y, X_test = data
    krr = KernelRidgeRepresentationClassifier(beta=0.3, gamma=0.5).fit(X, y)
    drm = DRMClassifier(alpha=0.0, beta=0.3, gamma=0.5).fit(X, y)
    assert np.array_equal(krr.dissimilarities(X_test), drm.dissimilarities(X_test))
    assert "alpha" not in krr.get_params()


def test_krr_representation_is_scikit_learns_kernel_ridge(data):
    """α = 0: ``w = (K + βI)⁻¹k_x``, so ``yᵀw`` is kernel ridge regression of y."""
    from sklearn.kernel_ridge import KernelRidge

    X, y, X_test = data
    krr = KernelRidgeRepresentationClassifier(beta=0.3, gamma=0.5).fit(X, y)
    reference = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y.astype(float))
    assert np.allclose(krr.representation(X_test) @ y, reference.predict(X_test))


@pytest.mark.parametrize("model", [DRMClassifier(), LinearDRMClassifier()])
def test_pickle_clone_and_float32(data, model):
    X, y, X_test = data
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.dissimilarities(X_test), fitted.dissimilarities(X_test))
    single = clone(model).fit(X.astype(np.float32), y)
    assert single.dissimilarities(X_test.astype(np.float32)).dtype == np.float64
    assert (single.predict(X_test) == fitted.predict(X_test)).all()


def test_feature_names(data):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DRMClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_solve_trace(data):
    X, y, X_test = data
    trace = DRMClassifier(solver="ppa", beta=10.0).fit(X, y).solve_trace(X_test[0])
    assert trace.stop_reason == "tolerance"
    assert len(trace.objective) == trace.n_iter + 1
    assert (np.diff(trace.objective) <= 1e-12).all()
    direct = DRMClassifier(beta=10.0).fit(X, y).solve_trace(X_test[:1])
    assert (direct.n_iter, direct.stop_reason) == (1, "direct")
    assert np.isclose(direct.objective[0], trace.objective[-1], rtol=1e-6)
    with pytest.raises(ValueError, match="one sample"):
        DRMClassifier().fit(X, y).solve_trace(X_test)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beta": 0.0}, "beta"),
        ({"beta": -1.0}, "beta"),
        ({"alpha": -0.1}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"kernel": "wavelet"}, "kernel"),
        ({"gamma": -1.0}, "gamma"),
        ({"gamma": 0.0}, "gamma"),
        ({"gamma": np.inf}, "gamma"),
        ({"gamma": np.nan, "kernel": "poly"}, "gamma"),
        ({"gamma": "wide"}, "gamma"),
        ({"kernel": "sigmoid", "rank": 5}, "not positive semidefinite"),
        ({"kernel": "sigmoid", "penalty": "lasso"}, "not positive semidefinite"),
        ({"kernel": "sigmoid", "solver": "gd"}, "not positive semidefinite"),
        ({"solver": "newton"}, "solver"),
        ({"penalty": "lasso", "solver": "gd"}, "solver='gd' is for penalty='ridge'"),
        ({"penalty": "lasso", "solver": "exact", "kernel": "linear"}, "ridge"),
        ({"solver": "exact"}, "needs features"),
        ({"max_iter": 0}, "max_iter"),
        ({"rank": 0}, "rank"),
    ],
)
def test_wrong_parameters_are_named(data, settings, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        DRMClassifier(**settings).fit(X, y)


def test_wrong_data_is_named(data):
    X, y, X_test = data
    model = DRMClassifier(kernel="precomputed")
    with pytest.raises(ValueError, match="square"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        DRMClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="expected"):
        DRMClassifier(kernel=lambda A, B: np.ones((2, 2))).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        DRMClassifier().fit(X, y).predict(np.full_like(X_test, np.nan))
    with pytest.warns(UserWarning, match="not symmetric"):
        model.fit(np.triu(np.ones((45, 45))) + 50 * np.eye(45), y)


def test_high_degrees_on_raw_data_never_give_nan():
    """The paper's degree 10 on unscaled data: an answer, a warning or a clear error."""
    rng = np.random.default_rng(3)
    y = np.arange(80) % 2
    for size in (1.0, 1e2, 1e4, 1e20, 1e40):
        X = rng.normal(size=(80, 2)) * size
        for degree in (2, 5, 10):
            for beta in (1e-3, 1e3):
                model = DRMClassifier(kernel="poly", degree=degree, beta=beta)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConditioningWarning)
                    with contextlib.suppress(IllConditionedError):
                        assert np.isfinite(model.fit(X, y).dissimilarities(X)).all()


def test_overflow_and_ill_conditioning_are_told():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 2
    with pytest.raises(IllConditionedError, match="degree 10 overflows"):
        DRMClassifier(kernel="poly", degree=10).fit(X * 1e20, y)
    with pytest.warns(ConditioningWarning, match="ill-conditioned"):
        DRMClassifier(kernel="poly", degree=8, alpha=0, beta=1.0).fit(X * 3, y)


def test_singleton_class_can_be_predicted(data):
    X, y, _ = data
    lonely = np.append(y, 3)
    far = np.vstack([X, np.full((1, 4), 9.0)])
    model = DRMClassifier(gamma=0.5, alpha=0.1, beta=0.1).fit(far, lonely)
    assert model.predict(np.full((1, 4), 9.1)) == [3]
