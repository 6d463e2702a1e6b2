"""A classifier trained on over-sampled data, also where the minority is tiny."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    _fit_context,
    clone,
)
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from drmbench.methods._oversample import (
    SAMPLERS,
    Oversampling,
    TooFewMinoritySamplesError,
    oversample,
)

__all__ = [
    "SAMPLERS",
    "OversampledClassifier",
    "Oversampling",
    "TooFewMinoritySamplesError",
    "oversample",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _classifier_has(method: str) -> Callable[[_Function], _Function]:
    """Tell scikit-learn to offer a method where the inner classifier has it."""

    def check(wrapper: OversampledClassifier) -> bool:
        return hasattr(getattr(wrapper, "classifier_", wrapper.classifier), method)

    decorator: Callable[[_Function], _Function] = available_if(check)
    return decorator


class OversampledClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Over-sample the training data, then train a classifier on them.

    Test samples are never touched. The number of neighbours is lowered where the
    smallest class demands it, and that is recorded.

    Parameters
    ----------
    sampler : {"smote", "borderline-smote", "safe-level-smote"}
        How to over-sample, see :func:`oversample`.
    classifier : estimator
        The classifier to train; it is cloned.
    k_neighbors : int, default=5
        Neighbours to interpolate with.
    m_neighbors : int, default=10
        Neighbours that tell Borderline-SMOTE which samples are in danger.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampler, and of the classifier where its own is None.

    Attributes
    ----------
    classifier_ : estimator
        The trained classifier.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    k_neighbors_ : int
        The number of neighbours used.
    clamped_ : bool
        Whether it is smaller than ``k_neighbors``.
    notes_ : tuple of str
        What was done otherwise than asked, in words; empty if nothing.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Notes
    -----
    A selection that tries many classifiers on one training part over-samples it once
    with :meth:`resample` and passes the result to :meth:`fit_resampled` of each.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [1.0], [1.1], [1.2]])
    >>> y = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> model = OversampledClassifier(
    ...     "safe-level-smote", KNeighborsClassifier(), random_state=0
    ... )
    >>> model.fit(X, y).predict([[0.25], [0.9]])
    array([0, 1])
    >>> model.k_neighbors_, model.clamped_
    (2, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sampler": [StrOptions(set(SAMPLERS))],
        "classifier": [HasMethods(["fit", "predict"])],
        "k_neighbors": [Interval(Integral, 1, None, closed="left")],
        "m_neighbors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        sampler: str,
        classifier: Any,
        *,
        k_neighbors: int = 5,
        m_neighbors: int = 10,
        random_state: Any = None,
    ) -> None:
        self.sampler = sampler
        self.classifier = classifier
        self.k_neighbors = k_neighbors
        self.m_neighbors = m_neighbors
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike) -> OversampledClassifier:
        """Over-sample the training data and train the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        OversampledClassifier
            The fitted estimator.

        Raises
        ------
        TooFewMinoritySamplesError
            If a class to over-sample has a single sample.
        """
        return self.fit_resampled(self.resample(X, y))

    def resample(self, X: ArrayLike, y: ArrayLike) -> Oversampling:
        """Over-sample training data as ``fit`` would.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        Oversampling
            The over-sampled data.

        Raises
        ------
        TooFewMinoritySamplesError
            If a class to over-sample has a single sample.
        """
        samples, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        return oversample(
            samples,
            labels,
            self.sampler,
            k_neighbors=self.k_neighbors,
            m_neighbors=self.m_neighbors,
            random_state=self.random_state,
        )

    def fit_resampled(self, resampled: Oversampling) -> OversampledClassifier:
        """Train the classifier on data that are over-sampled already.

        Parameters
        ----------
        resampled : Oversampling
            What :meth:`resample` or :func:`oversample` returned.

        Returns
        -------
        OversampledClassifier
            The fitted estimator.
        """
        self.classifier_ = self._seeded_classifier().fit(resampled.X, resampled.y)
        self.classes_ = np.unique(resampled.y)
        self.n_features_in_ = resampled.X.shape[1]
        self.k_neighbors_ = resampled.k_neighbors
        self.clamped_ = resampled.clamped
        self.notes_ = (resampled.note,) if resampled.note else ()
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return np.asarray(self._fitted().predict(self._checked(X)))

    @_classifier_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return class probabilities, where the classifier has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return np.asarray(self._fitted().predict_proba(self._checked(X)))

    @_classifier_has("decision_function")
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return decision values, where the classifier has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The classifier's decision values.
        """
        return np.asarray(self._fitted().decision_function(self._checked(X)))

    def _seeded_classifier(self) -> Any:
        """Clone the classifier; give it the seed wherever it has none of its own."""
        classifier = clone(self.classifier)
        unseeded = {
            name: self.random_state
            for name, value in classifier.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        return classifier.set_params(**unseeded)

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.classifier_

    def _checked(self, X: ArrayLike) -> NDArray[np.float64]:
        samples: NDArray[np.float64] = validate_data(
            self, X, reset=False, dtype=np.float64
        )
        return samples
