"""Methods as Python has them become items of a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drmbench.errors import InputError, quoted
from drmbench.methods.foreign import STEPS, method_from_estimator, step_of

_VALID = (
    "the name of a method, a class as module:Class, a scikit-learn classifier such as"
    " SVC(), or a pair of one of these and a grid"
)


def method_items(methods: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a config for methods by the names they get in results.

    A method is the name of one of drmbench's, a class as ``module:Class``, a
    scikit-learn classifier (or a pipeline that ends in one), or a pair of one of these
    and a grid.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> method_items({"mine": (SVC(gamma=0.5), {"C": [1, 10]}), "bayes": "nb"})
    [{'estimator': 'sklearn.svm:SVC', 'as': 'mine', 'params': {'gamma': 0.5},
      'grid': {'C': [1, 10]}}, {'name': 'nb', 'as': 'bayes'}]
    """
    items = []
    for name, said in methods.items():
        method, grid = said if _is_pair(said) else (said, {})
        try:
            items.append(_item(str(name), method, grid))
        except InputError as error:
            raise InputError(f"methods: {quoted(name)}: {error}") from error
    return items


def _is_pair(said: Any) -> bool:
    pair = isinstance(said, tuple | list) and len(said) == 2
    return pair and isinstance(said[1], Mapping)


def _item(name: str, said: Any, grid: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(said, str):
        key = "estimator" if ":" in said else "name"
        item: dict[str, Any] = {key: said} | ({"as": name} if name != said else {})
        return item | ({"grid": dict(grid)} if grid else {})
    if isinstance(said, type):
        raise InputError(f"is a class; give an object, such as {said.__name__}()")
    if not hasattr(said, "fit") or not hasattr(said, "predict"):
        raise InputError(f"must be {_VALID}, not {said!r:.80}")
    method = method_from_estimator(name, said, grid)
    short = {path: step for step, path in STEPS.items()}
    steps = {own: short.get(path, path) for own, path in method.origin["steps"]}
    parts: dict[str, Any] = {
        "steps": list(steps.values()),
        "params": {_written(k, steps): v for k, v in method.defaults.items()},
        "grid": {_written(k, steps): list(v) for k, v in method.grid.items()},
    }
    item = {"estimator": method.origin["estimator"], "as": name}
    return item | {key: value for key, value in parts.items() if value}


def _written(parameter: str, steps: Mapping[str, str]) -> str:
    """Return a parameter as configs write it, where steps are called by their class."""
    step, _, own = parameter.partition("__")
    return f"{step_of(steps[step])[0]}__{own}" if own and step in steps else parameter
