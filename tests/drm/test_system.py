"""The two forms of Q agree, and the eigenvalue bounds hold."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from drmbench.drm.decision import dissimilarities, dissimilarities_of_vectors
from drmbench.drm.partition import ClassPartition
from drmbench.drm.system import (
    DenseSystem,
    FactoredSystem,
    as_operator,
    largest_eigenvalue_bound,
)

quick = settings(max_examples=30, deadline=None, derandomize=True)


def systems(problem, alpha):
    X, y = problem
    partition = ClassPartition.of(y)
    F = X[partition.order]
    dense = DenseSystem(F @ F.T, partition, alpha)
    return dense, FactoredSystem(F, partition, alpha), F


@quick
@given(oracle.problems(), oracle.alphas)
def test_dense_and_factored_products_agree(problem, alpha):
    dense, factored, F = systems(problem, alpha)
    sparse_one = FactoredSystem(sparse.csr_matrix(F), dense.partition, alpha)
    W = np.random.default_rng(0).normal(size=(len(F), 3))
    for system in (factored, sparse_one):
        assert np.allclose(system.diagonal, dense.diagonal)
        assert np.allclose(system.kernel_product(W), dense.kernel_product(W))
        assert np.allclose(system.block_product(W), dense.block_product(W))
        assert np.allclose(system.product(W), dense.product(W))


@quick
@given(oracle.problems(), oracle.alphas)
def test_operator_is_the_matrix(problem, alpha):
    dense, factored, _ = systems(problem, alpha)
    identity = np.eye(dense.partition.n_samples)
    assert np.allclose(as_operator(factored) @ identity, dense.matrix())
    assert np.allclose(as_operator(dense) @ identity[0], dense.matrix()[0])


@quick
@given(oracle.problems(), oracle.alphas)
def test_eigenvalue_bounds_are_upper_bounds(problem, alpha):
    dense, factored, _ = systems(problem, alpha)
    largest = np.linalg.eigvalsh(dense.matrix())[-1]
    for system in (dense, factored):
        tight = largest_eigenvalue_bound(system)
        crude = system.kernel_bound() + alpha * system.diagonal.max()
        assert largest * (1 - 1e-12) <= tight <= crude * (1 + 1e-12)


def test_lanczos_bound_is_tight():
    X = np.random.default_rng(0).normal(size=(60, 5))
    dense, _, _ = systems((X, np.arange(60) % 3), alpha=1.0)
    largest = np.linalg.eigvalsh(dense.matrix())[-1]
    assert largest_eigenvalue_bound(dense) <= 1.001 * largest


def test_a_zero_matrix_still_has_a_bound():
    dense, _, _ = systems((np.zeros((6, 2)), np.arange(6) % 2), alpha=1.0)
    assert largest_eigenvalue_bound(dense) >= 0.0


@quick
@given(oracle.problems())
def test_decision_rule_by_definition(problem):
    dense, factored, F = systems(problem, 1.0)
    y = dense.partition.codes
    rng = np.random.default_rng(3)
    W, X = rng.normal(size=(len(F), 2)), rng.normal(size=(2, F.shape[1]))
    k = F @ X.T
    expected = [
        [oracle.dissimilarity(dense.K, y, k[:, m], W[:, m], c) for c in np.unique(y)]
        for m in range(2)
    ]
    assert np.allclose(dissimilarities(dense, W, k), expected)
    assert np.allclose(
        dissimilarities_of_vectors(factored.class_vectors(W), X), expected
    )


def test_partition_round_trip():
    y = np.array(["b", "a", "c", "a"])
    partition = ClassPartition.of(y)
    assert partition.classes.tolist() == ["a", "b", "c"]
    assert y[partition.order].tolist() == ["a", "a", "b", "c"]
    values = np.arange(4.0)
    assert partition.to_sample_order(values[partition.order]).tolist() == [0, 1, 2, 3]
    assert partition.class_sums(values[:, None]).ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_matrix_does_not_touch_k(alpha):
    K = np.eye(4) + 1.0
    DenseSystem(K, ClassPartition.of(np.array([0, 0, 1, 1])), alpha).matrix(5.0)
    assert np.array_equal(K, np.eye(4) + 1.0)
