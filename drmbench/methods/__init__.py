"""Baselines and the DRM as methods of the benchmark, behind one registry.

Nothing is imported before it is asked for: the modules behind these names load
scikit-learn and more.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "C45Classifier": "c45",
    "GaussianNaiveBayes": "bayes",
    "KernelSVC": "svm",
    "LiblinearSVC": "linear_svm",
    "Method": "base",
    "MethodFailedError": "base",
    "NearestNeighbours": "knn",
    "OversampledClassifier": "oversampling",
    "SafeLevelSMOTE": "safe_level_smote",
    "SparseLDA": "slda",
    "get_method": "registry",
    "list_methods": "registry",
    "with_overrides": "registry",
}

if TYPE_CHECKING:
    from drmbench.methods.base import Method as Method
    from drmbench.methods.base import MethodFailedError as MethodFailedError
    from drmbench.methods.bayes import GaussianNaiveBayes as GaussianNaiveBayes
    from drmbench.methods.c45 import C45Classifier as C45Classifier
    from drmbench.methods.knn import NearestNeighbours as NearestNeighbours
    from drmbench.methods.linear_svm import LiblinearSVC as LiblinearSVC
    from drmbench.methods.oversampling import (
        OversampledClassifier as OversampledClassifier,
    )
    from drmbench.methods.registry import get_method as get_method
    from drmbench.methods.registry import list_methods as list_methods
    from drmbench.methods.registry import with_overrides as with_overrides
    from drmbench.methods.safe_level_smote import SafeLevelSMOTE as SafeLevelSMOTE
    from drmbench.methods.slda import SparseLDA as SparseLDA
    from drmbench.methods.svm import KernelSVC as KernelSVC

__all__ = [
    "C45Classifier",
    "GaussianNaiveBayes",
    "KernelSVC",
    "LiblinearSVC",
    "Method",
    "MethodFailedError",
    "NearestNeighbours",
    "OversampledClassifier",
    "SafeLevelSMOTE",
    "SparseLDA",
    "get_method",
    "list_methods",
    "with_overrides",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module the first time it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'drmbench.methods' has no attribute {name!r}")
    module = importlib.import_module(f"drmbench.methods.{_HOMES[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the lazily loaded names too, for tab completion."""
    return sorted({*globals(), *__all__})
