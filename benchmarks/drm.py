"""Speed of the Discriminative Ridge Machine: ratios measured in one run.

Run by ``make bench``. Every line compares ours with an alternative for the same work;
"extrapolated" means the alternative was timed on a few samples and multiplied.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from drmbench import DRMClassifier, DRMClassifierCV, LinearDRMClassifier
from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.feature_solvers import BATCH, ROWS, LeanDescent
from drmbench.drm.kernels import Kernel, gram
from drmbench.drm.loo import loo_dissimilarities
from drmbench.drm.partition import ClassPartition
from drmbench.drm.solvers import AcceleratedGradient, GradientDescent, ProximalPoint
from drmbench.drm.system import (
    BlockProblem,
    FactoredSystem,
    Ridge,
    StoppingRule,
    largest_eigenvalue_bound,
)

sys.path.insert(0, str(Path(__file__).parent))
from timing import report, seconds, times_as_long


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def ijcnn1():
    """Return the real data, or synthetic data of its shape if it is not available."""
    from drmbench.data import load
    from drmbench.errors import DrmbenchError

    try:
        data = load("ijcnn1")
        train, test = data.split
        return "ijcnn1", data.X[train], data.y[train], data.X[test]
    except DrmbenchError:
        rng = np.random.default_rng(0)
        X = np.abs(rng.normal(size=(141_691, 22)))
        y = (rng.random(141_691) < 0.1).astype(int)
        X[y == 1, :5] += 0.5
        return "synthetic, ijcnn1's shape", X[:49_990], y[:49_990], X[49_990:]


def factorise_and_invert(K):
    """Do what one Cholesky factorisation and inversion of this size cost."""
    matrix = np.asfortranarray(K)
    matrix.flat[:: len(K) + 1] += 1.0
    factor, _ = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    lapack.dpotri(factor, lower=1, overwrite_c=1)


def imbalanced(n, ratio):
    """Return two overlapping classes, one `ratio` times as large as the other."""
    rng = np.random.default_rng(0)
    y = (np.arange(n) < n / (1 + ratio)).astype(int)
    X = rng.normal(size=(n, 5))
    X[y == 1] += 1.0
    return X, y


def exact_leave_one_out():
    """Compare with one factorisation and inversion, and with n refits."""
    for n, ratio, most in ((200, 9, 6), (400, 9, 4), (800, 9, 3.5), (1187, 8, 3)):
        X, y = imbalanced(n, ratio)
        K = gram(X, kernel=Kernel("rbf", gamma=0.5))
        against_inversion(f"two classes, n = {n}, imbalance {ratio}", K, y, most)
    X, y = digits()
    K = gram(X, kernel=Kernel("rbf", gamma=0.1))
    against_inversion("digits", K, y, 2.6, repeats=7)
    against_inversion("digits, balanced", K, y, 2.6, repeats=7, class_weight="balanced")
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    against_inversion(
        "digits, every sample a weight", K, y, 10, repeats=5, sample_weight=weights
    )
    with threadpool_limits(limits=2):
        against_inversion(
            "digits, two BLAS threads", K, y, 5, repeats=7, clock=time.perf_counter
        )

    def refit(i):
        rest = np.delete(np.arange(len(y)), i)
        model = DRMClassifier(kernel="precomputed")
        model.fit(K[np.ix_(rest, rest)], y[rest]).predict(K[[i]][:, rest])

    report(
        "exact LOO, digits 1797: n refits (extrapolated from 10)",
        seconds(lambda: loo_dissimilarities(K, y, 0.1, 0.1), 5),
        seconds(lambda: [refit(i) for i in range(10)], 1) / 10 * len(y),
        ">= 300",
    )


def against_inversion(what, K, y, most, repeats=15, clock=time.process_time, **weights):
    """Print how many factorisations with inversion exact leave-one-out costs."""
    ratio = times_as_long(
        lambda: loo_dissimilarities(K, y, 0.1, 0.1, **weights),
        lambda: factorise_and_invert(K),
        repeats,
        clock,
    )
    show(f"exact LOO, {what}", f"{ratio:.1f} x Cholesky + potri", f"<= {most} x")


def searches():
    """Time two searches of 343 candidates on a small imbalanced set, one of 637."""
    X, y = imbalanced(268, 3.4)
    for cv, words, most in (("loo", "LOO", 1.6), (5, "5-fold", 1.0)):
        search = DRMClassifierCV(scoring="gmean", cv=cv)
        spent = min(
            processor_time(lambda search=search: search.fit(X, y)) for _ in range(3)
        )
        show(
            f"DRMClassifierCV, 343 rbf candidates, {words}, n = 268, imbalance 3.4",
            f"{spent:.2f} s of processor time",
            f"<= {most} s",
        )
    grid_search()


def processor_time(function):
    """Return the processor time of one call, in seconds."""
    with warnings.catch_warnings(action="ignore", category=ConditioningWarning):
        start = time.process_time()
        function()
    return time.process_time() - start


def show(what, measured, wanted):
    """Print one line of a figure that is no ratio of two times."""
    print(f"{what:<70} {measured:>28}   wanted {wanted}", flush=True)


def grid_search():
    X, y = digits()
    rows = np.random.default_rng(0).permutation(len(y))[:1352]
    X, y = X[rows], y[rows]
    search = DRMClassifierCV(kernels=("rbf", "poly"))
    ours = processor_time(lambda: search.fit(X, y))
    show(
        "DRMClassifierCV, 637 candidates, LOO, digits, n = 1352",
        f"{ours:.0f} s of processor time",
        "<= 120 s",
    )
    sample = range(0, len(search.cv_results_["alpha"]), 60)
    naive = processor_time(lambda: [_naive_fit(search, i, X, y) for i in sample])
    fits = len(search.cv_results_["alpha"]) * len(y)
    report(
        "DRMClassifierCV, 637 candidates, n = 1352: GridSearchCV(LOO)",
        ours,
        naive / len(sample) * fits,
        ">= 100",
    )


def _naive_fit(search, number, X, y):
    """Fit and predict once, as GridSearchCV does n times a candidate."""
    row = {name: values[number] for name, values in search.cv_results_.items()}
    model = DRMClassifier(alpha=row["alpha"], beta=row["beta"], kernel=row["kernel"])
    model.set_params(gamma=row["gamma"], degree=row["degree"] or 3)
    try:
        model.fit(X[1:], y[1:]).predict(X[:1])
    except IllConditionedError:
        return


def linear_against_liblinear(name, X, y, X_test):
    from liblinear.liblinearutil import parameter, predict, problem, train

    labels = np.where(y == 1, 1, -1)
    X_sparse, test_sparse = sparse.csr_matrix(X), sparse.csr_matrix(X_test)

    def fitted():
        return train(problem(labels, X_sparse), parameter("-s 2 -q"))

    def with_its_predict():
        predict(np.zeros(len(X_test)), test_sparse, fitted(), "-q")

    def with_a_product():
        weights, _ = fitted().get_decfun()
        return X_test @ np.array(weights) > 0

    def ours():
        LinearDRMClassifier(alpha=1e-3, beta=1.0).fit(X, y).predict(X_test)

    mine = seconds(ours, 5)
    what = f"LinearDRM fit + predict, {name}: LIBLINEAR -s 2 train"
    report(f"{what} + predict", mine, seconds(with_its_predict, 1), ">= 10")
    report(f"{what} + X @ w", mine, seconds(with_a_product, 3), "(fairer)")
    fit = seconds(lambda: LinearDRMClassifier(alpha=1e-3, beta=1.0).fit(X, y), 7)
    report("LinearDRM fit: one X.T @ X", fit, seconds(lambda: X.T @ X, 7), ">= 0.25")


def one_at_a_time(solver, system, X_test, beta):
    """Solve for each test sample alone, as the paper's algorithms are stated."""
    for x in X_test:
        solver.solve(BlockProblem(system, (system.F @ x)[:, None], Ridge(beta)))


