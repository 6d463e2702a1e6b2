"""Errors of the numerical core; all are ValueErrors, as scikit-learn's are."""

from __future__ import annotations


class IllConditionedError(ValueError):
    """The system cannot be solved in double precision.

    A grid search records the candidate as failed and goes on.
    """


class ConditioningWarning(UserWarning):
    """The system was solved, but rounding may decide close predictions."""
