"""SparseLDA: the dense limit, optimality, invariances and degenerate data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import subspace_angles
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet
from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench.methods.slda import SparseLDA, fit_sparse_lda_grid

Array = NDArray[Any]
LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
PAPER_GRID = [
    {"n_variables": kept, "ridge": 10.0**power}
    for kept in (1, 3, 5, 7, 9)
    for power in range(-3, 4)
]


@pytest.fixture(params=LOADERS)
def data(request: pytest.FixtureRequest) -> tuple[Array, Array]:
    X, y = LOADERS[request.param](return_X_y=True)
    return X, y


def shifted_classes(
    seed: int, n: int, p: int, g: int, shift: float = 1.0
) -> tuple[Array, Array]:
    """Gaussian classes around random means, as even in size as can be."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % g
    return random.normal(size=(n, p)) + shift * random.normal(size=(g, p))[y], y


def unit_columns(X: Array) -> Array:
    centred = X - X.mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def objective(
    X: Array, response: Array, coef: Array, ridge: float, lasso: float
) -> Any:
    residual = response - X @ coef
    return residual @ residual + ridge * coef @ coef + lasso * np.abs(coef).sum()


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [SparseLDA(), SparseLDA(n_variables=1, ridge=1e-3)]
)
def test_scikit_learn_checks(estimator: SparseLDA, check: Any) -> None:
    check(estimator)


# --- the dense limit -----------------------------------------------------------------


