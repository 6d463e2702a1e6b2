"""The Discriminative Ridge Machine and its ablation as scikit-learn classifiers."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from drmbench.drm.base import BaseDRM, SolveTrace

__all__ = ["DRMClassifier", "KernelRidgeRepresentationClassifier", "SolveTrace"]


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
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        ``x·y``, ``(x·y + coef0)^degree``, ``exp(-gamma‖x - y‖²)``, a kernel matrix
        instead of samples, or a function ``kernel(X, Y)`` returning one.
    gamma : float, "scale" or None, default=None
        Width of the rbf kernel: ``1/(2σ²)``. None is ``1/p``; "scale" is
        ``1/(p · variance of X)``.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
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
        approximation), so that the linear algorithms serve any kernel.
    batch_size : int or None, default=None
        Test samples solved at a time; None bounds memory to a few hundred megabytes.
    n_jobs : int or None, default=None
        Threads over batches.

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
    Double precision bounds what can be solved: a polynomial of high degree on unscaled
    features overflows, or makes a matrix in which β disappears. An overflow or a failed
    Cholesky factorisation raises :class:`~drmbench.drm.errors.IllConditionedError` (a
    ValueError); a system that is solved with fewer than about two trustworthy digits
    gives a :class:`~drmbench.drm.errors.ConditioningWarning`.

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
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.penalty = penalty
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.rank = rank
        self.batch_size = batch_size
        self.n_jobs = n_jobs

    def _alpha(self) -> float:
        return float(self.alpha)


class KernelRidgeRepresentationClassifier(BaseDRM):
    """Kernel ridge representation: the DRM without its within-class scatter (α = 0).

    The ablation's "KRR". The parameters are those of :class:`DRMClassifier`, less
    ``alpha`` and what only a penalty other than ridge needs.

    Parameters
    ----------
    beta : float, default=1.0
        Ridge β > 0.
    kernel, gamma, degree, coef0, solver, step, tol, max_iter, rank, batch_size, n_jobs
        As in :class:`DRMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRidgeRepresentationClassifier(beta=0.1).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    """

    penalty = "ridge"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: rule
        for name, rule in BaseDRM._parameter_constraints.items()
        if name != "penalty"
    }

    def __init__(
        self,
        *,
        beta: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        step: str = "fixed",
        tol: float = 1e-5,
        max_iter: int = 150,
        rank: int | None = None,
        batch_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.beta = beta
        self.kernel = kernel
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

    def _alpha(self) -> float:
        return 0.0
