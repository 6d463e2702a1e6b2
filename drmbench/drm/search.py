"""Choosing α, β and the kernel by exact leave-one-out or any cross-validation."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from drmbench.drm.base_classifier import SolveTrace
from drmbench.drm.classifier import DRMClassifier
from drmbench.drm.decision import (
    NearestClassMixin,
    check_defined,
    decision_values,
    nearest_class,
)
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.grid import Candidate
from drmbench.drm.kernels import (
    DECADES,
    GAMMA_KERNELS,
    KERNEL_NAMES,
    PAPER_DEGREES,
    PAPER_GAMMAS,
    Kernel,
    symmetric_part,
)
from drmbench.drm.outcomes import SplitSamples, outcomes, tuned_outcomes
from drmbench.drm.partition import Array, check_samples, check_two_classes
from drmbench.drm.scoring import LabelScore, Scorer, Scoring
from drmbench.drm.search_table import CandidateOutcome, parameters, results_table
from drmbench.drm.system import check_weights
from drmbench.drm.weights import ClassWeight, check_sample_weight, training_weights
from drmbench.metrics import best_of

#: A kernel's name, or a function that computes its matrix.
KernelChoice = str | Callable[[Any, Any], Any]


class DRMClassifierCV(NearestClassMixin, ClassifierMixin, BaseEstimator):
    """Discriminative Ridge Machine that chooses its parameters itself.

    With ``cv="loo"`` every point of the grid is scored by its exact leave-one-out
    predictions, at the cost of about three factorisations instead of n.

    Parameters
    ----------
    alphas, betas : sequence of float, default=(0.001, …, 1000)
        The weights to try; the defaults are the paper's.
    kernels : sequence of str and callables, or one of them, default=("rbf",)
        Kernels to try, as in :class:`DRMClassifier`: any name of scikit-learn's
        pairwise kernels, functions ``kernel(X, Y)``, or "precomputed" alone.
    gammas : sequence of float, default=1/(2σ²) for σ = 0.001, …, 1000
        Values of gamma for the rbf, laplacian, sigmoid and chi2 kernels; positive.
    degrees : sequence of float, default=(2, 3, 4, 5, 8, 10)
        Degrees of the polynomial kernel, whose gamma is 1. The kernels "linear",
        "cosine" and "additive_chi2" and functions have no parameter to search.
    coef0 : float, default=1.0
        Constant of the polynomial and the sigmoid kernel.
    scoring : str or callable, default="accuracy"
        What is maximised: "gmean", a name of ``sklearn.metrics.get_scorer_names()``, a
        scorer ``scorer(estimator, X, y)``, which may ask for predictions, decision
        values and probabilities, or a function ``score(y_true, y_pred)``. Callables are
        told apart by their arguments: two that are required make a function of labels.
    cv : "loo", int, splitter or splits, default="loo"
        Leave-one-out scores its n answers together; other cross-validation averages
        the scores of the splits.
    tie : {"regularised", "first"}, default="regularised"
        Which of equally good candidates is taken: the one with the larger β, then the
        larger α, then the simpler kernel (linear, lower degree, wider rbf, then cosine,
        additive_chi2, laplacian, chi2, sigmoid, each with the smaller gamma, and last
        functions); or the first in grid order, α outermost, then the kernel parameter,
        then β, each as given, which is what the paper did.
    threshold : None or "tuned", default=None
        "tuned", for two classes: each candidate is judged at the threshold t that is
        best for it, and :meth:`predict` names class 1 where δ₀ - δ₁ > t. `scoring` must
        then judge predictions. None is t = 0, the smaller δ.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`DRMClassifier`, for every fit. Leave-one-out keeps the weights of
        the other samples as they are.
    refit : bool, default=True
        Whether to fit the chosen candidate to all samples. Without it there is no
        `best_estimator_`, and nothing can be predicted.
    n_jobs : int or None, default=None
        Threads over kernels.

    Attributes
    ----------
    alpha_, beta_ : float
        The chosen weights.
    kernel_ : Kernel or None
        The chosen kernel; None if precomputed.
    threshold_ : float or None
        The chosen candidate's threshold t; None if it is not tuned.
    best_params_ : dict
        The chosen candidate as parameters of :class:`DRMClassifier`.
    best_score_ : float
        Its score. With a tuned threshold it flatters: the same samples chose t.
    best_index_ : int
        Its row in ``cv_results_``.
    best_estimator_ : DRMClassifier
        Fitted to all samples with the chosen parameters; only with ``refit=True``.
    refit_time_ : float
        Seconds that took.
    loo_predictions_ : ndarray of shape (n,)
        Leave-one-out predictions of the chosen candidate; only with ``cv="loo"``.
    cv_results_ : dict of arrays and lists
        One row per candidate in grid order, in the columns of scikit-learn's
        ``GridSearchCV``; ``pandas.DataFrame(cv_results_)`` reads it. Time that
        candidates share is divided among them, and the fit time contains that of the
        dissimilarities. ``alpha``, ``beta``, ``kernel``, ``gamma`` and ``degree`` are
        the parameters once more, of a function its name. ``status`` is "ok" or why the
        candidate could not be scored, and ``best_threshold`` its t, if tuned.
    scorer_ : callable
        The scorer ``scorer(estimator, X, y)``.
    n_splits_ : int
        Number of splits; 1 for leave-one-out, whose answers are scored together.
    classes_ : ndarray of shape (g,)
        The class labels, sorted.

    See Also
    --------
    DRMClassifier : The estimator being tuned.

    Notes
    -----
    For a scorer that asks for probabilities the left-out δ of all samples make one map
    to probabilities, that of ``cv="loo"``; other cross-validation finds a map for every
    candidate and split, from leave-one-out of its training samples.

    A tuned threshold changes :meth:`predict` alone, as in scikit-learn's
    ``FixedThresholdClassifier``: decision values and probabilities stay what they are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = DRMClassifierCV(alphas=[0.01, 1], betas=[0.01, 1], gammas=[0.1, 1])
    >>> round(search.fit(X, y).best_score_, 2)
    0.97
    >>> search.alpha_, search.beta_, search.kernel_.gamma
    (0.01, 0.01, 0.1)
    """

    def __init__(
        self,
        *,
        alphas: Sequence[float] = DECADES,
        betas: Sequence[float] = DECADES,
        kernels: Sequence[KernelChoice] | KernelChoice = ("rbf",),
        gammas: Sequence[float] = PAPER_GAMMAS,
        degrees: Sequence[float] = PAPER_DEGREES,
        coef0: float = 1.0,
        scoring: str | Scorer | LabelScore = "accuracy",
        cv: Any = "loo",
        tie: str = "regularised",
        threshold: str | None = None,
        class_weight: ClassWeight = None,
        refit: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.betas = betas
        self.kernels = kernels
        self.gammas = gammas
        self.degrees = degrees
        self.coef0 = coef0
        self.scoring = scoring
        self.cv = cv
        self.tie = tie
        self.threshold = threshold
        self.class_weight = class_weight
        self.refit = refit
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed()
        return tags

    def _precomputed(self) -> bool:
        return self.kernels in ("precomputed", ("precomputed",), ["precomputed"])

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score every candidate and refit the best.

        Parameters
        ----------
        X : array-like of shape (n, p), or (n, n) for a precomputed kernel
            Training samples.
        y : array-like of shape (n,)
            Class labels of any kind.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples in every fit, as in :class:`DRMClassifier`, and in
            the scores, if `scoring` takes any; class weights do not count there. It is
            what scikit-learn's searches do.

        Returns
        -------
        self
        """
        self._check_settings()
        scoring = Scoring.of(self.scoring)
        candidates = self._candidates()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        given = check_sample_weight(sample_weight, len(y))
        weights = training_weights(y, self.class_weight, given)
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        check_two_classes(self.classes_)
        if self._precomputed():
            X = symmetric_part(X)
        for name in ("best_estimator_", "refit_time_", "loo_predictions_"):
            self.__dict__.pop(name, None)  # of an earlier fit with other settings
        counted = self._counted(scoring, given)
        splits = self._splits(X, y, given, counted)
        self.scorer_, self.n_splits_ = scoring.scorer, len(splits)
        if self.threshold is None:
            found = outcomes(splits, candidates, scoring, self.n_jobs)
        else:
            self._check_tunable(scoring, splits[0])
            found = tuned_outcomes(splits, candidates, scoring, self.n_jobs)
        self._choose(candidates, found)
        if self.refit:
            self._refit(X, y, given)
        return self

    def _check_settings(self) -> None:
        if self.tie not in ("regularised", "first"):
            raise ValueError(f"tie must be 'regularised' or 'first', got {self.tie!r}")
        if self.threshold not in (None, "tuned"):
            raise ValueError(
                f"threshold must be None or 'tuned', got {self.threshold!r}"
            )
        if not isinstance(self.refit, (bool, np.bool_)):
            raise ValueError(f"refit must be True or False, got {self.refit!r}")

    def _candidates(self) -> list[Candidate]:
        candidates = [
            Candidate(float(alpha), float(beta), kernel)
            for alpha, kernel, beta in itertools.product(
                self.alphas, self._kernel_grid(), self.betas
            )
        ]
        for candidate in candidates:
            check_weights(candidate.alpha, candidate.beta)
        return candidates

    def _check_tunable(self, scoring: Scoring, split: SplitSamples) -> None:
        """Refuse to tune where there is nothing to tune."""
        if self.classes_.size != 2:
            raise ValueError(
                "threshold='tuned' is for two classes; y has"
                f" {self.classes_.size} classes"
            )
        try:
            split.label_score(scoring, np.resize(self.classes_, split.y_test.shape))
        except AttributeError as error:
            raise ValueError(
                "threshold='tuned' needs a scoring of predicted labels, such as 'gmean'"
                f" or 'f1'; {self.scoring!r} asks for more"
            ) from error

    def _refit(self, X: Array, y: NDArray[Any], sample_weight: Array | None) -> None:
        start = time.perf_counter()
        settings = {**self.best_params_, "class_weight": self.class_weight}
        model = DRMClassifier(coef0=self.coef0, **settings)
        self.best_estimator_: DRMClassifier = model.fit(X, y, sample_weight)
        self.refit_time_ = time.perf_counter() - start

    def _leaves_one_out(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "loo"

    def _kernel_grid(self) -> list[Kernel | None]:
        if self._precomputed():
            return [None]
        choices: Any = self.kernels
        if isinstance(choices, str) or callable(choices):
            choices = [choices]
        grid: list[Kernel | None] = []
        for choice in choices:
            if callable(choice):
                grid.append(Kernel.of_callable(choice))
            elif choice in GAMMA_KERNELS:
                coef0 = self.coef0 if choice == "sigmoid" else 1.0
                grid += [
                    Kernel(choice, gamma=float(gamma), coef0=coef0)
                    for gamma in self.gammas
                ]
            elif choice in ("poly", "polynomial"):
                grid += [
                    Kernel(choice, degree=degree, coef0=self.coef0)
                    for degree in self.degrees
                ]
            elif choice in KERNEL_NAMES:
                grid.append(Kernel(choice))
            else:
                raise ValueError(
                    f"kernels must be callables or of {sorted(KERNEL_NAMES)}, or"
                    f" 'precomputed' alone; got {choice!r}"
                )
        if not grid or not len(self.alphas) or not len(self.betas):
            raise ValueError("the grid is empty: give alphas, betas and a kernel")
        return grid

    def _counted(self, scoring: Scoring, weights: Array | None) -> Array | None:
        """Return how much samples count in scores."""
        if weights is None or scoring.takes_weights:
            return weights
        warnings.warn(
            f"scoring={self.scoring!r} takes no sample_weight: the weights are in the"
            " fits, but every sample counts once in the scores",
            stacklevel=3,
        )
        return None

    def _splits(
        self,
        X: Array,
        y: NDArray[Any],
        sample_weight: Array | None,
        counted: Array | None,
    ) -> list[SplitSamples]:
        def made(train: Any, test: NDArray[np.intp]) -> SplitSamples:
            rows = test if train is None else train
            given = None if sample_weight is None else sample_weight[rows]
            weights = training_weights(y[rows], self.class_weight, given)
            judged = None if counted is None else counted[test]
            return SplitSamples(X, y, self._precomputed(), train, test, weights, judged)

        if self._leaves_one_out():
            return [made(None, np.arange(len(y)))]
        splitter = check_cv(self.cv, y, classifier=True)
        return [made(train, test) for train, test in splitter.split(X, y)]

    def _choose(
        self, candidates: list[Candidate], found: list[CandidateOutcome]
    ) -> None:
        means = np.array([outcome.mean for outcome in found])
        if np.isnan(means).all():
            raise IllConditionedError(
                "no candidate could be scored; the first failed because"
                f" {found[0].status}"
            )
        preference = None
        if self.tie == "regularised":
            preference = [candidate.regularisation() for candidate in candidates]
        self.best_index_ = best_of(means, preference)
        best, outcome = candidates[self.best_index_], found[self.best_index_]
        self.alpha_, self.beta_, self.kernel_ = best.alpha, best.beta, best.kernel
        self.threshold_ = outcome.threshold
        self.best_params_ = parameters(best)
        self.best_score_ = float(means[self.best_index_])
        if self._leaves_one_out():
            self.loo_predictions_ = outcome.labels
        self.cv_results_ = results_table(candidates, found)

    def _refitted(self) -> DRMClassifier:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"this {type(self).__name__} was fitted with refit=False: it has no"
                " estimator to predict with; fit one with best_params_"
            )
        return self.best_estimator_

    def dissimilarities(self, X: Any) -> Array:
        """Return the chosen model's δ, (m, g)."""
        model = self._refitted()
        return model.dissimilarities(check_samples(self, X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the smallest dissimilarity, or that the threshold says.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Test samples.

        Returns
        -------
        ndarray of shape (m,)
        """
        delta = self.dissimilarities(X)
        if self.threshold_ is None:
            return nearest_class(delta, self.classes_)
        check_defined(delta)
        ones = decision_values(delta) > self.threshold_
        predicted: NDArray[Any] = self.classes_[ones.astype(np.intp)]
        return predicted

    def predict_proba(self, X: Any) -> Array:
        """Return the chosen model's probabilities of the classes, (m, g).

        See :meth:`DRMClassifier.predict_proba`. With a tuned threshold the predicted
        class need not be the most probable one.
        """
        model = self._refitted()
        return model.predict_proba(check_samples(self, X))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes, (m, g)."""
        model = self._refitted()
        return model.predict_log_proba(check_samples(self, X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of predictions for X by `scoring`, higher is better.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Test samples.
        y : array-like of shape (m,)
            Their labels.
        sample_weight : array-like of shape (m,), default=None
            Weights of the samples, if the scorer takes any.

        Returns
        -------
        float
        """
        self._refitted()
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self, X, y, **options))

    def representation(self, X: Any) -> Array:
        """Return the chosen model's w, (m, n)."""
        model = self._refitted()
        return model.representation(check_samples(self, X))

    def solve_trace(self, x: Any) -> SolveTrace:
        """Solve for one sample with the chosen model and report how it went."""
        return self._refitted().solve_trace(x)
