"""Quinlan's C4.5 as a scikit-learn classifier, and in the registry.

The modules follow the life of a tree: :mod:`.c45_examples` holds the examples,
:mod:`.c45_splits` finds the split of a node, :mod:`.c45_tree` grows the tree, cuts it
back and compiles what predicts. Where Quinlan's description leaves a choice open, the
choice of Weka's J48 is taken, so that both give the same trees; the class docstring
lists those choices.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
)

from drmbench.drm.partition import check_samples, check_training
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    group_all_but,
    refit_left_out,
)
from drmbench.methods.c45_examples import (
    Examples,
    FloatArray,
    TrainingData,
    clear_maximum,
    encode,
    find_categories,
)
from drmbench.methods.c45_splits import GrowthRule
from drmbench.methods.c45_tree import (
    C45Node,
    CompiledTree,
    ErrorBasedPruning,
    collapse,
    compile_tree,
    cut_at,
    grow_tree,
    tree_text,
)


class C45Classifier(ClassifierMixin, BaseEstimator):
    """Quinlan's C4.5 decision tree, release 8, giving the same trees as Weka's J48.

    Parameters
    ----------
    confidence_factor : float, default=0.25
        Confidence of error-based pruning, in (0, 0.5]; smaller values prune more.
    min_samples_leaf : int, default=2
        Weight of examples that at least two branches of every split must receive.
        Numeric splits need more where a tenth of the average class size is more, up
        to 25.
    min_error_share : float or None, default=None
        Pre-pruning: a node with at most this share of examples outside its majority
        class stays a leaf. None switches the rule off.
    categorical_features : array-like of int or bool, default=None
        Numbers or mask of the nominal features, whose values are codes: any numbers,
        only equality matters. A split on one has a branch for each value in the
        training data.
    pruned : bool, default=True
        Whether to prune the tree by estimated errors.
    subtree_raising : bool, default=True
        Whether pruning may put a node's largest branch in its place.
    collapse : bool, default=True
        Whether to cut off subtrees without fewer training errors than a leaf, also of
        trees that are not pruned.
    mdl_correction : bool, default=True
        Whether the gain of a numeric split is reduced by the cost of its threshold,
        ``log2(number of thresholds) / number of examples`` (release 8).
    value_gap : float, default=1e-5
        Neighbouring values of a numeric feature must be further apart than this to be
        told apart. C4.5 and J48 have 1e-5 built in. With 0, rescaling a feature does
        not change how the training examples are divided.
    laplace : bool, default=False
        Whether probabilities come from counts increased by one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names, where `X` had names that are all strings.
    categories_ : list of ndarray or None
        Values of each nominal feature in the training data; None for a numeric one.
    tree_ : CompiledTree
        The fitted tree.

    Notes
    -----
    Choices where descriptions of C4.5 differ, all as in J48 (Weka 3.9):

    - Among splits with a gain of at least the average less 0.001, the largest gain
      ratio wins; differences up to 1e-6 are ties, and ties go to the first feature
      and the lowest threshold.
    - The threshold is the largest value in the whole training set that does not
      exceed the midpoint of the two values it separates.
    - The MDL charge counts the thresholds that leave enough examples on both sides.
    - Unknown values (NaN): the gain is multiplied by the known share, the split
      information counts them as one more branch, and such an example goes down every
      branch with a part of its weight, in training and in prediction.
    - A nominal value that a node has never seen gives the node's own distribution.
    - Nominal features with as many values as 30 % of the examples do not count
      towards the average gain.
    - The upper limit of the error rate is the normal approximation with continuity
      correction; Quinlan's program interpolates in a small table of quantiles.

    Examples weights differ on purpose: a weight of k means exactly what k copies of the
    example mean. J48 counts examples, not weights, in the 30 % rule above and when it
    asks whether a node has enough examples for a numeric split. Unknown values alone
    make no difference between the two.

    References
    ----------
    .. [1] J. R. Quinlan, *C4.5: Programs for Machine Learning*, Morgan Kaufmann, 1993.
    .. [2] J. R. Quinlan, "Improved use of continuous attributes in C4.5", *Journal of
       Artificial Intelligence Research* 4, 77-90, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = C45Classifier(min_error_share=0.1).fit(X, y)
    >>> print(tree.export_text())
    x3 <= 0.6: 0 (50.0)
    x3 > 0.6
    |   x3 <= 1.7: 1 (54.0/5.0)
    |   x3 > 1.7: 2 (46.0/1.0)
    >>> tree.get_depth(), tree.get_n_leaves()
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "confidence_factor": [Interval(Real, 0, 0.5, closed="right")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_error_share": [None, Interval(Real, 0, 1, closed="both")],
        "categorical_features": [None, "array-like"],
        "pruned": ["boolean"],
        "subtree_raising": ["boolean"],
        "collapse": ["boolean"],
        "mdl_correction": ["boolean"],
        "value_gap": [Interval(Real, 0, None, closed="left")],
        "laplace": ["boolean"],
    }

    classes_: NDArray[Any]
    n_features_in_: int
    categories_: list[FloatArray | None]
    tree_: CompiledTree

    def __init__(
        self,
        *,
        confidence_factor: float = 0.25,
        min_samples_leaf: int = 2,
        min_error_share: float | None = None,
        categorical_features: ArrayLike | None = None,
        pruned: bool = True,
        subtree_raising: bool = True,
        collapse: bool = True,
        mdl_correction: bool = True,
        value_gap: float = 1e-5,
        laplace: bool = False,
    ) -> None:
        self.confidence_factor = confidence_factor
        self.min_samples_leaf = min_samples_leaf
        self.min_error_share = min_error_share
        self.categorical_features = categorical_features
        self.pruned = pruned
        self.subtree_raising = subtree_raising
        self.collapse = collapse
        self.mdl_correction = mdl_correction
        self.value_gap = value_gap
        self.laplace = laplace

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training examples; NaN is an unknown value.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each example; examples of weight zero are left out.
        """
        data, examples = self._training_data(X, y, sample_weight)
        root = grow_tree(data, examples, self._growth_rule(self.min_error_share))
        return self._finish(root, data)

    def fit_levels(
        self,
        X: ArrayLike,
        y: ArrayLike,
        levels: Iterable[float | None],
        sample_weight: ArrayLike | None = None,
    ) -> list[C45Classifier]:
        """Fit one classifier for each pre-pruning share, growing the tree only once.

        Each result is identical to a separate :meth:`fit` with that `min_error_share`:
        the tree grown without the rule is cut where the rule would have stopped it,
        and only then collapsed and pruned.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        levels : iterable of float or None
            Values of `min_error_share`; the one this object has is not used.

        Returns
        -------
        list of C45Classifier
            Fitted classifiers in the order of `levels`. This object stays unfitted.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> trees = C45Classifier().fit_levels(X, y, [None, 0.05, 0.1])
        >>> [tree.get_n_leaves() for tree in trees]
        [5, 5, 3]
        """
        common = clone(self)
        data, examples = common._training_data(X, y, sample_weight)
        grown = grow_tree(data, examples, common._growth_rule(None))
        fitted = []
        for level in levels:
            model = copy.copy(common).set_params(min_error_share=level)
            model._validate_params()
            fitted.append(model._finish(cut_at(grown, level), data))
        return fitted

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each example, the first in a tie."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.maximum(clear_maximum(probabilities), 0)]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the class shares at the leaves that an example reaches.

        Columns are in the order of `classes_`; NaN is an unknown value, as in training.
        """
        checked = check_samples(self, X, ensure_all_finite="allow-nan")
        return self.tree_.predict(encode(checked, self.categories_), self.laplace)

    def get_depth(self) -> int:
        """Return the number of tests on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def export_text(
        self, *, feature_names: Sequence[str] | None = None, decimals: int = 6
    ) -> str:
        """Return the tree as indented text, one test per line.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            Names to use; by default those seen in training, or ``x0, x1, …``.
        decimals : int, default=6
            Digits after the point of thresholds.

        Returns
        -------
        str
            A leaf ends its line with ``: class (examples/errors)``, weights of the
            training examples.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, feature_names)
        labels = [str(label) for label in self.classes_]
        return tree_text(self.tree_, names, labels, self.categories_, decimals)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _growth_rule(self, min_error_share: float | None) -> GrowthRule:
        return GrowthRule(
            min_weight=float(self.min_samples_leaf),
            mdl_correction=self.mdl_correction,
            value_gap=float(self.value_gap),
            min_error_share=min_error_share,
        )

    def _training_data(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[TrainingData, Examples]:
        """Check the parameters and the data, and set what only depends on them."""
        checked, labels = check_training(self, X, y, ensure_all_finite="allow-nan")
        weights = _check_sample_weight(
            sample_weight, checked, dtype=np.float64, ensure_non_negative=True
        )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        rows = np.flatnonzero(weights > 0)
        kept = checked[rows]
        self.categories_ = find_categories(kept, self.categorical_features)
        n_categories = [0 if v is None else v.size for v in self.categories_]
        data = TrainingData(
            columns=np.ascontiguousarray(encode(kept, self.categories_).T),
            classes=codes[rows].astype(np.min_scalar_type(self.classes_.size)),
            n_classes=self.classes_.size,
            n_categories=np.array(n_categories, dtype=np.intp),
            n_examples=float(weights.sum()),
        )
        return data, Examples(np.arange(rows.size), weights[rows])

    def _finish(self, root: C45Node, data: TrainingData) -> Self:
        """Collapse, prune and store a grown tree."""
        if self.collapse:
            collapse(root)
        if self.pruned:
            pruning = ErrorBasedPruning(
                data, self.confidence_factor, self.subtree_raising
            )
            pruning.prune(root)
        self.tree_ = compile_tree(root)
        return self


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Grow one tree; it answers every pre-pruning share."""
    answer = GridAnswer(len(candidates), len(X_test))
    for others, numbers in group_all_but(candidates, "min_error_share").items():
        shares = [candidates[number]["min_error_share"] for number in numbers]
        trees = C45Classifier(**dict(others)).fit_levels(X_train, y_train, shares)
        for number, tree in zip(numbers, trees, strict=True):
            answer.labels[number] = tree.predict(X_test)
    return answer.finished()


def _method(name: str, title: str, shares: tuple[float, ...]) -> Method:
    fixed: dict[str, Any] = {} if shares else {"min_error_share": None}
    return Method(
        name=name,
        title=title,
        family="c45",
        citation="J. R. Quinlan: C4.5: Programs for Machine Learning. Morgan Kaufmann,"
        " 1993.",
        build=lambda params, seed: C45Classifier(**params),
        grid={"min_error_share": shares} if shares else {},
        # A gap of 0, unlike the 1e-5 built into C4.5, lets small numbers be told apart.
        defaults={
            **fixed,
            "confidence_factor": 0.25,
            "min_samples_leaf": 2,
            "value_gap": 0.0,
            "categorical_features": None,
        },
        column="C4.5" if shares else None,
        scale_invariant=True,
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=lambda params: (-(params["min_error_share"] or 0.0),),
    )


METHODS = (
    _method("c45", "C4.5, pre-pruned", (0.05, 0.06, 0.07, 0.08, 0.09, 0.10)),
    _method("c45-plain", "C4.5", ()),
)
