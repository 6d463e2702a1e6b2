"""PPA and fixed-step APG for the linear kernel, for any number of test samples at once.

Started from w = 0 both algorithms are linear in the test sample: ``w^t = M_t x`` with
one n × p matrix M_t common to all of them (math note, section 4). The change
``‖w^{t+1} - w^t‖²`` and the class vectors ``u_c`` are then p × p forms, so each test
sample keeps its own stopping rule at O(gp²) instead of O(np) an iteration.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.iterative import Momentum
from drmbench.drm.linear import decision_forms, quadratic_forms
from drmbench.drm.partition import Array
from drmbench.drm.problem import StoppingRule
from drmbench.drm.system import FactoredSystem


class Iterates(Protocol):
    """A sequence of matrices M_t, started from zero."""

    M: Array

    def advance(self) -> None:
        """Move on to the next iterate."""
        ...


class PPAIterates:
    """``M⁺ = (F - QM + cM)/(β + c)``."""

    def __init__(self, system: FactoredSystem, beta: float, c: float) -> None:
        self._system, self._beta, self._c = system, beta, c
        self.M = np.zeros_like(system.F)

    def advance(self) -> None:
        """Move on to the next iterate."""
        step = self._system.F - self._system.product(self.M) + self._c * self.M
        self.M = step / (self._beta + self._c)


class APGIterates:
    """Accelerated gradient steps of the fixed length 1/(c + β)."""

    def __init__(self, system: FactoredSystem, beta: float, c: float) -> None:
        self._system, self._beta, self._c = system, beta, c
        self.M = np.zeros_like(system.F)
        self._V = self.M
        self._momentum = Momentum()

    def advance(self) -> None:
        """Move on to the next iterate."""
        V = self._V
        gradient = self._system.product(V) + self._beta * V - self._system.F
        following = V - gradient / (self._c + self._beta)
        self._V = following + self._momentum.advance() * (following - self.M)
        self.M = following


class MatrixIterates:
    """Dissimilarities that PPA or APG would reach, without iterating per sample.

    Parameters
    ----------
    system : FactoredSystem
        The training samples, dense, in class order.
    iterates : Iterates
        The algorithm.
    rule : StoppingRule
        When a test sample stops.
    """

    def __init__(
        self, system: FactoredSystem, iterates: Iterates, rule: StoppingRule
    ) -> None:
        self._system = system
        self._iterates = iterates
        self._rule = rule
        self._known: list[tuple[Array, Array]] = []

    def _forms(self, iteration: int) -> tuple[Array, Array]:
        """Return the change and decision forms after `iteration` steps, from 1."""
        while len(self._known) < iteration:
            previous = self._iterates.M
            self._iterates.advance()
            difference = self._iterates.M - previous
            change = difference.T @ difference
            vectors = self._system.class_vectors(self._iterates.M)
            self._known.append((change[None], decision_forms(vectors)))
        return self._known[iteration - 1]

    def dissimilarities(self, X: Array) -> tuple[Array, NDArray[np.int64]]:
        """Return δ, (m, g), and the iterations each row of X took, (m,)."""
        delta = np.empty((X.shape[0], self._system.partition.n_classes))
        n_iter = np.full(X.shape[0], self._rule.max_iter, dtype=np.int64)
        active = np.arange(X.shape[0])
        rows = X
        for iteration in range(1, self._rule.max_iter + 1):
            change, decision = self._forms(iteration)
            stopped = quadratic_forms(rows, change)[:, 0] <= self._rule.tol**2
            if iteration == self._rule.max_iter:
                delta[active] = quadratic_forms(rows, decision)
                n_iter[active] = iteration
                break
            if stopped.any():
                delta[active[stopped]] = quadratic_forms(rows[stopped], decision)
                n_iter[active[stopped]] = iteration
                active, rows = active[~stopped], rows[~stopped]
            if not active.size:
                break
        return delta, n_iter
