"""A real C4.5 decision tree as a scikit-learn classifier.

The modules follow the life of a tree: :mod:`.training` holds the examples,
:mod:`.numeric` and :mod:`.nominal` score one split an attribute, :mod:`.selection`
takes one of them by gain ratio, :mod:`.growth` grows the tree of :mod:`.node` objects,
:mod:`.pruning` cuts it back, :mod:`.compiled` is the result that predicts, and
:mod:`.estimator` is the classifier. Where Quinlan's description leaves a choice open,
the choice of Weka's J48 is taken, so that both give the same trees; the class
docstring lists those choices.
"""

from __future__ import annotations

from drmbench.methods.c45.estimator import C45Classifier

__all__ = ["C45Classifier"]
