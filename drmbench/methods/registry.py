"""The method registry: every method by name, and a user's changes to one.

A new method is an entry of the ``METHODS`` of a module of this package, and its name in
:data:`FAMILIES`. The names are known without importing any of those modules, which
load scikit-learn and more. Installed packages may bring methods of their own
(:mod:`drmbench.methods.plugins`), which are imported only where a name is none of ours.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from importlib import metadata
from itertools import product
from typing import TYPE_CHECKING, Any

from drmbench.errors import InputError, did_you_mean, quoted

if TYPE_CHECKING:
    from drmbench.methods.base import Method
    from drmbench.methods.plugins import Plugin

#: The methods of each module of this package, in the order in which they are listed.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "svm": ("svm-rbf", "svm-poly", "svm-linear", "svm-balanced"),
    "knn": ("knn-euclidean", "knn-cosine"),
    "forest": ("rf",),
    "c45": ("c45", "c45-plain"),
    "dhs_tree": ("c45-dhs",),
    "bayes": ("nb",),
    "slda": ("slda",),
    "drm": (
        *("drm", "drm-balanced"),
        *("drm-rbf", "drm-poly", "drm-linear", "krr-rbf", "krr-poly"),
        *("drm-gd", "drm-ppa", "drm-apg", "drm-exact"),
        *("drm-linear-balanced", "drm-nystroem"),
    ),
    "drm_threshold": ("drm-threshold",),
    "linear_svm": ("l1-svm", "l2-svm", "l2-svm-balanced"),
    "representation": ("crc", "procrc"),
    "sparse_representation": ("src",),
    "logistic": ("logistic", "logistic-balanced"),
    "ridge": ("ridge", "ridge-balanced"),
    "shrinkage_lda": ("lda-shrinkage",),
    "shrunken_centroids": ("nsc",),
    "large_forests": ("rf-500", "rf-500-balanced", "extra-trees", "balanced-rf"),
    "boosting": ("hgb", "hgb-balanced", "easy-ensemble", "rusboost"),
    "oversampling": tuple(
        f"{sampler}-{classifier}"
        for sampler, classifier in product(
            ("smote", "borderline-smote", "safe-level-smote"),
            ("svm", "svm-poly", "knn", "knn-cosine", "rf", "drm", "drm-poly"),
        )
    ),
}

#: The entry point group through which installed packages bring methods.
GROUP = "drmbench.methods"

_added: dict[str, Method] = {}


def add_method(method: Method) -> None:
    """Add a method to the registry of this process.

    Raises
    ------
    ValueError
        If there is a method of this name.

    Examples
    --------
    >>> add_method(get_method("nb"))
    Traceback (most recent call last):
    ValueError: there cannot be a second method 'nb'
    """
    if method.name in builtin_names():
        raise ValueError(f"there cannot be a second method {quoted(method.name)}")
    _added[method.name] = method


def builtin_names() -> tuple[str, ...]:
    """Return the names of drmbench's own methods, without importing what they need.

    Examples
    --------
    >>> builtin_names()[:3]
    ('svm-rbf', 'svm-poly', 'svm-linear')
    """
    return (*(name for names in FAMILIES.values() for name in names), *_added)


def method_names() -> tuple[str, ...]:
    """Return the name of every method; installed packages that bring any are imported.

    Examples
    --------
    >>> method_names()[:3]
    ('svm-rbf', 'svm-poly', 'svm-linear')
    """
    brought = (method.name for plugin in plugins() for method in plugin.methods)
    return (*builtin_names(), *brought)


def is_method(name: str) -> bool:
    """Say whether there is a method, or an entry point for methods, of this name."""
    if name in builtin_names():
        return True
    points = metadata.entry_points(group=GROUP)
    return name in points.names or name in method_names()


def plugins() -> tuple[Plugin, ...]:
    """Return the entry points of installed packages that bring methods, imported."""
    points = metadata.entry_points(group=GROUP)
    if not points:
        return ()
    from drmbench.methods.plugins import load_plugins

    return load_plugins(tuple(points), builtin_names())


def list_methods() -> tuple[Method, ...]:
    """Return every method.

    Examples
    --------
    >>> [method.name for method in list_methods()][:3]
    ['svm-rbf', 'svm-poly', 'svm-linear']
    """
    return tuple(map(get_method, method_names()))


def get_method(name: str) -> Method:
    """Return the method called `name`, importing only what its family needs.

    Raises
    ------
    InputError
        If there is none; the message has the near misses and all names, or why an
        installed package's entry point of this name cannot be used.

    Examples
    --------
    >>> get_method("svm-rbf").column
    'SVM(R)'
    """
    for module, names in FAMILIES.items():
        if name in names:
            family = importlib.import_module(f"drmbench.methods.{module}").METHODS
            found: Method = next(method for method in family if method.name == name)
            return found
    if name in _added:
        return _added[name]
    for plugin in plugins():
        for method in plugin.methods:
            if method.name == name:
                return method
    for plugin in plugins():
        if plugin.name == name and plugin.problem:
            raise InputError(f"{name}: {plugin}")
    raise InputError(
        f"unknown method {quoted(name)}.{did_you_mean(name, method_names())}"
        f" Valid: {', '.join(method_names())}"
    )


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
        Values to fix; a parameter that is fixed is not searched.

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
    valid = [*method.grid, *method.defaults]
    for name in (*grid, *params):
        if name not in valid:
            raise InputError(
                f"{method.name} has no parameter {quoted(name)}."
                f"{did_you_mean(name, valid)} Valid: {', '.join(valid)}"
            )
    for name, values in grid.items():
        if name in params:
            raise InputError(f"{method.name}: {name} is both in the grid and fixed")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise InputError(
                f"{method.name}: the grid of {name} must be a list of one value or"
                f" more, such as [{values}], not {quoted(values)}"
            )
    new_grid = {**method.grid, **{name: tuple(v) for name, v in grid.items()}}
    fixed = {**method.defaults, **params}
    changed = dataclasses.replace(
        method,
        grid={name: v for name, v in new_grid.items() if name not in params},
        defaults={name: v for name, v in fixed.items() if name not in grid},
    )
    _check_candidates(changed)
    return changed


def _check_candidates(method: Method) -> None:
    """Let each candidate's estimator check its parameters, before anything runs."""
    for params in method.candidates():
        try:
            estimator = method.build(params, 0)
            estimator._validate_params()
            if hasattr(estimator, "classifier"):
                estimator.classifier._validate_params()
        except (ValueError, TypeError, ArithmeticError) as error:
            shown = ", ".join(
                f"{name}={quoted(value)}" for name, value in params.items()
            )
            raise InputError(f"{method.name} with {shown}: {error}") from error
