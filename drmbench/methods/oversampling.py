"""Over-sampling before a classifier: the samplers, the classifier, the registry.

Only training data are over-sampled, before anything else is done with them. In
leave-one-out a sample must not have shaped the synthetic ones, so it is left out first:
that takes one over-sampling for each sample. The candidates of a grid share them; where
it still takes too long, an experiment selects by folds.

The paper reports, for SVM and KNN, the better of two kernels or distances on the test
data, in one column. Here each is a method of its own, and they share the column.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from imblearn.over_sampling import SMOTE, BorderlineSMOTE
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from drmbench.drm.partition import check_samples, check_training
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    GridPredictor,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    Params,
    group_candidates,
    refit_left_out,
)
from drmbench.methods.registry import get_method
from drmbench.methods.safe_level_smote import NothingGeneratedWarning, SafeLevelSMOTE


@dataclass(frozen=True)
class Sampler:
    """One way to over-sample."""

    #: Its name in the paper, and where it comes from
    title: str
    citation: str
    #: ``make(k_neighbors, m_neighbors, seed)`` returns the sampler
    make: Callable[[int, int, Any], Any]
    unchanged: str = ""  #: Why it may leave a class as it was; empty if it never does


SAMPLERS: Mapping[str, Sampler] = {
    "smote": Sampler(
        "SMOTE",
        "N. V. Chawla, K. W. Bowyer, L. O. Hall, W. P. Kegelmeyer: SMOTE. JAIR"
        " 16:321-357, 2002.",
        lambda k, m, seed: SMOTE(k_neighbors=k, random_state=seed),
    ),
    "borderline-smote": Sampler(
        "BorSMOTE",
        "H. Han, W.-Y. Wang, B.-H. Mao: Borderline-SMOTE. ICIC, LNCS 3644:878-887,"
        " 2005.",
        lambda k, m, seed: BorderlineSMOTE(
            k_neighbors=k, m_neighbors=m, random_state=seed
        ),
        unchanged="none of them is in danger",
    ),
    "safe-level-smote": Sampler(
        "SL-SMOTE",
        "C. Bunkhumpornpat, K. Sinapiromsaran, C. Lursinsap: Safe-Level-SMOTE. PAKDD,"
        " LNCS 5476:475-482, 2009.",
        lambda k, m, seed: SafeLevelSMOTE(k_neighbors=k, random_state=seed),
        unchanged="no pair of them is safe",
    ),
}


class TooFewMinoritySamplesError(MethodFailedError):
    """A class to over-sample has a single sample, so there are no neighbours in it."""


@dataclass(frozen=True, eq=False)
class Oversampling:
    """Over-sampled training data and what had to be adapted."""

    X: NDArray[np.float64]  #: The samples, the original ones first
    y: NDArray[Any]  #: Their classes
    k_neighbors: int  #: The number of neighbours used
    clamped: bool  #: Whether it is smaller than asked for
    note: str  #: What was done differently from what was asked, in words; or empty


def oversample(
    X: NDArray[np.float64],
    y: NDArray[Any],
    sampler: str,
    *,
    k_neighbors: int = 5,
    m_neighbors: int = 10,
    random_state: Any = None,
) -> Oversampling:
    """Over-sample every class to the size of the largest.

    `k_neighbors`, to interpolate with, is lowered to one less than the smallest class
    that is over-sampled has samples; `m_neighbors`, which show Borderline-SMOTE (of its
    first kind) what is in danger, to one less than there are samples. Data whose
    classes are all of one size stay as they are.

    Raises
    ------
    TooFewMinoritySamplesError
        If a class to over-sample has a single sample.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [1.0], [1.1], [1.2]])
    >>> y = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> result = oversample(X, y, "smote", random_state=0)
    >>> len(result.X), result.k_neighbors
    (10, 2)
    >>> result.note
    'k_neighbors 2 instead of 5: class 1 has 3 samples'
    """
    if sampler not in SAMPLERS:
        valid = ", ".join(SAMPLERS)
        raise ValueError(f"there is no sampler {sampler!r}; valid: {valid}")
    classes, counts = np.unique(y, return_counts=True)
    sizes = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    short = {name: size for name, size in sizes.items() if size < counts.max()}
    if not short:
        note = "nothing generated: all classes have the same size"
        return Oversampling(X, y, k_neighbors, clamped=False, note=note)
    label, size = min(short.items(), key=lambda item: item[1])
    if size == 1:
        raise TooFewMinoritySamplesError(
            f"class {label!r} has 1 sample; {sampler} needs at least 2 to interpolate"
        )
    k_used, m_used = min(k_neighbors, size - 1), min(m_neighbors, len(y) - 1)
    with warnings.catch_warnings():
        # The note says so.
        warnings.simplefilter("ignore", NothingGeneratedWarning)
        algorithm = SAMPLERS[sampler].make(k_used, m_used, random_state)
        new_X, new_y = algorithm.fit_resample(X, y)
    notes = []
    if k_used < k_neighbors:
        why = f"class {label!r} has {size} samples"
        notes.append(f"k_neighbors {k_used} instead of {k_neighbors}: {why}")
    if m_used < m_neighbors and sampler == "borderline-smote":
        why = f"there are {len(y)} samples"
        notes.append(f"m_neighbors {m_used} instead of {m_neighbors}: {why}")
    notes += [
        f"class {name!r} left at {count} samples: {SAMPLERS[sampler].unchanged}"
        for name, count in short.items()
        if np.sum(new_y == name) == count
    ]
    return Oversampling(new_X, new_y, k_used, k_used < k_neighbors, "; ".join(notes))


def _classifier_has(method: str) -> Callable[[Any], bool]:
    """Return a test for scikit-learn: whether the inner classifier has a method."""
    return lambda wrapper: hasattr(
        getattr(wrapper, "classifier_", wrapper.classifier), method
    )


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
        Neighbours that show Borderline-SMOTE which samples are in danger.
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
        What was done differently from what was asked, in words; or empty.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Notes
    -----
    imbalanced-learn's ``Pipeline`` does not serve here: its samplers refuse a minority
    that has no more samples than neighbours, and nothing would record the change.

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

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Over-sample the training data and train the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.

        Raises
        ------
        TooFewMinoritySamplesError
            If a class to over-sample has a single sample.
        """
        samples, labels = check_training(self, X, y)
        new = oversample(
            samples,
            labels,
            self.sampler,
            k_neighbors=self.k_neighbors,
            m_neighbors=self.m_neighbors,
            random_state=self.random_state,
        )
        classifier = clone(self.classifier)
        unseeded = {
            name: self.random_state
            for name, value in classifier.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        self.classifier_ = classifier.set_params(**unseeded).fit(new.X, new.y)
        self.classes_ = np.unique(new.y)
        self.k_neighbors_ = new.k_neighbors
        self.clamped_ = new.clamped
        self.notes_ = (new.note,) if new.note else ()
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each sample."""
        return self._ask("predict", X)

    @available_if(_classifier_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return class probabilities, where the classifier has them."""
        return self._ask("predict_proba", X)

    @available_if(_classifier_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return decision values, where the classifier has them."""
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: ArrayLike) -> NDArray[Any]:
        samples = check_samples(self, X)
        return np.asarray(getattr(self.classifier_, method)(samples))


#: The methods that are combined with each sampler, by their name in the combination:
#: a family's first kernel or distance has the family's name alone.
_CLASSIFIERS = {
    "svm": get_method("svm-rbf"),
    "svm-poly": get_method("svm-poly"),
    "knn": get_method("knn-euclidean"),
    "knn-cosine": get_method("knn-cosine"),
    "rf": get_method("rf"),
    "drm": get_method("drm-rbf"),
    "drm-poly": get_method("drm-poly"),
}

#: The sampler's parameters, also of those that do not need all of them.
_SAMPLER_DEFAULTS = {"k_neighbors": 5, "m_neighbors": 10}


def _parts(params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of the sampler, and those of the classifier."""
    own = {name: params[name] for name in _SAMPLER_DEFAULTS}
    return own, {name: v for name, v in params.items() if name not in own}


def _grid_predictor(sampler: str, method: Method) -> GridPredictor:
    """Over-sample once and leave the grid to the classifier's own predictor."""
    predict = method.predict_grid
    assert predict is not None, f"{method.name} has a grid predictor"

    def predict_grid(
        X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X_test))
        groups = group_candidates(candidates, lambda c: tuple(_parts(c)[0].items()))
        for own, numbers in groups.items():
            with answer.attempt(numbers):
                new = oversample(
                    X_train, y_train, sampler, random_state=seed, **dict(own)
                )
                group = [_parts(candidates[number])[1] for number in numbers]
                part = predict(new.X, new.y, X_test, group, seed=seed)
                answer.labels[numbers] = part.labels
                answer.failures |= {numbers[i]: r for i, r in part.failures.items()}
        return answer.finished()

    return predict_grid


def _method(sampler: str, classifier: str) -> Method:
    method, title = _CLASSIFIERS[classifier], SAMPLERS[sampler].title
    predict_grid = _grid_predictor(sampler, method)

    def build(params: Params, seed: int) -> OversampledClassifier:
        own, others = _parts(params)
        inner = method.build(others, seed)
        return OversampledClassifier(sampler, inner, random_state=seed, **own)

    return Method(
        name=f"{sampler}-{classifier}",
        title=f"{title} + {method.title}",
        family=f"oversampled-{method.family}",
        citation=f"{SAMPLERS[sampler].citation} With: {method.citation}",
        build=build,
        grid=method.grid,
        defaults={**method.defaults, **_SAMPLER_DEFAULTS},
        column=None if method.family == "drm" else f"{title}+{method.family.upper()}",
        stochastic=True,
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=method.prefer,
    )


METHODS = tuple(_method(*names) for names in product(SAMPLERS, _CLASSIFIERS))
