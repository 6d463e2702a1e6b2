"""Checks of who is best, second best or among the best, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from drmbench.report.claim_checks.evidence import Evidence, Picked
from drmbench.report.claim_checks.outcome import SAME, Outcome

Groups = Mapping[str, Sequence[str]]


def best_count(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    rivals: Sequence[str],
    exceptions: Sequence[str] = (),
    members: Literal["any", "every"] = "any",
    strict: bool = False,
    beside: str = "",
) -> Outcome:
    """Check on how many data sets a family of columns has the best figure.

    Of the data sets that are evidence, as many must be won as the paper claims of
    these, that is all but its own exceptions among them.

    Parameters
    ----------
    evidence : Evidence
        Where to look.
    datasets, family, rivals : sequences of str
        The claim's rows, the columns that should be best, and the others.
    exceptions : sequence of str
        Data sets on which the paper says that the family is not best.
    members : {"any", "every"}
        Whether one column of the family must be best, or each.
    strict : bool
        Whether a tie with a rival is not enough.
    beside : str
        A second metric to show.
    """
    picked = evidence.pick(datasets, family, rivals)
    ours = picked.best(family) if members == "any" else picked.worst(family)
    lead = ours - picked.best(rivals)
    won = lead > SAME if strict else lead > -SAME
    claimed = [name for name in picked.values.index if name not in exceptions]
    status = evidence.rules.grade(int(won.sum()), len(claimed))
    numbers = (
        f"best on {won.sum()} of {len(won)}"
        f" (claimed: {len(datasets) - len(exceptions)} of {len(datasets)})"
        f"{_losses(picked, ours, won, rivals)}"
    )
    if beside and evidence.results:
        numbers += _beside(evidence, beside, datasets, family, rivals)
    return picked.outcome(status, numbers)


def _losses(
    picked: Picked,
    ours: pd.Series[float],
    won: pd.Series[bool],
    rivals: Sequence[str],
) -> str:
    theirs = picked.best(rivals)
    texts = [
        f"{name} {ours[name]:.4f} to {theirs[name]:.4f}"
        f" of {picked.best_column(name, rivals)}"
        for name in picked.values.index[~won]
    ]
    return f"; not on {', '.join(texts)}" if texts else ""


def _beside(
    evidence: Evidence,
    metric: str,
    datasets: Sequence[str],
    family: Sequence[str],
    rivals: Sequence[str],
) -> str:
    picked = evidence.pick(datasets, family, rivals, metric=metric)
    ours, theirs = picked.best(family), picked.best(rivals)
    texts = [f"{name} {ours[name]:.3f} to {theirs[name]:.3f}" for name in ours.index]
    return f"; {metric} beside it, DRM to SVM: {', '.join(texts)}"


def top_two(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    rivals: Sequence[str],
    share: float,
) -> Outcome:
    """Check that on a share of data sets no rival is above any column of a family."""
    picked = evidence.pick(datasets, family, rivals)
    both = picked.worst(family) >= picked.best(rivals) - SAME
    status = evidence.rules.grade(int(both.sum()), share * len(both))
    numbers = (
        f"{' and '.join(family)} are the top two on {both.sum()} of {len(both)}:"
        f" {', '.join(both.index[both]) or 'none'}"
    )
    return picked.outcome(status, numbers)


def wins_of_groups(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    groups: Groups,
    claimed: Mapping[str, int],
) -> Outcome:
    """Check on how many data sets each of some groups of columns is best."""
    columns = [column for members in groups.values() for column in members]
    picked = evidence.pick(datasets, columns)
    best = picked.best(columns)
    wins = {
        name: int((picked.best(members) >= best - SAME).sum())
        for name, members in groups.items()
    }
    right = sum(wins[name] == number for name, number in claimed.items())
    status = evidence.rules.grade(right, len(claimed))
    counted = ", ".join(f"{name} {number}" for name, number in wins.items())
    stated = ", ".join(f"{name} {number}" for name, number in claimed.items())
    return picked.outcome(
        status, f"best (ties count for all) on {counted}; claimed: {stated}"
    )


def second_best(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    rivals: Sequence[str],
    margin: float,
) -> Outcome:
    """Check that one rival at most is better than a family, by a margin at most."""
    picked = evidence.pick(datasets, family, rivals)
    ours, theirs = picked.best(family), picked.best(rivals)
    present = [column for column in rivals if column in picked.values]
    better = picked.values[present].gt(ours + SAME, axis=0).sum(axis=1)
    close = ours >= theirs - margin - SAME
    met = int((better <= 1).sum() + close.sum())
    texts = [
        f"{name}: {ours[name]:.4f}, best rival {picked.best_column(name, rivals)}"
        f" {theirs[name]:.4f}, rivals above: {better[name]}"
        for name in ours.index
    ]
    status = evidence.rules.grade(met, 2 * len(ours))
    return picked.outcome(status, f"{'; '.join(texts)} (comparable: within {margin:g})")
