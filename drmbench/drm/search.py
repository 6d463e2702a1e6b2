"""Choosing α, β and the kernel by exact leave-one-out or any cross-validation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from drmbench.drm.classifier import DRMClassifier, SolveTrace
from drmbench.drm.decision import NearestClassMixin
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.grid import Answer, Candidate, held_out_answers, left_out_answers
from drmbench.drm.kernels import (
    DECADES,
    GAMMA_KERNELS,
    KERNEL_NAMES,
    PAPER_DEGREES,
    PAPER_GAMMAS,
    Kernel,
    symmetric_part,
)
from drmbench.drm.partition import Array, check_samples, check_two_classes
from drmbench.drm.system import check_weights
from drmbench.metrics import (
    TIE_TOLERANCE,
    accuracy_score,
    balanced_accuracy_score,
    best_of,
    gmean_score,
)

Score = Callable[[NDArray[Any], NDArray[Any]], float]
#: A kernel's name, or a function that computes its matrix.
KernelChoice = str | Callable[[Any, Any], Any]

SCORES: dict[str, Score] = {
    "accuracy": accuracy_score,
    "gmean": gmean_score,
    "balanced_accuracy": balanced_accuracy_score,
}


@dataclass(frozen=True, eq=False)
class CandidateOutcome:
    """A candidate's scores, one per split, and its predictions, or why it failed."""

    scores: tuple[float, ...] = ()
    predictions: NDArray[Any] | None = None
    failure: str = ""


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
    scoring : {"accuracy", "gmean", "balanced_accuracy"} or callable, default="accuracy"
        A callable is ``scoring(y_true, y_pred)``, higher is better.
    cv : "loo", int or splitter, default="loo"
        Leave-one-out scores its n predictions together; other cross-validation
        averages the scores of the splits.
    tie : {"regularised", "first"}, default="regularised"
        Which of equally good candidates is taken: the one with the larger β, then the
        larger α, then the simpler kernel (linear, lower degree, wider rbf, then cosine,
        additive_chi2, laplacian, chi2, sigmoid, each with the smaller gamma, and last
        functions); or the first in grid order, α outermost, then the kernel parameter,
        then β, each as given, which is what the paper did.
    n_jobs : int or None, default=None
        Threads over kernels.

    Attributes
    ----------
    alpha_, beta_ : float
        The chosen weights.
    kernel_ : Kernel or None
        The chosen kernel; None if precomputed.
    best_score_ : float
        Its score.
    best_index_ : int
        Its row in ``cv_results_``.
    best_estimator_ : DRMClassifier
        Fitted to all samples with the chosen parameters.
    loo_predictions_ : ndarray of shape (n,)
        Leave-one-out predictions of the chosen candidate; only with ``cv="loo"``.
    cv_results_ : dict of lists
        One row per candidate in grid order; ``pandas.DataFrame(cv_results_)`` reads it.
        ``kernel`` is its name, of a function the function's; ``status`` is "ok" or why
        the candidate could not be scored.
    classes_ : ndarray of shape (g,)
        The class labels, sorted.

    See Also
    --------
    DRMClassifier : The estimator being tuned.

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
        scoring: str | Score = "accuracy",
        cv: Any = "loo",
        tie: str = "regularised",
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
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed()
        return tags

    def _precomputed(self) -> bool:
        return self.kernels in ("precomputed", ("precomputed",), ["precomputed"])

    def fit(self, X: Any, y: Any) -> Self:
        """Score every candidate and refit the best.

        Parameters
        ----------
        X : array-like of shape (n, p), or (n, n) for a precomputed kernel
            Training samples.
        y : array-like of shape (n,)
            Class labels of any kind.

        Returns
        -------
        self
        """
        kernels, score = self._kernel_grid(), self._score()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        check_two_classes(self.classes_)
        if self._precomputed():
            X = symmetric_part(X)
        candidates = [
            Candidate(float(alpha), float(beta), kernel)
            for alpha, kernel, beta in itertools.product(
                self.alphas, kernels, self.betas
            )
        ]
        for candidate in candidates:
            check_weights(candidate.alpha, candidate.beta)
        self._choose(candidates, self._outcomes(X, y, candidates, score))
        settings: dict[str, Any] = {"kernel": "precomputed"}
        if self.kernel_ is not None:
            settings = {**self.kernel_.arguments(), "coef0": self.coef0}
        model = DRMClassifier(alpha=self.alpha_, beta=self.beta_, **settings)
        self.best_estimator_: DRMClassifier = model.fit(X, y)
        return self

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

    def _score(self) -> Score:
        if self.tie not in ("regularised", "first"):
            raise ValueError(f"tie must be 'regularised' or 'first', got {self.tie!r}")
        if callable(self.scoring):
            return self.scoring
        if self.scoring not in SCORES:
            raise ValueError(
                f"scoring must be a callable or one of {sorted(SCORES)},"
                f" got {self.scoring!r}"
            )
        return SCORES[self.scoring]

    def _outcomes(
        self, X: Array, y: NDArray[Any], candidates: list[Candidate], score: Score
    ) -> list[CandidateOutcome]:
        if self._leaves_one_out():
            parts = [np.arange(y.size)]
            answers = [left_out_answers(X, y, candidates, n_jobs=self.n_jobs)]
        else:
            parts, answers = [], []
            for train, test in check_cv(self.cv, y, classifier=True).split(X, y):
                columns = train if self._precomputed() else slice(None)
                parts.append(test)
                known, new = X[train][:, columns], X[test][:, columns]
                answers.append(
                    held_out_answers(
                        known, y[train], new, candidates, n_jobs=self.n_jobs
                    )
                )
        return [
            _scored(list(zip(parts, row, strict=True)), y, score)
            for row in zip(*answers, strict=True)
        ]

    def _choose(
        self, candidates: list[Candidate], outcomes: list[CandidateOutcome]
    ) -> None:
        means = np.array(
            [np.mean(o.scores) if not o.failure else np.nan for o in outcomes]
        )
        if np.isnan(means).all():
            raise IllConditionedError(
                f"no candidate could be scored; the first failed because"
                f" {outcomes[0].failure or 'its score is not a number'}"
            )
        preference = None
        if self.tie == "regularised":
            preference = [candidate.regularisation() for candidate in candidates]
        self.best_index_ = best_of(means, preference)
        best, outcome = candidates[self.best_index_], outcomes[self.best_index_]
        self.alpha_, self.beta_, self.kernel_ = best.alpha, best.beta, best.kernel
        self.best_score_ = float(means[self.best_index_])
        if self._leaves_one_out():
            self.loo_predictions_ = outcome.predictions
        self.cv_results_ = _results_table(candidates, outcomes, means)

    def dissimilarities(self, X: Any) -> Array:
        """Return the chosen model's δ, (m, g)."""
        X = check_samples(self, X)
        return self.best_estimator_.dissimilarities(X)

    def representation(self, X: Any) -> Array:
        """Return the chosen model's w, (m, n)."""
        X = check_samples(self, X)
        return self.best_estimator_.representation(X)

    def solve_trace(self, x: Any) -> SolveTrace:
        """Solve for one sample with the chosen model and report how it went."""
        check_is_fitted(self)
        return self.best_estimator_.solve_trace(x)


