"""Selection of one of a method's candidates, from training rows alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.base import Labels, Matrix, Method, MethodFailedError
from drmbench.metrics import get_metric
from drmbench.protocol.candidate_scores import CandidateScores, Scorer
from drmbench.protocol.labels import number_classes
from drmbench.protocol.seeds import stable_seed
from drmbench.protocol.splits import random_splits

#: Scores this close are ties: sums of the same terms in another order may differ so.
TIE_TOLERANCE = 1e-12
#: Rows that the paper selects on where data is large.
PAPER_SUBSET = 3000


@dataclass(frozen=True)
class SelectionPlan:
    """How parameters are selected within a training part.

    Attributes
    ----------
    kind : {"loo", "kfold", "random"}
        Leave-one-out, stratified k-fold, or random splits of a random subset.
    metric : str
        A one-number metric of the registry.
    k : int
        Number of folds of ``kfold``; fewer where there are fewer rows.
    repeats : int
        Number of k-fold partitions, or of random splits.
    subset : int or None
        Select on this many rows (stratified) where there are more. None is all rows,
        but 3,000 for ``random``, as in the paper.
    train_share : float
        Share of the subset that trains in each random split.
    tie : {"preferred", "first"}
        Among equal scores take what the method prefers, the more regularised
        (:attr:`~drmbench.methods.base.Method.prefer`), or the first in grid order,
        which is what the paper did.
    note : str
        Footnote where this plan replaces the experiment's for a method.
    """

    kind: Literal["loo", "kfold", "random"] = "loo"
    metric: str = "accuracy"
    k: int = 10
    repeats: int = 1
    subset: int | None = None
    train_share: float = 0.8
    tie: Literal["preferred", "first"] = "preferred"
    note: str = ""

    @property
    def rows_used(self) -> int | None:
        """How many training rows selection looks at; None for all."""
        if self.subset is None and self.kind == "random":
            return PAPER_SUBSET
        return self.subset

    def naive_fits(self, n: int) -> int:
        """Return how often one candidate is fitted where no shortcut is used.

        Parameters
        ----------
        n : int
            Number of training rows.

        Examples
        --------
        >>> SelectionPlan("loo").naive_fits(80)
        80
        >>> SelectionPlan("kfold", k=5, repeats=2, subset=60).naive_fits(80)
        10
        """
        if self.kind == "random":
            return self.repeats
        rows = self._rows_of(n)
        return rows if self.kind == "loo" else min(self.k, rows) * self.repeats

    def naive_predictions(self, n: int) -> int:
        """Return how many held-out rows these fits of one candidate predict in all.

        Parameters
        ----------
        n : int
            Number of training rows.

        Examples
        --------
        >>> SelectionPlan("kfold", k=5, repeats=2).naive_predictions(80)
        160
        >>> SelectionPlan("random", repeats=3).naive_predictions(80)
        48
        """
        rows = self._rows_of(n)
        if self.kind == "random":
            return self.repeats * (rows - round(self.train_share * rows))
        return rows if self.kind == "loo" else rows * self.repeats

    def _rows_of(self, n: int) -> int:
        return n if self.rows_used is None else min(n, self.rows_used)

    def describe(self) -> str:
        """Say in words how parameters are selected.

        Examples
        --------
        >>> SelectionPlan("kfold", "gmean", k=5, tie="first").describe()
        '5-fold by gmean; of equal scores the first in grid order'
        """
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        how = {
            "loo": "leave-one-out",
            "kfold": f"{self.k}-fold{times}",
            "random": f"random splits ({self.train_share:.0%} train{times})",
        }[self.kind]
        if self.rows_used is not None:
            how += f" of at most {self.rows_used:,} rows"
        ties = {"first": "first in grid order", "preferred": "more regularised"}
        return f"{how} by {self.metric}; of equal scores the {ties[self.tie]}"


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected parameters, and how every candidate did.

    Attributes
    ----------
    params : dict
        The selected candidate.
    score : float
        Its score, higher is better; NaN if there was nothing to choose from.
    scores : ndarray of shape (n_candidates,)
        Scores in grid order; NaN for a candidate that failed.
    candidates : list of dict
        All candidates in grid order.
    failures : dict of int to str
        Why a candidate failed, by its number.
    description : str
        How the choice was made, in words.
    """

    params: dict[str, Any]
    score: float
    scores: NDArray[np.float64]
    candidates: list[dict[str, Any]]
    failures: dict[int, str] = field(default_factory=dict)
    description: str = ""


