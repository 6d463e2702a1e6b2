"""Speed and quality of the low-rank DRM: ratios measured in one run.

Run by ``make bench``. The data are ijcnn1's, or synthetic data of its shape if that is
not available.
"""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

from drmbench import DRMClassifier
from drmbench.drm import low_rank
from drmbench.drm.kernels import Kernel
from drmbench.drm.low_rank import LowRankMap

sys.path.insert(0, str(Path(__file__).parent))
from drm import ijcnn1
from timing import report, seconds

RANK, GAMMA = 200, 0.5
RBF = Kernel("rbf", gamma=GAMMA)


def approximations(X):
    """Print how much of the kernel's trace landmarks of different origin miss."""

    def missed(F):
        return 1.0 - float((F * F).sum()) / len(X)

    usual = low_rank.CANDIDATES
    for candidates in (1000, 3000, usual, len(X)):
        low_rank.CANDIDATES = candidates
        spent = seconds(lambda: LowRankMap.of(X, RBF, RANK), 1)
        share = missed(LowRankMap.of(X, RBF, RANK).transform(X))
        print(
            f"  {RANK} landmarks among {candidates:>6,} rows: {spent:6.3f} s, misses"
            f" {share:.4f} of the trace"
        )
    low_rank.CANDIDATES = usual
    uniform = Nystroem(gamma=GAMMA, n_components=RANK, random_state=0).fit(X)
    print(f"  {RANK} landmarks drawn evenly: misses {missed(uniform.transform(X)):.4f}")


def least_work(features, forms, X):
    """Do what a prediction cannot do without: kernel values, solves and products."""
    for start in range(0, len(X), 4096):
        rows = X[start : start + 4096]
        values = np.exp(rows @ features.landmarks.T)
        mapped = solve_triangular(features.triangle, values.T, lower=True).T
        for form in forms:
            np.einsum("ij,ij->i", mapped, mapped @ form)


def fit_and_predict(X, y, X_test):
    model = DRMClassifier(alpha=0.01, beta=0.01, gamma=GAMMA, rank=RANK)
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"  fit, rank {RANK}, n = {len(X):,}: {seconds(lambda: model.fit(X, y)):.2f} s,"
        f" peak {peak / 2**20:.0f} MiB (features: {8 * len(X) * RANK / 2**20:.0f} MiB,"
        f" kernel matrix: {8 * len(X) ** 2 / 2**20:,.0f} MiB)"
    )
    spent = seconds(lambda: model.predict(X_test), 5)
    print(f"  predict, {len(X_test):,} rows: {spent:.2f} s   wanted <= 1.5 s")
    forms = np.zeros((len(model.classes_), RANK, RANK))
    least = seconds(lambda: least_work(model._map, forms, X_test), 5)
    report(
        "the same: its exponentials, solves and products alone", spent, least, ">= 0.5"
    )


def main():
    with threadpool_limits(limits=1):
        name, X, y, X_test = ijcnn1()
        print(f"low rank, {name}")
        fit_and_predict(X, y, X_test)
        approximations(X)


if __name__ == "__main__":
    main()
