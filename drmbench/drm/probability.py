"""Class probabilities from dissimilarities (docs/math.md, section 12).

Of a sample x with the dissimilarities δ_c the probabilities are
``p_c ∝ exp(b_c - τ δ_c/k(x, x))``. The slope τ ≥ 0 and the offsets b have the largest
likelihood on training samples that were left out of the fit: on all of them, one at a
time, where leave-one-out is exact (ridge penalty, direct solvers), else in five parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone

from drmbench.drm.decision import check_defined
from drmbench.drm.grid import Candidate, left_out_dissimilarities
from drmbench.drm.kernels import INDEFINITE_KERNELS, Kernel, gram, kernel_diagonal
from drmbench.drm.partition import Array

#: Parts that samples are left out in where leave-one-out is not exact.
PARTS = 5
#: Newton steps at most; about ten are taken.
MAX_STEPS = 100


@dataclass(frozen=True, eq=False)
class SoftmaxMap:
    """``p_c ∝ exp(b_c - τ r_c)`` for the relative dissimilarities r of a sample."""

    slope: float  #: τ ≥ 0
    offsets: Array  #: b, one per class; their sum is 0

    @classmethod
    def fit(
        cls, ratios: Array, codes: NDArray[Any], weights: Array | None = None
    ) -> SoftmaxMap:
        """Maximise the likelihood of class numbers given r, (n, g), of their samples.

        As in Platt's calibration a class is not asked for with certainty, but with
        ``(n_c + 1)/(n_c + g)``, which keeps τ finite where r separates the classes.
        A sample of a class that was not known (r is infinite) is passed over.
        """
        n_classes = ratios.shape[1]
        masses = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
        targets = np.repeat(1.0 / (masses + n_classes), n_classes)
        targets = targets.reshape(n_classes, n_classes)
        targets[np.diag_indices(n_classes)] *= masses + 1.0
        usable = np.isfinite(ratios).all(axis=1)
        weights = np.ones(len(codes)) if weights is None else weights
        problem = _Likelihood(ratios[usable], targets[codes[usable]], weights[usable])
        slope, offsets = problem.maximise()
        return cls(slope, offsets - offsets.mean())

    def log_probabilities(self, ratios: Array) -> Array:
        """Return ``log p``, (m, g); an infinite r has the probability 0."""
        known = np.isfinite(ratios)
        logits = self.offsets - self.slope * np.where(known, ratios, 0.0)
        logits = np.where(known, logits, -np.inf)
        normalised: Array = logits - logsumexp(logits, axis=1, keepdims=True)
        return normalised


class _Likelihood:
    """The weighted cross-entropy of a softmax map, convex in the slope and offsets."""

    def __init__(self, ratios: Array, targets: Array, weights: Array) -> None:
        # A term common to all classes of a sample changes nothing.
        self._r = ratios - ratios.mean(axis=1, keepdims=True)
        self._targets = targets
        self._weights = weights
        self._total = float(weights.sum())
        squares = (self._r**2).mean(axis=1)
        spread = np.sqrt(weights @ squares / self._total) if self._total else 0.0
        self._unit = float(spread) or 1.0
        self._r /= self._unit

    def maximise(self) -> tuple[float, Array]:
        """Return the best slope, which is not negative, and its offsets."""
        if not self._total:
            return 0.0, np.zeros(self._r.shape[1])
        flat = np.log(self._weights @ self._targets / self._total)
        theta = np.concatenate(([0.0], flat))
        value = self._value(theta)
        for _ in range(MAX_STEPS):
            gradient, hessian = self._derivatives(theta)
            step = np.linalg.solve(hessian, gradient)
            gain = float(gradient @ step)
            if gain <= 1e-24 * self._total:
                break
            length = 1.0
            while (
                trial := self._value(theta - length * step)
            ) > value - 0.25 * length * gain and length > 1e-8:
                length /= 2.0
            theta, value = theta - length * step, trial
        if theta[0] <= 0.0:  # convex, so the best slope that is not negative is 0
            return 0.0, flat
        return float(theta[0]) / self._unit, theta[1:]

    def _logits(self, theta: Array) -> Array:
        logits: Array = theta[1:] - theta[0] * self._r
        return logits

    def _value(self, theta: Array) -> float:
        logits = self._logits(theta)
        fit = (self._targets * logits).sum(axis=1)
        return float(self._weights @ (logsumexp(logits, axis=1) - fit))

    def _derivatives(self, theta: Array) -> tuple[Array, Array]:
        logits = self._logits(theta)
        P = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
        misfit = self._weights[:, None] * (P - self._targets)
        gradient = np.concatenate(([-(misfit * self._r).sum()], misfit.sum(axis=0)))
        deviations = self._r - (P * self._r).sum(axis=1, keepdims=True)
        weighted = self._weights[:, None] * P
        hessian = np.empty((theta.size, theta.size))
        hessian[0, 0] = (weighted * deviations**2).sum()
        hessian[0, 1:] = hessian[1:, 0] = -(weighted * deviations).sum(axis=0)
        hessian[1:, 1:] = np.diag(weighted.sum(axis=0)) - P.T @ weighted
        # The likelihood is flat along (0, 1, …, 1): a step in that direction is none.
        hessian[1:, 1:] += self._total / self._r.shape[1]
        hessian[0, 0] += 1e-12 * self._total
        return gradient, hessian


def relative_dissimilarities(delta: Array, X: Any, kernel: Kernel | None) -> Array:
    """Return ``δ_c/k(x, x)``, which is free of the scale of a sample.

    It is δ itself for kernels whose ``k(x, x)`` is not known or may be negative: a
    precomputed one (None) and those that are not positive semidefinite; and 0 where
    ``k(x, x)``, and with it δ, is 0.
    """
    if kernel is None or kernel.kind in INDEFINITE_KERNELS:
        return delta
    lengths = kernel_diagonal(X, kernel)
    ratios: Array = delta / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return ratios


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The samples that a model was fitted to."""

    X: Any  #: Samples, dense or CSR; the matrix of a precomputed kernel
    y: NDArray[Any]  #: Their labels
    weights: Array | None  #: Their weights, all positive; None if all are 1
    kernel: Kernel | None  #: The model's kernel; None if precomputed

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The class labels, sorted."""
        return np.unique(self.y)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Class number of each sample."""
        return np.searchsorted(self.classes, self.y)

    def without_copies(self) -> TrainingSet:
        """Return one sample for all that are alike, with the sum of their weights.

        The model is the same (docs/math.md, section 10), but no copy stays behind when
        a sample is left out, so that integer weights equal repetition here too. Copies
        in a precomputed kernel matrix are not recognised.
        """
        if self.kernel is None:
            return self
        keys = np.empty(len(self.y), dtype=object)
        rows = zip(self.codes.tolist(), _row_bytes(self.X), strict=True)
        keys[:] = [b"%d " % code + content for code, content in rows]
        _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
        weights = self.weights
        if weights is not None or first.size < keys.size:
            weights = np.bincount(numbers, weights).astype(np.float64)
        return TrainingSet(self.X[first], self.y[first], weights, self.kernel)

    def part(self, rows: NDArray[np.intp]) -> TrainingSet:
        """Return some of the samples."""
        weights = None if self.weights is None else self.weights[rows]
        columns = rows if self.kernel is None else slice(None)
        return TrainingSet(self.X[rows][:, columns], self.y[rows], weights, self.kernel)


