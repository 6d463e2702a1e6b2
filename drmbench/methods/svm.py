"""Support vector machines: libsvm, through scikit-learn, on our kernel matrices."""

from __future__ import annotations

import dataclasses
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from drmbench.drm.kernels import DECADES, Kernel, Products, gram, resolve_gamma
from drmbench.drm.partition import check_samples, check_training
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    refit_left_out,
)
from drmbench.methods.gram_svm import (
    MAX_ITERATIONS,
    ClassWeight,
    GramSVC,
    left_out_labels,
)
from drmbench.methods.kernel_grid import (
    KERNEL_DEFAULTS,
    KERNEL_GRIDS,
    estimator_arguments,
    group_by_kernel,
    kernel_simplicity,
)


class KernelSVC(ClassifierMixin, BaseEstimator):
    """C-support vector classification, one against one.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation.
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        ``exp(-γ‖x - y‖²)``, ``(x·y + coef0)^degree`` or ``x·y``.
    gamma : float, "scale" or None, default="scale"
        Width of the rbf kernel.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    max_iter : int, default=30000
        Where libsvm stops, converged or not. Most problems need a few hundred
        iterations; those that do not converge are high degrees at a large cost, on
        which libsvm can spend millions. They gain little by it: of 192 machines on
        seven KEEL sets that had not converged after 10,000 iterations, 300,000 made
        the G-mean on test data better for 64 and worse for 54 (mean 0.558 and 0.566,
        0.563 with 30,000).
    class_weight : "balanced", dict or None, default=None
        Factors of the cost, class by class. "balanced" is n/(g·n_c), so that a rare
        class counts as much as a common one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    converged_ : bool
        Whether libsvm converged.
    n_iter_ : int
        Iterations of the pair of classes that took most.
    notes_ : tuple of str
        Says so if it did not converge.

    References
    ----------
    C.-C. Chang and C.-J. Lin, "LIBSVM: a library for support vector machines", ACM
    Transactions on Intelligent Systems and Technology 2(3), 2011.

    Examples
    --------
    >>> model = KernelSVC(C=10.0, kernel="linear")
    >>> model.fit([[0.0], [1.0], [5.0], [7.0]], ["a", "a", "b", "b"]).predict([[2.0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's spelling
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"rbf", "poly", "linear"})],
        "gamma": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scale"}),
            None,
        ],
        "degree": [Interval(Real, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str | None = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        max_iter: int = MAX_ITERATIONS,
        class_weight: ClassWeight = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any) -> Self:
        """Train; if all samples are of one class, it is always predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        X, y = check_training(self, X, y)
        self.classes_ = np.unique(y)
        self._X = X
        self._kernel = Kernel(
            self.kernel,  # type: ignore[arg-type]  # validated against the same names
            gamma=resolve_gamma(self.gamma, X),
            degree=self.degree,
            coef0=self.coef0,
        )
        self.n_iter_, self.converged_ = 1, True
        self.notes_: tuple[str, ...] = ()
        if len(self.classes_) > 1:
            machine = GramSVC(self.C, self.max_iter, self.class_weight)
            self._machine = machine.fit(gram(X, kernel=self._kernel), y)
            self.n_iter_ = self._machine.n_iter
            self.converged_ = self._machine.converged
        if not self.converged_:
            self.notes_ = (f"libsvm stopped after {self.max_iter:,} iterations",)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, by the votes of the pairs of classes."""
        X = check_samples(self, X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(X))
        return self._machine.predict(gram(X, self._X, kernel=self._kernel))


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Share one matrix of inner products or distances over the grid."""
    answer = GridAnswer(len(candidates), len(X_test))
    if (y_train == y_train[0]).all():
        answer.labels[:] = y_train[0]
        return answer.finished()
    train, test = Products(X_train), Products(X_test, X_train)
    for kernel, numbers in group_by_kernel(candidates).items():
        with answer.attempt(numbers):
            K_train, K_test = train.gram(kernel), test.gram(kernel)
            for number in numbers:
                params = candidates[number]
                machine = GramSVC(
                    params["C"], params["max_iter"], params.get("class_weight")
                )
                with answer.attempt([number]):
                    machine.fit(K_train, y_train)
                    answer.labels[number] = machine.predict(K_test)
    return answer.finished()


def predict_left_out(
    X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Refit for support vectors only; see :func:`.gram_svm.left_out_labels`."""
    answer = GridAnswer(len(candidates), len(X))
    products = Products(X)
    for kernel, numbers in group_by_kernel(candidates).items():
        with answer.attempt(numbers):
            K = products.gram(kernel)
            for number in numbers:
                with answer.attempt([number]):
                    answer.labels[number] = left_out_labels(
                        K, y, candidates[number]["C"], candidates[number]["max_iter"]
                    )
    return answer.finished()


def _method(kernel: str, title: str, column: str | None) -> Method:
    return Method(
        name=f"svm-{kernel}",
        title=f"SVM, {title} kernel",
        family="svm",
        citation="C. Cortes, V. Vapnik: Support-vector networks. Machine Learning"
        " 20(3):273-297, 1995; C.-C. Chang, C.-J. Lin: LIBSVM. ACM TIST 2(3):27, 2011.",
        build=lambda params, seed: KernelSVC(**estimator_arguments(params)),
        grid={"C": DECADES, **KERNEL_GRIDS[kernel]},
        defaults={**KERNEL_DEFAULTS[kernel], "max_iter": MAX_ITERATIONS},
        column=column,
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        prefer=lambda params: (params["C"], kernel_simplicity(params)),
    )


_RBF = _method("rbf", "rbf", "SVM(R)")

METHODS = (
    _RBF,
    _method("poly", "polynomial", "SVM(P)"),
    _method("linear", "linear", None),
    dataclasses.replace(
        _RBF,
        name="svm-balanced",
        title=f"{_RBF.title}, balanced class weights",
        column=None,
        defaults={**_RBF.defaults, "class_weight": "balanced"},
        # Leaving a sample out changes its class's cost, so there is no shortcut.
        predict_left_out=refit_left_out(predict_grid),
    ),
)
