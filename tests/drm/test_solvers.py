"""Every solver against the closed form, and the paper's convergence theorems."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drmbench.drm import feature_solvers
from drmbench.drm.decision import dissimilarities_of_vectors
from drmbench.drm.feature_solvers import APGIterates, MatrixIterates, PPAIterates
from drmbench.drm.partition import ClassPartition
from drmbench.drm.solvers import (
    AcceleratedGradient,
    AcceleratedProximal,
    ClosedForm,
    GradientDescent,
    ProximalPoint,
)
from drmbench.drm.system import (
    BlockProblem,
    DenseSystem,
    FactoredSystem,
    GroupLasso,
    Lasso,
    Ridge,
    StoppingRule,
    largest_eigenvalue_bound,
)

quick = settings(max_examples=25, deadline=None, derandomize=True)
tight = StoppingRule(tol=1e-12, max_iter=20000)


def make_problem(seed=0, n=30, p=4, g=3, m=5, alpha=0.5, beta=0.5, penalty=None):
    rng = np.random.default_rng(seed)
    partition = ClassPartition.of(np.sort(np.arange(n) % g))
    F = rng.normal(size=(n, p))
    system = DenseSystem(F @ F.T, partition, alpha)
    X = rng.normal(size=(m, p))
    return BlockProblem(system, F @ X.T, penalty or Ridge(beta)), F, X


def ridge_solvers(system, rule):
    c = largest_eigenvalue_bound(system)
    return {
        "gd": GradientDescent(rule),
        "ppa": ProximalPoint(rule, c),
        "apg": AcceleratedGradient(rule, c),
        "apg-backtracking": AcceleratedGradient(rule, c, "backtracking"),
    }


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 2.0]))
def test_all_solvers_reach_the_closed_form(seed, alpha):
    problem, _, _ = make_problem(seed, alpha=alpha)
    y = problem.system.partition.codes
    expected = oracle.representation(problem.system.K, y, problem.k, alpha, 0.5)
    direct = ClosedForm(problem.system, 0.5).solve(problem)
    assert np.allclose(direct.W, expected, atol=1e-10)
    assert set(direct.stop_reason) == {"direct"}
    for name, solver in ridge_solvers(problem.system, tight).items():
        found = solver.solve(problem)
        assert np.allclose(found.W, expected, atol=1e-8), name
        last = found.objective[found.n_iter, np.arange(5)]
        assert np.allclose(last, direct.objective[0], rtol=1e-8), name


@pytest.mark.parametrize("name", ["gd", "ppa", "apg", "apg-backtracking"])
def test_a_block_is_the_same_as_one_at_a_time(name):
    """Each test sample keeps its own stopping rule inside a block."""
    problem, _, _ = make_problem(m=6)
    problem.k[:, 3] *= 1e-3  # stops much earlier than the others
    rule = StoppingRule(tol=1e-6, max_iter=500)
    block = ridge_solvers(problem.system, rule)[name].solve(problem)
    assert len(set(block.n_iter.tolist())) > 1
    for m in range(6):
        alone = BlockProblem(problem.system, problem.k[:, [m]], problem.penalty)
        single = ridge_solvers(problem.system, rule)[name].solve(alone)
        assert single.n_iter[0] == block.n_iter[m]
        assert np.allclose(single.W[:, 0], block.W[:, m], rtol=1e-9, atol=1e-12)
        assert single.stop_reason[0] == block.stop_reason[m] == "tolerance"
        trace = block.objective[: block.n_iter[m] + 1, m]
        assert np.allclose(trace, single.objective[:, 0])
        assert np.isnan(block.objective[block.n_iter[m] + 1 :, m]).all()


@pytest.mark.parametrize("name", ["gd", "ppa", "apg", "apg-backtracking"])
def test_max_iter_stops_and_says_so(name):
    problem, _, _ = make_problem()
    found = ridge_solvers(problem.system, StoppingRule(0.0, 7))[name].solve(problem)
    assert found.n_iter.tolist() == [7] * 5
    assert set(found.stop_reason) == {"max_iter"}
    assert found.objective.shape == (8, 5)
    assert np.isfinite(found.W).all()
    assert np.abs(found.W).sum() > 0


@quick
@given(st.integers(0, 10**6))
def test_the_trace_is_the_objective(seed):
    problem, _, _ = make_problem(seed, m=1)
    Q = problem.system.matrix()
    for name, solver in ridge_solvers(problem.system, StoppingRule(0.0, 5)).items():
        found = solver.solve(problem)
        w = found.W[:, 0]
        value = 0.5 * w @ Q @ w - problem.k[:, 0] @ w + 0.25 * w @ w
        assert np.isclose(found.objective[-1, 0], value), name
        assert found.objective[0, 0] == 0.0


@quick
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_ppa_never_increases_and_contracts(seed, beta):
    """Error contracts by at most (c - σ_min)/(c + β) a step; the objective falls."""
    problem, _, _ = make_problem(seed, beta=beta, m=1)
    system = problem.system
    c = largest_eigenvalue_bound(system)
    rate = (c - np.linalg.eigvalsh(system.matrix())[0]) / (c + beta)
    optimum = ClosedForm(system, beta).solve(problem).W
    error = np.linalg.norm(optimum)
    for steps in range(1, 15):
        found = ProximalPoint(StoppingRule(0.0, steps), c).solve(problem)
        next_error = np.linalg.norm(found.W - optimum)
        assert next_error <= rate * error * (1 + 1e-9) + 1e-12
        error = next_error
    assert (np.diff(found.objective[:, 0]) <= 1e-12).all()


@quick
@given(st.integers(0, 10**6))
def test_gd_converges_linearly(seed):
    """Steepest descent: the gap shrinks by ((κ - 1)/(κ + 1))² a step or more."""
    problem, _, _ = make_problem(seed, m=1)
    eigenvalues = np.linalg.eigvalsh(problem.system.matrix(0.5))
    kappa = eigenvalues[-1] / eigenvalues[0]
    optimum = ClosedForm(problem.system, 0.5).solve(problem).objective[0, 0]
    trace = GradientDescent(StoppingRule(0.0, 40)).solve(problem).objective[:, 0]
    gaps = trace - optimum
    rate = ((kappa - 1) / (kappa + 1)) ** 2
    assert (gaps[1:] <= rate * gaps[:-1] * (1 + 1e-9) + 1e-12).all()


@quick
@given(st.integers(0, 10**6), st.sampled_from(["fixed", "backtracking"]))
def test_apg_converges_as_one_over_t_squared(seed, step):
    """Gap after t steps ≤ 2b‖w*‖²/(t + 1)² (Beck & Teboulle 2009, Theorem 4.4)."""
    problem, _, _ = make_problem(seed, m=1)
    c = largest_eigenvalue_bound(problem.system)
    direct = ClosedForm(problem.system, 0.5).solve(problem)
    solver = AcceleratedGradient(StoppingRule(0.0, 60), c, step)
    gaps = solver.solve(problem).objective[1:, 0] - direct.objective[0, 0]
    b = 2 * (c + 0.5)  # backtracking may end at up to twice the eigenvalue
    bound = 2 * b * (direct.W**2).sum() / (np.arange(1, 61) + 1) ** 2
    assert (gaps <= bound * (1 + 1e-9) + 1e-12).all()


def subgradient_gap_lasso(problem, w, beta):
    """Distance from 0 of the objective's subdifferential, largest entry."""
    gradient = problem.system.matrix() @ w - problem.k[:, 0]
    active = w != 0
    on = np.abs(gradient + beta * np.sign(w))[active]
    off = np.maximum(np.abs(gradient[~active]) - beta, 0)
    return max(on.max(initial=0), off.max(initial=0))