def _row_bytes(X: Any) -> list[bytes]:
    """Return what tells the rows of a matrix apart."""
    if not sparse.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # turns -0 into 0
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    cuts = X.indptr[1:-1]
    parts = zip(np.split(X.indices, cuts), np.split(X.data, cuts), strict=True)
    return [indices.tobytes() + values.tobytes() for indices, values in parts]


def left_out_map(samples: TrainingSet, alpha: float, beta: float) -> SoftmaxMap:
    """Return the map of a ridge model, from its exact leave-one-out."""
    samples = samples.without_copies()
    X, kernel = samples.X, samples.kernel
    if sparse.issparse(X) and kernel is not None:
        X, kernel = gram(X, kernel=kernel), None
    candidate = Candidate(alpha, beta, kernel)
    delta = left_out_dissimilarities(X, samples.y, candidate, weights=samples.weights)
    return fitted_map(samples, delta)


def out_of_part_map(samples: TrainingSet, model: Any) -> SoftmaxMap:
    """Return the map of any model: an estimator to be fitted without each part."""
    samples = samples.without_copies()
    parts = np.empty(len(samples.y), dtype=np.intp)
    parts[np.argsort(samples.codes, kind="stable")] = np.arange(parts.size) % PARTS
    delta = np.full((parts.size, samples.classes.size), np.inf)
    for number in range(PARTS):
        left, kept = np.flatnonzero(parts == number), np.flatnonzero(parts != number)
        known = samples.part(kept)
        if not left.size or known.classes.size < 2:
            continue
        model.fit(known.X, known.y, sample_weight=known.weights)
        columns = kept if samples.kernel is None else slice(None)
        found = model.dissimilarities(samples.X[left][:, columns])
        delta[np.ix_(left, np.searchsorted(samples.classes, known.classes))] = found
    return fitted_map(samples, delta)


def fitted_map(samples: TrainingSet, delta: Array) -> SoftmaxMap:
    """Return the map with the largest likelihood, given δ of samples left out."""
    ratios = relative_dissimilarities(delta, samples.X, samples.kernel)
    return SoftmaxMap.fit(ratios, samples.codes, samples.weights)


@dataclass(frozen=True, eq=False)
class Calibration:
    """The probability map of a fitted model, made when it is first asked for."""

    samples: TrainingSet  #: What the model was fitted to
    model: Any  #: An unfitted estimator with the model's parameters
    exact: bool  #: Whether the model has an exact leave-one-out

    @cached_property
    def map(self) -> SoftmaxMap:
        """The map, from samples that were left out."""
        if self.exact:
            return left_out_map(self.samples, self.model.alpha, self.model.beta)
        return out_of_part_map(self.samples, clone(self.model))

    def log_probabilities(self, delta: Array, X: Any) -> Array:
        """Return ``log p``, (m, g), of samples with the dissimilarities δ."""
        check_defined(delta)
        ratios = relative_dissimilarities(delta, X, self.samples.kernel)
        return self.map.log_probabilities(ratios)
