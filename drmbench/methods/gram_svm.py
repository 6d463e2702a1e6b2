"""libsvm on kernel matrices, and its exact leave-one-out.

A machine for g classes is one machine for each pair of classes, and a vote. Leaving a
sample out concerns only the pairs with its class, and of those only the ones it is a
support vector of: the solution does not depend on any other sample. A pair that libsvm
did not solve within its iterations has no such property, so there all are refitted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.svm import _libsvm as libsvm

from drmbench.methods.base import Labels, Matrix, MethodFailedError

Places = NDArray[np.intp]
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None

#: Iterations of libsvm; see :class:`KernelSVC`.
MAX_ITERATIONS = 30_000


class GramSVC:
    """libsvm on a kernel matrix, at a scale that suits it.

    libsvm keeps kernel values in single precision, where a high polynomial degree
    overflows. A kernel ``K/s`` with the cost ``C·s`` is the same problem, so `K` is
    divided by the power of two nearest to its mean diagonal, which rounds nothing.

    Parameters
    ----------
    C : float
        Cost of a margin violation.
    max_iter : int
        Limit on libsvm's iterations.
    class_weight : "balanced", dict or None
        Factors of the cost, class by class; "balanced" is n/(g·n_c).
    """

    def __init__(
        self,
        C: float,
        max_iter: int = MAX_ITERATIONS,
        class_weight: ClassWeight = None,
    ) -> None:
        self.C = C
        self.max_iter = max_iter
        self.class_weight = class_weight

    def fit(self, K: Matrix, y: NDArray[Any]) -> Self:
        """Train on the kernel matrix of the training samples, of two classes or more.

        Raises
        ------
        MethodFailedError
            If libsvm's solution is not finite.
        """
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

    def _scaled(self, K: Matrix) -> Matrix:
        return K if self._scale == 1.0 else K / self._scale


def kernel_scale(K: Matrix) -> float:
    """Return the power of two nearest to the mean diagonal of a kernel matrix."""
    mean = float(np.trace(K)) / len(K)
    return 2.0 ** round(float(np.log2(mean))) if mean > 0 else 1.0


def left_out_labels(K: Matrix, y: Labels, C: float, max_iter: int) -> Labels:
    """Return the class each sample gets from a machine trained on all the others.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of all samples.
    y : ndarray of shape (n,)
        Their classes.
    C : float
        Cost of a margin violation.
    max_iter : int
        Limit on libsvm's iterations.

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
    train on a hundred samples, and leave-one-out trains by the thousand.
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

    One buffer is yielded again and again: from one place to the next only the rows and
    columns between them change.
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
