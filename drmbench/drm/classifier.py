"""The Discriminative Ridge Machine and its ablation as scikit-learn classifiers."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from drmbench.drm.base_classifier import BaseDRM
from drmbench.drm.weights import ClassWeight


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
        "auto": "exact" with a `rank`, or for a linear kernel with fewer features than
        samples; "apg" for the lasso penalties; else "closed_form".
    step : {"fixed", "backtracking"}, default="fixed"
        Step length of "apg": from Q's largest eigenvalue, or searched.
    tol : float, default=1e-5
        An iterative solver stops a test sample when w moves by no more than this.
    max_iter : int, default=150
        Iterations an iterative solver may take.
    rank : int or None, default=None
        Approximate the kernel by at most this many features (Nyström's method, its
        landmarks drawn by randomly pivoted Cholesky), so that the linear algorithms
        serve any positive semidefinite kernel. With the exact solver no n × n matrix is
        formed, features are made a few rows at a time, and :meth:`partial_fit` takes
        samples in pieces.
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
    closed form and the ridge penalty only. A kernel matrix that is precomputed or from
    a function is checked before an iterative solver gets it, by one Cholesky
    factorisation. If it is not symmetric its symmetric part is used, with a warning.

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
