"""The Discriminative Ridge Machine and its ablation as scikit-learn classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_non_negative

from drmbench.drm.decision import NearestClassMixin
from drmbench.drm.engines import (
    Engine,
    KernelEngine,
    make_feature_engine,
    make_iterative,
    step_constant,
)
from drmbench.drm.kernels import (
    INDEFINITE_KERNELS,
    KERNEL_NAMES,
    NON_NEGATIVE_KERNELS,
    SPARSE_KERNELS,
    Kernel,
    LowRankMap,
    gram,
    resolve_gamma,
    symmetric_part,
)
from drmbench.drm.partition import (
    Array,
    ClassPartition,
    check_samples,
    check_training,
    check_two_classes,
)
from drmbench.drm.solvers import ClosedForm
from drmbench.drm.system import (
    DenseSystem,
    FactoredSystem,
    Solution,
    StoppingRule,
    make_penalty,
)
from drmbench.drm.weights import ClassWeight, training_weights

#: Memory a batch of test samples may take, in bytes, when `batch_size` is None.
BATCH_BYTES = 256 * 2**20
#: Arrays of the size (training samples × batch) that a solver holds at a time.
ARRAYS_PER_BATCH = 8


@dataclass(frozen=True, eq=False)
class SolveTrace:
    """How the representation of one test sample was found."""

    #: Objective before the first and after every iteration; for a direct solver the one
    #: value of the solution
    objective: Array
    n_iter: int  #: Iterations used
    stop_reason: str  #: Why the solver stopped


class BaseDRM(NearestClassMixin, ClassifierMixin, BaseEstimator):
    """The classifier with the within-class weight α and the penalty still fixed."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "beta": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({*KERNEL_NAMES, "precomputed"}), callable],
        "gamma": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scale", "auto"}),
            None,
        ],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"auto", "closed_form", "gd", "ppa", "apg", "exact"})],
        "step": [StrOptions({"fixed", "backtracking"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    # What an estimator without these parameters uses.
    alpha: float = 0.0
    penalty: str = "ridge"

    def __init__(
        self,
        *,
        beta: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        step: Any = "fixed",
        tol: float = 1e-5,
        max_iter: int = 150,
        rank: int | None = None,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.beta = beta
        self.kernel: Any = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.rank = rank
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel in SPARSE_KERNELS
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel in NON_NEGATIVE_KERNELS
        # These kernels have no intercept and cannot tell x from -x.
        tags.classifier_tags.poor_score = self.kernel in ("linear", "cosine")
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Prepare the system of the training samples.

        Parameters
        ----------
        X : array-like of shape (n, p), or (n, n) for ``kernel="precomputed"``
            Training samples; a sparse matrix for the kernels "linear", "poly", "rbf",
            "cosine" and "sigmoid". Not negative for "chi2" and "additive_chi2".
        y : array-like of shape (n,)
            Class labels of any kind.
        sample_weight : array-like of shape (n,), default=None
            Weights ω ≥ 0 of the samples; None is 1 for each. A whole number counts a
            sample that many times, 0 leaves it out; a class whose samples all have
            the weight 0 is not in ``classes_``.

        Returns
        -------
        self
        """
        X, y = check_training(self, X, y, accept_sparse=self._accept_sparse())
        self._check_signs(X)
        weights = training_weights(y, self.class_weight, sample_weight)
        self._n_given = len(y)
        self._partition = ClassPartition.of(y, weights)
        self.classes_ = self._partition.classes
        check_two_classes(self.classes_)
        self._engine = self._make_engine(X, weights)
        means = self._engine.system.class_means()
        self.n_iter_ = int(self._engine.solve(means).n_iter.max())
        return self

    def _accept_sparse(self) -> Any:
        return "csr" if self.kernel in SPARSE_KERNELS else False

    def _check_signs(self, X: Any) -> None:
        if self.kernel in NON_NEGATIVE_KERNELS:
            whom = f"{type(self).__name__} with kernel={self.kernel!r}"
            check_non_negative(X, whom)

    def _has_features(self) -> bool:
        return self.kernel == "linear" or self.rank is not None

    def _solver_name(self, n: int, p: int) -> str:
        name = self.solver
        if name == "auto" and self.penalty != "ridge":
            name = "apg"
        elif name == "auto":
            name = "exact" if self._has_features() and p < n else "closed_form"
        if self.penalty != "ridge" and name not in ("ppa", "apg"):
            raise ValueError(
                f"solver={name!r} is for penalty='ridge' only; penalty="
                f"{self.penalty!r} takes solver 'auto', 'apg' or 'ppa'"
            )
        if name == "exact" and not self._has_features():
            raise ValueError(
                "solver='exact' needs features: kernel='linear', or rank= for a"
                " low-rank approximation of another kernel"
            )
        return name

    def _make_engine(self, X: Any, weights: Array | None) -> Engine:
        if self.rank is not None and self.kernel == "precomputed":
            raise ValueError("rank= needs samples; it cannot take a precomputed kernel")
        # Only a Cholesky factorisation can tell whether there is a minimum at all.
        if self.kernel in INDEFINITE_KERNELS and (
            self.rank is not None
            or self.penalty != "ridge"
            or self.solver not in ("auto", "closed_form")
        ):
            raise ValueError(
                f"kernel={self.kernel!r} is not positive semidefinite: it takes solver"
                " 'auto' or 'closed_form', penalty 'ridge' and no rank"
            )
        order = self._partition.order
        rows = X[order]
        self._map: LowRankMap | None = None
        if callable(self.kernel):
            self._kernel = Kernel.of_callable(self.kernel)
        elif self.kernel != "precomputed":
            gamma = resolve_gamma(self.gamma, X, self.kernel, weights)
            self._kernel = Kernel(self.kernel, gamma, self.degree, self.coef0)
        if self.rank is not None:
            ones = (rows[i : i + 1] for i in range(rows.shape[0]))
            diagonal = np.array([self._kernel_matrix(row, row)[0, 0] for row in ones])
            self._map = LowRankMap(rows, self._kernel_matrix, diagonal, self.rank)
            rows = self._map.train_features
        name = self._solver_name(*rows.shape)
        if self._has_features() and name != "closed_form":
            system = FactoredSystem(rows, self._partition, self.alpha)
            penalty = make_penalty(self.penalty, self.beta, self._partition)
            return make_feature_engine(name, system, penalty, self._rule(), self.step)
        if self._map is not None:
            return self._kernel_engine(name, rows @ rows.T)
        if self.kernel == "precomputed":
            return self._kernel_engine(name, symmetric_part(X)[np.ix_(order, order)])
        self._rows = rows  # what new samples are compared with
        return self._kernel_engine(name, self._kernel_matrix(rows))

    def _kernel_engine(self, name: str, K: Array) -> Engine:
        system = DenseSystem(K, self._partition, self.alpha)
        penalty = make_penalty(self.penalty, self.beta, self._partition)
        if name == "closed_form":
            direct = ClosedForm(system, self.beta)
            direct.warn_if_ill_conditioned()
            return KernelEngine(system, penalty, direct)
        c = step_constant(name, system, self.step)
        solver = make_iterative(name, c, penalty, self._rule(), self.step)
        return KernelEngine(system, penalty, solver)

    def _rule(self) -> StoppingRule:
        return StoppingRule(self.tol, self.max_iter)

    def _kernel_matrix(self, X: Any, Y: Any = None) -> Array:
        return gram(X, Y, kernel=self._kernel)

    def _inputs(self, X: Any) -> Any:
        """Turn validated samples into the engine's inputs."""
        if self._map is not None:
            features = self._map.transform(X)
            if isinstance(self._engine, KernelEngine):
                return features @ self._map.train_features.T
            return features
        if self.kernel == "precomputed":
            return np.ascontiguousarray(X[:, self._partition.order])
        if isinstance(self._engine, KernelEngine):
            return self._kernel_matrix(X, self._rows)
        return X

    def _validated(self, X: Any) -> Any:
        X = check_samples(self, X, accept_sparse=self._accept_sparse())
        self._check_signs(X)
        return X

    def _batches(self, X: Any) -> Iterator[Any]:
        size = self.batch_size
        if size is None:
            per_sample = 8 * ARRAYS_PER_BATCH * self._partition.n_samples
            size = max(1, BATCH_BYTES // per_sample)
        for start in range(0, X.shape[0], size):
            yield X[start : start + size]

    def dissimilarities(self, X: Any) -> Array:
        """Return δ_c of each sample from each class; the smallest is predicted.

        Parameters
        ----------
        X : array-like of shape (m, p), or (m, n) for ``kernel="precomputed"``
            Test samples.

        Returns
        -------
        ndarray of shape (m, g)
            Columns in the order of ``classes_``.
        """
        X = self._validated(X)
        if self._engine.batches_itself and self._map is None:
            return self._engine.dissimilarities(X)
        work = delayed(lambda batch: self._engine.dissimilarities(self._inputs(batch)))
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            work(batch) for batch in self._batches(X)
        )
        return np.concatenate(list(parts))

    def representation(self, X: Any) -> Array:
        """Return w of each sample: its coordinates in the training samples.

        Parameters
        ----------
        X : array-like of shape (m, p), or (m, n) for ``kernel="precomputed"``
            Test samples.

        Returns
        -------
        ndarray of shape (m, n)
            Columns in the order the training samples were given; 0 for samples of the
            weight 0. A sample of weight ω has the sum of what its ω copies would have.
        """
        X = self._validated(X)
        W = np.zeros((X.shape[0], self._n_given))
        start = 0
        for batch in self._batches(X):
            found = self._engine.solve(self._inputs(batch)).W
            w = self._partition.times_roots(found)
            W[start : start + batch.shape[0], self._partition.order] = w.T
            start += batch.shape[0]
        return W

    def solve_trace(self, x: Any) -> SolveTrace:
        """Solve for one test sample and report how it went.

        Parameters
        ----------
        x : array-like of shape (p,) or (1, p)
            One test sample.

        Returns
        -------
        SolveTrace
        """
        row = x if sparse.issparse(x) else np.atleast_2d(np.asarray(x))
        if row.shape[0] != 1:
            raise ValueError(f"solve_trace takes one sample, got {row.shape[0]}")
        solution: Solution = self._engine.solve(self._inputs(self._validated(row)))
        return SolveTrace(
            solution.objective[:, 0], int(solution.n_iter[0]), solution.stop_reason[0]
        )


class DRMClassifier(BaseDRM):
    r"""Discriminative Ridge Machine.

    A test sample x is represented by the training samples,

    .. math::
        \min_w \tfrac12 w^\top (K + \alpha (H - B)) w - k_x^\top w
        + \beta \rho(\|w | C\|_{q,r}),

    where :math:`H - B` is the within-class scatter of the kernel, and goes to the class
    whose part of the representation fits it best while the other classes' parts are
    small.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight α ≥ 0 of the within-class scatter. 0 leaves kernel ridge
        representation.
    beta : float, default=1.0
        Weight β > 0 of the penalty.
    kernel : str or callable, default="rbf"
        A name of scikit-learn's pairwise kernels, "precomputed" for a kernel matrix
        instead of samples, or a function ``kernel(X, Y)`` that returns the matrix:

        - "linear": ``x·y``
        - "poly" or "polynomial": ``(gamma x·y + coef0)^degree``
        - "rbf": ``exp(-gamma‖x - y‖²)``
        - "cosine": ``x·y / (‖x‖‖y‖)``
        - "laplacian": ``exp(-gamma‖x - y‖₁)``
        - "sigmoid": ``tanh(gamma x·y + coef0)``
        - "chi2": ``exp(-gamma Σ (x_j - y_j)²/(x_j + y_j))``, features ≥ 0
        - "additive_chi2": ``-Σ (x_j - y_j)²/(x_j + y_j)``, features ≥ 0
    gamma : float, "scale", "auto" or None, default=None
        Positive factor of the poly, rbf, laplacian, sigmoid and chi2 kernels; of rbf it
        is ``1/(2σ²)``. None is ``1/p`` for rbf, laplacian and sigmoid, and 1 for chi2
        and, as in the paper, for poly; "auto" is ``1/p`` and "scale"
        ``1/(p · variance of X)``.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and the sigmoid kernel.
    penalty : {"ridge", "lasso", "group_lasso"}, default="ridge"
        ``½β‖w‖²``, ``β‖w‖₁`` or ``β Σ_c‖w_c‖₂``.
    solver : {"auto", "closed_form", "gd", "ppa", "apg", "exact"}, default="auto"
        "closed_form": one Cholesky factorisation. "gd", "ppa", "apg": the paper's
        iterative algorithms. "exact": the linear solver in feature space, O(np²).
        "auto": "exact" for a linear (or low-rank) kernel with fewer features than
        samples, "apg" for the lasso penalties, else "closed_form".
    step : {"fixed", "backtracking"}, default="fixed"
        Step length of "apg": from Q's largest eigenvalue, or searched.
    tol : float, default=1e-5
        An iterative solver stops a test sample when w moves by no more than this.
    max_iter : int, default=150
        Iterations an iterative solver may take.
    rank : int or None, default=None
        Approximate the kernel by this many features (pivoted Cholesky, a Nyström
        approximation), so that the linear algorithms serve any positive semidefinite
        kernel.
    batch_size : int or None, default=None
        Test samples solved at a time; None bounds memory to a few hundred megabytes.
    n_jobs : int or None, default=None
        Threads over batches.
    class_weight : dict, "balanced" or None, default=None
        What the weights of a class's samples are multiplied by: numbers ≥ 0 by class
        label (1 for those not named), or "balanced" for factors that give all classes
        the same sum of weights, ``Σω / (g Σ_c ω)``. The weight 0 leaves a class out.

    Attributes
    ----------
    classes_ : ndarray of shape (g,)
        The class labels, sorted.
    n_iter_ : int
        Iterations the slowest of the class means takes; 1 for direct solvers. Every
        test sample has its own count, see :meth:`solve_trace`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (p,)
        Names of the features, if X had string column names.

    See Also
    --------
    DRMClassifierCV : Chooses α, β and the kernel by exact leave-one-out.
    LinearDRMClassifier : Linear kernel, streaming.

    Notes
    -----
    A whole weight is the same as that many copies of the sample, for every kernel,
    penalty and solver; ``gamma="scale"`` takes the variance of the copies. The scale of
    the weights matters: with the ridge, twice all weights is half of `alpha` and
    `beta`.

    Double precision bounds what can be solved: a polynomial of high degree on unscaled
    features overflows, or makes a matrix in which β disappears. An overflow or a failed
    Cholesky factorisation raises :class:`~drmbench.drm.errors.IllConditionedError` (a
    ValueError); a system that is solved with fewer than about two trustworthy digits
    gives a :class:`~drmbench.drm.errors.ConditioningWarning`.

    The kernels "sigmoid" and "additive_chi2" are not positive semidefinite. If β does
    not outweigh the negative eigenvalues, the problem has no minimum, which raises
    IllConditionedError; iterative solvers could not tell, so these kernels are for the
    closed form and the ridge penalty only.

    References
    ----------
    C. Peng and Q. Cheng, "Discriminative Ridge Machine: A Classifier for
    High-Dimensional Data or Imbalanced Data", IEEE Transactions on Neural Networks and
    Learning Systems 32(6), 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> X = MaxAbsScaler().fit_transform(X)
    >>> model = DRMClassifier(alpha=0.1, beta=0.1, gamma=1.0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseDRM._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "penalty": [StrOptions({"ridge", "lasso", "group_lasso"})],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        penalty: str = "ridge",
        solver: str = "auto",
        step: str = "fixed",
        tol: float = 1e-5,
        max_iter: int = 150,
        rank: int | None = None,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        super().__init__(
            beta=beta,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            solver=solver,
            step=step,
            tol=tol,
            max_iter=max_iter,
            rank=rank,
            batch_size=batch_size,
            n_jobs=n_jobs,
            class_weight=class_weight,
        )
        self.alpha = alpha
        self.penalty = penalty


class KernelRidgeRepresentationClassifier(BaseDRM):
    """Kernel ridge representation: the DRM without its within-class scatter (α = 0).

    The ablation's "KRR". The parameters are those of :class:`DRMClassifier`, less
    ``alpha`` and what only a penalty other than ridge needs.

    Parameters
    ----------
    beta : float, default=1.0
        Ridge β > 0.
    kernel, gamma, degree, coef0, solver, step, tol, max_iter, rank, batch_size, \
            n_jobs, class_weight
        As in :class:`DRMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRidgeRepresentationClassifier(beta=0.1).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    """