@pytest.mark.parametrize("step", ["fixed", "backtracking"])
@pytest.mark.parametrize("seed", range(4))
def test_lasso_meets_its_optimality_conditions(seed, step):
    beta = 0.8
    problem, _, _ = make_problem(seed, p=40, m=1, penalty=Lasso(beta))
    c = largest_eigenvalue_bound(problem.system)
    for solver in (AcceleratedProximal(tight, c, step), ProximalPoint(tight, c)):
        w = solver.solve(problem).W[:, 0]
        assert 0 < np.count_nonzero(w) < len(w)
        assert subgradient_gap_lasso(problem, w, beta) < 1e-8


@pytest.mark.parametrize("step", ["fixed", "backtracking"])
@pytest.mark.parametrize("seed", range(4))
def test_group_lasso_meets_its_optimality_conditions(seed, step):
    base, _, _ = make_problem(seed, p=40, g=5, m=1)
    partition = base.system.partition
    pull = np.sqrt(partition.class_sums(base.k**2)).ravel()
    beta = 0.8 * pull.max()  # strong enough to switch classes off
    problem = BlockProblem(base.system, base.k, GroupLasso(beta, partition))
    c = largest_eigenvalue_bound(problem.system)
    for solver in (AcceleratedProximal(tight, c, step), ProximalPoint(tight, c)):
        w = solver.solve(problem).W[:, 0]
        gradient = problem.system.matrix() @ w - problem.k[:, 0]
        norms = [np.linalg.norm(w[b]) for b in partition.blocks]
        assert min(norms) == 0 < max(norms)
        for block, norm in zip(partition.blocks, norms, strict=True):
            if norm == 0:
                assert np.linalg.norm(gradient[block]) <= beta * (1 + 1e-9)
            else:
                assert np.allclose(gradient[block], -beta * w[block] / norm, atol=1e-7)


