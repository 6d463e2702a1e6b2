"""Tables of the statistical tests: ranks with Nemenyi's groups, Wilcoxon with Holm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import MODE_TITLES, Scores, TableSource, scores_of
from drmbench.report.statistics import (
    FriedmanResult,
    PairedTest,
    cliques,
    critical_difference,
    friedman,
    mean_ranks,
    wilcoxon_against,
    win_counts,
)
from drmbench.report.table import Cell, Column, ReportTable
from drmbench.report.tables_scores import NO_FIGURE, metric_words, signed, table_id
from drmbench.words import OPTIMISTIC

#: Methods that are tested against all others; without them, all that are a DRM.
REFERENCES = ("drm-rbf", "drm-poly")
ALPHA = 0.05


def statistics_tables(
    source: TableSource, mode: ScalingMode, metric: str
) -> list[ReportTable]:
    """Return the table of ranks and the tables of paired tests."""
    comparison = scores_of(source, mode, metric)
    scores = comparison.ranked_scores()
    stem = table_id(source, metric, mode)
    title = f"{source.title}: {metric_words(metric)}, {{}}, {MODE_TITLES[mode]}"
    notes = (f"Figures are {OPTIMISTIC}.",) if mode == "paper" else ()
    tables = [
        _ranks_table(
            f"{stem}-statistics", title.format("ranks"), scores, source.digits, notes
        ),
        _paired_table(
            f"{stem}-wilcoxon",
            title.format("Wilcoxon's tests"),
            _paired_tests(comparison),
            (*notes, _dropped(friedman(scores))),
        ),
    ]
    if beyond := _tests_beyond(comparison):
        words = "Wilcoxon's tests against methods beyond the paper"
        pairs = "Each over the data sets on which both are complete."
        tables.append(
            _paired_table(
                f"{stem}-wilcoxon-beyond", title.format(words), beyond, (*notes, pairs)
            )
        )
    return tables


def _paired_tests(comparison: Scores) -> list[PairedTest]:
    scores = comparison.ranked_scores()
    return [
        t for name in _references(comparison) for t in wilcoxon_against(scores, name)
    ]


def _tests_beyond(comparison: Scores) -> list[PairedTest]:
    """Test the DRM against what an experiment adds to a table of the paper.

    Apart from the others, whose correction must not depend on what is added. A column
    that shows the higher of two methods on the test parts is not comparable with one
    that does not.
    """
    added = [c.heading for c in comparison.columns if not c.competes]
    if not added:
        return []
    single = {c.heading for c in comparison.columns if len(c.labels) == 1}
    scores = comparison.scores()
    return [
        test
        for name in _references(comparison)
        if name in single
        for test in wilcoxon_against(scores, name, added, pairwise=True)
    ]


def _references(comparison: Scores) -> list[str]:
    """Return the headings of the DRM columns that are tested against the others."""
    named = [c.heading for c in comparison.ranked if set(c.labels) & set(REFERENCES)]
    return named or [
        column.heading
        for column in comparison.ranked
        if any(label.startswith("drm") for label in column.labels)
    ]


def _ranks_table(
    table_id: str, title: str, scores: pd.DataFrame, digits: int, notes: Sequence[str]
) -> ReportTable:
    result = friedman(scores)
    comparable = result.k >= 2 and result.n >= 2
    distance = critical_difference(result.k, result.n) if comparable else math.nan
    ranks = mean_ranks(scores).sort_values(kind="stable")
    groups = cliques(ranks, distance) if comparable else []
    # As bold shows them: what is printed the same is a tie.
    wins = win_counts(scores.round(digits)).to_dict()
    return ReportTable(
        table_id,
        title,
        (
            Column("method"),
            Column("mean rank", "right"),
            Column("wins", "right"),
            Column("not told apart"),
        ),
        tuple(
            (
                Cell(str(name)),
                Cell(f"{rank:.2f}", float(rank)),
                Cell(str(wins[name]), wins[name]),
                Cell(_letters(str(name), groups)),
            )
            for name, rank in ranks.items()
        ),
        notes=(*_test_notes(result, distance), *notes, _dropped(result)),
    )


def _letters(name: str, groups: Sequence[tuple[str, ...]]) -> str:
    """Return the letters of the groups that a method is in, as compact displays do."""
    letters = (chr(ord("a") + i) for i, group in enumerate(groups) if name in group)
    return " ".join(letters)


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


def probability(p: float) -> str:
    """Return a p value to read.

    Examples
    --------
    >>> probability(0.04321), probability(0.0000123), probability(1.0)
    ('0.0432', '1.2e-05', '1.0000')
    """
    return f"{p:.4f}" if p >= 1e-4 or p == 0 else f"{p:.1e}"


def _dropped(result: FriedmanResult) -> str:
    data_sets, methods = result.dropped_datasets, result.dropped_methods
    text = f"{len(data_sets)} data sets were dropped because a method is not complete"
    text += f": {', '.join(data_sets)}." if data_sets else "."
    if methods:
        text += (
            " Left out, with a figure on fewer than half of the data sets:"
            f" {', '.join(methods)}."
        )
    return text


def _paired_table(
    table_id: str, title: str, tests: Sequence[PairedTest], notes: Sequence[str]
) -> ReportTable:
    headings = ("wins", "ties", "losses", "median difference", "W", "p", "p (Holm)")
    return ReportTable(
        table_id,
        title,
        (
            Column("method"),
            Column("against"),
            *(Column(heading, "right") for heading in headings),
            Column(f"at {ALPHA:g}"),
        ),
        tuple(_paired_row(test) for test in tests),
        notes=(
            "Two-sided; a difference is the method's mean minus the other's on a data"
            " set, an equal mean counts half for each. Holm's correction is over the"
            " tests of one method.",
            *notes,
        ),
    )


def _paired_row(test: PairedTest) -> tuple[Cell, ...]:
    counts = (test.wins, test.ties, test.losses)
    significant = test.p_holm < ALPHA
    verdict = "better" if test.wins > test.losses else "worse"
    return (
        Cell(test.reference),
        Cell(test.other),
        *(Cell(str(count), count) for count in counts),
        Cell(signed(test.median_difference, 4), test.median_difference),
        Cell(f"{test.statistic:g}", test.statistic),
        Cell(probability(test.p), test.p),
        Cell(probability(test.p_holm), test.p_holm, bold=significant),
        Cell(verdict if significant else NO_FIGURE),
    )
