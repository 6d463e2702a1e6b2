"""Checks of claims about other facts: the solvers' cost, and the paper's own tables.

Every public function here is a check that a claim may name: the first argument is the
evidence, the others are parameters that the claim gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.paper import PublishedCell, published_cells, table_rows
from drmbench.protocol.allowance import ROUNDING
from drmbench.report.claim_evidence import (
    Evidence,
    Finding,
    Names,
    NotTestableError,
    Status,
    and_not,
    printed_scores,
)

# ----------------------------------------- the iterative solvers: time and iterations


def _by_dataset(rows: pd.DataFrame, column: str, methods: Names) -> pd.DataFrame:
    """Return data sets x methods, without data sets on which a method has no figure."""
    table = rows.pivot_table(index="dataset", columns="method", values=column)
    lacking = [method for method in methods if method not in table]
    if lacking:
        raise NotTestableError(f"not run: {', '.join(lacking)}")
    table = table.dropna()
    if table.empty:
        raise NotTestableError("no data set has a figure of every method")
    return table


def _largest(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return each data set's rows with its largest value of a column."""
    return rows[rows[column] == rows.groupby("dataset")[column].transform("max")]


def _at_beta(rows: pd.DataFrame, beta: float) -> pd.DataFrame:
    chosen = rows[np.isclose(rows["beta"], beta, rtol=ROUNDING)]
    if chosen.empty:
        raise NotTestableError(f"not run with β = {beta:g}")
    return chosen


def _curves(
    rows: pd.DataFrame, x: str, y: str
) -> Iterator[tuple[str, pd.Series[float], pd.Series[float]]]:
    """Give the curve of each data set and method."""
    for (dataset, method), group in rows.groupby(["dataset", "method"], sort=False):
        ordered = group.dropna(subset=[y]).sort_values(x)
        yield f"{dataset} {method}", ordered[x], ordered[y]


def _extremes(
    evidence: Evidence,
    table: pd.DataFrame,
    least: str,
    most: str,
    share: float,
    unit: str,
) -> Finding:
    """Check that one method is lowest and another highest on a share of data sets."""
    low = table[least] <= table.min(axis=1) + ROUNDING
    high = table[most] >= table.max(axis=1) - ROUNDING
    met = int((low & high).sum())
    texts = [
        f"{name} " + " < ".join(f"{m} {v:.4g}" for m, v in row.sort_values().items())
        for name, row in table.iterrows()
    ]
    return evidence.finding(
        met,
        share * len(table),
        f"{least} least on {low.sum()}, {most} most on {high.sum()}, both on {met} of"
        f" {len(table)} data sets ({unit}): {'; '.join(texts)}",
        (met, len(table)),
    )


def time_order(
    evidence: Evidence, *, fastest: str, slowest: str, share: float
) -> Finding:
    """Check which method takes the least and which the most time, at the largest n."""
    rows = _largest(evidence.measured(), "n_train")
    table = _by_dataset(rows, "seconds_example", [fastest, slowest]) * 1e3
    return _extremes(evidence, table, fastest, slowest, share, "ms an example")


def iteration_order(
    evidence: Evidence, *, fewest: str, most: str, beta: float, share: float
) -> Finding:
    """Check which method takes the fewest and which the most iterations."""
    rows = _at_beta(evidence.measured(), beta)
    table = _by_dataset(rows, "iterations", [fewest, most])
    return _extremes(evidence, table, fewest, most, share, f"iterations, β = {beta:g}")


def dearer_iteration(evidence: Evidence, *, dearer: str, cheaper: str) -> Finding:
    """Check that an iteration of one method takes longer than one of another."""
    rows = _largest(evidence.measured(), "n_train")
    rows = rows.assign(each=1e6 * rows["seconds_example"] / rows["iterations"])
    table = _by_dataset(rows, "each", [dearer, cheaper])
    pairs = zip(table.index, table[dearer], table[cheaper], strict=True)
    texts = [f"{name} {more:.4g} to {less:.4g}" for name, more, less in pairs]
    met = int((table[dearer] > table[cheaper]).sum())
    numbers = f"µs an iteration, {dearer} to {cheaper}: {', '.join(texts)}"
    return evidence.finding(met, len(table), numbers)


