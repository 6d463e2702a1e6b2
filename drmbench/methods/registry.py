"""The method registry: every method by name, and a user's changes to one.

A new method is one module that has a ``METHODS`` tuple, and its line in ``_MODULES``.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from drmbench.errors import InputError, did_you_mean
from drmbench.methods.base import Method

#: Modules of this package, in the order in which methods are listed.
_MODULES = (
    "svm",
    "knn",
    "forest",
    "c45",
    "dhs_tree",
    "bayes",
    "slda",
    "drm",
    "linear_svm",
    "oversampling",
)


@cache
def _by_name() -> dict[str, Method]:
    methods: dict[str, Method] = {}
    for module in _MODULES:
        for method in importlib.import_module(f"drmbench.methods.{module}").METHODS:
            if method.name in methods:
                raise ValueError(f"{module} has a second method {method.name!r}")
            methods[method.name] = method
    return methods


def list_methods() -> tuple[Method, ...]:
    """Return every method.

    Examples
    --------
    >>> [method.name for method in list_methods()][:3]
    ['svm-rbf', 'svm-poly', 'svm-linear']
    """
    return tuple(_by_name().values())


def get_method(name: str) -> Method:
    """Return the method called `name`.

    Raises
    ------
    InputError
        If there is none; the message has the near misses and all names.

    Examples
    --------
    >>> get_method("svm-rbf").column
    'SVM(R)'
    """
    methods = _by_name()
    if name not in methods:
        raise InputError(
            f"unknown method {name!r}.{did_you_mean(name, methods)}"
            f" Valid: {', '.join(methods)}"
        )
    return methods[name]


def with_overrides(
    method: Method,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    params: Mapping[str, Any] | None = None,
) -> Method:
    """Return the method with another grid, or with parameters fixed.

    Parameters
    ----------
    method : Method
        The method to change.
    grid : mapping of str to sequence, optional
        Values to search instead of the method's own. A parameter that the method does
        not search otherwise becomes the innermost loop.
    params : mapping of str to object, optional
        Values to fix; a parameter so fixed is not searched.

    Raises
    ------
    InputError
        If a name is unknown or a value is not allowed; the message says what is.

    Examples
    --------
    >>> changed = with_overrides(get_method("svm-rbf"), grid={"C": [1, 10]},
    ...                          params={"sigma": 0.5})
    >>> changed.candidates()
    [{'width': 'sigma', 'max_iter': 30000, 'sigma': 0.5, 'C': 1},
     {'width': 'sigma', 'max_iter': 30000, 'sigma': 0.5, 'C': 10}]
    """
    grid, params = grid or {}, params or {}
    _check_names(method, [*grid, *params])
    for name, values in grid.items():
        _check_grid_values(method, name, values, fixed=name in params)
    new_grid = {**method.grid, **{name: tuple(v) for name, v in grid.items()}}
    changed = dataclasses.replace(
        method,
        grid={name: v for name, v in new_grid.items() if name not in params},
        defaults={
            name: value
            for name, value in {**method.defaults, **params}.items()
            if name not in grid
        },
    )
    _check_candidates(changed)
    return changed


def _check_names(method: Method, names: Sequence[str]) -> None:
    valid = [*method.grid, *method.defaults]
    for name in names:
        if name not in valid:
            raise InputError(
                f"{method.name} has no parameter {name!r}."
                f"{did_you_mean(name, valid)} Valid: {', '.join(valid)}"
            )


def _check_grid_values(method: Method, name: str, values: Any, *, fixed: bool) -> None:
    if fixed:
        raise InputError(f"{method.name}: {name} is both in the grid and fixed")
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InputError(
            f"{method.name}: the grid of {name} must be a list of one value or more,"
            f" such as [{values}], not {values!r}"
        )


def _check_candidates(method: Method) -> None:
    """Let each candidate's estimator check its parameters, before anything runs."""
    for params in method.candidates():
        try:
            estimator = method.build(params, 0)
            estimator._validate_params()
            if hasattr(estimator, "classifier"):
                estimator.classifier._validate_params()
        except (ValueError, TypeError, ArithmeticError) as error:
            shown = ", ".join(f"{name}={value!r}" for name, value in params.items())
            raise InputError(f"{method.name} with {shown}: {error}") from error
