"""Sample and class weights of a training set (docs/math.md, section 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.partition import Array

#: What an estimator takes as `class_weight`.
ClassWeight = Mapping[Any, float] | str | None


def training_weights(
    y: NDArray[Any], class_weight: ClassWeight = None, sample_weight: Any = None
) -> Array | None:
    """Return the weight ω ≥ 0 of each sample; None if all are 1.

    A class weight multiplies the weights of the class's samples. "balanced" gives all
    classes the same sum: ``Σω / (g Σ_c ω)``.

    Raises
    ------
    ValueError
        Weights are not one finite number ≥ 0 per sample, or all of them are 0, or
        `class_weight` is neither None, "balanced" nor weights of classes of y.

    Examples
    --------
    >>> training_weights(np.array([0, 0, 0, 1]), "balanced")
    array([0.66666667, 0.66666667, 0.66666667, 2.        ])
    """
    weights = _checked(sample_weight, len(y))
    if class_weight is None:
        return weights
    given = np.ones(len(y)) if weights is None else weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        kept = given > 0
        classes, codes = np.unique(y, return_inverse=True)
        masses = np.bincount(codes, given)
        present = np.unique(codes[kept])
        factors = np.zeros(len(classes))
        factors[present] = given.sum() / (len(present) * masses[present])
        return np.asarray(given * factors[codes])
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict of weights by class, got"
            f" {class_weight!r}"
        )
    known = {label: number for number, label in enumerate(np.unique(y).tolist())}
    factors = np.ones(len(y))
    for label, weight in class_weight.items():
        if label not in known:
            raise ValueError(
                f"class_weight has {label!r}, which is no class of y; classes:"
                f" {', '.join(map(repr, list(known)[:20]))}"
            )
        if not np.isfinite(weight) or weight < 0:
            raise ValueError(
                f"the class weight of {label!r} must be a finite number >= 0, got"
                f" {weight!r}"
            )
        factors[y == label] = weight
    return _checked(given * factors, len(y))


def _checked(sample_weight: Any, n_samples: int) -> Array | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, weights)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_samples} samples;"
            f" its shape is {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity")
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; sample {int(weights.argmin())} has"
            f" {weights.min():g}"
        )
    if not weights.any():
        raise ValueError("all sample weights are 0: there is nothing to fit")
    return None if (weights == 1.0).all() else weights
