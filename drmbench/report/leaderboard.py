"""One ranking of all methods over the data sets of a regime, and what is sure of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.bootstrap import mean_intervals
from drmbench.report.score_pool import ScorePool, pool_of
from drmbench.report.signed_rank import signed_rank_belief
from drmbench.report.statistics import rank_rows, wilcoxon_against, win_shares
from drmbench.running.results import Results


def leaderboard(
    results: Iterable[Results],
    regime: str,
    metric: str | None = None,
    mode: ScalingMode = "honest",
    *,
    origins: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Rank all methods over the data sets of a regime.

    Parameters
    ----------
    results : iterable of Results
        The experiments; see :func:`drmbench.report.score_pool.pool_of` for what of them
        is comparable.
    regime : str
        Name of a regime (:data:`drmbench.report.regimes.REGIMES`).
    metric : str or None
        A one-number metric; None is the regime's own.
    mode : str
        Scaling mode.
    origins : mapping or None
        The origin of each data set; one that is not there is its own origin.

    Returns
    -------
    DataFrame
        One row per method, best mean rank first: ``method``; ``drm``, whether it is a
        DRM, and ``entry``, whether it is the one that stands for the method;
        ``datasets`` it has a figure on, ``of`` how many; ``mean_rank`` and
        ``mean_score`` with the ends ``_low`` and ``_high`` of 95 % bootstrap intervals
        over origins; ``wins``, of which methods that are equally good have a share;
        ``seconds``, the median over data sets of selection and fit on one split.
        Methods that miss a data set stand last, without figures: means over other data
        sets cannot be compared.
    """
    pool = pool_of(results, regime, metric=metric, mode=mode, origins=origins)
    return board(pool)


def board(pool: ScorePool) -> pd.DataFrame:
    """Return the :func:`leaderboard` of figures that were put together."""
    gains, origins, methods = pool.gains, pool.origin_list, list(pool.scores.columns)
    found = pd.DataFrame({"method": methods}, index=methods)
    found["drm"] = [name in pool.drm for name in methods]
    found["entry"] = [name == pool.entry for name in methods]
    found["datasets"] = pool.scores.notna().sum().astype(int)
    found["of"] = len(pool.scores)
    for name, figures in {"rank": rank_rows(gains), "score": pool.scores}.items():
        ends = mean_intervals(figures[pool.complete], origins)
        ends.columns = [f"mean_{name}", f"mean_{name}_low", f"mean_{name}_high"]
        found = found.join(ends)
    found["wins"] = win_shares(gains)
    found["seconds"] = pool.seconds[pool.complete].median()
    found["_score"] = -get_metric(pool.metric).sign * found["mean_score"]
    found["_missed"] = found["of"] - found["datasets"]
    order = ["mean_rank", "_score", "_missed"]
    ordered = found.sort_values(order, kind="stable", na_position="last")
    return ordered.drop(columns=["_score", "_missed"]).reset_index(drop=True)


def comparisons(pool: ScorePool) -> pd.DataFrame:
    """Compare the DRM's entry with every other complete method.

    One row per method, in the order of the leaderboard: ``entry`` and ``method``;
    ``wins``, ``ties``, ``losses`` of the entry over data sets, and Wilcoxon's ``p``
    with Holm's correction over all methods of the frame, ``p_holm``; the same over
    means per origin, with the prefix ``origin_``, and their mean ``difference``; the
    probabilities of the Bayesian signed-rank test on these, ``ahead``, ``equivalent``
    and ``behind``, and the ``standing`` they give. It is empty without an entry or
    without another method.
    """
    entry = pool.entry
    others = [x for x in board(pool)["method"] if x in pool.complete and x != entry]
    if entry is None or not others:
        return pd.DataFrame()
    records = []
    for by_set, by_origin in zip(
        wilcoxon_against(pool.gains, entry, others),
        wilcoxon_against(pool.origin_gains, entry, others),
        strict=True,
    ):
        differences = pool.origin_gains[entry] - pool.origin_gains[by_set.other]
        belief = signed_rank_belief(differences.to_numpy(dtype=float))
        counted = {
            f"{prefix}{field}": getattr(test, field)
            for prefix, test in (("", by_set), ("origin_", by_origin))
            for field in ("n", "wins", "ties", "losses", "p", "p_holm")
        }
        records.append(
            {
                "entry": entry,
                "method": by_set.other,
                **counted,
                "difference": float(differences.mean()),
                "ahead": belief.ahead,
                "equivalent": belief.equivalent,
                "behind": belief.behind,
                "standing": belief.standing,
            }
        )
    return pd.DataFrame(records)