def iterative_solvers(name, X, y, X_test):
    partition = ClassPartition.of(y)
    system = FactoredSystem(X[partition.order], partition, 1e-3)
    c, rule = largest_eigenvalue_bound(system), StoppingRule()
    for beta in (1.0, 1e4):
        settings = {"alpha": 1e-3, "beta": beta, "kernel": "linear"}
        for label, solver in (
            ("ppa", ProximalPoint(rule, c)),
            ("apg", AcceleratedGradient(rule, c)),
        ):
            model = DRMClassifier(solver=label, **settings)
            ours = seconds(lambda model=model: model.fit(X, y).predict(X_test), 1)
            twenty = seconds(
                lambda s=solver, b=beta: one_at_a_time(s, system, X_test[:20], b), 1
            )
            report(
                f"{label} on all of {name}, beta={beta:g}: one at a time "
                "(extrapolated from 20)",
                ours,
                twenty / 20 * len(X_test),
                ">= 1000",
            )
        descent(name, X, y, X_test[:2000], system, beta)


def descent(name, X, y, X_test, system, beta):
    """Compare a batch of descents with single ones, and with what the batch must do.

    A step of one sample reads the features twice, which memory limits; a step of a
    batch is two matrix products of 4np operations per sample, however it is arranged.
    The time of these products alone bounds the gain.
    """
    rule = StoppingRule()
    model = DRMClassifier(alpha=1e-3, beta=beta, kernel="linear", solver="gd").fit(X, y)
    twenty = processor_time(
        lambda: one_at_a_time(GradientDescent(rule), system, X_test[:20], beta)
    )
    ours = processor_time(lambda: model.predict(X_test))
    steps = LeanDescent(system, beta, rule).dissimilarities(X_test)[1].sum()
    gradient, pull = np.ones((ROWS, BATCH)), np.ones((X.shape[1], BATCH))

    def products():
        for start in range(0, len(X) - ROWS + 1, ROWS):
            rows = system.F[start : start + ROWS]
            rows @ pull
            rows.T @ gradient

    least = min(processor_time(products) for _ in range(9)) * steps / BATCH
    one = twenty / 20 * len(X_test)
    report(
        f"gd, 2000 samples of {name}, beta={beta:g}: one at a time "
        "(extrapolated from 20)",
        ours,
        one,
        f"<= {one / least:.1f}, the bound: its matrix products alone",
    )


def cost_against_n():
    """Stream synthetic data of growing n: slope on log-log axes, and peak memory."""
    from drmbench.data.synthetic import iter_synthetic

    sizes = [10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6, 2 * 10**6]
    times = []
    for n in sizes:
        spent = 0.0
        tracemalloc.start()
        model = LinearDRMClassifier(alpha=1e-3, beta=1.0)
        for X, y in iter_synthetic(n, 50, classes=3, seed=0, chunk=10_000):
            start = time.perf_counter()
            model.partial_fit(X, y, classes=[0, 1, 2])
            spent += time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        times.append(spent)
        print(
            f"  streamed fit, n = {n:>9,}, p = 50: {spent:8.3f} s, peak {peak:6.1f} MiB"
        )
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"  slope of log time against log n: {slope:.3f}   wanted 1.0 +- 0.1")


def main():
    with threadpool_limits(limits=1):
        print(f"{'what, and against what':<62} {'ours':>12} {'against':>14}")
        exact_leave_one_out()
        searches()
        data = ijcnn1()
        linear_against_liblinear(*data)
        iterative_solvers(*data)
        cost_against_n()


if __name__ == "__main__":
    main()
