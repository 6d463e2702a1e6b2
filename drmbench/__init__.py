"""drmbench: the Discriminative Ridge Machine, and a benchmark that tests its claims.

The estimators, :func:`run`, :func:`compare` and :func:`load` are importable from here
(``from drmbench import DRMClassifier``); they are loaded on first use, so that
importing the package, and with it ``drmbench --help``, costs no numerical library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "DRMClassifier": "drmbench.drm.classifier",
    "DRMClassifierCV": "drmbench.drm.search",
    "KernelRidgeRepresentationClassifier": "drmbench.drm.classifier",
    "LinearDRMClassifier": "drmbench.drm.linear_classifier",
    "compare": "drmbench.api.comparison",
    "load": "drmbench.data",
    "run": "drmbench.api.experiments",
}

if TYPE_CHECKING:
    from drmbench.api.comparison import compare as compare
    from drmbench.api.experiments import run as run
    from drmbench.data import load as load
    from drmbench.drm.classifier import DRMClassifier as DRMClassifier
    from drmbench.drm.classifier import (
        KernelRidgeRepresentationClassifier as KernelRidgeRepresentationClassifier,
    )
    from drmbench.drm.linear_classifier import (
        LinearDRMClassifier as LinearDRMClassifier,
    )
    from drmbench.drm.search import DRMClassifierCV as DRMClassifierCV

__all__ = [
    "DRMClassifier",
    "DRMClassifierCV",
    "KernelRidgeRepresentationClassifier",
    "LinearDRMClassifier",
    "__version__",
    "compare",
    "load",
    "run",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module the first time it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'drmbench' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the lazily loaded names too, for tab completion."""
    return sorted({*globals(), *__all__})
