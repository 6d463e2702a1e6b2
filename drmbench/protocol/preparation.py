"""The columns of a table made into numbers that any method can use.

All that is learned, medians, levels and scales, is learned from the rows that a
:class:`TablePreparation` is fitted to: the training part of a split, or of a fold of
the selection within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
    validate_data,
)

from drmbench.protocol.scaling import Matrix, Scaling, centre_and_scale

#: Most columns that one nominal column becomes.
MOST_LEVELS = 50
#: Stands for a missing value among the levels of a nominal column, as the last.
_MISSING = np.inf


class TablePreparation(TransformerMixin, BaseEstimator):
    """Make a table of numbers, codes and missing values a matrix of numbers.

    A missing number becomes the median of its column, and a column in which some are
    missing is accompanied by one that tells where (1 is missing). Numbers are scaled by
    what the known ones tell. A nominal column becomes one column of zeros and ones for
    each of its levels; a missing value is a level, and of two levels only the second
    has a column. Of more than `max_levels` levels the most frequent have columns, and
    the others share one. Columns of zeros and ones are not scaled.

    Parameters
    ----------
    nominal : sequence of int, default=()
        Numbers of the columns that hold codes of categories, which are 0 or more.
    scaling : {"none", "standard", "robust", "maxabs"}, default="none"
        What is done to the columns of numbers, see
        :func:`~drmbench.protocol.scaling.centre_and_scale`.
    encode : bool, default=True
        Whether nominal columns become columns of zeros and ones. If not, all columns
        keep their places, and a missing code becomes -1: for methods that take codes of
        categories.
    max_levels : int, default=50
        Most columns that a nominal column becomes.

    Attributes
    ----------
    numeric_ : ndarray of int
        Numbers of the columns that are not nominal.
    known_ : ndarray of bool
        Whether any value of each of them is known; if not, it becomes one of zeros.
    fill_values_ : ndarray of float
        Median of the known values of each of them, or 0.
    indicated_ : ndarray of int
        Those of them with a column that tells where values are missing.
    centre_, scale_ : ndarray of float
        What is subtracted from each of them, and what it is then divided by.
    levels_ : list of ndarray
        The codes of each nominal column that have a column of their own, in order;
        infinity stands for a missing value.
    lumped_ : list of bool
        Whether the other codes of a nominal column share one.

    Notes
    -----
    A level that is met only after the fit has zeros in all columns of its own nominal
    column, and a one where rare levels share a column.

    Examples
    --------
    >>> X = np.array([[1.0, 0], [np.nan, 2], [5.0, 1], [6.0, 2]])
    >>> preparation = TablePreparation(nominal=[1]).fit(X)
    >>> preparation.transform(X)
    array([[1., 0., 1., 0., 0.],
           [5., 1., 0., 0., 1.],
           [5., 0., 0., 1., 0.],
           [6., 0., 0., 0., 1.]])
    >>> preparation.get_feature_names_out(["age", "city"]).tolist()
    ['age', 'age missing', 'city=0', 'city=1', 'city=2']
    """

    def __init__(
        self,
        nominal: Sequence[int] = (),
        *,
        scaling: Scaling = "none",
        encode: bool = True,
        max_levels: int = MOST_LEVELS,
    ) -> None:
        self.nominal = nominal
        self.scaling = scaling
        self.encode = encode
        self.max_levels = max_levels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, levels and scales from the rows of `X`; `y` is not used."""
        X = self._checked(X, reset=True)
        nominal = self._nominal_columns()
        if self.max_levels < 2:
            raise ValueError(f"max_levels must be 2 or more, not {self.max_levels}")
        self.numeric_ = np.setdiff1d(np.arange(X.shape[1]), nominal)
        numbers = X[:, self.numeric_]
        missing = np.isnan(numbers)
        n_missing = missing.sum(axis=0)
        self.known_ = n_missing < len(X)
        n_numeric = len(self.numeric_)
        self.fill_values_ = np.zeros(n_numeric)
        self.fill_values_[self.known_] = np.nanmedian(numbers[:, self.known_], axis=0)
        self.indicated_ = self.numeric_[(n_missing > 0) & self.known_]
        self.centre_, self.scale_ = np.zeros(n_numeric), np.ones(n_numeric)
        centre, scale = centre_and_scale(self.scaling, numbers[:, self.known_])
        self.centre_[self.known_], self.scale_[self.known_] = centre, scale
        found = [_own_levels(_with_missing(X[:, j]), self.max_levels) for j in nominal]
        self.levels_ = [levels for levels, _ in found]
        self.lumped_ = [lumped for _, lumped in found]
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the rows of `X` as a matrix of numbers."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        numbers = (self._filled(X[:, self.numeric_]) - self.centre_) / self.scale_
        missing = np.isnan(X[:, self.indicated_]).astype(np.float64)
        nominal = self._nominal_columns()
        if not self.encode:
            columns = X.copy()
            columns[:, self.numeric_] = numbers
            columns[:, nominal] = np.where(np.isnan(X[:, nominal]), -1, X[:, nominal])
            return np.hstack([columns, missing])
        encoded = [
            _zeros_and_ones(_with_missing(X[:, j]), levels, lumped)
            for j, levels, lumped in zip(
                nominal, self.levels_, self.lumped_, strict=True
            )
        ]
        return np.hstack([numbers, missing, *encoded])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that :meth:`transform` gives."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        missing = [f"{names[j]} missing" for j in self.indicated_]
        if not self.encode:
            return np.array([*names, *missing], dtype=object)
        encoded = []
        for j, levels, lumped in zip(
            self._nominal_columns(), self.levels_, self.lumped_, strict=True
        ):
            codes = (f"{x:g}" if x != _MISSING else "missing" for x in levels)
            others = ["other"] if lumped else []
            encoded += [f"{names[j]}={level}" for level in (*codes, *others)]
        return np.array([*names[self.numeric_], *missing, *encoded], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Matrix:
        checked: Matrix = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return checked

    def _nominal_columns(self) -> NDArray[np.intp]:
        columns = np.unique(np.asarray(self.nominal, dtype=np.intp))
        outside = columns[(columns < 0) | (columns >= self.n_features_in_)]
        if outside.size:
            raise ValueError(
                f"nominal: columns have numbers from 0 to {self.n_features_in_ - 1},"
                f" not {outside[0]}"
            )
        return columns

    def _filled(self, numbers: Matrix) -> Matrix:
        """Return the columns of numbers without a missing value."""
        return np.where(np.isnan(numbers) | ~self.known_, self.fill_values_, numbers)


def prepared_width(X: Matrix, nominal: Sequence[int]) -> int:
    """Return how many columns a table has once it is prepared.

    Examples
    --------
    >>> prepared_width(np.array([[1.0, 0], [2, 2], [3, 1]]), nominal=[1])
    4
    """
    return len(TablePreparation(nominal).fit(X).get_feature_names_out())


def learns_from_rows(X: Matrix, nominal: Sequence[int]) -> bool:
    """Say whether preparing `X` needs more than the set of levels, scaling aside.

    It does where values are missing, or rare levels share a column.
    """
    return bool(np.isnan(X).any()) or any(
        len(np.unique(X[:, j])) > MOST_LEVELS for j in nominal
    )


def _with_missing(column: Matrix) -> Matrix:
    return np.where(np.isnan(column), _MISSING, column)


def _own_levels(column: Matrix, most: int) -> tuple[Matrix, bool]:
    """Return the levels with a column of their own, and whether others share one."""
    levels, counts = np.unique(column, return_counts=True)
    if len(levels) > most:
        frequent = np.argsort(counts, kind="stable")[-(most - 1) :]
        return levels[np.sort(frequent)], True
    return (levels[1:] if len(levels) == 2 else levels), False


def _zeros_and_ones(column: Matrix, levels: Matrix, lumped: bool) -> Matrix:
    """Return a column for each level, and one for all others where they share it."""
    own: NDArray[np.bool_] = column[:, None] == levels
    if lumped:
        own = np.hstack([own, ~own.any(axis=1, keepdims=True)])
    return own.astype(np.float64)
