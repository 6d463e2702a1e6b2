"""Checks of one method against another over all data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from drmbench.report.claim_checks.evidence import Evidence, Picked
from drmbench.report.claim_checks.outcome import SAME, NotTestableError, Outcome
from drmbench.report.claim_checks.ranking import Groups
from drmbench.report.claim_checks.scores import printed_scores
from drmbench.report.statistics import subset_counts


def outperforms(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    groups: Groups,
) -> Outcome:
    """Check a family against each of some groups: more wins than losses, and a gain.

    The best column of the family stands against the best of the group.
    """
    columns = [column for members in groups.values() for column in members]
    picked = evidence.pick(datasets, family, columns)
    ours = picked.best(family)
    met, texts = 0, []
    for name, members in groups.items():
        gain = (ours - picked.best(members)).replace([np.inf, -np.inf], np.nan).dropna()
        wins, losses = int((gain > SAME).sum()), int((gain < -SAME).sum())
        met += wins > losses and gain.mean() > 0
        ties = len(gain) - wins - losses
        texts.append(
            f"{name} {wins} wins, {ties} ties, {losses} losses, mean {gain.mean():+.4f}"
        )
    status = evidence.rules.grade(met, len(groups))
    return picked.outcome(status, f"against {'; '.join(texts)}")


def above_rival(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    share: float,
    at: Sequence[str] = ("",),
) -> Outcome:
    """Check that a share of points of some curves is not below its rival's.

    Besides, there must be more points above than below.

    Parameters
    ----------
    evidence : Evidence
        Where to look.
    datasets : sequence of str
        The claim's rows.
    pairs : sequence of (str, str)
        Label and its rival's.
    share : float
        Share of points that must not be below.
    at : sequence of str
        What to append to the labels, such as `` beta=1``.
    """
    labels = [f"{label}{where}" for pair in pairs for label in pair for where in at]
    picked = evidence.pick(datasets, labels)
    wins = ties = losses = 0
    worst = 0.0
    for ours, theirs in pairs:
        for where in at:
            gain = picked.best([ours + where]) - picked.best([theirs + where])
            gain = gain.fillna(0.0)  # both failed on every split
            wins += int((gain > SAME).sum())
            losses += int((gain < -SAME).sum())
            ties += int((gain.abs() <= SAME).sum())
            worst = min(worst, float(gain.min()))
    points = wins + ties + losses
    holds = wins + ties if wins > losses else 0
    return picked.outcome(
        evidence.rules.grade(holds, share * points),
        f"above on {wins}, equal on {ties}, below on {losses} of {points} points"
        f" (at worst by {-worst:.4f}); {100 * share:g} % must not be below",
    )


def sampling_helps(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    before: Groups,
    after: Groups,
    level: float,
) -> Outcome:
    """Check that over-sampling significantly improves classifiers.

    Each over-sampled column is compared with the better of the classifier's own
    columns by Wilcoxon's signed-rank test, one-sided, at ``level`` divided by the
    number of comparisons. Data sets without one of the figures are left out of a pair.
    """
    own = [column for members in before.values() for column in members]
    sampled = [column for members in after.values() for column in members]
    picked = evidence.pick(datasets, [*own, *sampled])
    met, texts = 0, []
    for column, gain in _sampling_gains(picked, before, after):
        p = signed_rank_p(gain)
        met += p < level / len(sampled)
        texts.append(f"{column} {gain.mean():+.4f} (p {p:.2g}, {len(gain)} sets)")
    status = evidence.rules.grade(met, len(sampled))
    numbers = (
        f"{met} of {len(sampled)} significantly better (p < {level / len(sampled):.2g})"
    )
    return picked.outcome(status, f"{numbers}; mean gain {', '.join(texts)}")


def signed_rank_p(gains: NDArray[np.float64]) -> float:
    """Return Wilcoxon's exact one-sided p-value that gains are above zero.

    Zeros are dropped. Equal gains share their mean rank; twice the ranks are whole
    numbers, so all 2ⁿ choices of signs are counted by the sum of their ranks.

    Examples
    --------
    >>> signed_rank_p(np.array([1.0, 2.0, 3.0, 0.0]))
    0.125
    """
    signed = gains[np.abs(gains) > SAME]
    ranks = np.rint(2 * rankdata(np.abs(signed))).astype(int)
    ways = subset_counts(ranks.tolist())
    return float(sum(ways[int(ranks[signed > 0].sum()) :]) / 2 ** len(ranks))


def _sampling_gains(
    picked: Picked, before: Groups, after: Groups
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for name, columns in after.items():
        own = picked.best(before[name])
        for column in columns:
            gain = (picked.values[column] - own).to_numpy(np.float64)
            finite = gain[np.isfinite(gain)]
            if not len(finite):
                raise NotTestableError(f"{column} has no figure")
            yield column, finite


def agrees_with_table(
    evidence: Evidence,
    *,
    table: str,
    datasets: Sequence[str],
    columns: Sequence[str],
    tolerance: float,
) -> Outcome:
    """Check that figures of ours are those of a table of the paper."""
    picked = evidence.pick(datasets, columns)
    printed = printed_scores(table).rows(list(picked.values.index), columns)
    near = (picked.values - printed).abs() <= tolerance + SAME
    status = evidence.rules.grade(int(near.to_numpy().sum()), near.size)
    texts = [
        f"{name} {column} {picked.values.loc[name, column]:.3f}"
        f" (printed {printed.loc[name, column]:.3f})"
        for name in picked.values.index
        for column in columns
    ]
    numbers = f"{near.to_numpy().sum()} of {near.size} within {tolerance:g}"
    return picked.outcome(status, f"{numbers}: {', '.join(texts)}")


def cost_on_a_par(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    rivals: Sequence[str],
    factor: float,
) -> Outcome:
    """Check that fitting and predicting takes at most so many times a rival's time.

    The slowest of the family stands against the slowest rival.
    """
    picked = evidence.pick(datasets, family, rivals)
    seconds = _seconds(evidence)
    met, texts = 0, []
    names = evidence.scores().names
    for name in picked.values.index:
        cost = seconds.get(names[name.casefold()], {})
        ours = max(cost.get(column, math.inf) for column in family)
        theirs = max((cost[column] for column in rivals if column in cost), default=0.0)
        met += ours <= factor * theirs
        texts.append(f"{name} {ours:.3g} s to {theirs:.3g} s")
    status = evidence.rules.grade(met, len(texts))
    return picked.outcome(
        status,
        f"fit and predict, DRM to SVM: {', '.join(texts)};"
        f" at most {factor:g} times on {met} of {len(texts)}",
    )


def _seconds(evidence: Evidence) -> Mapping[str, Mapping[str, float]]:
    """Return the mean seconds of a split, by data set and the paper's column."""
    (results,) = evidence.results.values()
    rows = results.rows[results.rows["status"] == "ok"]
    cost: dict[str, dict[str, float]] = {}
    for (dataset, label), group in rows.groupby(["dataset", "method"], sort=False):
        column = results.methods[str(label)].get("column") or str(label)
        seconds = (group["seconds_fit"] + group["seconds_predict"]).mean()
        cost.setdefault(str(dataset), {}).setdefault(column, float(seconds))
    return cost
