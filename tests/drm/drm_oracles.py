"""Slow, literal computations that the fast code of ``drmbench.drm`` is tested against.

Nothing here uses the package: each function follows the paper's definitions with dense
matrices and explicit loops.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


def q_matrix(K, y, alpha):
    """``K + α(H - B)`` in the order of the samples, entry by entry."""
    B = np.zeros_like(K)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        for i in members:
            for j in members:
                B[i, j] = K[i, j] / len(members)
    return K + alpha * (np.diag(np.diag(K)) - B)


def representation(K, y, k, alpha, beta, solve=np.linalg.solve):
    return solve(q_matrix(K, y, alpha) + beta * np.eye(len(K), dtype=K.dtype), k)


def weighted_representation(K, y, k, alpha, beta, weights):
    """The solution for weights ω > 0: ``K + α(HΩ⁻¹ - B) + βΩ⁻¹``, masses for counts."""
    Q = K + np.diag((alpha * np.diag(K) + beta) / weights)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        for i in members:
            for j in members:
                Q[i, j] -= alpha * K[i, j] / weights[members].sum()
    return np.linalg.solve(Q, k)


def dissimilarity(K, y, k, w, label):
    """``δ_c``, by masking w."""
    own = np.where(y == label, w, 0.0)
    others = np.where(y == label, 0.0, w)
    return own @ K @ own + others @ K @ others - 2 * own @ k


def dissimilarities(K, y, k, alpha, beta, solve=np.linalg.solve):
    w = representation(K, y, k, alpha, beta, solve)
    return np.array([dissimilarity(K, y, k, w, label) for label in np.unique(y)])


def left_out_dissimilarities(K, y, alpha, beta, solve=np.linalg.solve):
    """δ by one refit per sample; ``inf`` for a class that disappears."""
    classes = np.unique(y)
    delta = np.full((len(y), len(classes)), np.inf, dtype=K.dtype)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        present = np.isin(classes, y[rest])
        delta[i, present] = dissimilarities(
            K[np.ix_(rest, rest)], y[rest], K[rest, i], alpha, beta, solve
        )
    return delta


def solve_extended(A, b):
    """Solve a positive definite system by elimination in extended precision."""
    A, b = A.astype(np.longdouble), b.astype(np.longdouble)
    n = len(b)
    for j in range(n):
        factors = A[j + 1 :, j] / A[j, j]
        A[j + 1 :] -= factors[:, None] * A[j]
        b[j + 1 :] -= factors * b[j]
    for j in reversed(range(n)):
        b[j] = (b[j] - A[j, j + 1 :] @ b[j + 1 :]) / A[j, j]
    return b


def gram(X, Y, name, parameter=1.0):
    if name == "linear":
        return X @ Y.T
    if name == "poly":
        return (X @ Y.T + 1.0) ** parameter
    distances = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-parameter * distances)


@st.composite
def problems(draw, max_samples=24, max_classes=6):
    """Labelled samples of two or more classes; singletons and duplicates occur."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    g = draw(st.integers(2, max_classes))
    n = draw(st.integers(max(4, g), max_samples))
    p = draw(st.integers(1, 6))
    X = rng.normal(size=(n, p))
    y = np.concatenate([np.arange(g), rng.integers(0, g, n - g)])
    if draw(st.booleans()):
        X[-1], y[-1] = X[0], y[0]
    rng.shuffle(y)
    return X, y


kernels = st.sampled_from([("linear", 1.0), ("poly", 3), ("rbf", 0.3)])
alphas = st.sampled_from([0.0, 1e-3, 0.1, 1.0, 10.0, 1e3])
betas = st.sampled_from([1e-2, 0.1, 1.0, 10.0, 1e3])


def assert_close(found, expected, tol):
    """Equal where finite, up to `tol` times the largest finite entry."""
    finite = np.isfinite(expected)
    assert (np.isfinite(found) == finite).all()
    scale = np.abs(expected[finite]).max()
    assert np.abs(found[finite] - expected[finite]).max() <= tol * scale
