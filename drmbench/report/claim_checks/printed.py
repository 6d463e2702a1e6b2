"""Checks of the paper's own tables: do they agree with themselves and with the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.paper import PublishedCell, published_cells, table_rows
from drmbench.report.claim_checks.evidence import Evidence
from drmbench.report.claim_checks.outcome import SAME, Outcome
from drmbench.report.claim_checks.scores import printed_scores


def bold_marks(evidence: Evidence) -> Outcome:
    """Check that in each row exactly the highest figures are bold."""
    rows: dict[str, list[PublishedCell]] = {}
    for table in evidence.tables:
        for cell in published_cells(table):
            rows.setdefault(cell.dataset, []).append(cell)
    wrong = list(filter(None, map(_wrong_marks, rows.values())))
    right = len(rows) - len(wrong)
    return Outcome(
        evidence.rules.grade(right, len(rows)),
        "; ".join([f"bold is the highest in {right} of {len(rows)} rows", *wrong]),
    )


def _wrong_marks(row: Sequence[PublishedCell]) -> str:
    """Say what is bold and what is highest in a row, or nothing if that is one."""
    figures = {cell.method: cell.mean for cell in row if cell.mean is not None}
    best = max(figures.values())
    highest = [method for method, figure in figures.items() if figure == best]
    marked = [cell.method for cell in row if cell.bold]
    if highest == marked:
        return ""
    bold = ", ".join(f"{method} {figures[method]:.4f}" for method in marked)
    return f"{row[0].dataset}: bold is {bold}; highest {', '.join(highest)} {best:.4f}"


def same_column(evidence: Evidence, *, family: Sequence[str], column: str) -> Outcome:
    """Check that the best of a family in one table is a column of a second table."""
    first, second = (printed_scores(table) for table in evidence.tables)
    ours = first.values[list(family)].max(axis=1)
    theirs = second.values[column].reindex(ours.index)
    same = (ours - theirs).abs() <= SAME
    wrong = ", ".join(
        f"{name} {ours[name]:.4f} and {theirs[name]:.4f}" for name in ours.index[~same]
    )
    return Outcome(
        evidence.rules.grade(int(same.sum()), len(same)),
        f"the same in {same.sum()} of {len(same)} rows"
        f"{f'; not {wrong}' if wrong else ''}",
    )


def row_count(evidence: Evidence, *, claimed: int) -> Outcome:
    """Check how many data sets the tables list."""
    listed = sum(
        len({row["dataset"] for row in table_rows(table)}) for table in evidence.tables
    )
    return Outcome(
        "reproduced" if listed == claimed else "not reproduced",
        f"{listed} data sets listed, {claimed} claimed",
    )


def catalogue_facts(
    evidence: Evidence,
    *,
    column: str,
    tolerance: float,
    datasets: Sequence[str] = (),
) -> Outcome:
    """Check a column of a table of data sets against the public data.

    Parameters
    ----------
    evidence : Evidence
        Its tables are read.
    column : {"size", "dim", "ir"}
        Column of the table.
    tolerance : float
        For rounding.
    datasets : sequence of str
        Rows to look at; none means all.
    """
    wrong, total = [], 0
    for name, printed, entry in _entries(evidence, column):
        if datasets and name not in datasets:
            continue
        real = {"size": entry.n, "dim": entry.p, "ir": entry.imbalance_ratio}[column]
        total += 1
        if real is None or abs(printed - real) > tolerance:
            wrong.append(f"{name} {printed:g}, the public set {real:.5g}")
    return Outcome(
        evidence.rules.grade(total - len(wrong), total),
        f"{total - len(wrong)} of {total} agree"
        f"{'; not ' if wrong else ''}{', '.join(wrong)}",
    )


def _entries(
    evidence: Evidence, column: str
) -> Iterator[tuple[str, float, DatasetEntry]]:
    entries = _by_paper_name()
    for table in evidence.tables:
        for row in table_rows(table):
            yield row["dataset"], float(row[column]), entries[row["dataset"]]


def _by_paper_name() -> dict[str, DatasetEntry]:
    return {
        name: entry
        for entry in load_catalogue()
        if entry.paper
        for name in entry.paper.names
    }


def granularity(
    evidence: Evidence, *, sizes: str, trials: int, rounding: float
) -> Outcome:
    """Check that accuracies are multiples of one over trials times test samples.

    Parameters
    ----------
    evidence : Evidence
        Its tables are read.
    sizes : str
        Table with the column ``test``.
    trials : int
        Trials that the figures are means of.
    rounding : float
        Largest error of a printed figure.
    """
    entries = _by_paper_name()
    tests = {
        entries[row["dataset"]].name: int(row["test"]) for row in table_rows(sizes)
    }
    wrong: dict[str, list[str]] = {}
    total = 0
    for table in evidence.tables:
        for row in table_rows(table):
            samples = trials * tests.get(entries[row["dataset"]].name, 0)
            if not samples or not row["mean"]:
                continue
            total += 1
            figure = float(row["mean"])
            if abs(figure - round(figure * samples) / samples) > rounding + SAME:
                wrong.setdefault(f"{row['dataset']} (1/{samples})", []).append(
                    f"{row['method']} {row['mean']}"
                )
    bad = sum(map(len, wrong.values()))
    texts = [f"{name}: {', '.join(cells)}" for name, cells in wrong.items()]
    return Outcome(
        evidence.rules.grade(total - bad, total),
        f"{total - bad} of {total} figures can be such multiples"
        f"{'; not ' if texts else ''}{'; '.join(texts)}",
    )
