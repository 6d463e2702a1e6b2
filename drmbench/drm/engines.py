"""Engines: a training set, a penalty and a solver, ready for blocks of test samples.

An engine takes test samples as *inputs*: rows of kernel values against the training
samples (:class:`KernelEngine`) or rows of features (:class:`FeatureEngine`,
:class:`ExactEngine`). The estimators turn data into inputs and cut them into batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.decision import dissimilarities, dissimilarities_of_vectors
from drmbench.drm.feature_solvers import (
    APGIterates,
    LeanDescent,
    MatrixIterates,
    PPAIterates,
)
from drmbench.drm.kernels import to_dense
from drmbench.drm.linear import ClassSums, LinearModel
from drmbench.drm.partition import Array
from drmbench.drm.solvers import (
    AcceleratedGradient,
    AcceleratedProximal,
    GradientDescent,
    ProximalPoint,
    Solver,
    Step,
)
from drmbench.drm.system import (
    BlockProblem,
    DenseSystem,
    FactoredSystem,
    Penalty,
    Ridge,
    Solution,
    StoppingRule,
    System,
    largest_eigenvalue_bound,
)


class Engine(Protocol):
    """What the estimators ask of an engine."""

    #: Whether a call handles any number of test samples in bounded memory by itself.
    batches_itself: bool

    @property
    def system(self) -> System:
        """The training samples."""
        ...

    def dissimilarities(self, inputs: Any) -> Array:
        """Return δ, (m, g), for m rows of inputs."""
        ...

    def solve(self, inputs: Any) -> Solution:
        """Return the representations (rows in class order) and how they were found."""
        ...


class Shortcut(Protocol):
    """A solver's δ and iteration counts without its representations."""

    def dissimilarities(self, X: Array) -> tuple[Array, NDArray[np.int64]]:
        """Return δ, (m, g), and the iterations of each test sample, (m,)."""
        ...


def step_constant(name: str, system: System, step: Step) -> float:
    """Return the constant c of the solver called `name`; 1 where none is needed."""
    if name == "gd" or (name == "apg" and step == "backtracking"):
        return 1.0
    return largest_eigenvalue_bound(system)


def make_iterative(
    name: str, c: float, penalty: Penalty, rule: StoppingRule, step: Step
) -> Solver:
    """Return the iterative solver called `name`, with its constant c, for a penalty."""
    if name == "gd":
        return GradientDescent(rule)
    if name == "ppa":
        return ProximalPoint(rule, c)
    if isinstance(penalty, Ridge):
        return AcceleratedGradient(rule, c, step)
    return AcceleratedProximal(rule, c, step)


@dataclass(eq=False)
class KernelEngine:
    """Works on kernel values, with the closed form or an iterative solver."""

    batches_itself = False

    system: DenseSystem
    penalty: Penalty
    solver: Solver

    def solve(self, inputs: Array) -> Solution:
        """Return the representations of test samples given by kernel values, (m, n)."""
        k = self.system.partition.times_roots(inputs.T)
        return self.solver.solve(BlockProblem(self.system, k, self.penalty))

    def dissimilarities(self, inputs: Array) -> Array:
        """Return δ, (m, g)."""
        k = self.system.partition.times_roots(inputs.T)
        W = self.solver.solve(BlockProblem(self.system, k, self.penalty)).W
        return dissimilarities(self.system, W, k)


class FeatureEngine:
    """Works on features with an iterative solver; never forms a kernel matrix."""

    def __init__(
        self,
        system: FactoredSystem,
        penalty: Penalty,
        solver: Solver,
        shortcut: Shortcut | None = None,
    ) -> None:
        self.system = system
        self._penalty = penalty
        self._solver = solver
        self._shortcut = shortcut
        self.batches_itself = shortcut is not None

    def solve(self, inputs: Any) -> Solution:
        """Return the representations of test samples given by features, (m, p)."""
        k = np.ascontiguousarray(to_dense(self.system.F @ inputs.T))
        return self._solver.solve(BlockProblem(self.system, k, self._penalty))

    def dissimilarities(self, inputs: Any) -> Array:
        """Return δ, (m, g), by the shortcut if the solver has one."""
        if self._shortcut is not None:
            return self._shortcut.dissimilarities(inputs)[0]
        W = self.solve(inputs).W
        vectors = self.system.class_vectors(W)
        return dissimilarities_of_vectors(vectors, to_dense(inputs))


class ExactEngine:
    """The exact linear solver on features (docs/math.md, section 5)."""

    batches_itself = True

    def __init__(self, system: FactoredSystem, beta: float) -> None:
        partition = system.partition
        self.system = system
        self._beta = beta
        sums = ClassSums.of(
            system.samples,
            partition.codes,
            partition.n_classes,
            system.alpha,
            beta,
            partition.weights,
        )
        self._model = LinearModel.of(sums, system.alpha)

    def dissimilarities(self, inputs: Any) -> Array:
        """Return δ, (m, g)."""
        return self._model.dissimilarities(inputs)

    def solve(self, inputs: Any) -> Solution:
        """Return the representations: ``v_c = D_c⁻¹F_c(x - u + (α/n_c)u_c)``."""
        system = self.system
        X = to_dense(inputs)
        vectors = self._model.U @ X.T
        residual = X.T - vectors.sum(axis=0)
        W = np.empty((system.partition.n_samples, X.shape[0]))
        for code, block in enumerate(system.partition.blocks):
            share = system.alpha / system.partition.masses[code]
            W[block] = system.F[block] @ (residual + share * vectors[code])
        W /= (system.alpha * system.diagonal + self._beta)[:, None]
        k = np.asarray(system.F @ X.T)
        return Solution.direct(BlockProblem(system, k, Ridge(self._beta)), W)


def make_feature_engine(
    name: str, system: FactoredSystem, penalty: Penalty, rule: StoppingRule, step: Step
) -> Engine:
    """Return the engine for features and the solver called `name`."""
    if name == "exact":
        assert isinstance(penalty, Ridge), "no other penalty has an exact solver"
        return ExactEngine(system, penalty.beta)
    c = step_constant(name, system, step)
    solver = make_iterative(name, c, penalty, rule, step)
    shortcut: Shortcut | None = None
    if isinstance(penalty, Ridge) and isinstance(system.samples, np.ndarray):
        if name == "gd":
            shortcut = LeanDescent(system, penalty.beta, rule)
        elif name == "ppa":
            iterates = PPAIterates(system, penalty.beta, c)
            shortcut = MatrixIterates(system, iterates, rule)
        elif step == "fixed":
            accelerated = APGIterates(system, penalty.beta, c)
            shortcut = MatrixIterates(system, accelerated, rule)
    return FeatureEngine(system, penalty, solver, shortcut)
