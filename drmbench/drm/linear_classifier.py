"""The linear Discriminative Ridge Machine: exact, streaming, independent of n."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from drmbench.drm.dask_sums import (
    LabelledSums,
    check_labels,
    class_sums,
    columns_of,
    is_dask,
    lazy_classes,
    lazy_dissimilarities,
)
from drmbench.drm.decision import NearestClassMixin
from drmbench.drm.linear import ClassSums, LinearModel
from drmbench.drm.partition import Array, check_two_classes
from drmbench.drm.weights import ClassWeight, check_sample_weight, class_factors


@dataclass(frozen=True, eq=False)
class _LazyModel:
    """The O(gp³) model of some sums, built only when a prediction asks for it."""

    sums: ClassSums
    factors: Array
    alpha: float

    @cached_property
    def model(self) -> LinearModel:
        return LinearModel.of(self.sums.scaled(self.factors), self.alpha)


class LinearDRMClassifier(NearestClassMixin, ClassifierMixin, BaseEstimator):
    """Linear Discriminative Ridge Machine, solved exactly in O(np²).

    The model is one p × p sum and one mass per class, so it can be fitted in pieces
    (:meth:`partial_fit`) or to a dask collection, block by block; it needs no training
    sample afterwards, and predicts in O(gp²) per sample whatever n was. It equals
    ``DRMClassifier(kernel="linear")``.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight α ≥ 0 of the within-class scatter.
    beta : float, default=1.0
        Ridge β > 0.
    class_weight : dict, "balanced" or None, default=None
        What the weights of a class's samples are multiplied by: numbers ≥ 0 by class
        label (1 for those not named), or "balanced" for factors that give all classes
        the same sum of weights, ``Σω / (g Σ_c ω)``. It is applied to the sums, so that
        "balanced" is exact in :meth:`partial_fit` as well: after every call it stands
        for the samples seen so far. The weight 0 leaves a class out.

    Attributes
    ----------
    classes_ : ndarray of shape (g,)
        The class labels, sorted.
    class_count_ : ndarray of shape (g,)
        Training samples of each class, not counting those of weight 0.
    class_mass_ : ndarray of shape (g,)
        Sum of the sample weights of each class, before class weights; the counts if no
        sample weights were given.
    sums_ : ndarray of shape (g, p, p)
        ``Σ ω x xᵀ/(α‖x‖² + β)`` over each class, with sample weights ω and before class
        weights.
    class_weight_ : ndarray of shape (g,)
        What `class_weight` comes to: the model has the sums and masses times these.
    n_features_in_ : int
        Number of features p.

    See Also
    --------
    DRMClassifier : Any kernel, and the other members of the family.
    drmbench.drm.linear.LinearLeaveOneOut : Its exact leave-one-out for a grid.

    Notes
    -----
    There is no intercept, as in the paper, and δ is a quadratic form of x: x and -x
    get the same class. Centred data can therefore be hopeless; append a constant
    column, or leave data with a meaningful zero as they are.
    With more features than samples ``DRMClassifier(kernel="linear")`` is the cheaper
    choice.

    References
    ----------
    C. Peng and Q. Cheng, "Discriminative Ridge Machine: A Classifier for
    High-Dimensional Data or Imbalanced Data", IEEE Transactions on Neural Networks and
    Learning Systems 32(6), 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> X = MaxAbsScaler().fit_transform(X)
    >>> model = LinearDRMClassifier(alpha=0.1, beta=0.1)
    >>> for start in range(0, 178, 50):  # a stream of pieces
    ...     piece = slice(start, start + 50)
    ...     model = model.partial_fit(X[piece], y[piece], classes=[0, 1, 2])
    >>> model.class_count_
    array([59, 71, 48])
    >>> bool((model.predict(X) == model.fit(X, y).predict(X)).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # see Notes: blind to the sign of x
        return tags

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to all samples at once.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask dataframe of shape (n, p)
            Training samples. Those of a dask collection are summed block by block,
            wherever its scheduler computes, and are never in memory together.
        y : array-like, dask array or dask series of shape (n,)
            Class labels of any kind.
        sample_weight : array-like, dask array or dask series of shape (n,), \
                default=None
            Weights ω ≥ 0 of the samples; None is 1 for each. A whole number counts a
            sample that many times, 0 leaves it out; a class whose samples all have
            the weight 0 is not in ``classes_``.

        Returns
        -------
        self
        """
        if is_dask(X):
            validate_data(self, columns_of(X), skip_check_array=True)
            total = class_sums(X, y, self.alpha, self.beta, sample_weight)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
            check_labels(y)
            weights = check_sample_weight(sample_weight, len(y))
            total = LabelledSums.of(X, y, self.alpha, self.beta, weights)
        factors = class_factors(total.classes, total.sums.masses, self.class_weight)
        total = total.only(factors > 0)
        if not total.classes.size:
            raise ValueError("X has no samples, or all sample weights are zero")
        self._set_classes(total.classes)
        self._adopt(total.sums)
        return self

    def _set_classes(self, classes: NDArray[Any]) -> None:
        check_two_classes(classes)
        self.classes_ = classes

    @classmethod
    def from_sums(
        cls,
        classes: NDArray[Any],
        sums: ClassSums,
        *,
        alpha: float,
        beta: float,
        class_weight: ClassWeight = None,
    ) -> Self:
        """Return the model that has these sums, without any sample.

        Parameters
        ----------
        classes : ndarray of shape (g,)
            The class labels, sorted.
        sums : ClassSums
            Their sums, counts and masses, before class weights.
        alpha, beta : float
            The weights the sums were made with.
        class_weight : dict, "balanced" or None, default=None
            As in the class.

        Examples
        --------
        >>> model = LinearDRMClassifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
        >>> sums = ClassSums(model.sums_, model.class_count_, model.class_mass_)
        >>> copy = LinearDRMClassifier.from_sums(
        ...     model.classes_, sums, alpha=1.0, beta=1.0
        ... )
        >>> copy.predict([[0.1, 2.0]]).tolist()
        ['b']
        """
        model = cls(alpha=alpha, beta=beta, class_weight=class_weight)
        model.n_features_in_ = sums.G.shape[1]
        model._set_classes(np.asarray(classes))
        model._adopt(sums)
        return model

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any | None = None, sample_weight: Any = None
    ) -> Self:
        """Add samples to the model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, p)
            More training samples.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like, default=None
            All labels that will ever occur; needed on the first call. A class without
            samples so far is never predicted.
        sample_weight : array-like of shape (n,), default=None
            Weights ω ≥ 0 of these samples; None is 1 for each.

        Returns
        -------
        self
        """
        first = not hasattr(self, "sums_")
        X, y = validate_data(
            self, X, y, reset=first, dtype=np.float64, accept_sparse="csr"
        )
        check_labels(y)
        if first:
            if classes is None:
                raise ValueError("the first call of partial_fit needs classes=")
            self.classes_ = np.unique(np.asarray(classes))
            if self.classes_.size < 2:
                raise ValueError("classes= has one class only; two or more are needed")
            self._adopt(ClassSums.empty(self.classes_.size, self.n_features_in_))
        elif classes is not None and not np.array_equal(
            np.unique(classes), self.classes_
        ):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} differ from those of the first"
                f" call, {self.classes_.tolist()}"
            )
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y has labels that classes= did not announce: {unknown.tolist()};"
                f" known are {self.classes_.tolist()}"
            )
        codes = np.searchsorted(self.classes_, y)
        weights = check_sample_weight(sample_weight, len(y))
        news = ClassSums.of(
            X, codes, self.classes_.size, self.alpha, self.beta, weights
        )
        self._adopt(ClassSums(self.sums_, self.class_count_, self.class_mass_) + news)
        return self

    def _adopt(self, sums: ClassSums) -> None:
        factors = class_factors(self.classes_, sums.masses, self.class_weight)
        self.sums_, self.class_count_ = sums.G, sums.counts
        self.class_mass_, self.class_weight_ = sums.masses, factors
        self._weights_of_sums = (self.alpha, self.beta)
        self._lazy = _LazyModel(sums, factors, self.alpha)

    def _fitted_model(self) -> LinearModel:
        if (self.alpha, self.beta) != self._weights_of_sums:
            raise ValueError(
                "alpha or beta changed after fitting; the sums depend on them: fit"
                " again"
            )
        model = self._lazy.model
        if not model.seen.any():
            raise NotFittedError("all weights so far are zero: nothing to predict from")
        return model

    def dissimilarities(self, X: Any) -> Array:
        """Return δ_c of each sample from each class; the smallest is predicted.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask dataframe of shape (m, p)
            Test samples.

        Returns
        -------
        ndarray of shape (m, g), or a dask array for a dask collection
            Columns in the order of ``classes_``; ``inf`` for a class without samples.
        """
        check_is_fitted(self, "sums_")
        if is_dask(X):
            validate_data(self, columns_of(X), reset=False, skip_check_array=True)
            lazy: Array = lazy_dissimilarities(X, self._fitted_model())
            return lazy
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse="csr")
        return self._fitted_model().dissimilarities(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the smallest dissimilarity.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask dataframe of shape (m, p)
            Test samples.

        Returns
        -------
        ndarray of shape (m,), or a dask array for a dask collection
        """
        if is_dask(X):
            lazy: NDArray[Any] = lazy_classes(self.dissimilarities(X), self.classes_)
            return lazy
        return super().predict(X)
