"""Support vector machines: libsvm on our kernel matrices, and exact leave-one-out.

A machine for g classes is one machine for each pair of classes, and a vote. Leaving a
sample out concerns only the pairs with its class, and of those only the ones it is a
support vector of: the solution does not depend on any other sample. A pair that libsvm
did not solve within its iterations has no such property, so there all are refitted.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.svm import _libsvm as libsvm
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
    MethodFailedError,
    refit_left_out,
)
from drmbench.methods.kernel_grid import (
    KERNEL_DEFAULTS,
    KERNEL_GRIDS,
    estimator_arguments,
    group_by_kernel,
    kernel_simplicity,
)

Places = NDArray[np.intp]
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None

#: Iterations of libsvm; see :class:`KernelSVC`.
MAX_ITERATIONS = 30_000


@dataclass(eq=False)
class GramSVC:
    """libsvm on a kernel matrix, at a scale that suits it.

    libsvm keeps kernel values in single precision, where a high polynomial degree
    overflows. A kernel ``K/s`` with the cost ``C·s`` is the same problem, so `K` is
    divided by the power of two nearest to its mean diagonal, which rounds nothing.
    """

    C: float
    max_iter: int = MAX_ITERATIONS
    class_weight: ClassWeight = None

    def fit(self, K: Matrix, y: NDArray[Any]) -> Self:
        """Train on the kernel matrix of samples of two classes or more."""
        self._scale = kernel_scale(K)
        cost = self.C * self._scale
        if not np.isfinite(cost):
            raise MethodFailedError(f"C={self.C:g} times the kernel's scale overflows")
        machine = SVC(
            kernel="precomputed",
            C=cost,
            max_iter=self.max_iter,
            class_weight=self.class_weight,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                self._machine = machine.fit(self._scaled(K), y)
            except ValueError as error:
                if "not finite" not in str(error):
                    raise
                raise MethodFailedError(f"libsvm: {error}") from error
        return self

    @property
    def converged(self) -> bool:
        """Whether every pair of classes was solved within the iterations allowed."""
        return int(self._machine.fit_status_) == 0

    @property
    def n_iter(self) -> int:
        """Iterations of the pair of classes that took most."""
        return int(self._machine.n_iter_.max())

    def predict(self, K: Matrix) -> NDArray[Any]:
        """Return classes, given kernel values between samples and training samples."""
        return np.asarray(self._machine.predict(self._scaled(K)))

    def decide(self, K: Matrix) -> Matrix:
        """Return decision values: (m,) for two classes, else (m, g) by the votes."""
        return np.asarray(self._machine.decision_function(self._scaled(K)))

    def _scaled(self, K: Matrix) -> Matrix:
        return K if self._scale == 1.0 else K / self._scale


def kernel_scale(K: Matrix) -> float:
    """Return the power of two nearest to the mean diagonal of a kernel matrix."""
    mean = float(np.trace(K)) / len(K)
    return 2.0 ** round(float(np.log2(mean))) if mean > 0 else 1.0


def left_out_labels(K: Matrix, y: Labels, C: float, max_iter: int) -> Labels:
    """Return the class each sample gets from a machine trained on all the others.

    Raises
    ------
    MethodFailedError
        If libsvm's solution of any of the parts is not finite.
    """
    scale = kernel_scale(K)
    K, train = K / scale, partial(PairMachine.train, C=C * scale, max_iter=max_iter)
    classes, numbers = np.unique(y, return_inverse=True)
    alone = np.bincount(numbers)[numbers] == 1
    votes = np.zeros((len(y), len(classes)), dtype=np.int64)
    for pair in combinations(range(len(classes)), 2):
        winners = np.where(_pair_decisions(K, numbers, pair, train) < 0, *pair)
        takes_part = ~(alone & np.isin(numbers, pair))
        votes[takes_part, winners[takes_part]] += 1
    # A class leaves with its only sample, so that sample cannot be given to it.
    votes[alone, numbers[alone]] = -1
    predicted: Labels = classes[votes.argmax(axis=1)]
    return predicted


@dataclass(frozen=True, eq=False)
class PairMachine:
    """A machine for two classes; what an :class:`SVC` has, without its checks.

    ``SVC.fit`` takes two milliseconds to check its input, libsvm a fraction of one to
    train on a hundred samples, and leave-one-out trains thousands.
    """

    support: Places
    weights: Matrix
    intercept: float
    converged: bool

    @classmethod
    def train(cls, K: Matrix, y: Places, *, C: float, max_iter: int) -> PairMachine:
        """Train on the kernel matrix of the samples of two classes."""
        libsvm.set_verbosity_wrap(0)
        support, _, _, coefficients, intercept, _, _, status, _ = libsvm.fit(
            K, y.astype(np.float64), kernel="precomputed", C=C, max_iter=max_iter
        )
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
            raise MethodFailedError("libsvm: the solution is not finite")
        # libsvm's decision values are positive for the first class; those here, as in
        # scikit-learn, for the second.
        return cls(support, -coefficients[0], -float(intercept[0]), status == 0)

    def decide(self, K: Matrix) -> Matrix:
        """Return decision values, negative for the first of the two classes."""
        values: Matrix = K[:, self.support] @ self.weights + self.intercept
        return values


def _pair_decisions(
    K: Matrix,
    numbers: Places,
    pair: tuple[int, int],
    train: Callable[[Matrix, Places], PairMachine],
) -> Matrix:
    """Return one pair's decision on each sample when that sample is left out."""
    members = np.flatnonzero(np.isin(numbers, pair))
    y_pair, K_pair = numbers[members], K[np.ix_(members, members)]
    machine = train(K_pair, y_pair)
    decisions = machine.decide(K[:, members])
    concerned = np.arange(len(members))
    if machine.converged:
        concerned = np.sort(machine.support)
    alone = np.bincount(y_pair)[y_pair] == 1
    for place, K_rest in _matrices_without(K_pair, concerned[~alone[concerned]]):
        refitted = train(K_rest, np.delete(y_pair, place))
        row = np.delete(K_pair[place], place)[None, :]
        decisions[members[place]] = refitted.decide(row)[0]
    return decisions


def _matrices_without(
    K: Matrix, places: Iterable[np.intp]
) -> Iterator[tuple[np.intp, Matrix]]:
    """Yield `K` without the row and column at each of the (ascending) places.

    It is one buffer: from place to place only the rows and columns between them change.
    """
    n = len(K)
    kept = np.arange(1, n)  # the rows in the buffer: at first all but row 0
    buffer = np.ascontiguousarray(K[1:, 1:])
    current = 0
    for place in places:
        kept[current:place] = np.arange(current, place)
        changed = slice(current, place)
        buffer[changed] = K[changed][:, kept]
        buffer[:, changed] = K[kept][:, changed]
        current = int(place)
        yield place, buffer


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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
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
            self.kernel,
            gamma=resolve_gamma(self.gamma, X) if self.kernel == "rbf" else 1.0,
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

    def decision_function(self, X: Any) -> Matrix:
        """Return decision values as scikit-learn's ``SVC`` does.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (m,) for two classes, else (m, n_classes)
            Positive for the second of two classes; of more, larger for a class that
            more pairs vote for.
        """
        X = check_samples(self, X)
        if len(self.classes_) == 1:
            return np.zeros(len(X))
        return self._machine.decide(gram(X, self._X, kernel=self._kernel))


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
    """Refit for support vectors only; see :func:`left_out_labels`."""
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
