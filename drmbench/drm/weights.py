"""Sample and class weights of a training set (docs/math.md, section 10)."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
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
    weights = check_sample_weight(sample_weight, len(y))
    if class_weight is not None:
        given = np.ones(len(y)) if weights is None else weights
        classes, codes = np.unique(y, return_inverse=True)
        masses: Array = np.bincount(codes, given).astype(np.float64)
        factors = class_factors(classes, masses, class_weight)
        weights = np.asarray(given * factors[codes])
    if weights is None or (weights == 1.0).all():
        return None
    if not weights.any():
        raise ValueError("all sample weights are zero: there is nothing to fit")
    return weights


def class_factors(
    classes: NDArray[Any], masses: Array, class_weight: ClassWeight
) -> Array:
    """Return what the weights of each class's samples are multiplied by, (g,).

    `masses` are the sums of the sample weights of the classes; "balanced" counts only
    classes that have any. A class that a dict does not name has the weight 1. A name
    that is no class is let pass if all classes are named: a part of the data may lack
    a class.

    Examples
    --------
    >>> class_factors(np.array(["a", "b"]), np.array([6.0, 2.0]), {"b": 3})
    array([1., 3.])
    """
    factors = np.ones(len(classes))
    if class_weight is None:
        return factors
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = masses > 0
        share = masses.sum() / max(np.count_nonzero(present), 1)
        np.divide(share, masses, out=factors, where=present)
        return factors
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict of weights by class, got"
            f" {class_weight!r}"
        )
    _check_named(class_weight, classes.tolist())
    factors[:] = [class_weight.get(label, 1.0) for label in classes.tolist()]
    return factors


def _check_named(class_weight: Mapping[Any, float], labels: list[Any]) -> None:
    for label, weight in class_weight.items():
        if not isinstance(weight, Real) or not 0 <= weight < np.inf:
            raise ValueError(
                f"the class weight of {label!r} must be a finite number >= 0, got"
                f" {weight!r}"
            )
    known = set(labels)
    strange = [name for name, w in class_weight.items() if w and name not in known]
    if strange and not known <= set(class_weight):
        raise ValueError(
            f"class_weight has {strange[0]!r}, which is no class of y; classes:"
            f" {', '.join(map(repr, labels[:20]))}"
        )


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array | None:
    """Return the weight ≥ 0 of each sample, which may be 0 for all; None for None.

    A single number is the weight of every sample.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}") from error
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
    return weights
