"""The decision tree called C4.5 in the MATLAB toolbox of Duda, Hart and Stork.

It is not Quinlan's C4.5 (:mod:`drmbench.methods.c45` is): it has no pruning, and what
it maximises is not information gain. It is here because published figures were made
with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from drmbench.methods._dhs_growth import grow_tree, nodes_above, predict
from drmbench.methods.base import Matrix, MethodFailedError

#: Why a fit fails where the toolbox breaks off.
CONSTANT_SPLIT = (
    "the best split of a node is of a continuous feature with one value, where the"
    " toolbox breaks off"
)


class DHSTreeClassifier(ClassifierMixin, BaseEstimator):
    """Decision tree after ``C4_5.m`` of the Duda-Hart-Stork toolbox.

    Parameters
    ----------
    inc_node : float, default=10
        A node with fewer samples than this percentage of all training samples is a
        leaf. The toolbox calls it the "percentage of incorrectly assigned samples at a
        node", which it is not.
    max_values : int, default=10
        A feature with at most so many different values is nominal: a split on it has
        a branch for each value. Other features are continuous.
    constant_split : {"leaf", "error"}, default="leaf"
        What to do where the best split is of a continuous feature that has a single
        value at the node. The toolbox breaks off with an error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    tree_ : Node
        The root.

    Notes
    -----
    The criterion of a continuous split is the entropy of the node less the entropies of
    the two sides weighted by the *squares* of their shares of the samples. Cuts between
    equal values count too, in the order of the training samples: the tree depends on
    that order, and among samples sorted by class a feature without information looks
    perfect. The split is made at the value below the cut all the same; where that
    leaves one side empty, the node is a leaf. The criterion of a nominal split is a
    gain ratio whose entropies are not normalised within the branches.

    Two things differ from the toolbox. Of equally frequent classes the one that comes
    first in the training data wins, not the one of the smallest label. A sample whose
    nominal value did not occur at a node gets the node's most frequent class; the
    toolbox gives it none.

    References
    ----------
    D. G. Stork and E. Yom-Tov, Computer Manual in MATLAB to Accompany Pattern
    Classification, 2nd edition, Wiley, 2004.

    Examples
    --------
    >>> X = [[float(v)] for v in range(12)]
    >>> y = ["low"] * 5 + ["high"] * 7
    >>> model = DHSTreeClassifier().fit(X, y)
    >>> model.tree_.threshold
    4.0
    >>> model.predict([[4.0], [4.1]])
    array(['low', 'high'], dtype='<U4')
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's spelling
        "inc_node": [Interval(Real, 0, 100, closed="both")],
        "max_values": [Interval(Integral, 0, None, closed="left")],
        "constant_split": [StrOptions({"leaf", "error"})],
    }

    def __init__(
        self,
        *,
        inc_node: float = 10.0,
        max_values: int = 10,
        constant_split: str = "leaf",
    ) -> None:
        self.inc_node = inc_node
        self.max_values = max_values
        self.constant_split = constant_split

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; their order matters.
        y : array-like of shape (n_samples,)
            Their classes.

        Raises
        ------
        MethodFailedError
            If ``constant_split`` is ``"error"`` and there is such a node.
        """
        self.grow(X, y)
        if self.fails_with(self.inc_node):
            raise MethodFailedError(CONSTANT_SPLIT)
        return self

    def grow(self, X: Any, y: Any) -> Self:
        """Fit, but leave it to :meth:`fails_with` to say that the toolbox would not."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, first, numbers = np.unique(
            y, return_index=True, return_inverse=True
        )
        self._by_appearance = np.argsort(first)
        rank = np.argsort(self._by_appearance)
        self._nominal_values = [
            values if len(values) <= self.max_values else None
            for values in map(np.unique, X.T)
        ]
        self._n_samples = len(X)
        nominal = np.array([v is not None for v in self._nominal_values], dtype=bool)
        self.tree_ = grow_tree(X, rank[numbers], nominal, self._size(self.inc_node))
        return self

    def fails_with(self, inc_node: float) -> bool:
        """Say whether the toolbox breaks off with this ``inc_node`` or a larger one."""
        if self.constant_split == "leaf":
            return False
        tried = nodes_above(self.tree_, self._size(inc_node))
        return any(node.constant for node in tried)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        return self.predict_with(X, [self.inc_node])[0]

    def predict_with(self, X: Any, inc_nodes: Sequence[float]) -> list[NDArray[Any]]:
        """Predict as with other values of ``inc_node``, none smaller than the own.

        The tree of a larger value is the same one, cut off where nodes are too small.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        X, classes = self._to_known_values(X), self.classes_[self._by_appearance]
        sizes = map(self._size, inc_nodes)
        return [classes[predict(self.tree_, X, size)] for size in sizes]

    def _size(self, inc_node: float) -> float:
        return inc_node * self._n_samples / 100

    def _to_known_values(self, X: Matrix) -> Matrix:
        """Replace the values of nominal features by the nearest ones of training."""
        X = X.copy()
        for column, known in zip(X.T, self._nominal_values, strict=True):
            if known is not None:
                distances = np.abs(column[:, None] - known)
                column[:] = known[distances.argmin(axis=1)]
        return X