def test_lasso_without_scatter_is_scikit_learns():
    """α = 0, linear kernel: ``½‖x - Aw‖² + β‖w‖₁`` is scikit-learn's Lasso."""
    from sklearn.linear_model import Lasso as SklearnLasso

    beta, p = 0.5, 12
    problem, F, X = make_problem(3, p=p, alpha=0.0, m=4, penalty=Lasso(beta))
    c = largest_eigenvalue_bound(problem.system)
    found = AcceleratedProximal(tight, c).solve(problem).W
    for m in range(4):
        reference = SklearnLasso(
            beta / p, fit_intercept=False, tol=1e-12, max_iter=10**6
        )
        reference.fit(F.T, X[m])
        fit = F.T @ found[:, m]
        assert np.allclose(fit, F.T @ reference.coef_, atol=1e-6)
        assert np.isclose(
            np.abs(found[:, m]).sum(), np.abs(reference.coef_).sum(), rtol=1e-6
        )


def test_group_lasso_of_singletons_is_the_lasso():
    lasso, _, _ = make_problem(4, n=8, g=8, p=5, penalty=Lasso(0.4))
    partition = lasso.system.partition
    group = BlockProblem(lasso.system, lasso.k, GroupLasso(0.4, partition))
    c = largest_eigenvalue_bound(lasso.system)
    first, second = (AcceleratedProximal(tight, c).solve(q).W for q in (lasso, group))
    assert np.allclose(first, second, atol=1e-9)


@pytest.mark.parametrize(
    "solver", [GradientDescent(tight), AcceleratedGradient(tight, 1.0)]
)
def test_ridge_solvers_refuse_other_penalties(solver):
    problem, _, _ = make_problem(penalty=Lasso(1.0))
    with pytest.raises(ValueError, match="ridge penalty only"):
        solver.solve(problem)


@pytest.mark.parametrize("accelerated", [False, True])
@pytest.mark.parametrize("max_iter", [9, 400])
def test_matrix_iterates_are_the_per_sample_iterations(accelerated, max_iter):
    """PPA and APG are linear in x: same δ and same iteration counts, all at once."""
    problem, F, X = make_problem(m=40, alpha=0.3, beta=2.0)
    X[::3] *= 1e-3
    rule = StoppingRule(1e-5, max_iter)
    system = FactoredSystem(F, problem.system.partition, 0.3)
    c = largest_eigenvalue_bound(system)
    steps = (APGIterates if accelerated else PPAIterates)(system, 2.0, c)
    at_once = MatrixIterates(system, steps, rule)
    delta, n_iter = at_once.dissimilarities(X)
    solver = (AcceleratedGradient if accelerated else ProximalPoint)(rule, c)
    one_by_one = solver.solve(BlockProblem(system, F @ X.T, Ridge(2.0)))
    assert np.array_equal(n_iter, one_by_one.n_iter)
    assert len(set(n_iter.tolist())) > 1
    expected = dissimilarities_of_vectors(system.class_vectors(one_by_one.W), X)
    assert np.allclose(delta, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("max_iter", [6, 400])
def test_lean_descent_is_descent(monkeypatch, alpha, max_iter):
    """GD without representations: same δ and same iterations of every sample."""
    monkeypatch.setattr(feature_solvers, "ROWS", 7)
    monkeypatch.setattr(feature_solvers, "BATCH", 16)
    problem, F, X = make_problem(m=40, n=60, alpha=alpha, beta=2.0)
    X[::3] *= 1e-3
    system = FactoredSystem(F, problem.system.partition, alpha)
    rule = StoppingRule(1e-6, max_iter)
    delta, n_iter = feature_solvers.LeanDescent(system, 2.0, rule).dissimilarities(X)
    solution = GradientDescent(rule).solve(BlockProblem(system, F @ X.T, Ridge(2.0)))
    assert np.array_equal(n_iter, solution.n_iter)
    if max_iter == 400:
        assert len(set(n_iter.tolist())) > 1
    expected = dissimilarities_of_vectors(system.class_vectors(solution.W), X)
    assert np.allclose(delta, expected, rtol=1e-8, atol=1e-12)