def linear_time(evidence: Evidence, *, points: int, least_r2: float) -> Finding:
    """Check that time is a straight line in n: R² of a + b·n with b > 0.

    Curves with fewer than ``points`` sizes say nothing.
    """
    fits = {}
    for name, n, seconds in _curves(evidence.measured(), "n_train", "seconds_example"):
        if len(n) < points:
            continue
        x, y = np.asarray(n, np.float64), np.asarray(seconds, np.float64)
        slope, start = np.polyfit(x, y, 1)
        total = float(((y - y.mean()) ** 2).sum())
        left = float(((y - start - slope * x) ** 2).sum())
        fits[name] = 1 - left / total if slope > 0 and total else 0.0
    if not fits:
        raise NotTestableError(f"no curve has {points} training sizes")
    met = sum(r2 >= least_r2 for r2 in fits.values())
    low = min(fits, key=fits.__getitem__)
    return evidence.finding(
        met,
        len(fits),
        f"R² of a straight line at least {least_r2:g} for {met} of {len(fits)} curves;"
        f" lowest {fits[low]:.4f} ({low})",
        (met, len(fits)),
    )


def falls_with_beta(evidence: Evidence, *, methods: Names, slack: float) -> Finding:
    """Check that iterations never rise by more than ``slack`` as β grows."""
    rows = evidence.measured()
    rises = {
        name: float(iterations.diff().max())
        for name, _, iterations in _curves(
            rows[rows["method"].isin(methods)], "beta", "iterations"
        )
        if len(iterations) > 1
    }
    if not rises:
        raise NotTestableError(f"{', '.join(methods)} have fewer than two values of β")
    up = [f"{name} by {rise:.1f}" for name, rise in rises.items() if rise > slack]
    met = len(rises) - len(up)
    numbers = f"{met} of {len(rises)} curves never rise by more than {slack:g}"
    numbers = and_not(f"{numbers} iterations", up, "rising: ")
    return evidence.finding(met, len(rises), numbers, (met, len(rises)))


def iterations_within(
    evidence: Evidence,
    *,
    at_most: float,
    share: float,
    beta: float | Literal["all", "largest"] = "all",
) -> Finding:
    """Check that a share of the solves needs at most so many iterations."""
    rows = evidence.measured()
    if beta == "largest":
        rows = _largest(rows, "beta")
    elif beta != "all":
        rows = _at_beta(rows, float(beta))
    within = rows["iterations"] <= at_most
    most = rows.sort_values("iterations").iloc[-1]
    return evidence.finding(
        int(within.sum()),
        share * len(rows),
        f"at most {at_most:g} iterations in {within.sum()} of {len(rows)} cases (data"
        f" set, algorithm, β; {100 * share:g} % asked for); median"
        f" {rows['iterations'].median():.1f}, most {most['iterations']:.1f}"
        f" ({most['dataset']} {most['method']} β = {most['beta']:g})",
        (int(within.sum()), len(rows)),
    )


def seconds_within(evidence: Evidence, *, at_most: float) -> Finding:
    """Check that every solve takes at most so many seconds."""
    rows = evidence.measured()
    within = rows["seconds_example"] <= at_most
    most = rows.sort_values("seconds_example").iloc[-1]
    return evidence.finding(
        int(within.sum()),
        len(rows),
        f"at most {at_most:g} s an example in {within.sum()} of {len(rows)} cases;"
        f" longest {most['seconds_example']:.3g} s"
        f" ({most['dataset']} {most['method']})",
    )


# ------------- the paper's own tables: do they agree with themselves and with the data


