"""The kernels of a grid, as the SVM, DRM and KRR methods spell them.

A candidate with a ``sigma`` has an rbf kernel (read as its ``width`` says), one with a
``degree`` the polynomial kernel ``(x·y + 1)^degree``, one with a ``kernel`` that which
its text says (``linear``, ``poly 3``, ``rbf 0.1``), any other the linear kernel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from drmbench.drm.kernels import DECADES, PAPER_DEGREES, Kernel, gamma_from_width
from drmbench.methods.base import Grid, Params, group_candidates

#: The paper's kernel parameters, by kernel.
KERNEL_GRIDS: Mapping[str, Mapping[str, tuple[Any, ...]]] = MappingProxyType(
    {"rbf": {"sigma": DECADES}, "poly": {"degree": PAPER_DEGREES}, "linear": {}}
)

#: Kernel parameters that are not searched, by kernel.
KERNEL_DEFAULTS: Mapping[str, Params] = MappingProxyType(
    {"rbf": {"width": "sigma"}, "poly": {}, "linear": {}}
)

#: All of them in one axis of a grid.
EVERY_KERNEL: tuple[str, ...] = (
    "linear",
    *(f"poly {degree:g}" for degree in PAPER_DEGREES),
    *(f"rbf {sigma:g}" for sigma in DECADES),
)

_KERNEL_PARAMETERS = ("kernel", "sigma", "width", "degree")


def kernel_of(params: Params) -> Kernel:
    """Return the kernel of a candidate.

    Examples
    --------
    >>> kernel_of({"C": 1.0, "sigma": 10.0, "width": "variance"}).gamma
    0.05
    >>> kernel_of({"C": 1.0, "degree": 3})
    Kernel(name='poly', gamma=1.0, degree=3, coef0=1.0)
    >>> kernel_of({"kernel": "rbf 10", "width": "variance"}).gamma
    0.05
    """
    if "kernel" in params:
        own = _named(str(params["kernel"]))
        return kernel_of({"width": params.get("width", "sigma"), **own})
    if "sigma" in params:
        gamma = gamma_from_width(params["sigma"], params.get("width", "sigma"))
        return Kernel("rbf", gamma=gamma)
    if "degree" in params:
        return Kernel("poly", degree=params["degree"])
    return Kernel("linear")


def _named(kernel: str) -> Params:
    """Return the parameters that a kernel's text stands for."""
    name, _, text = kernel.partition(" ")
    try:
        value = float(text or "nan")
    except ValueError:
        value = math.nan
    if kernel == "linear":
        return {}
    if name == "rbf" and value > 0:
        return {"sigma": value}
    if name == "poly" and value > 0:
        return {"degree": int(value) if value.is_integer() else value}
    raise ValueError(
        "kernel must be 'linear', 'poly' and a degree, or 'rbf' and a width, such as"
        f" 'rbf 0.1'; got {kernel!r}"
    )


def estimator_arguments(params: Params) -> dict[str, Any]:
    """Return a candidate as keyword arguments of an estimator with kernels.

    Examples
    --------
    >>> estimator_arguments({"C": 1.0, "degree": 3})
    {'C': 1.0, 'kernel': 'poly', 'degree': 3}
    """
    others = {k: v for k, v in params.items() if k not in _KERNEL_PARAMETERS}
    return others | kernel_of(params).arguments()


def group_by_kernel(candidates: Grid) -> dict[Kernel, list[int]]:
    """Return the numbers of the candidates that share a kernel matrix."""
    return group_candidates(candidates, kernel_of)


def kernel_simplicity(params: Params) -> tuple[float, ...]:
    """Sort key: lower degrees and wider rbf kernels first."""
    return kernel_of(params).complexity
