"""The DRM with every kernel, with balanced classes, and with a threshold."""

from __future__ import annotations

import numpy as np
import pytest
from method_problems import blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench import DRMClassifier, DRMClassifierCV
from drmbench.errors import InputError
from drmbench.methods.base import Params, naive_grid_scores
from drmbench.methods.drm_threshold import THRESHOLD_METRICS, ThresholdDRM
from drmbench.methods.kernel_grid import kernel_of
from drmbench.methods.registry import get_method, with_overrides
from drmbench.metrics import ClassRoles, get_metric
from drmbench.protocol.selection import SelectionPlan, select

FEW = {"alpha": [0.01, 1.0], "beta": [0.1, 1.0]}


@parametrize_with_checks([ThresholdDRM(), ThresholdDRM(kernel="linear")])
def test_scikit_learn_conventions(estimator, check) -> None:
    check(estimator)


def test_every_kernel_of_the_paper_is_in_one_grid() -> None:
    method = get_method("drm")
    ours = {kernel_of(params) for params in method.candidates()}
    apart = (get_method(f"drm-{name}") for name in ("linear", "poly", "rbf"))
    theirs = {kernel_of(params) for other in apart for params in other.candidates()}
    assert ours == theirs
    assert len(method.candidates()) == 14 * 49


@pytest.mark.parametrize("kernel", ["poly", "rbf x", "rbf -1", "sigmoid 2", "linear 3"])
def test_an_unknown_kernel_is_refused_with_what_would_be_valid(kernel: str) -> None:
    with pytest.raises(InputError, match=r"kernel must be 'linear', 'poly' and a deg"):
        with_overrides(get_method("drm"), grid={"kernel": [kernel]})


@pytest.mark.parametrize("plan", [SelectionPlan("loo"), SelectionPlan("kfold", k=3)])
def test_the_chosen_kernel_is_the_best_of_all(plan: SelectionPlan) -> None:
    X, y = blobs((14, 9), 3)
    drm = with_overrides(get_method("drm"), grid=FEW)
    best = select(drm, X, y, plan).score
    apart = [
        select(with_overrides(get_method(f"drm-{name}"), grid=FEW), X, y, plan).score
        for name in ("linear", "poly", "rbf")
    ]
    assert best == max(apart)


@pytest.mark.parametrize("sizes", [(9, 5), (6, 5, 4)])
@pytest.mark.parametrize("name", ["drm", "drm-balanced", "drm-rbf"])
def test_shortcuts_give_the_decision_values_of_the_estimators(
    name: str, sizes: tuple[int, ...]
) -> None:
    X, y = blobs(sizes, 3)
    grid = {**FEW, "kernel": ["linear", "poly 3", "rbf 1"]}
    if name == "drm-rbf":
        grid = {**FEW, "sigma": [0.1, 1.0]}
    method = with_overrides(get_method(name), grid=grid)
    candidates = method.candidates()
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    assert method.score_grid is not None
    assert method.score_left_out is not None
    found = method.score_grid(X[train], y[train], X[test], candidates, seed=0)
    naive = naive_grid_scores(
        method, X[train], y[train], X[test], candidates, needs="scores", seed=0
    )
    np.testing.assert_allclose(found.values, naive.values, rtol=1e-8, atol=1e-10)
    left_out = method.score_left_out(X, y, candidates, seed=0)
    for row in range(0, len(y), 4):
        rest = np.arange(len(y)) != row
        naive = naive_grid_scores(
            method, X[rest], y[rest], X[[row]], candidates, needs="scores", seed=0
        )
        np.testing.assert_allclose(
            left_out.values[:, [row]], naive.values, rtol=1e-7, atol=1e-9
        )


@pytest.mark.parametrize("metric", ["gmean", "accuracy", "balanced_accuracy"])
def test_the_threshold_is_that_of_the_search(metric: str) -> None:
    X, y = blobs((16, 7), 3)
    ours = ThresholdDRM(alpha=0.1, beta=0.1, gamma=0.5, metric=metric).fit(X, y)
    search = DRMClassifierCV(
        alphas=[0.1], betas=[0.1], gammas=[0.5], scoring=metric, threshold="tuned"
    ).fit(X, y)
    assert ours.threshold_ == pytest.approx(search.threshold_)
    np.testing.assert_array_equal(ours.predict(X), search.predict(X))


@pytest.mark.parametrize("metric", THRESHOLD_METRICS)
def test_no_threshold_is_better_for_the_left_out_samples(metric: str) -> None:
    X, y = blobs((16, 7), 3)
    params: Params = {
        **get_method("drm-threshold").candidates()[0],
        **{"kernel": "rbf 1", "alpha": 0.1, "beta": 0.1, "metric": metric},
    }
    predict = get_method("drm-threshold").predict_left_out
    score = get_method("drm").score_left_out
    assert predict is not None
    assert score is not None
    labels = predict(X, y, [params], seed=0).labels[0]
    values = score(X, y, [params], seed=0).values[0][:, 1]
    roles = ClassRoles.of(y)
    judged = get_metric(metric).score(y, labels, roles)
    cuts = [-np.inf, *np.sort(values)]
    others = [get_metric(metric).score(y, (values > cut) * 1, roles) for cut in cuts]
    assert judged == pytest.approx(max(others))


def test_more_classes_have_no_threshold() -> None:
    X, y = blobs((8, 7, 6), 3)
    ours = ThresholdDRM(alpha=0.1, beta=0.1).fit(X, y)
    assert ours.threshold_ is None
    plain = DRMClassifier(alpha=0.1, beta=0.1).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))


def test_classes_of_equal_weight_find_the_rare_one() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [190, 10])
    X = rng.normal(size=(200, 2)) + 1.0 * y[:, None]
    params = {"alpha": 0.01, "beta": 1.0, "kernel": "rbf 1", "width": "sigma"}
    fresh = rng.normal(size=(400, 2)) + 1.0 * np.repeat([0, 1], 200)[:, None]
    found = {
        name: get_method(name)
        .build({**get_method(name).defaults, **params}, 0)
        .fit(X, y)
        .predict(fresh)[200:]
        .mean()
        for name in ("drm", "drm-balanced", "drm-threshold")
    }
    assert found["drm"] < 0.5 < found["drm-balanced"]
    assert found["drm-threshold"] > 0.5
