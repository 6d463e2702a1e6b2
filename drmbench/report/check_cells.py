"""Comparing the cells of two results of one experiment, figure by figure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pandas.api.types import is_numeric_dtype

from drmbench.errors import InputError
from drmbench.metrics import METRICS, mean_and_spread
from drmbench.protocol.allowance import (
    RECALL_METRICS,
    ROUNDING,
    HeldOut,
    mean_allowance,
)
from drmbench.run.results import Results

#: What identifies a row of results.
KEY = ("dataset", "method", "mode", "scaling", "split")

Key = tuple[str, str, str, str, int]
Row = Mapping[str, Any]
#: A column, the figure that was and the one that is, and how far they may be apart.
Figure = tuple[str, float, float, float]

_STRATIFIED = ("random", "folds", "kfold")
_SETTING = ("n_train", "alpha", "beta", "examples")
_FOUND = ("iterations", "converged")
_OBJECTIVE = 1e-6  # relative; far above what another order of sums changes


@dataclass(frozen=True)
class Move:
    """A figure that moved by more than it may, or a status that changed.

    Attributes
    ----------
    place : str
        Data set, method, mode, scaling and split.
    what : str
        The column.
    was, now : float or str
        In the reference, and in the fresh results.
    allowed : float
        How far a figure may move.
    remark : str
        What may explain it.
    """

    place: str
    what: str
    was: float | str
    now: float | str
    allowed: float = 0.0
    remark: str = ""

    def __str__(self) -> str:
        """Say what moved and by how much."""
        if isinstance(self.was, str) or isinstance(self.now, str):
            return f"{self.place}: {self.what} {self.was} -> {self.now}{self.remark}"
        return (
            f"{self.place}: {self.what} {self.was:.6g} -> {self.now:.6g}"
            f" ({self.now - self.was:+.6f}, allowed {self.allowed:.6f}){self.remark}"
        )


def place_of(key: Key) -> str:
    """Return the name of a cell for people."""
    *names, split = key
    return " / ".join([*map(str, names), f"split {split}"])


def keyed(results: Results) -> dict[Key, Row]:
    """Return the rows of results by what identifies them.

    Raises
    ------
    InputError
        If a column is missing, a row is there twice, or the manifest does not know it.
    """
    require_columns(results)
    rows: dict[Key, Row] = {}
    for row in results.rows.to_dict("records"):
        key = _key(results, row)
        if key in rows:
            raise InputError(f"{results.name}: results.csv has {place_of(key)} twice")
        rows[key] = {str(column): value for column, value in row.items()}
    return rows


def require_columns(results: Results) -> None:
    """Refuse rows that lack a column that all need, or have text for its numbers.

    Raises
    ------
    InputError
        Names the experiment and the column.
    """
    measured = results.experiment.kind != "classification"
    numbers = _SETTING if measured else ("n_test",)
    table, file = results.rows, f"{results.name}: results.csv"
    lacking = [c for c in (*KEY, "status", "reason", *numbers) if c not in table]
    if lacking:
        raise InputError(f"{file} lacks {', '.join(lacking)}")
    figures = _FOUND if measured else results.experiment.metrics
    scalar = [c for c in figures if c in table and (measured or is_scalar(c))]
    for column in (*numbers, *scalar):
        # A run whose data could not be had has no rows, and columns of no type.
        if len(table) and not is_numeric_dtype(table[column]):
            raise InputError(f"{file} has text in the column {column}")
    for column in numbers:
        if table.loc[table["status"] == "ok", column].isna().any():
            raise InputError(f"{file} has a row that is ok but lacks its {column}")


def is_scalar(metric: str) -> bool:
    """Whether a metric's column holds one number a row."""
    return metric in METRICS and METRICS[metric].scalar


def _key(results: Results, row: Mapping[Any, Any]) -> Key:
    if row["dataset"] not in results.datasets or row["method"] not in results.methods:
        raise InputError(
            f"{results.name}: results.csv has rows of {row['method']} on"
            f" {row['dataset']}, which manifest.json does not list"
        )
    names = (row["dataset"], row["method"], row["mode"], row["scaling"])
    try:
        return (*names, int(row["split"]))
    except ValueError as error:
        raise InputError(
            f"{results.name}: results.csv has a row of {row['method']} on"
            f" {row['dataset']} whose split is not a number: {row['split']!r}"
        ) from error


