"""The fast leave-one-out with weights against one weighted refit per sample."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drmbench.drm import loo
from drmbench.drm.loo import (
    loo_dissimilarities,
)

many = settings(max_examples=150, deadline=None, derandomize=True)

#: How classes share work: each as it pays, or all in one way.
ways = pytest.mark.parametrize("own_systems", [None, True, False])


@st.composite
def weighted_problems(draw):
    """Labelled samples with weights: by class, of a few values, or of any."""
    X, y = draw(oracle.problems(max_classes=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["class", "few", "any", "far apart"]))
    if kind == "class":
        weights = rng.uniform(0.1, 10.0, size=y.max() + 1)[y]
    elif kind == "few":
        weights = rng.integers(0, 4, size=len(y)).astype(float)
    elif kind == "any":
        weights = rng.uniform(0.1, 10.0, size=len(y))
    else:
        weights = 10.0 ** rng.uniform(-4, 4, size=len(y))
    assume(np.unique(y[weights > 0]).size > 1)
    return X, y, weights


def force_way(patch, own_systems):
    if own_systems is not None:
        patch.setattr(loo, "_own_systems_pay", lambda c: [own_systems] * len(c))


@ways
@given(
    weighted_problems(),
    st.one_of(oracle.kernels, st.sampled_from([("poly", 5), ("rbf", 1e-6)])),
    oracle.alphas,
    st.one_of(oracle.betas, st.just(1e-3)),
    st.sampled_from([0.1, 1.0, 30.0]),
)
@many
def test_kernel_leave_one_out_equals_weighted_refits(
    own_systems, problem, kernel, alpha, beta, scale
):
    X, y, weights = problem
    K = oracle.gram(scale * X, scale * X, *kernel)
    assume(largest_condition(K, y, weights, alpha, beta) < 1e10)
    exact = oracle.weighted_left_out_dissimilarities(
        K.astype(np.longdouble), y, weights, alpha, beta, oracle.solve_extended
    )
    plain = oracle.weighted_left_out_dissimilarities(K, y, weights, alpha, beta)
    with pytest.MonkeyPatch.context() as patch:
        force_way(patch, own_systems)
        found = loo_dissimilarities(K, y, alpha, beta, sample_weight=weights)
    oracle.assert_close(found, exact, max(1e-10, 10 * relative_error(plain, exact)))


def relative_error(found, exact):
    finite = np.isfinite(exact)
    scale = np.abs(exact[finite]).max()
    assume(scale > 1e-200)  # no underflow
    return float(np.abs(found[finite] - exact[finite]).max() / scale)


def largest_condition(K, y, weights, alpha, beta):
    """The condition of the worst system in the coordinates that are solved in."""
    worst = 0.0
    for i in range(-1, len(y)):
        rest = (np.arange(len(y)) != i) & (weights > 0)
        roots, own = np.sqrt(weights[rest]), y[rest]
        masses = np.array([weights[rest][own == label].sum() for label in own])
        inside = K[np.ix_(rest, rest)] * roots * roots[:, None]
        Q = inside * (1.0 - alpha * (own[:, None] == own) / masses)
        Q += np.diag(alpha * np.diag(K)[rest] + beta)
        worst = max(worst, float(np.linalg.cond(Q)))
    return worst
