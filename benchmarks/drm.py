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
from timing import report, seconds


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
    for n, ratio, most in ((200, 9, 6), (400, 9, 4), (800, 9, 3.5), (1187, 8, 3)):
        X, y = imbalanced(n, ratio)
        K = gram(X, kernel=Kernel("rbf", gamma=0.5))
        report(
            f"exact LOO, n = {n}, imbalance {ratio}: one Cholesky + potri",
            seconds(lambda K=K, y=y: loo_dissimilarities(K, y, 0.1, 0.1), 9),
            seconds(lambda K=K: factorise_and_invert(K), 9),
            f">= {1 / most:.2f}",
        )
    X, y = digits()
    K = gram(X, kernel=Kernel("rbf", gamma=0.1))

    def refit(i):
        rest = np.delete(np.arange(len(y)), i)
        model = DRMClassifier(kernel="precomputed")
        model.fit(K[np.ix_(rest, rest)], y[rest]).predict(K[[i]][:, rest])

    def left_out():
        loo_dissimilarities(K, y, 0.1, 0.1)

    ours = seconds(left_out, 5)
    one = seconds(lambda: factorise_and_invert(K), 5)
    report("exact LOO, digits 1797: one Cholesky + potri", ours, one, ">= 0.38")
    ten = seconds(lambda: [refit(i) for i in range(10)], 1)
    report(
        "exact LOO, digits 1797: n refits (extrapolated from 10)",
        ours,
        ten / 10 * len(y),
        ">= 300",
    )
    with threadpool_limits(limits=2):
        two = seconds(lambda: factorise_and_invert(K), 5)
        report(
            "the same with two BLAS threads: one Cholesky + potri",
            seconds(left_out, 5),
            two,
            ">= 0.20",
        )


def small_searches():
    """Time two searches of 343 candidates on a small imbalanced set."""
    X, y = imbalanced(268, 3.4)
    for cv, words, most in (("loo", "LOO", 1.6), (5, "5-fold", 1.0)):
        search = DRMClassifierCV(scoring="gmean", cv=cv)
        with warnings.catch_warnings(action="ignore", category=ConditioningWarning):
            start = time.process_time()
            search.fit(X, y)
        spent = time.process_time() - start
        print(
            f"DRMClassifierCV, 343 rbf candidates, {words}, n = 268: {spent:.2f} s of"
            f" processor time   wanted <= {most} s"
        )


def grid_search():
    X, y = digits()
    rows = np.random.default_rng(0).permutation(len(y))[:1352]
    X, y = X[rows], y[rows]
    search = DRMClassifierCV(kernels=("rbf", "poly"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConditioningWarning)
        ours = seconds(lambda: search.fit(X, y), 1)
        sample = [i for i in range(len(search.cv_results_["alpha"])) if i % 60 == 0]
        naive = seconds(lambda: [_naive_fit(search, i, X, y) for i in sample], 1)
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
        model = DRMClassifier(solver="gd", **settings).fit(X, y)
        ours = seconds(lambda model=model: model.predict(X_test[:2000]), 1)
        twenty = seconds(
            lambda b=beta: one_at_a_time(GradientDescent(rule), system, X_test[:20], b),
            1,
        )
        report(
            f"gd, 2000 samples of {name}, beta={beta:g}: one at a time "
            "(extrapolated from 20)",
            ours,
            twenty / 20 * 2000,
            ">= 10",
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
        small_searches()
        data = ijcnn1()
        linear_against_liblinear(*data)
        iterative_solvers(*data)
        cost_against_n()
        grid_search()


if __name__ == "__main__":
    main()
