"""Checks of claims that one method is better than another: each has a test behind it.

Every public function here is a check that a claim may name: the first argument is the
evidence, the others are parameters that the claim gives. What is compared in one claim
is corrected for together, and the claim holds as far as the family is ahead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from drmbench.protocol.allowance import ROUNDING
from drmbench.report.claim_evidence import (
    Evidence,
    Finding,
    Groups,
    Names,
    NotTestableError,
)
from drmbench.report.paired import (
    Compared,
    compare_over_datasets,
    compare_shares,
    corrected,
    tally,
)


def _over_datasets(
    pairs: Mapping[tuple[str, str], pd.Series[float]],
) -> tuple[Compared, ...]:
    """Compare the differences of each pair, without data sets that have none."""
    found = []
    for (ours, theirs), difference in pairs.items():
        values = np.asarray(difference[np.isfinite(difference)], np.float64)
        if not len(values):
            raise NotTestableError(f"{ours} and {theirs} have no figures in common")
        found.append(compare_over_datasets(ours, theirs, values))
    return corrected(found)


def _counted(evidence: Evidence, tests: Sequence[Compared]) -> tuple[int, str]:
    """Return in how many comparisons ours is ahead, and that in words."""
    found = Counter(evidence.rules.relation(test) for test in tests)
    others = [f"{number} {relation}" for relation, number in found.items()]
    others = [text for text in others if not text.endswith(" ahead")]
    said = f"ahead in {found['ahead']} of {len(tests)} comparisons"
    return found["ahead"], f"{said}{''.join(f', {text}' for text in others)}"


def outperforms(
    evidence: Evidence, *, datasets: Names, family: Names, groups: Groups
) -> Finding:
    """Check that a family is ahead of each of some groups over data sets.

    The best column of the family stands against the best of the group, as the paper
    counts; in the mode ``honest``, in which nothing is chosen on test data, each column
    of the family against each of the groups.
    """
    columns = [column for members in groups.values() for column in members]
    picked = evidence.pick(datasets, family, columns)
    if evidence.mode == "honest":
        rivals = [column for column in columns if column in picked.values]
        pairs = {
            (ours, theirs): picked.values[ours] - picked.values[theirs]
            for ours in family
            for theirs in rivals
        }
    else:
        best, name = picked.best(family), family[0] if len(family) == 1 else "DRM"
        pairs = {
            (name, group): best - picked.best(members)
            for group, members in groups.items()
        }
    tests = _over_datasets(pairs)
    met, numbers = _counted(evidence, tests)
    return picked.finding(met, len(tests), numbers, tests, (met, len(tests)))


def improves(
    evidence: Evidence, *, datasets: Names, pairs: Sequence[tuple[str, str]]
) -> Finding:
    """Check that the first column of each pair is ahead of the second."""
    picked = evidence.pick(datasets, [column for pair in pairs for column in pair])
    tests = _over_datasets(
        {
            (ours, theirs): picked.values[ours] - picked.values[theirs]
            for ours, theirs in pairs
        }
    )
    met, numbers = _counted(evidence, tests)
    return picked.finding(met, len(tests), numbers, tests, (met, len(tests)))


def above_rival(
    evidence: Evidence,
    *,
    datasets: Names,
    pairs: Sequence[tuple[str, str]],
    share: float,
    at: Names = ("",),
    tested: bool = False,
) -> Finding:
    """Check that a share of points of some curves is not below its rival's.

    Besides, there must be more points above than below, and, where it is `tested`, the
    claim holds in part at most if not every label is ahead of its rival's. `pairs` are
    labels and their rivals', to which `at` appends what they have in common, such as
    `` beta=1``.
    """
    ends = [(ours + end, theirs + end) for ours, theirs in pairs for end in at]
    picked = evidence.pick(datasets, [label for pair in ends for label in pair])
    gains = {
        # A point at which both failed on every split is a tie.
        pair: (picked.best([pair[0]]) - picked.best([pair[1]])).fillna(0.0)
        for pair in ends
    }
    gain = np.concatenate(list(gains.values()))
    wins, ties, losses = tally(gain)
    met = wins + ties if wins > losses else 0
    numbers = (
        f"above on {wins}, equal on {ties}, below on {losses} of {len(gain)} points"
        f" (at worst by {-min(0.0, gain.min()):.4f});"
        f" {100 * share:g} % must not be below"
    )
    counted = (wins + ties, len(gain))
    if not tested:
        return picked.finding(met, share * len(gain), numbers, counted=counted)
    tests = _over_datasets(gains)
    if evidence.rules.ahead(tests) < len(tests):
        met = min(met, int(share * len(gain)) - 1)
    numbers += f"; {_counted(evidence, tests)[1]}"
    return picked.finding(met, share * len(gain), numbers, tests, counted)


def sampling_helps(
    evidence: Evidence, *, datasets: Names, before: Groups, after: Groups
) -> Finding:
    """Check that every over-sampled column is ahead of the classifier without.

    Each is compared with the better of the classifier's own columns. Data sets without
    one of the figures are left out of a pair.
    """
    plain, sampled = (
        [column for members in groups.values() for column in members]
        for groups in (before, after)
    )
    picked = evidence.pick(datasets, [*plain, *sampled])
    tests = _over_datasets(
        {
            (column, name): picked.values[column] - picked.best(before[name])
            for name, columns in after.items()
            for column in columns
        }
    )
    met, numbers = _counted(evidence, tests)
    return picked.finding(met, len(tests), numbers, tests, (met, len(tests)))


def _test_samples(evidence: Evidence, name: str) -> int:
    """Return how many samples of a data set the methods were asked about."""
    for results in evidence.results.values():
        rows = results.rows
        for dataset, entry in results.datasets.items():
            if name in (dataset, *entry.get("paper_names", ())):
                own = rows[(rows["dataset"] == dataset) & (rows["status"] == "ok")]
                return int(own.drop_duplicates("split")["n_test"].sum())
    raise NotTestableError(f"{name} has no test samples")


def significantly_above(
    evidence: Evidence,
    *,
    datasets: Names,
    family: Names,
    rivals: Names,
    members: Literal["any", "every"] = "any",
    beside: str = "",
) -> Finding:
    """Check that on every data set the accuracy of a family is ahead of all rivals'.

    Any member of the family may be, or every one must; the test is on the samples of
    the test part. `beside` is a second metric to show.
    """
    picked = evidence.pick(datasets, family, rivals)
    ours = picked.best(family) if members == "any" else picked.worst(family)
    theirs = picked.best(rivals)
    tests = corrected(
        [
            replace(
                compare_shares(
                    "DRM",
                    picked.best_column(name, rivals),
                    (float(ours[name]), float(theirs[name])),
                    _test_samples(evidence, name),
                ),
                on=name,
            )
            for name in picked.values.index
        ]
    )
    met, numbers = _counted(evidence, tests)
    numbers += f"; claimed on {len(datasets)} data sets"
    if beside:
        second = evidence.pick(datasets, family, rivals, metric=beside)
        both = zip(second.best(family).items(), second.best(rivals), strict=True)
        texts = [f"{name} {one:.3f} to {other:.3f}" for (name, one), other in both]
        numbers += f"; {beside} beside it, DRM to SVM: {', '.join(texts)}"
    return picked.finding(met, len(tests), numbers, tests, (met, len(tests)))


def exceeds(
    evidence: Evidence,
    *,
    dataset: str,
    family: Names,
    rivals: Names,
    by: float,
    tolerance: float,
) -> Finding:
    """Check that a family exceeds its rivals by so much on one data set.

    ``tolerance`` is for the rounding of the printed figures; ahead of the rivals, but
    by less, holds in part. The paper's own figures are compared without a test.
    """
    picked = evidence.pick([dataset], family, rivals)
    rival = float(picked.best(rivals).iloc[0])
    best = picked.best_column(dataset, rivals)
    figures = {column: float(picked.values[column].iloc[0]) for column in family}
    tests: tuple[Compared, ...] = ()
    if evidence.results:
        n = _test_samples(evidence, dataset)
        tests = corrected(
            [compare_shares(c, best, (f, rival), n) for c, f in figures.items()]
        )
    lead = max(figures.values()) - rival
    ahead = evidence.rules.ahead(tests) > 0 if tests else lead > ROUNDING
    listed = ", ".join(f"{c} {100 * (f - rival):+.1f}" for c, f in figures.items())
    return picked.finding(
        2 if ahead and lead >= by - tolerance else int(ahead),
        2,
        f"points above {best} ({rival:.4f}): {listed} (claimed {100 * by:g})",
        tests,
    )