def test_dense_limit_is_linear_discriminant_analysis(
    data: tuple[Array, Array],
) -> None:
    X, y = data
    reference = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    model = SparseLDA(ridge=0.0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    np.testing.assert_allclose(
        model.predict_proba(X), reference.predict_proba(X), atol=1e-7
    )


def test_dense_limit_finds_the_discriminant_subspace(data: tuple[Array, Array]) -> None:
    X, y = data
    reference = LinearDiscriminantAnalysis().fit(X, y)
    model = SparseLDA(ridge=0.0).fit(X, y)
    directions = model.directions_ / model.scale_[:, np.newaxis]
    q = len(model.classes_) - 1
    assert subspace_angles(directions, reference.scalings_[:, :q]).max() < 1e-6


def test_the_path_reaches_the_dense_limit(data: tuple[Array, Array]) -> None:
    X, y = data
    reference = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    tiny = SparseLDA(lasso=1e-9, ridge=1e-12, tol=0.0, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tiny.fit(X, y)
    np.testing.assert_array_equal(tiny.predict(X), reference.predict(X))


# --- optimality ----------------------------------------------------------------------


@pytest.mark.parametrize("params", [*PAPER_GRID[::6], {"lasso": 2.0, "ridge": 0.1}])
def test_each_direction_solves_its_elastic_net_step(
    data: tuple[Array, Array], params: dict[str, Any]
) -> None:
    X, y = data
    model = SparseLDA(**params).fit(X, y)
    Z, codes, ridge = unit_columns(X), np.searchsorted(model.classes_, y), model.ridge
    for coef, theta, lasso in zip(
        model.directions_.T, model.theta_.T, model.lasso_, strict=True
    ):
        gradient = Z.T @ (theta[codes] - Z @ coef) - ridge * coef
        active = coef != 0
        np.testing.assert_allclose(
            gradient[active], lasso / 2 * np.sign(coef[active]), atol=1e-7
        )
        assert np.all(np.abs(gradient[~active]) <= lasso / 2 + 1e-7)


def test_each_direction_is_scikit_learns_elastic_net() -> None:
    X, y = load_wine(return_X_y=True)
    model = SparseLDA(n_variables=4, ridge=1.0).fit(X, y)
    Z, n = unit_columns(X), len(y)
    for k, coef in enumerate(model.directions_.T):
        l1, l2 = model.lasso_[k] / 2 / n, model.ridge / n
        reference = ElasticNet(
            alpha=l1 + l2, l1_ratio=l1 / (l1 + l2), tol=1e-14, max_iter=10**6
        ).fit(Z, model.theta_[y, k])
        np.testing.assert_allclose(coef, reference.coef_, atol=1e-7)


@pytest.mark.parametrize("params", PAPER_GRID[::4])
def test_scores_have_unit_variance_and_no_correlation(
    data: tuple[Array, Array], params: dict[str, Any]
) -> None:
    X, y = data
    theta = SparseLDA(**params).fit(X, y).theta_
    shares = np.bincount(y) / len(y)
    q = theta.shape[1]
    np.testing.assert_allclose(theta.T * shares @ theta, np.eye(q), atol=1e-10)
    np.testing.assert_allclose(shares @ theta, np.zeros(q), atol=1e-10)


def test_scores_are_the_best_for_their_directions() -> None:
    X, y = load_wine(return_X_y=True)
    model = SparseLDA(n_variables=5, ridge=1.0, tol=1e-9).fit(X, y)
    Z, shares = unit_columns(X), np.bincount(y) / len(y)
    earlier = np.ones((3, 1))
    for coef, theta in zip(model.directions_.T, model.theta_.T, strict=True):
        class_means = np.array([(Z[y == c] @ coef).mean() for c in range(3)])
        best = class_means - earlier @ (earlier.T @ (shares * class_means))
        best /= np.sqrt(shares @ best**2)
        np.testing.assert_allclose(theta, best, atol=1e-6)
        earlier = np.column_stack([earlier, theta])


def test_with_fixed_penalties_every_step_lowers_the_objective() -> None:
    X, y = shifted_classes(1, n=60, p=12, g=4)
    Z, ridge, lasso = unit_columns(X), 0.01, 2.5
    values = []
    for steps in range(1, 12):
        model = SparseLDA(
            ridge=ridge, lasso=lasso, n_components=1, max_iter=steps, tol=0.0
        )
        with pytest.warns(ConvergenceWarning, match=f"max_iter={steps}"):
            model.fit(X, y)
        coef, response = model.directions_[:, 0], model.theta_[y, 0]
        values.append(objective(Z, response, coef, ridge, lasso))
    assert np.all(np.diff(values) < 0)


# --- sparsity ------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 40),
    p=st.integers(1, 15),
    g=st.integers(2, 5),
    kept=st.integers(1, 16),
    power=st.integers(-3, 3),
)
def test_no_direction_has_more_variables_than_asked(
    seed: int, n: int, p: int, g: int, kept: int, power: int
) -> None:
    X, y = shifted_classes(seed, n, p, g)
    model = SparseLDA(n_variables=kept, ridge=10.0**power)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert model.directions_.shape == (p, min(g - 1, p))
    assert np.all((model.directions_ != 0).sum(axis=0) <= kept)
    assert np.isfinite(model.predict_proba(10 * X)).all()


def test_two_classes_keep_exactly_the_number_asked_for() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for model in fit_sparse_lda_grid(X, y, PAPER_GRID):
        assert (model.directions_ != 0).sum() == model.n_variables


def test_more_variables_than_features_keeps_all(data: tuple[Array, Array]) -> None:
    X, y = data
    np.testing.assert_array_equal(
        SparseLDA(n_variables=1000).fit(X, y).directions_,
        SparseLDA().fit(X, y).directions_,
    )


def test_one_variable_is_the_one_most_correlated_with_the_class() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = SparseLDA(n_variables=1).fit(X, y)
    correlations = [abs(np.corrcoef(column, y)[0, 1]) for column in X.T]
    assert np.flatnonzero(model.directions_) == np.argmax(correlations)


def test_going_round_in_circles_ends_without_a_warning() -> None:
    X, y = load_digits(return_X_y=True)
    model = SparseLDA(n_variables=9, ridge=1e-3, n_components=1).fit(X, y)
    assert 100 < model.n_iter_[0] < 200
    assert 0 < (model.directions_ != 0).sum() <= 9


# --- invariances ---------------------------------------------------------------------


@pytest.mark.parametrize("params", [{"n_variables": 3, "ridge": 0.1}, {"ridge": 1.0}])
class TestInvariances:
    def test_new_names_for_the_classes(
        self, data: tuple[Array, Array], params: dict[str, Any]
    ) -> None:
        X, y = data
        names = np.array(["zebra", "ant", "mole"])
        plain = SparseLDA(**params).fit(X, y)
        named = SparseLDA(**params).fit(X, names[y])
        np.testing.assert_allclose(named.directions_, plain.directions_, atol=1e-4)
        np.testing.assert_array_equal(named.predict(X), names[plain.predict(X)])

    def test_another_order_of_the_features(
        self, data: tuple[Array, Array], params: dict[str, Any]
    ) -> None:
        X, y = data
        order = np.random.default_rng(0).permutation(X.shape[1])
        plain = SparseLDA(**params).fit(X, y)
        permuted = SparseLDA(**params).fit(X[:, order], y)
        np.testing.assert_allclose(
            permuted.directions_, plain.directions_[order], atol=1e-8
        )
        np.testing.assert_array_equal(permuted.predict(X[:, order]), plain.predict(X))

    def test_other_units_of_the_features(
        self, data: tuple[Array, Array], params: dict[str, Any]
    ) -> None:
        X, y = data
        units = np.logspace(-150, 150, X.shape[1])
        plain = SparseLDA(**params).fit(X, y)
        rescaled = SparseLDA(**params).fit(X * units, y)
        np.testing.assert_allclose(
            rescaled.predict_proba(X * units), plain.predict_proba(X), atol=1e-6
        )

    def test_another_order_of_the_samples(
        self, data: tuple[Array, Array], params: dict[str, Any]
    ) -> None:
        X, y = data
        order = np.random.default_rng(1).permutation(len(y))
        plain = SparseLDA(**params).fit(X, y)
        shuffled = SparseLDA(**params).fit(X[order], y[order])
        np.testing.assert_allclose(
            shuffled.predict_proba(X), plain.predict_proba(X), atol=1e-6
        )


# --- data that could break it --------------------------------------------------------


@pytest.mark.parametrize("g", [2, 4])
def test_many_more_features_than_samples(g: int) -> None:
    X, y = shifted_classes(0, n=150, p=2000, g=g, shift=0.0)
    X[:, :20] += 2 * np.eye(g, 20)[y]
    model = SparseLDA(n_variables=5, ridge=0.1).fit(X, y)
    informative = np.flatnonzero(model.directions_.any(axis=1))
    assert set(range(g)) <= set(informative)
    assert model.score(X, y) > 0.75
    assert SparseLDA(ridge=1.0).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("params", [{"ridge": 0.0}, {"n_variables": 2}])
def test_a_constant_feature_changes_nothing(params: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    constant = np.full(len(X), 0.1)
    assert constant.mean() != 0.1  # deviations from it are not zero
    plain = SparseLDA(**params).fit(X, y)
    model = SparseLDA(**params).fit(np.column_stack([constant, X]), y)
    assert not model.directions_[0].any()
    no_longer = np.column_stack([np.arange(len(X)), X])
    np.testing.assert_allclose(
        model.predict_proba(no_longer), plain.predict_proba(X), atol=1e-12
    )


@pytest.mark.parametrize("g", [2, 3])
def test_a_constant_feature_never_gets_a_coefficient(g: int) -> None:
    for seed in range(20):
        X, y = shifted_classes(seed, n=12, p=20, g=g)
        X[:, 7] = 0.3
        assert not SparseLDA().fit(X, y).directions_[7].any()


@pytest.mark.parametrize("params", [{}, {"n_variables": 1}])
def test_without_any_variation_the_largest_class_wins(params: dict[str, Any]) -> None:
    X, y = np.ones((5, 2)), np.array(["b", "a", "b", "c", "b"])
    model = SparseLDA(**params).fit(X, y)
    assert model.predict(X).tolist() == ["b"] * 5
    np.testing.assert_allclose(model.predict_proba(X)[0], [0.2, 0.6, 0.2])


def test_classes_with_the_same_mean_leave_the_largest() -> None:
    X = np.array([[1.0], [-1.0], [1.0], [-1.0], [1.0], [-1.0]])
    y = np.array([0, 0, 1, 1, 1, 1])
    assert SparseLDA().fit(X, y).predict(X).tolist() == [1] * 6


def test_without_spread_within_classes_the_nearest_mean_wins() -> None:
    X = np.array([[0.0, 5.0], [0.0, 5.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    y = np.array([0, 0, 0, 1, 1])
    model = SparseLDA(n_variables=1).fit(X, y)
    new = np.array([[-3.0, 5], [0.45, 5], [0.55, 5], [9.0, 5]])
    assert model.predict(new).tolist() == [0, 0, 1, 1]
    assert np.isfinite(model.predict_proba(new)).all()


def test_every_class_with_a_single_sample() -> None:
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    model = SparseLDA(n_variables=1).fit(X, [0, 1, 2])
    assert np.isfinite(model.decision_function(X)).all()
    assert SparseLDA().fit(X, [0, 1, 2]).predict(X).tolist() == [0, 1, 2]


def test_one_class_with_a_single_sample() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:101], y[:101]
    model = SparseLDA(n_variables=2, ridge=0.1).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X[:100], y[:100]) > 0.95


def test_duplicated_features_with_tied_correlations() -> None:
    X, y = load_iris(return_X_y=True)
    twice = np.column_stack([X, X])
    for kept in (1, 2, 3, 8):
        model = SparseLDA(n_variables=kept, ridge=0.01).fit(twice, y)
        assert np.all((model.directions_ != 0).sum(axis=0) <= kept)
        assert model.score(twice, y) > 0.9


# --- interface -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iris", "cancer"])
def test_a_grid_equals_separate_fits(name: str) -> None:
    X, y = LOADERS[name](return_X_y=True)
    candidates: list[dict[str, Any]] = [
        *PAPER_GRID[::5],
        {},
        {"lasso": 1.0, "n_variables": 2},
    ]
    models = fit_sparse_lda_grid(X, y, candidates)
    for params, model in zip(candidates, models, strict=True):
        alone = SparseLDA(**params).fit(X, y)
        assert model.get_params() == alone.get_params()
        np.testing.assert_array_equal(model.directions_, alone.directions_)
        np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_a_grid_checks_its_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'ridge' parameter"):
        fit_sparse_lda_grid(X, y, [{"ridge": -1.0}])


def test_fits_are_reproducible_to_the_bit() -> None:
    X, y = load_wine(return_X_y=True)
    first, second = (SparseLDA(n_variables=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.directions_, second.directions_)


def test_transform_projects_the_standardised_features() -> None:
    X, y = load_iris(return_X_y=True)
    model = SparseLDA(n_variables=2).fit(X, y)
    np.testing.assert_allclose(model.transform(X), unit_columns(X) @ model.directions_)
    assert model.get_feature_names_out().tolist() == ["sparselda0", "sparselda1"]


def test_fewer_components_are_the_first_of_more() -> None:
    X, y = load_wine(return_X_y=True)
    one = SparseLDA(n_variables=4, n_components=1).fit(X, y)
    two = SparseLDA(n_variables=4).fit(X, y)
    np.testing.assert_array_equal(one.directions_[:, 0], two.directions_[:, 0])


def test_too_many_components_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_components=3 is more than 2"):
        SparseLDA(n_components=3).fit(X, y)


def test_a_single_class_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 classes"):
        SparseLDA().fit([[0.0], [1.0]], ["a", "a"])
