"""Checks of claims about scores: who is best, by how much, and how often.

Every public function here is a check that a claim may name: the first argument is the
evidence, the others are parameters that the claim gives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.protocol.allowance import ROUNDING
from drmbench.report.claim_evidence import (
    Evidence,
    Finding,
    Groups,
    Names,
    and_not,
    printed_scores,
)


def _members(groups: Groups) -> list[str]:
    """Return the columns of all groups."""
    return [column for members in groups.values() for column in members]


# ------------------------------------------------------------- who is best, how often


def best_count(
    evidence: Evidence,
    *,
    datasets: Names,
    family: Names,
    rivals: Names,
    exceptions: Names = (),
) -> Finding:
    """Check on how many data sets a family of columns has the best figure.

    Of the data sets that are evidence, as many must be won as the paper claims of
    these, that is all but its own exceptions among them. A tie counts as best.
    """
    picked = evidence.pick(datasets, family, rivals)
    ours, theirs = picked.best(family), picked.best(rivals)
    won = ours - theirs > -ROUNDING
    claimed = [name for name in picked.values.index if name not in exceptions]
    lost = [
        f"{name} {ours[name]:.4f} to {theirs[name]:.4f}"
        f" of {picked.best_column(name, rivals)}"
        for name in picked.values.index[~won]
    ]
    numbers = and_not(
        f"best on {won.sum()} of {len(won)}"
        f" (claimed: {len(datasets) - len(exceptions)} of {len(datasets)})",
        lost,
        "not on ",
    )
    counted = (int(won.sum()), len(won))
    return picked.finding(counted[0], len(claimed), numbers, counted=counted)


def top_two(
    evidence: Evidence, *, datasets: Names, family: Names, rivals: Names, share: float
) -> Finding:
    """Check that on a share of data sets no rival is above any column of a family."""
    picked = evidence.pick(datasets, family, rivals)
    both = picked.worst(family) >= picked.best(rivals) - ROUNDING
    return picked.finding(
        int(both.sum()),
        share * len(both),
        f"{' and '.join(family)} are the top two on {both.sum()} of {len(both)}:"
        f" {', '.join(both.index[both]) or 'none'}",
    )


def wins_of_groups(
    evidence: Evidence, *, datasets: Names, groups: Groups, claimed: Mapping[str, int]
) -> Finding:
    """Check on how many data sets each of some groups of columns is best."""
    columns = _members(groups)
    picked = evidence.pick(datasets, columns)
    best = picked.best(columns)
    wins = {
        name: int((picked.best(members) >= best - ROUNDING).sum())
        for name, members in groups.items()
    }
    right = sum(wins[name] == number for name, number in claimed.items())
    counted = ", ".join(f"{name} {number}" for name, number in wins.items())
    stated = ", ".join(f"{name} {number}" for name, number in claimed.items())
    numbers = f"best (ties count for all) on {counted}; claimed: {stated}"
    return picked.finding(right, len(claimed), numbers)


def second_best(
    evidence: Evidence, *, datasets: Names, family: Names, rivals: Names, margin: float
) -> Finding:
    """Check that one rival at most is better than a family, by a margin at most."""
    picked = evidence.pick(datasets, family, rivals)
    ours, theirs = picked.best(family), picked.best(rivals)
    present = [column for column in rivals if column in picked.values]
    better = picked.values[present].gt(ours + ROUNDING, axis=0).sum(axis=1)
    close = ours >= theirs - margin - ROUNDING
    texts = [
        f"{name}: {ours[name]:.4f}, best rival {picked.best_column(name, rivals)}"
        f" {theirs[name]:.4f}, rivals above: {better[name]}"
        for name in ours.index
    ]
    return picked.finding(
        int((better <= 1).sum() + close.sum()),
        2 * len(ours),
        f"{'; '.join(texts)} (comparable: within {margin:g})",
    )


# -------------------------------------------------- how far above, and how far below


def gains(
    evidence: Evidence, *, family: Names, rivals: Names, at_least: Mapping[str, float]
) -> Finding:
    """Check gains over the best rival, read as points or as relative to the rival.

    The reading that is kinder to the claim decides.
    """
    picked = evidence.pick(list(at_least), family, rivals)
    ours, theirs = picked.best(family), picked.best(rivals)
    points = {name: ours[name] - theirs[name] for name in picked.values.index}
    relative = {name: gain / theirs[name] for name, gain in points.items()}
    met = max(
        sum(gain >= at_least[name] - ROUNDING for name, gain in reading.items())
        for reading in (points, relative)
    )
    texts = [
        f"{name} {100 * points[name]:+.1f} points, {100 * relative[name]:+.1f} %"
        f" (claimed {100 * at_least[name]:g} %)"
        for name in points
    ]
    numbers = f"over the best rival: {'; '.join(texts)}"
    return picked.finding(met, len(points), numbers)


def figure_and_deficit(
    evidence: Evidence,
    *,
    dataset: str,
    family: Names,
    rival: str,
    figure: float,
    figure_tolerance: float,
    deficit: float,
    deficit_tolerance: float,
) -> Finding:
    """Check a figure and how far it is below a rival's."""
    picked = evidence.pick([dataset], family, [rival])
    ours, theirs = float(picked.best(family).iloc[0]), picked.best([rival]).iloc[0]
    behind = float(theirs) - ours
    same_figure = abs(ours - figure) <= figure_tolerance + ROUNDING
    same_deficit = abs(behind - deficit) <= deficit_tolerance + ROUNDING
    return picked.finding(
        same_figure + same_deficit,
        2,
        f"{ours:.4f} (claimed {figure:g}, within {figure_tolerance:g}),"
        f" {behind:.4f} below {rival} {theirs:.4f}"
        f" (claimed {deficit:g}, within {deficit_tolerance:g})",
    )


