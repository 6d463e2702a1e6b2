"""Errors of the numerical core; all are ValueErrors, as scikit-learn's are."""

from __future__ import annotations


class IllConditionedError(ValueError):
    """The system cannot be solved in double precision.

    A grid search records the candidate as failed and goes on.

    Examples
    --------
    >>> from drmbench import DRMClassifier
    >>> indefinite = [[0.0, 1.0], [1.0, 0.0]]
    >>> model = DRMClassifier(kernel="precomputed", alpha=0.0, beta=0.1)
    >>> try:
    ...     model.fit(indefinite, [0, 1])
    ... except IllConditionedError as error:
    ...     print(type(error).__name__)
    IllConditionedError
    """


class ConditioningWarning(UserWarning):
    """The system was solved, but rounding may decide close predictions.

    Examples
    --------
    To have it stop a program instead:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ConditioningWarning)
    """
