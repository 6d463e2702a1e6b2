"""Propositions of the paper, checked on the objects the package builds."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
from hypothesis import given, settings

from drmbench.drm.kernels import Kernel, gram
from drmbench.drm.partition import ClassPartition
from drmbench.drm.system import DenseSystem

quick = settings(max_examples=40, deadline=None, derandomize=True)


def scatters(X, y, w):
    """``S_w, S_b, S_t`` of the weighted samples ``w_i x_i``, by their definitions."""
    Z = w[:, None] * X
    mean = Z.mean(axis=0)
    total = ((Z - mean) ** 2).sum()
    within = between = 0.0
    for label in np.unique(y):
        members = Z[y == label]
        centre = members.mean(axis=0)
        within += ((members - centre) ** 2).sum()
        between += len(members) * ((centre - mean) ** 2).sum()
    return within, between, total


def class_ordered(X, y):
    partition = ClassPartition.of(y)
    return X[partition.order], y[partition.order], partition


@quick
@given(oracle.problems())
def test_total_scatter_is_within_plus_between(problem):
    X, y = problem
    w = np.random.default_rng(1).normal(size=len(y))
    within, between, total = scatters(X, y, w)
    assert np.isclose(within + between, total)


@quick
@given(oracle.problems())
def test_alpha_weighs_the_within_class_scatter(problem):
    """``wᵀ(Q - K)w = α S_w(w)``: the matrix is the scatter the paper defines."""
    X, y, partition = class_ordered(*problem)
    w = np.random.default_rng(2).normal(size=len(y))
    system = DenseSystem(X @ X.T, partition, alpha=3.0)
    extra = w @ (system.matrix() - system.K) @ w
    assert np.isclose(extra, 3.0 * scatters(X, y, w)[0])


@quick
@given(oracle.problems(), oracle.kernels)
def test_scatter_matrices_are_positive_semidefinite(problem, kernel):
    X, y, partition = class_ordered(*problem)
    name, parameter = kernel
    gamma = parameter if name == "rbf" else 1.0
    K = gram(X, kernel=Kernel(name, gamma=gamma, degree=parameter))
    within = DenseSystem(K, partition, 1.0).matrix() - K  # H - B
    blocks = np.diag(np.diag(K)) - within  # B
    between = blocks - K / len(y)
    floor = -1e-10 * np.abs(K).max()
    assert np.linalg.eigvalsh(within).min() >= floor
    assert np.linalg.eigvalsh(between).min() >= floor


@quick
@given(oracle.problems(), oracle.kernels, oracle.alphas)
def test_q_matches_its_definition(problem, kernel, alpha):
    X, y, partition = class_ordered(*problem)
    name, parameter = kernel
    gamma = parameter if name == "rbf" else 1.0
    K = gram(X, kernel=Kernel(name, gamma=gamma, degree=parameter))
    assert np.allclose(K, oracle.gram(X, X, name, parameter), rtol=1e-10, atol=1e-12)
    expected = oracle.q_matrix(K, y, alpha) + 0.5 * np.eye(len(y))
    assert np.allclose(DenseSystem(K, partition, alpha).matrix(0.5), expected)
