"""Linear support vector machines by LIBLINEAR, for data too large for kernels.

The paper's text says that TRON solves both of its linear machines. TRON needs a smooth
objective, which the L1 loss (hinge) is not: here it solves the L2 loss, and dual
coordinate descent, LIBLINEAR's solver for it, the L1 loss.
"""

from __future__ import annotations

import ctypes
import dataclasses
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_class_weight

from drmbench.drm.kernels import DECADES
from drmbench.drm.partition import check_samples, check_training
from drmbench.methods.base import ClassWeight, Matrix, Method

#: LIBLINEAR's numbers of the solvers: dual coordinate descent, and TRON.
_SOLVERS = {"l1": 3, "l2": 2}


class LiblinearSVC(ClassifierMixin, BaseEstimator):
    """Linear support vector classification, one against the rest.

    Parameters
    ----------
    loss : {"l1", "l2"}, default="l2"
        The hinge loss, or its square.
    C : float, default=1.0
        Cost of a margin violation.
    bias : float, default=1.0
        Value of a constant feature that is appended (its weight is regularised like
        any other); negative for none.
    tol : float or None, default=None
        Tolerance of LIBLINEAR's solver; None is its own default.
    class_weight : "balanced", dict or None, default=None
        Factor of C of each class; "balanced" weighs classes against their frequencies.
    random_state : int, RandomState instance or None, default=None
        Seed of dual coordinate descent (loss "l1"), which visits samples in random
        order. It seeds the C library's generator, which all threads share.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    coef_ : ndarray of shape (n_machines, n_features)
        Weights; one machine for two classes, else one per class.
    intercept_ : ndarray of shape (n_machines,)
        Constants.

    References
    ----------
    R.-E. Fan et al., "LIBLINEAR: a library for large linear classification", Journal of
    Machine Learning Research 9, 2008.

    Examples
    --------
    >>> model = LiblinearSVC(C=10.0, random_state=0)
    >>> model.fit([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "b", "b"]).predict([[6.0]])
    array(['b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"l1", "l2"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "bias": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        loss: str = "l2",
        C: float = 1.0,
        bias: float = 1.0,
        tol: float | None = None,
        class_weight: ClassWeight = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.bias = bias
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Train; if all samples are of one class, it is always predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        from liblinear.liblinearutil import parameter, problem, train

        X, y = check_training(self, X, y, accept_sparse="csr")
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) == 1:
            self.coef_, self.intercept_ = np.zeros((1, X.shape[1])), np.zeros(1)
            return self
        # Exactly this class of sparse matrix takes LIBLINEAR's fast way in.
        data = problem(numbers.astype(np.float64), sparse.csr_matrix(X))
        generator = check_random_state(self.random_state)
        ctypes.CDLL(None).srand(int(generator.randint(np.iinfo(np.int32).max)))
        tolerance = "" if self.tol is None else f" -e {float(self.tol)!r}"
        options = (
            f"-s {_SOLVERS[self.loss]} -c {float(self.C)!r} -B {float(self.bias)!r} -q"
        )
        model = train(data, parameter(options + tolerance + self._weights(y)))
        weights = _weights_by_class(model, n_weights=data.n)
        self.coef_ = weights[:, : X.shape[1]].copy()
        self.intercept_ = np.zeros(len(weights))
        if weights.shape[1] > X.shape[1]:
            self.intercept_ = self.bias * weights[:, -1]
        return self

    def _weights(self, y: NDArray[Any]) -> str:
        """Return the weights of the numbered classes as LIBLINEAR's options."""
        if self.class_weight is None:
            return ""
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        return "".join(f" -w{c} {float(w)!r}" for c, w in enumerate(weights))

    def decision_function(self, X: Any) -> Matrix:
        """Return the machines' values, (n_samples,) for two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        """
        X = check_samples(self, X, accept_sparse="csr")
        values = np.asarray(X @ self.coef_.T + self.intercept_)
        return values[:, 0] if len(self.coef_) == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        values = self.decision_function(X)
        if values.ndim == 1:
            best = (values > 0).astype(np.intp)
        else:
            best = values.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[best]
        return predicted


def _weights_by_class(model: Any, n_weights: int) -> Matrix:
    """Return LIBLINEAR's weights, one row per machine, in the order of the classes."""
    # It numbers classes as they first appear; its one machine for two classes is
    # positive for the first of them, ours for the second.
    order = np.array(model.get_labels())
    n_machines = 1 if len(order) == 2 else len(order)
    flat = np.ctypeslib.as_array(model.w, shape=(n_weights * n_machines,))
    weights = flat.reshape(n_weights, n_machines).T
    if n_machines == 1:
        return weights.copy() if order[0] == 1 else -weights
    return weights[np.argsort(order)]


def _method(loss: str, citation: str) -> Method:
    return Method(
        name=f"{loss}-svm",
        title=f"Linear SVM, {loss.upper()} loss",
        family="linear-svm",
        citation="R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin:"
        f" LIBLINEAR. JMLR 9:1871-1874, 2008; {citation}",
        build=lambda params, seed: LiblinearSVC(loss=loss, random_state=seed, **params),
        grid={"C": DECADES},
        defaults={"bias": 1.0, "tol": None},
        column=f"{loss.upper()}-SVM",
        stochastic=loss == "l1",
        large_scale=True,
        prefer=lambda params: (params["C"],),
    )


_L2 = _method(
    "l2",
    "C.-J. Lin, R. C. Weng, S. S. Keerthi: Trust region Newton method for"
    " large-scale logistic regression. JMLR 9:627-650, 2008.",
)

METHODS = (
    _method(
        "l1",
        "C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan: A dual"
        " coordinate descent method for large-scale linear SVM. ICML, 2008.",
    ),
    _L2,
    dataclasses.replace(
        _L2,
        name="l2-svm-balanced",
        title=f"{_L2.title}, balanced class weights",
        column=None,
        defaults={**_L2.defaults, "class_weight": "balanced"},
    ),
)