@dataclass(frozen=True)
class CellComparer:
    """Compares cells of two results that have the same schema.

    Attributes
    ----------
    reference : Results
        What is committed.
    old, new : mapping of tuple to mapping
        The reference's and the fresh rows, by their keys.
    tolerance : float or None
        Absolute difference to allow instead of
        :mod:`drmbench.protocol.allowance`'s.
    """

    reference: Results
    old: Mapping[Key, Row]
    new: Mapping[Key, Row]
    tolerance: float | None = None

    def cell(self, key: Key) -> tuple[list[Move], bool]:
        """Return what moved in a cell, and whether nothing differs at all."""
        was, now = self.old[key], self.new[key]
        if was["status"] != now["status"]:
            remark = f" ({now['reason']})" if now["reason"] else ""
            status = Move(
                place_of(key), "status", was["status"], now["status"], remark=remark
            )
            return [status], False
        if was["status"] != "ok":
            return [], True
        differing = [
            figure for figure in self._figures(key, was, now) if not _same(*figure[1:3])
        ]
        moves = [
            Move(place_of(key), what, a, b, allowed, _reselected(was, now))
            for what, a, b, allowed in differing
            if not abs(a - b) <= allowed + ROUNDING
        ]
        return moves, not differing

    def _figures(self, key: Key, was: Row, now: Row) -> Iterator[Figure]:
        if self.reference.experiment.kind != "classification":
            yield from _solver_figures(was, now, self.tolerance)
            return
        part = self._held_out(key[0], was)
        steady = not self._stochastic(key[1])
        for metric in self._metrics(was, now):
            allowed = self._allowed(part, metric, was, now) if steady else math.inf
            yield metric, float(was[metric]), float(now[metric]), allowed

    def _allowed(self, part: HeldOut, metric: str, was: Row, now: Row) -> float:
        if self.tolerance is not None:
            return self.tolerance
        known = "accuracy" in was and "accuracy" in now
        if metric in RECALL_METRICS and known and was["accuracy"] == now["accuracy"]:
            return 0.0
        return part.one_sample(metric, float(was[metric]), float(now[metric]))

    def means(self, keys: Iterable[Key]) -> Iterator[tuple[Move, list[Key]]]:
        """Give the means of stochastic methods that moved, with the cells they are of.

        Parameters
        ----------
        keys : iterable of tuple
            Cells in which nothing moved by itself.
        """
        groups: dict[tuple[str, ...], list[Key]] = {}
        for key in keys:
            if self._stochastic(key[1]) and self.old[key]["status"] == "ok":
                groups.setdefault(key[:4], []).append(key)
        for names, group in groups.items():
            place = f"{' / '.join(names)} / mean of {len(group)} splits"
            for metric in self._metrics(self.old[group[0]], self.new[group[0]]):
                was, now, allowed = self._mean(group, metric)
                if not abs(was - now) <= allowed + ROUNDING:
                    yield Move(place, metric, was, now, allowed), group

    def _mean(self, keys: Sequence[Key], metric: str) -> tuple[float, float, float]:
        was = [float(self.old[key][metric]) for key in keys]
        now = [float(self.new[key][metric]) for key in keys]
        (old_mean, spread), (new_mean, _) = mean_and_spread(was), mean_and_spread(now)
        if self.tolerance is not None:
            return old_mean, new_mean, self.tolerance
        part = self._held_out(keys[0][0], self.old[keys[0]])
        if math.isnan(spread):
            spread = part.binomial(metric, old_mean)
        samples = [part.one_sample(metric, a, b) for a, b in zip(was, now, strict=True)]
        one_each = sum(samples) / len(samples)
        return old_mean, new_mean, max(mean_allowance(spread, len(keys)), one_each)

    def _metrics(self, was: Row, now: Row) -> list[str]:
        return [
            name
            for name in self.reference.experiment.metrics
            if is_scalar(name) and name in was and name in now
        ]

    def _stochastic(self, method: str) -> bool:
        return bool(self.reference.methods[method].get("stochastic"))

    def _held_out(self, dataset: str, row: Row) -> HeldOut:
        kind = self.reference.experiment.split.kind
        entry = self.reference.datasets[dataset]
        return HeldOut.of(entry, int(row["n_test"]), stratified=kind in _STRATIFIED)


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _reselected(was: Row, now: Row) -> str:
    if was.get("params") == now.get("params"):
        return ""
    return f"; selected {was.get('params')}, now {now.get('params')}"


def _solver_figures(was: Row, now: Row, tolerance: float | None) -> Iterator[Figure]:
    """Give a measurement's figures: its setting exactly, one iteration of an example.

    The objective at the end of the trace may differ by rounding only.
    """
    for what in _SETTING:
        yield what, float(was[what]), float(now[what]), 0.0
    one = 1 / max(1.0, float(was["examples"])) if tolerance is None else tolerance
    for what in _FOUND:
        if what in was and what in now:
            yield what, float(was[what]), float(now[what]), one
    if "trace" in was and "trace" in now:
        a, b = _last(was["trace"]), _last(now["trace"])
        allowed = _OBJECTIVE * abs(a) if tolerance is None else tolerance
        yield "last objective", a, b, allowed


def _last(trace: str) -> float:
    try:
        return float(json.loads(trace)[-1])
    except (ValueError, TypeError, IndexError):
        return math.nan