def bold_marks(evidence: Evidence) -> Finding:
    """Check that in each row exactly the highest figures are bold."""
    rows: dict[str, list[PublishedCell]] = {}
    for table in evidence.tables:
        for cell in published_cells(table):
            rows.setdefault(cell.dataset, []).append(cell)
    wrong = []
    for name, row in rows.items():
        figures = {cell.method: cell.mean for cell in row if cell.mean is not None}
        best = max(figures.values())
        highest = [method for method, figure in figures.items() if figure == best]
        marked = [cell.method for cell in row if cell.bold]
        if highest != marked:
            bold = ", ".join(f"{method} {figures[method]:.4f}" for method in marked)
            wrong.append(
                f"{name}: bold is {bold}; highest {', '.join(highest)} {best:.4f}"
            )
    right = len(rows) - len(wrong)
    numbers = "; ".join([f"bold is the highest in {right} of {len(rows)} rows", *wrong])
    return evidence.finding(right, len(rows), numbers, (right, len(rows)))


def same_column(evidence: Evidence, *, family: Names, column: str) -> Finding:
    """Check that the best of a family in one table is a column of a second table."""
    first, second = (printed_scores(table) for table in evidence.tables)
    ours = first.values[list(family)].max(axis=1)
    theirs = second.values[column].reindex(ours.index)
    same = (ours - theirs).abs() <= ROUNDING
    wrong = [
        f"{name} {ours[name]:.4f} and {theirs[name]:.4f}" for name in ours.index[~same]
    ]
    numbers = and_not(f"the same in {same.sum()} of {len(same)} rows", wrong)
    return evidence.finding(int(same.sum()), len(same), numbers)


def row_count(evidence: Evidence, *, claimed: int) -> Finding:
    """Check how many data sets the tables list."""
    rows = {(t, row["dataset"]) for t in evidence.tables for row in table_rows(t)}
    status: Status = "reproduced" if len(rows) == claimed else "not reproduced"
    return Finding(status, f"{len(rows)} data sets listed, {claimed} claimed")


def _entries() -> dict[str, DatasetEntry]:
    """Return the catalogue's entries by the paper's names."""
    return {
        name: entry
        for entry in load_catalogue()
        if entry.paper
        for name in entry.paper.names
    }


def catalogue_facts(
    evidence: Evidence, *, column: str, tolerance: float, datasets: Names = ()
) -> Finding:
    """Check a column of a table of data sets against the public data.

    `column` is ``size``, ``dim`` or ``ir``; `datasets` are the rows to look at, none
    meaning all.
    """
    entries = _entries()
    printed = {
        row["dataset"]: float(row[column])
        for table in evidence.tables
        for row in table_rows(table)
        if not datasets or row["dataset"] in datasets
    }
    wrong = []
    for name, figure in printed.items():
        entry = entries[name]
        real = {"size": entry.n, "dim": entry.p, "ir": entry.imbalance_ratio}[column]
        if real is None or abs(figure - real) > tolerance:
            wrong.append(f"{name} {figure:g}, the public set {real:.5g}")
    right = len(printed) - len(wrong)
    numbers = and_not(f"{right} of {len(printed)} agree", wrong)
    return evidence.finding(right, len(printed), numbers)


def granularity(
    evidence: Evidence, *, sizes: str, trials: int, rounding: float
) -> Finding:
    """Check that accuracies are multiples of one over trials times test samples.

    `sizes` is the table that says how many test samples there are; `rounding` is the
    largest error of a printed figure.
    """
    entries = _entries()
    tests = {
        entries[row["dataset"]].name: int(row["test"]) for row in table_rows(sizes)
    }
    wrong: dict[str, list[str]] = {}
    total = 0
    for row in (row for table in evidence.tables for row in table_rows(table)):
        samples = trials * tests.get(entries[row["dataset"]].name, 0)
        if not samples or not row["mean"]:
            continue
        total += 1
        figure = float(row["mean"])
        if abs(figure - round(figure * samples) / samples) > rounding + ROUNDING:
            place = f"{row['dataset']} (1/{samples})"
            wrong.setdefault(place, []).append(f"{row['method']} {row['mean']}")
    right = total - sum(map(len, wrong.values()))
    texts = [f"{name}: {', '.join(cells)}" for name, cells in wrong.items()]
    numbers = f"{right} of {total} figures can be such multiples"
    numbers = and_not(numbers, texts, between="; ")
    return evidence.finding(right, total, numbers, (right, total))