def fit_seed(seed: int, method: Method) -> int:
    """Return the seed of a method's fits where ``seed`` is that of the splits."""
    return stable_seed(seed, method.name)


def select(
    method: Method,
    X: Matrix,
    y: Labels,
    plan: SelectionPlan,
    *,
    seed: int = 0,
    shortcut: bool = True,
    always_score: bool = False,
) -> Selection:
    """Choose the best of a method's candidates from training rows.

    Parameters
    ----------
    method : Method
        The method; its grid gives the candidates.
    X, y : ndarray
        Training rows and their class numbers (any integers).
    plan : SelectionPlan
        How to choose.
    seed : int
        Seed of subset and splits, shared by all methods; the seed of the fits is
        derived from it and the method's name.
    shortcut : bool
        Whether to use the method's exact shortcuts; False is the slow oracle.
    always_score : bool
        Score a lone candidate too, where its score is compared with another's.

    Returns
    -------
    Selection
        The choice. A lone candidate is returned at once unless ``always_score``.

    Raises
    ------
    MethodFailedError
        If no candidate could be scored; the message has the reasons.
    """
    candidates = method.candidates()
    metric = get_metric(plan.metric, scalar=True)
    if len(candidates) == 1 and not always_score:
        return Selection(
            candidates[0],
            math.nan,
            np.full(1, np.nan),
            candidates,
            description="the only candidate",
        )
    scorer = Scorer(method, candidates, metric, fit_seed(seed, method), shortcut)
    result = _score(scorer, X, number_classes(y)[1], plan, seed)
    best = _best(result, plan, method, candidates)
    return Selection(
        candidates[best],
        float(result.scores[best]),
        result.scores,
        candidates,
        result.failures,
        plan.describe(),
    )


def _score(
    scorer: Scorer, X: Matrix, y: Labels, plan: SelectionPlan, seed: int
) -> CandidateScores:
    if plan.rows_used is not None and len(y) > plan.rows_used:
        size = max(plan.rows_used, len(np.unique(y)))
        (drawn,) = random_splits(y, size, repeats=1, seed=seed, name="subset")
        X, y = X[drawn.train], y[drawn.train]
    if plan.kind == "loo":
        return scorer.leave_one_out(X, y)
    if plan.kind == "kfold":
        return scorer.kfold(X, y, k=plan.k, repeats=plan.repeats, seed=seed)
    return scorer.random(
        X,
        y,
        train_share=plan.train_share,
        repeats=plan.repeats,
        seed=seed,
    )


def _best(
    result: CandidateScores,
    plan: SelectionPlan,
    method: Method,
    candidates: list[dict[str, Any]],
) -> int:
    if np.isnan(result.scores).all():
        reasons = sorted(set(result.failures.values()))
        raise MethodFailedError(
            f"{method.name}: none of {len(candidates)} candidates could be fitted:"
            f" {'; '.join(reasons[:3])}" + ("; …" if len(reasons) > 3 else "")
        )
    tied = np.flatnonzero(result.scores >= np.nanmax(result.scores) - TIE_TOLERANCE)
    if plan.tie == "first" or method.prefer is None:
        return int(tied[0])
    prefer = method.prefer
    return int(min(tied, key=lambda number: prefer(candidates[number])))
