"""Class probabilities from dissimilarities (docs/math.md, section 12).

Of a sample with the dissimilarities δ_c they are ``p_c ∝ exp(b_c - τ δ_c)``. The slope
τ ≥ 0 and the offsets b have the largest likelihood on training samples that were left
out of the fit: on all of them, one at a time, where leave-one-out is exact (ridge
penalty, direct solvers), else in five parts. Where the offsets would make another class
more probable than the predicted one, both get the same probability.
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
from drmbench.drm.kernels import Kernel, gram
from drmbench.drm.partition import Array

#: Parts that samples are left out in where leave-one-out is not exact.
PARTS = 5
#: Newton steps at most; about ten are taken.
MAX_STEPS = 100
#: What the logarithms of the two largest probabilities differ by at least.
LEAD = 1e-6


@dataclass(frozen=True, eq=False)
class SoftmaxMap:
    """``p_c ∝ exp(b_c - τ δ_c)``, and no class before the one with the smallest δ."""

    slope: float  #: τ ≥ 0
    offsets: Array  #: b, one per class; their sum is 0

    @classmethod
    def fit(
        cls, delta: Array, codes: NDArray[Any], weights: Array | None = None
    ) -> SoftmaxMap:
        """Maximise the likelihood of class numbers, given δ, (n, g), of their samples.

        As in Platt's calibration a class is not asked for with certainty, but with
        ``(n_c + 1)/(n_c + g)``, which keeps τ finite where δ separates the classes.
        A sample that is infinitely far from a class is passed over: without the
        sample, the class did not exist.
        """
        g = delta.shape[1]
        masses = np.bincount(codes, weights, minlength=g)
        targets = np.repeat(1.0 / (masses + g), g).reshape(g, g)
        targets.flat[:: g + 1] *= masses + 1.0
        usable = np.isfinite(delta).all(axis=1)
        weights = np.ones(len(codes)) if weights is None else weights
        problem = _Likelihood(delta[usable], targets[codes[usable]], weights[usable])
        slope, offsets = problem.maximise()
        return cls(slope, offsets - offsets.mean())

    def log_probabilities(self, delta: Array) -> Array:
        """Return ``log p``, (m, g); an infinite δ has the probability 0."""
        check_defined(delta)
        known = np.isfinite(delta)
        logits = self.offsets - self.slope * np.where(known, delta, 0.0)
        logits = np.where(known, logits, -np.inf)
        rows, nearest = np.arange(len(delta)), np.argmin(delta, axis=1)
        own = logits[rows, nearest]
        logits[rows, nearest] = -np.inf
        logits[rows, nearest] = np.maximum(own, logits.max(axis=1) + LEAD)
        normalised: Array = logits - logsumexp(logits, axis=1, keepdims=True)
        return normalised


class _Likelihood:
    """The weighted cross-entropy of a softmax map, convex in the slope and offsets."""

    def __init__(self, delta: Array, targets: Array, weights: Array) -> None:
        # A term common to all classes of a sample changes nothing.
        self._d = delta - delta.mean(axis=1, keepdims=True)
        self._targets = targets
        self._weights = weights
        self._total = float(weights.sum())
        squares = (self._d**2).mean(axis=1)
        spread = np.sqrt(weights @ squares / self._total) if self._total else 0.0
        self._unit = float(spread) or 1.0
        self._d /= self._unit

    def maximise(self) -> tuple[float, Array]:
        """Return the best slope, which is not negative, and its offsets."""
        if not self._total:
            return 0.0, np.zeros(self._d.shape[1])
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
        logits: Array = theta[1:] - theta[0] * self._d
        return logits

    def _value(self, theta: Array) -> float:
        logits = self._logits(theta)
        fit = (self._targets * logits).sum(axis=1)
        return float(self._weights @ (logsumexp(logits, axis=1) - fit))

    def _derivatives(self, theta: Array) -> tuple[Array, Array]:
        logits = self._logits(theta)
        P = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
        misfit = self._weights[:, None] * (P - self._targets)
        gradient = np.concatenate(([-(misfit * self._d).sum()], misfit.sum(axis=0)))
        deviations = self._d - (P * self._d).sum(axis=1, keepdims=True)
        weighted = self._weights[:, None] * P
        hessian = np.empty((theta.size, theta.size))
        hessian[0, 0] = (weighted * deviations**2).sum()
        hessian[0, 1:] = hessian[1:, 0] = -(weighted * deviations).sum(axis=0)
        hessian[1:, 1:] = np.diag(weighted.sum(axis=0)) - P.T @ weighted
        # The likelihood is flat along (0, 1, …, 1): a step in that direction is none.
        hessian[1:, 1:] += self._total / self._d.shape[1]
        hessian[0, 0] += 1e-12 * self._total
        return gradient, hessian


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
    return SoftmaxMap.fit(delta, samples.codes, samples.weights)


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
    return SoftmaxMap.fit(delta, samples.codes, samples.weights)


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
