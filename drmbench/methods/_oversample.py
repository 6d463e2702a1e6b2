"""Over-sampling of training data with the neighbours a tiny minority allows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE, BorderlineSMOTE
from numpy.typing import NDArray

from drmbench.methods.base import MethodFailedError
from drmbench.methods.safe_level_smote import NothingGeneratedWarning, SafeLevelSMOTE

#: The names of the samplers.
SAMPLERS = ("smote", "borderline-smote", "safe-level-smote")

#: Why a sampler may have left a class as it was; SMOTE never does.
_REASONS: Mapping[str, str] = {
    "borderline-smote": "none of them is in danger",
    "safe-level-smote": "no pair of them is safe",
}


class TooFewMinoritySamplesError(MethodFailedError):
    """A class to over-sample has a single sample, so there are no neighbours in it."""


@dataclass(frozen=True, eq=False)
class Oversampling:
    """Over-sampled training data and what had to be adapted.

    Attributes
    ----------
    X : ndarray of shape (n_samples_new, n_features)
        The samples, the original ones first.
    y : ndarray of shape (n_samples_new,)
        Their classes.
    k_neighbors : int
        The number of neighbours used.
    clamped : bool
        Whether it is smaller than asked for.
    note : str
        What was done otherwise than asked, in words; empty if nothing.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    k_neighbors: int
    clamped: bool
    note: str


def oversample(
    X: NDArray[np.float64],
    y: NDArray[Any],
    sampler: str,
    *,
    k_neighbors: int = 5,
    m_neighbors: int = 10,
    random_state: Any = None,
) -> Oversampling:
    """Over-sample every class to the size of the largest.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training samples.
    y : ndarray of shape (n_samples,)
        Their classes.
    sampler : {"smote", "borderline-smote", "safe-level-smote"}
        Which algorithm; borderline is its first kind.
    k_neighbors : int, default=5
        Neighbours to interpolate with, at most one less than the smallest class that is
        over-sampled has samples.
    m_neighbors : int, default=10
        Neighbours in all data that tell Borderline-SMOTE which samples are in danger,
        at most one less than there are samples.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampler.

    Returns
    -------
    Oversampling
        The new data; the old ones where no class is smaller than another.

    Raises
    ------
    TooFewMinoritySamplesError
        If a class to over-sample has a single sample.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [1.0], [1.1], [1.2]])
    >>> y = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> result = oversample(X, y, "smote", random_state=0)
    >>> len(result.X), result.k_neighbors
    (10, 2)
    >>> result.note
    'k_neighbors 2 instead of 5: class 1 has 3 samples'
    """
    classes, counts = np.unique(y, return_counts=True)
    short = np.flatnonzero(counts < counts.max())
    if len(short) == 0:
        note = "nothing generated: all classes have the same size"
        return Oversampling(X, y, k_neighbors, clamped=False, note=note)
    smallest = short[counts[short].argmin()]
    label, size = classes.tolist()[smallest], int(counts[smallest])
    if size == 1:
        raise TooFewMinoritySamplesError(
            f"class {label!r} has 1 sample; {sampler} needs at least 2 to interpolate"
        )
    k_used, m_used = min(k_neighbors, size - 1), min(m_neighbors, len(y) - 1)
    algorithm = _algorithm(sampler, k_used, m_used, random_state)
    with warnings.catch_warnings():
        # The note tells it.
        warnings.simplefilter("ignore", NothingGeneratedWarning)
        new_X, new_y = algorithm.fit_resample(X, y)
    notes = []
    if k_used < k_neighbors:
        why = f"class {label!r} has {size} samples"
        notes.append(f"k_neighbors {k_used} instead of {k_neighbors}: {why}")
    if m_used < m_neighbors and sampler == "borderline-smote":
        why = f"there are {len(y)} samples"
        notes.append(f"m_neighbors {m_used} instead of {m_neighbors}: {why}")
    notes += _left_as_they_were(classes[short], counts[short], new_y, sampler)
    return Oversampling(new_X, new_y, k_used, k_used < k_neighbors, "; ".join(notes))


def _algorithm(sampler: str, k_neighbors: int, m_neighbors: int, seed: Any) -> Any:
    """Return the imbalanced-learn sampler of this name."""
    if sampler == "smote":
        return SMOTE(k_neighbors=k_neighbors, random_state=seed)
    if sampler == "borderline-smote":
        return BorderlineSMOTE(
            k_neighbors=k_neighbors, m_neighbors=m_neighbors, random_state=seed
        )
    if sampler == "safe-level-smote":
        return SafeLevelSMOTE(k_neighbors=k_neighbors, random_state=seed)
    raise ValueError(f"there is no sampler {sampler!r}; valid: {', '.join(SAMPLERS)}")


def _left_as_they_were(
    classes: NDArray[Any], counts: NDArray[np.int64], new_y: NDArray[Any], sampler: str
) -> list[str]:
    """Say which classes did not grow, and why."""
    return [
        f"class {label!r} left at {count} samples: {_REASONS[sampler]}"
        for label, count in zip(classes.tolist(), counts.tolist(), strict=True)
        if np.sum(new_y == label) == count
    ]