def competitive(
    evidence: Evidence,
    *,
    datasets: Names,
    family: Names,
    rivals: Names,
    margin: float,
    share: float,
) -> Finding:
    """Check that on a share of data sets a family is at most a margin below the best.

    Being better than all rivals is competitive too.
    """
    picked = evidence.pick(datasets, family, rivals)
    behind = picked.best(rivals) - picked.best(family)
    near = behind <= margin + ROUNDING
    far = [f"{name} by {behind[name]:.4f}" for name in near.index[~near]]
    numbers = f"at most {margin:g} below the best rival on {near.sum()} of {len(near)}"
    numbers = and_not(numbers, far, "further below on ")
    counted = (int(near.sum()), len(near))
    return picked.finding(counted[0], share * len(near), numbers, counted=counted)


def far_behind(
    evidence: Evidence,
    *,
    datasets: Names,
    family: Names,
    groups: Groups,
    margin: float,
    share: float,
) -> Finding:
    """Check that rivals, where they are not best, are often far below a family."""
    columns = _members(groups)
    picked = evidence.pick(datasets, family, columns)
    ours, best = picked.best(family), picked.best([*family, *columns])
    cases = far = 0
    for members in groups.values():
        theirs = picked.best(members)
        not_best = theirs < best - ROUNDING
        cases += int(not_best.sum())
        far += int((not_best & (ours - theirs >= margin - ROUNDING)).sum())
    return picked.finding(
        far,
        share * cases,
        f"{far} of {cases} cases where {', '.join(groups)} are not best are at least"
        f" {margin:g} below",
    )


def above(
    evidence: Evidence,
    *,
    datasets: Names,
    family: Names,
    levels: Sequence[Mapping[str, Any]],
) -> Finding:
    """Check how many data sets have a figure above each of some levels.

    ``levels`` has the ``value`` and the ``datasets`` on which the paper is above it.
    """
    picked = evidence.pick(datasets, family)
    ours = picked.best(family)
    met, texts = 0, []
    for level in levels:
        over = int((ours > level["value"] + ROUNDING).sum())
        met += over >= sum(name in ours.index for name in level["datasets"])
        texts.append(
            f"above {level['value']:g} on {over} of {len(ours)}"
            f" (claimed {len(level['datasets'])} of {len(datasets)})"
        )
    return picked.finding(met, len(levels), "; ".join(texts))


def close_columns(
    evidence: Evidence, *, datasets: Names, columns: Names, margin: float, share: float
) -> Finding:
    """Check that two columns differ by a margin at most on a share of data sets."""
    picked = evidence.pick(datasets, columns)
    gap = picked.best(columns) - picked.worst(columns)
    near = gap <= margin + ROUNDING
    far = [f"{name} {gap[name]:.4f}" for name in near.index[~near]]
    both = " and ".join(columns)
    numbers = f"{both} within {margin:g} on {near.sum()} of {len(near)}"
    numbers = and_not(numbers, far, "further apart on ")
    return picked.finding(int(near.sum()), share * len(near), numbers)


# ------------------------------------------- figures of the paper, and time


def agrees_with_table(
    evidence: Evidence, *, table: str, datasets: Names, columns: Names, tolerance: float
) -> Finding:
    """Check that figures of ours are those of a table of the paper."""
    picked = evidence.pick(datasets, columns)
    printed = printed_scores(table).rows(list(picked.values.index), columns)
    near = (picked.values - printed).abs() <= tolerance + ROUNDING
    met = int(near.to_numpy().sum())
    texts = [
        f"{name} {column} {picked.values.loc[name, column]:.3f}"
        f" (printed {printed.loc[name, column]:.3f})"
        for name in picked.values.index
        for column in columns
    ]
    numbers = f"{met} of {near.size} within {tolerance:g}: {', '.join(texts)}"
    return picked.finding(met, near.size, numbers)


def cost_on_a_par(
    evidence: Evidence, *, datasets: Names, family: Names, rivals: Names, factor: float
) -> Finding:
    """Check that fitting and predicting takes at most so many times a rival's time.

    The slowest of the family stands against the slowest rival.
    """
    picked = evidence.pick(datasets, family, rivals)
    (results,) = evidence.results.values()
    rows = results.rows[results.rows["status"] == "ok"]
    rows = rows.assign(seconds=rows["seconds_fit"] + rows["seconds_predict"])
    seconds: dict[tuple[str, str], float] = {}
    for (dataset, label), group in rows.groupby(["dataset", "method"], sort=False):
        column = results.methods[str(label)].get("column") or str(label)
        seconds.setdefault((str(dataset), column), float(group["seconds"].mean()))
    names = evidence.scores().names
    met, texts = 0, []
    for name in picked.values.index:
        row = names[name.casefold()]
        ours = max(seconds.get((row, column), math.inf) for column in family)
        theirs = max(seconds.get((row, column), 0.0) for column in rivals)
        met += ours <= factor * theirs
        texts.append(f"{name} {ours:.3g} s to {theirs:.3g} s")
    return picked.finding(
        met,
        len(texts),
        f"fit and predict, DRM to SVM: {', '.join(texts)};"
        f" at most {factor:g} times on {met} of {len(texts)}",
    )