def _scored(
    answers: list[tuple[NDArray[np.intp], Answer]], y: NDArray[Any], score: Score
) -> CandidateOutcome:
    """Score the predictions of each split; a failed candidate keeps its reason."""
    scores, predictions = [], y.copy()
    for rows, labels in answers:
        if isinstance(labels, str):
            return CandidateOutcome(failure=labels)
        scores.append(float(score(y[rows], labels)))
        predictions[rows] = labels
    return CandidateOutcome(tuple(scores), predictions)


def _results_table(
    candidates: list[Candidate], outcomes: list[CandidateOutcome], means: Array
) -> dict[str, list[Any]]:
    """Return one row per candidate, as ``pandas.DataFrame`` reads it."""
    ranks = np.full(means.size, means.size, dtype=np.int64)
    scored = ~np.isnan(means)
    ranks[scored] = [
        1 + int((means[scored] > mean + TIE_TOLERANCE).sum()) for mean in means[scored]
    ]
    spreads = [float(np.std(o.scores)) if o.scores else float("nan") for o in outcomes]
    kernels = [c.kernel for c in candidates]
    return {
        "alpha": [c.alpha for c in candidates],
        "beta": [c.beta for c in candidates],
        "kernel": [k.name if k else "precomputed" for k in kernels],
        "gamma": [k.gamma if k and k.kind in GAMMA_KERNELS else None for k in kernels],
        "degree": [k.degree if k and k.kind == "poly" else None for k in kernels],
        "mean_test_score": means.tolist(),
        "std_test_score": spreads,
        "rank_test_score": ranks.tolist(),
        "status": [o.failure or "ok" for o in outcomes],
    }
