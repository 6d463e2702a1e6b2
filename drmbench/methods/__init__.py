"""Baselines and the DRM as methods of the benchmark, behind one registry.

Nothing is imported before it is asked for: the modules behind these names load
scikit-learn and more.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drmbench.methods.base import Method, MethodFailedError
    from drmbench.methods.bayes import GaussianNaiveBayes
    from drmbench.methods.c45 import C45Classifier
    from drmbench.methods.foreign import method_from_estimator
    from drmbench.methods.knn import NearestNeighbours
    from drmbench.methods.linear_svm import LiblinearSVC
    from drmbench.methods.oversampling import OversampledClassifier
    from drmbench.methods.registry import (
        add_method,
        get_method,
        list_methods,
        method_names,
        with_overrides,
    )
    from drmbench.methods.representation import (
        CollaborativeClassifier,
        ProbabilisticCollaborativeClassifier,
    )
    from drmbench.methods.safe_level_smote import SafeLevelSMOTE
    from drmbench.methods.shrinkage_lda import ShrinkageLDA
    from drmbench.methods.shrunken_centroids import ShrunkenCentroids
    from drmbench.methods.slda import SparseLDA
    from drmbench.methods.sparse_representation import SparseRepresentationClassifier
    from drmbench.methods.svm import KernelSVC

__all__ = [
    "C45Classifier",
    "CollaborativeClassifier",
    "GaussianNaiveBayes",
    "KernelSVC",
    "LiblinearSVC",
    "Method",
    "MethodFailedError",
    "NearestNeighbours",
    "OversampledClassifier",
    "ProbabilisticCollaborativeClassifier",
    "SafeLevelSMOTE",
    "ShrinkageLDA",
    "ShrunkenCentroids",
    "SparseLDA",
    "SparseRepresentationClassifier",
    "add_method",
    "get_method",
    "list_methods",
    "method_from_estimator",
    "method_names",
    "with_overrides",
]

_HOMES = {
    "C45Classifier": "c45",
    "CollaborativeClassifier": "representation",
    "GaussianNaiveBayes": "bayes",
    "KernelSVC": "svm",
    "LiblinearSVC": "linear_svm",
    "Method": "base",
    "MethodFailedError": "base",
    "NearestNeighbours": "knn",
    "OversampledClassifier": "oversampling",
    "ProbabilisticCollaborativeClassifier": "representation",
    "SafeLevelSMOTE": "safe_level_smote",
    "ShrinkageLDA": "shrinkage_lda",
    "ShrunkenCentroids": "shrunken_centroids",
    "SparseLDA": "slda",
    "SparseRepresentationClassifier": "sparse_representation",
    "method_from_estimator": "foreign",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module the first time it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'drmbench.methods' has no attribute {name!r}")
    home = _HOMES.get(name, "registry")
    value = getattr(importlib.import_module(f"drmbench.methods.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the lazily loaded names too, for tab completion."""
    return sorted({*globals(), *__all__})
