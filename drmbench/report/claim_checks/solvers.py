"""Checks of the three iterative solvers: their time, and their iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.report.claim_checks.evidence import Evidence
from drmbench.report.claim_checks.outcome import SAME, NotTestableError, Outcome


def _by_dataset(
    rows: pd.DataFrame, column: str, methods: Sequence[str] = ()
) -> pd.DataFrame:
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
    chosen = rows[np.isclose(rows["beta"], beta, rtol=SAME)]
    if chosen.empty:
        raise NotTestableError(f"not run with β = {beta:g}")
    return chosen


def _extremes(
    evidence: Evidence,
    table: pd.DataFrame,
    least: str,
    most: str,
    share: float,
    unit: str,
) -> Outcome:
    """Check that one method is lowest and another highest on a share of data sets."""
    low = table[least] <= table.min(axis=1) + SAME
    high = table[most] >= table.max(axis=1) - SAME
    met = int((low & high).sum())
    texts = [
        f"{name} " + " < ".join(f"{m} {v:.4g}" for m, v in row.sort_values().items())
        for name, row in table.iterrows()
    ]
    return Outcome(
        evidence.rules.grade(met, share * len(table)),
        f"{least} least on {low.sum()}, {most} most on {high.sum()}, both on {met} of"
        f" {len(table)} data sets ({unit}): {'; '.join(texts)}",
    )


def time_order(
    evidence: Evidence, *, fastest: str, slowest: str, share: float
) -> Outcome:
    """Check which method takes the least and which the most time, at the largest n."""
    rows = _largest(evidence.measured(), "n_train")
    table = _by_dataset(rows, "seconds_example", [fastest, slowest]) * 1e3
    return _extremes(evidence, table, fastest, slowest, share, "ms an example")


def iteration_order(
    evidence: Evidence, *, fewest: str, most: str, beta: float, share: float
) -> Outcome:
    """Check which method takes the fewest and which the most iterations."""
    rows = _at_beta(evidence.measured(), beta)
    table = _by_dataset(rows, "iterations", [fewest, most])
    return _extremes(evidence, table, fewest, most, share, f"iterations, β = {beta:g}")


def dearer_iteration(evidence: Evidence, *, dearer: str, cheaper: str) -> Outcome:
    """Check that an iteration of one method takes longer than one of another."""
    rows = _largest(evidence.measured(), "n_train")
    rows = rows.assign(each=1e6 * rows["seconds_example"] / rows["iterations"])
    table = _by_dataset(rows, "each", [dearer, cheaper])
    met = int((table[dearer] > table[cheaper]).sum())
    texts = [
        f"{name} {row[dearer]:.4g} to {row[cheaper]:.4g}"
        for name, row in table.iterrows()
    ]
    return Outcome(
        evidence.rules.grade(met, len(table)),
        f"µs an iteration, {dearer} to {cheaper}: {', '.join(texts)}",
    )


def _curves(
    rows: pd.DataFrame, x: str, y: str
) -> Iterator[tuple[str, pd.Series[float], pd.Series[float]]]:
    for (dataset, method), group in rows.groupby(["dataset", "method"], sort=False):
        ordered = group.dropna(subset=[y]).sort_values(x)
        yield f"{dataset} {method}", ordered[x], ordered[y]


def linear_time(evidence: Evidence, *, points: int, least_r2: float) -> Outcome:
    """Check that time is a straight line in n: R² of a + b·n with b > 0.

    Curves with fewer than ``points`` sizes say nothing.
    """
    fits = {
        name: _straight(np.asarray(n, np.float64), np.asarray(seconds, np.float64))
        for name, n, seconds in _curves(
            evidence.measured(), "n_train", "seconds_example"
        )
        if len(n) >= points
    }
    if not fits:
        raise NotTestableError(f"no curve has {points} training sizes")
    met = sum(r2 >= least_r2 for r2 in fits.values())
    low = min(fits, key=fits.__getitem__)
    return Outcome(
        evidence.rules.grade(met, len(fits)),
        f"R² of a straight line at least {least_r2:g} for {met} of {len(fits)} curves;"
        f" lowest {fits[low]:.4f} ({low})",
    )


def _straight(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return R² of the straight line through the points, or 0 if it does not rise."""
    slope, start = np.polyfit(x, y, 1)
    total = float(((y - y.mean()) ** 2).sum())
    if slope <= 0 or total == 0:
        return 0.0
    return 1 - float(((y - start - slope * x) ** 2).sum()) / total


def falls_with_beta(
    evidence: Evidence, *, methods: Sequence[str], slack: float
) -> Outcome:
    """Check that iterations never rise by more than ``slack`` as β grows."""
    rows = evidence.measured()
    rows = rows[rows["method"].isin(methods)]
    rises = {
        name: float(iterations.diff().max())
        for name, _, iterations in _curves(rows, "beta", "iterations")
        if len(iterations) > 1
    }
    if not rises:
        raise NotTestableError(f"{', '.join(methods)} have fewer than two values of β")
    up = {name: rise for name, rise in rises.items() if rise > slack}
    listed = ", ".join(f"{name} by {rise:.1f}" for name, rise in up.items())
    return Outcome(
        evidence.rules.grade(len(rises) - len(up), len(rises)),
        f"{len(rises) - len(up)} of {len(rises)} curves never rise by more than"
        f" {slack:g} iterations{f'; rising: {listed}' if up else ''}",
    )


def iterations_within(
    evidence: Evidence,
    *,
    at_most: float,
    share: float,
    beta: float | Literal["all", "largest"] = "all",
) -> Outcome:
    """Check that a share of the solves needs at most so many iterations."""
    rows = evidence.measured()
    if beta == "largest":
        rows = _largest(rows, "beta")
    elif beta != "all":
        rows = _at_beta(rows, float(beta))
    within = rows["iterations"] <= at_most
    most = rows.sort_values("iterations").iloc[-1]
    return Outcome(
        evidence.rules.grade(int(within.sum()), share * len(rows)),
        f"at most {at_most:g} iterations in {within.sum()} of {len(rows)} cases (data"
        f" set, algorithm, β; {100 * share:g} % asked for); median"
        f" {rows['iterations'].median():.1f}, most {most['iterations']:.1f}"
        f" ({most['dataset']} {most['method']} β = {most['beta']:g})",
    )


def seconds_within(evidence: Evidence, *, at_most: float) -> Outcome:
    """Check that every solve takes at most so many seconds."""
    rows = evidence.measured()
    within = rows["seconds_example"] <= at_most
    most = rows.sort_values("seconds_example").iloc[-1]
    return Outcome(
        evidence.rules.grade(int(within.sum()), len(rows)),
        f"at most {at_most:g} s an example in {within.sum()} of {len(rows)} cases;"
        f" longest {most['seconds_example']:.3g} s"
        f" ({most['dataset']} {most['method']})",
    )
