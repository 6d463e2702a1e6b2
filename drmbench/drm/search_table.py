"""What became of the candidates of a search, in the columns of scikit-learn's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.grid import Candidate
from drmbench.drm.kernels import GAMMA_KERNELS
from drmbench.drm.partition import Array
from drmbench.metrics import TIE_TOLERANCE


@dataclass(frozen=True, eq=False)
class CandidateOutcome:
    """A candidate's scores, one per split, and what they come from."""

    scores: tuple[float, ...]  #: NaN for a split that could not be scored
    failure: str = ""  #: Why a split could not be scored
    fit_seconds: tuple[float, ...] = ()  #: Time of the fit to each split
    score_seconds: tuple[float, ...] = ()  #: Time of scoring it
    threshold: float | None = None  #: Its best threshold, if that is tuned
    labels: NDArray[Any] | None = None  #: Its predictions of the first split

    @property
    def mean(self) -> float:
        """Mean score; NaN if a split could not be scored."""
        return float(np.mean(self.scores))

    @property
    def status(self) -> str:
        """Whether it is "ok", or why there is no mean score."""
        if np.isnan(self.mean):
            return self.failure or "its score is not a number"
        return "ok"


def parameters(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as parameters of an estimator."""
    kernel = {"kernel": "precomputed"}
    if candidate.kernel is not None:
        kernel = candidate.kernel.arguments()
    return {"alpha": candidate.alpha, "beta": candidate.beta, **kernel}


def results_table(
    candidates: Sequence[Candidate], outcomes: Sequence[CandidateOutcome]
) -> dict[str, Any]:
    """Return one row per candidate, as ``pandas.DataFrame`` reads it."""
    params = [parameters(candidate) for candidate in candidates]
    kernels = [c.kernel for c in candidates]
    means = np.array([o.mean for o in outcomes])
    table: dict[str, Any] = {}
    for name in ("fit", "score"):
        seconds = np.array([getattr(o, f"{name}_seconds") for o in outcomes])
        table[f"mean_{name}_time"] = seconds.mean(axis=1)
        table[f"std_{name}_time"] = seconds.std(axis=1)
    table |= _parameter_columns(params)
    table["params"] = params
    scores = np.array([o.scores for o in outcomes])
    for number, column in enumerate(scores.T):
        table[f"split{number}_test_score"] = column
    table |= {
        "mean_test_score": means,
        "std_test_score": np.std(scores, axis=1),
        "rank_test_score": _ranks(means),
        "alpha": [c.alpha for c in candidates],
        "beta": [c.beta for c in candidates],
        "kernel": [k.name if k else "precomputed" for k in kernels],
        "gamma": [k.gamma if k and k.kind in GAMMA_KERNELS else None for k in kernels],
        "degree": [k.degree if k and k.kind == "poly" else None for k in kernels],
        "status": [o.status for o in outcomes],
    }
    if any(o.threshold is not None for o in outcomes):
        missing = float("nan")
        table["best_threshold"] = np.array(
            [missing if o.threshold is None else o.threshold for o in outcomes]
        )
    return table


def _parameter_columns(params: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a masked array for each parameter, as GridSearchCV does."""
    columns = {}
    for name in dict.fromkeys(name for row in params for name in row):
        values = np.empty(len(params), object if name == "kernel" else np.float64)
        values[:] = [row.get(name, np.nan) for row in params]
        missing = [name not in row for row in params]
        columns[f"param_{name}"] = np.ma.MaskedArray(values, missing)
    return columns


def _ranks(means: Array) -> NDArray[np.int32]:
    """Rank the means, ties alike; those that are not numbers come last."""
    scored = means[~np.isnan(means)]
    better = [(scored > mean + TIE_TOLERANCE).sum() for mean in means]
    ranks = np.where(np.isnan(means), scored.size, better) + 1
    return ranks.astype(np.int32)
