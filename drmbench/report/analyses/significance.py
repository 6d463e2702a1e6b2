"""Tables of the statistical tests: ranks with Nemenyi's groups, Wilcoxon with Holm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import DRM_FAMILIES, Scores, TableSource, scores_of
from drmbench.report.statistics import (
    ALPHA,
    FriedmanResult,
    PairedTest,
    cliques,
    critical_difference,
    friedman,
    holm,
    mean_ranks,
    wilcoxon_against,
)
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Table,
    count_cell,
    left,
    probability,
    right,
    signed_cell,
)
from drmbench.words import MODES, OPTIMISTIC, metric_words

#: Methods that are tested against all others; without them, all that are a DRM.
REFERENCES = ("drm-rbf", "drm-poly")


def significance_tables(
    source: TableSource, mode: ScalingMode, metric: str
) -> Iterator[Table]:
    """Give the table of ranks and the tables of paired tests.

    The methods that are ranked are tested together; those that miss data sets apart,
    each over the data sets that it has.
    """
    scores = scores_of(source, mode, metric)
    means, references = scores.ranked_scores(), _references(scores)
    result = friedman(means)
    head = f"{source.title}: {metric_words(metric)}"
    tail = MODES[mode].title
    about: dict[str, Any] = {"experiment": source.id, "metric": metric, "mode": mode}
    notes = (f"Figures are {OPTIMISTIC}.",) if mode == "paper" else ()
    named = ", ".join(result.dropped_datasets)
    dropped = (
        f"{len(result.dropped_datasets)} data sets were dropped because a method is not"
        f" complete{f': {named}' if named else ''}."
    )
    if result.dropped_methods:
        dropped += (
            " Left out, with a figure on fewer than half of the data sets:"
            f" {', '.join(result.dropped_methods)}."
        )
    comparable = result.k > 1 and result.n > 1
    distance = critical_difference(result.k, result.n) if comparable else math.nan
    yield Table(
        **about,
        kind="ranks",
        title=f"{head}, ranks, {tail}",
        columns=left("method") + right("mean rank", "wins") + left("not told apart"),
        rows=tuple(_ranks_rows(mean_ranks(means), distance, scores.wins())),
        notes=(*_test_notes(result, distance), *notes, dropped),
    )
    yield _paired_table(
        **about,
        kind="wilcoxon",
        title=f"{head}, Wilcoxon's tests, {tail}",
        tests=list(_each_pair_once(means, references)),
        notes=(*notes, dropped),
    )
    unranked = [column.heading for column in scores.unranked]
    others = [
        test
        for name in references
        if unranked
        for test in wilcoxon_against(scores.scores(), name, unranked, pairwise=True)
    ]
    if others:
        yield _paired_table(
            **about,
            kind="wilcoxon-beyond",
            title=f"{head}, tests against methods that miss data sets, {tail}",
            tests=others,
            notes=(*notes, "Each over the data sets on which both are complete."),
        )


def _each_pair_once(
    means: pd.DataFrame, references: Sequence[str]
) -> Iterator[PairedTest]:
    """Test each reference against all methods but the references before it."""
    for number, name in enumerate(references):
        others = [x for x in means.columns if x not in references[:number]]
        yield from wilcoxon_against(means, name, others)


def _references(scores: Scores) -> list[str]:
    """Return the headings of the DRM columns that are tested against the others."""
    found = [c.heading for c in scores.ranked if set(c.labels) & set(REFERENCES)]
    drm = {
        label
        for results in (*scores.source.lenders, *scores.source.results)
        for label, entry in results.methods.items()
        if entry.get("family") in DRM_FAMILIES
    }
    return found or [c.heading for c in scores.ranked if drm & set(c.labels)]


def _ranks_rows(
    ranks: pd.Series, distance: float, wins: pd.Series
) -> Iterator[tuple[Cell, ...]]:
    ranks = ranks.sort_values(kind="stable")
    groups = [] if math.isnan(distance) else cliques(ranks, distance)
    for name, rank in ranks.items():
        # The letters of the groups that a method is in, as compact displays have them.
        letters = (chr(ord("a") + i) for i, group in enumerate(groups) if name in group)
        yield (
            Cell(str(name)),
            Cell(f"{rank:.2f}", float(rank)),
            count_cell(int(wins[str(name)])),
            Cell(" ".join(letters)),
        )


def _test_notes(result: FriedmanResult, distance: float) -> Iterator[str]:
    k, n = result.k, result.n
    if math.isnan(result.chi2):
        yield (
            f"No test: {k} methods on {n} complete data sets, or methods that are equal"
            " on all of them, leave nothing to compare."
        )
        return
    yield (
        f"Friedman's test, {k} methods on {n} data sets: χ²({k - 1}) ="
        f" {result.chi2:.2f}, p = {probability(result.chi2_p)}; Iman and Davenport:"
        f" F({k - 1}, {(k - 1) * (n - 1)}) = {result.f:.2f},"
        f" p = {probability(result.f_p)}."
    )
    yield (
        f"Nemenyi's critical difference of mean ranks at {ALPHA:g} is {distance:.2f};"
        " methods with a common letter are not told apart by it."
    )


def _paired_table(
    *, tests: Sequence[PairedTest], notes: Sequence[str], **about: str
) -> Table:
    rows = []
    family = holm([test.p for test in tests])
    lower = get_metric(about["metric"]).better == "lower"
    turned = ", its sign turned because lower is better" if lower else ""
    for test, p_holm in zip(tests, family, strict=True):
        significant = p_holm < ALPHA
        verdict = "better" if test.wins > test.losses else "worse"
        rows.append(
            (
                Cell(test.reference),
                Cell(test.other),
                *map(count_cell, (test.wins, test.ties, test.losses)),
                signed_cell(test.median_difference, 4),
                Cell(f"{test.statistic:g}", test.statistic),
                Cell(probability(test.p), test.p),
                Cell(probability(p_holm), p_holm),
                Cell(verdict if significant else NO_FIGURE),
            )
        )
    return Table(
        **about,  # type: ignore[arg-type]
        columns=(
            *left("method", "against"),
            *right("wins", "ties", "losses", "median difference"),
            *right("W", "p", "p (Holm)"),
            *left(f"at {ALPHA:g}"),
        ),
        rows=tuple(rows),
        notes=(
            "Two-sided; a difference is the method's mean minus the other's on a data"
            f" set{turned}, an equal mean counts half for each. Holm's correction is"
            " over all tests of the table.",
            *notes,
        ),
    )
