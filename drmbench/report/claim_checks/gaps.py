"""Checks of how far one method is above or below others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.report.claim_checks.evidence import Evidence
from drmbench.report.claim_checks.outcome import SAME, Outcome
from drmbench.report.claim_checks.ranking import Groups


def gains(
    evidence: Evidence,
    *,
    family: Sequence[str],
    rivals: Sequence[str],
    at_least: Mapping[str, float],
) -> Outcome:
    """Check gains over the best rival, read as points or as relative to the rival.

    The reading that is kinder to the claim decides.
    """
    picked = evidence.pick(list(at_least), family, rivals)
    ours, theirs = picked.best(family), picked.best(rivals)
    points = {name: ours[name] - theirs[name] for name in picked.values.index}
    relative = {name: gain / theirs[name] for name, gain in points.items()}
    met = max(
        sum(gain >= at_least[name] - SAME for name, gain in reading.items())
        for reading in (points, relative)
    )
    texts = [
        f"{name} {100 * points[name]:+.1f} points, {100 * relative[name]:+.1f} %"
        f" (claimed {100 * at_least[name]:g} %)"
        for name in points
    ]
    status = evidence.rules.grade(met, len(points))
    return picked.outcome(status, f"over the best rival: {'; '.join(texts)}")


def exceeds(
    evidence: Evidence,
    *,
    dataset: str,
    family: Sequence[str],
    rivals: Sequence[str],
    by: float,
    tolerance: float,
) -> Outcome:
    """Check that a family exceeds its rivals by so much on one data set.

    ``tolerance`` is for the rounding of the printed figures; above the rivals, but by
    less, holds in part.
    """
    picked = evidence.pick([dataset], family, rivals)
    rival = float(picked.best(rivals).iloc[0])
    leads = {
        column: float(picked.values[column].iloc[0]) - rival
        for column in family
        if column in picked.values
    }
    lead = max(leads.values())
    holds = 2 if lead >= by - tolerance else int(lead > SAME)
    listed = ", ".join(f"{name} {100 * lead:+.1f}" for name, lead in leads.items())
    numbers = (
        f"points above {picked.best_column(dataset, rivals)} ({rival:.4f}):"
        f" {listed} (claimed {100 * by:g})"
    )
    return picked.outcome(evidence.rules.grade(holds, 2), numbers)


def figure_and_deficit(
    evidence: Evidence,
    *,
    dataset: str,
    family: Sequence[str],
    rival: str,
    figure: float,
    figure_tolerance: float,
    deficit: float,
    deficit_tolerance: float,
) -> Outcome:
    """Check a figure and how far it is below a rival's."""
    picked = evidence.pick([dataset], family, [rival])
    ours, theirs = float(picked.best(family).iloc[0]), picked.best([rival]).iloc[0]
    behind = float(theirs) - ours
    same_figure = abs(ours - figure) <= figure_tolerance + SAME
    same_deficit = abs(behind - deficit) <= deficit_tolerance + SAME
    numbers = (
        f"{ours:.4f} (claimed {figure:g}, within {figure_tolerance:g}),"
        f" {behind:.4f} below {rival} {theirs:.4f}"
        f" (claimed {deficit:g}, within {deficit_tolerance:g})"
    )
    return picked.outcome(evidence.rules.grade(same_figure + same_deficit, 2), numbers)


def competitive(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    rivals: Sequence[str],
    margin: float,
    share: float,
) -> Outcome:
    """Check that on a share of data sets a family is at most a margin below the best.

    Being better than all rivals is competitive too.
    """
    picked = evidence.pick(datasets, family, rivals)
    behind = picked.best(rivals) - picked.best(family)
    near = behind <= margin + SAME
    status = evidence.rules.grade(int(near.sum()), share * len(near))
    far = ", ".join(f"{name} by {behind[name]:.4f}" for name in near.index[~near])
    numbers = f"at most {margin:g} below the best rival on {near.sum()} of {len(near)}"
    return picked.outcome(
        status, numbers + (f"; further below on {far}" if far else "")
    )


def far_behind(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    groups: Groups,
    margin: float,
    share: float,
) -> Outcome:
    """Check that rivals, where they are not best, are often far below a family."""
    columns = [column for members in groups.values() for column in members]
    picked = evidence.pick(datasets, family, columns)
    ours = picked.best(family)
    best = picked.best([*family, *columns])
    cases = far = 0
    for members in groups.values():
        theirs = picked.best(members)
        not_best = theirs < best - SAME
        cases += int(not_best.sum())
        far += int((not_best & (ours - theirs >= margin - SAME)).sum())
    status = evidence.rules.grade(far, share * cases)
    return picked.outcome(
        status,
        f"{far} of {cases} cases where {', '.join(groups)} are not best are at least"
        f" {margin:g} below",
    )


def above(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    family: Sequence[str],
    levels: Sequence[Mapping[str, Any]],
) -> Outcome:
    """Check how many data sets have a figure above each of some levels.

    ``levels`` has the ``value`` and the ``datasets`` on which the paper is above it.
    """
    picked = evidence.pick(datasets, family)
    ours = picked.best(family)
    met, texts = 0, []
    for level in levels:
        over = int((ours > level["value"] + SAME).sum())
        claimed = [name for name in level["datasets"] if name in ours.index]
        met += over >= len(claimed)
        texts.append(
            f"above {level['value']:g} on {over} of {len(ours)}"
            f" (claimed {len(level['datasets'])} of {len(datasets)})"
        )
    return picked.outcome(evidence.rules.grade(met, len(levels)), "; ".join(texts))


def close_columns(
    evidence: Evidence,
    *,
    datasets: Sequence[str],
    columns: Sequence[str],
    margin: float,
    share: float,
) -> Outcome:
    """Check that two columns differ by a margin at most on a share of data sets."""
    picked = evidence.pick(datasets, columns)
    gap = picked.best(columns) - picked.worst(columns)
    near = gap <= margin + SAME
    status = evidence.rules.grade(int(near.sum()), share * len(near))
    far = ", ".join(f"{name} {gap[name]:.4f}" for name in near.index[~near])
    numbers = (
        f"{' and '.join(columns)} within {margin:g} on {near.sum()} of {len(near)}"
    )
    return picked.outcome(
        status, numbers + (f"; further apart on {far}" if far else "")
    )
