"""The regression check: fresh results against the committed ones, cell by cell.

Two results are of the same experiment if what decides their numbers is the same: the
experiment's identity, the data and the methods' grids. Words are never compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pandas.api.types import is_numeric_dtype

from drmbench.config.model import experiment_identity
from drmbench.errors import InputError
from drmbench.metrics import METRICS, mean_and_spread
from drmbench.protocol.allowance import (
    RECALL_METRICS,
    ROUNDING,
    HeldOut,
    mean_allowance,
)
from drmbench.running.results import Results, experiments_in, load_results

#: What identifies a row of results.
KEY = ("dataset", "method", "mode", "scaling", "split")

Key = tuple[str, str, str, str, int]
RowValues = Mapping[str, Any]
#: A column, the figure that was and the one that is, and how far they may be apart.
Figure = tuple[str, float, float, float]

#: What of the identity holds for every cell; selections are compared by what uses them.
_PROTOCOL = ("kind", "seed", "split", "selection", "tie", "preparation", "measure")
#: Where an early manifest has selections in words only, they are not compared.
_NO_PLANS: dict[str, Any] = {
    "selection": None,
    "tie": None,
    "selection_modes": {},
    "selection_overrides": {},
}
_ENVIRONMENT = ("python", "platform", "cpu", "blas")
_STRATIFIED = ("random", "folds", "kfold")
_SETTING = ("n_train", "alpha", "beta", "examples")
_FOUND = ("iterations", "converged")
_OBJECTIVE = 1e-6  # relative; far above what another order of sums changes
_LISTED = 40


# ------------------------------------------------------------------------ stored rows


def place_of(key: Sequence[Any]) -> str:
    """Return the name of a cell for people."""
    *names, split = key
    return " / ".join([*map(str, names), f"split {split}"])


def keyed(results: Results) -> dict[Key, RowValues]:
    """Return the rows of results by what identifies them.

    Raises InputError if a column is missing, a row is there twice, or the manifest does
    not know it.
    """
    require_columns(results)
    rows: dict[Key, RowValues] = {}
    for row in results.rows.to_dict("records"):
        dataset, method, split = row["dataset"], row["method"], row["split"]
        place = f"of {method} on {dataset}"
        if dataset not in results.datasets or method not in results.methods:
            raise InputError(
                f"{results.name}: results.csv has rows {place}, which manifest.json"
                " does not list"
            )
        try:
            key = (dataset, method, row["mode"], row["scaling"], int(split))
        except ValueError as error:
            raise InputError(
                f"{results.name}: results.csv has a row {place} whose split is not a"
                f" number: {split!r}"
            ) from error
        if key in rows:
            raise InputError(f"{results.name}: results.csv has {place_of(key)} twice")
        rows[key] = {str(column): value for column, value in row.items()}
    return rows


def require_columns(results: Results) -> None:
    """Refuse rows that lack a column that all need, or have text for its numbers."""
    measured = results.experiment.kind != "classification"
    numbers = _SETTING if measured else ("n_test",)
    table, file = results.rows, f"{results.name}: results.csv"
    lacking = [c for c in (*KEY, "status", "reason", *numbers) if c not in table]
    if lacking:
        raise InputError(f"{file} lacks {', '.join(lacking)}")
    figures = _FOUND if measured else results.experiment.metrics
    scalar = [c for c in figures if c in table and (measured or is_scalar(c))]
    for column in (*numbers, *scalar):
        # A run whose data is missing has no rows, and columns of no type.
        if len(table) and not is_numeric_dtype(table[column]):
            raise InputError(f"{file} has text in the column {column}")
    for column in numbers:
        if table.loc[table["status"] == "ok", column].isna().any():
            raise InputError(f"{file} has a row that is ok but lacks its {column}")


def is_scalar(metric: str) -> bool:
    """Whether a metric's column holds one number per row."""
    return metric in METRICS and METRICS[metric].scalar


# --------------------------------------------------------------------- what cells say


@dataclass(frozen=True)
class Move:
    """A figure that moved by more than it may, or a status that changed."""

    place: str  #: Data set, method, mode, scaling and split
    what: str  #: The column
    #: In the reference, and in the fresh results
    was: float | str
    now: float | str
    allowed: float = 0.0  #: How far a figure may move
    remark: str = ""  #: What may explain it

    def __str__(self) -> str:
        """Say what moved and by how much."""
        if isinstance(self.was, str) or isinstance(self.now, str):
            return f"{self.place}: {self.what} {self.was} -> {self.now}{self.remark}"
        return (
            f"{self.place}: {self.what} {self.was:.6g} -> {self.now:.6g}"
            f" ({self.now - self.was:+.6f}, allowed {self.allowed:.6f}){self.remark}"
        )


@dataclass(frozen=True)
class CellComparer:
    """Compares cells of two results that have the same schema."""

    reference: Results  #: What is committed
    #: The reference's and the fresh rows, by their keys
    old: Mapping[Key, RowValues]
    new: Mapping[Key, RowValues]
    #: Absolute difference to allow instead of :mod:`drmbench.protocol.allowance`'s
    tolerance: float | None = None

    def cell(self, key: Key) -> tuple[list[Move], bool]:
        """Return what moved in a cell, and whether nothing differs at all."""
        was, now = self.old[key], self.new[key]
        place, status = place_of(key), (was["status"], now["status"])
        if status[0] != status[1]:
            remark = f" ({now['reason']})" if now["reason"] else ""
            return [Move(place, "status", *status, remark=remark)], False
        if status[0] != "ok":
            return [], True
        remark = ""
        if was.get("params") != now.get("params"):
            remark = f"; selected {was.get('params')}, now {now.get('params')}"
        differing = [
            (what, a, b, allowed)
            for what, a, b, allowed in self._figures(key, was, now)
            if a != b and not (math.isnan(a) and math.isnan(b))
        ]
        moves = [
            Move(place, what, a, b, allowed, remark)
            for what, a, b, allowed in differing
            if not abs(a - b) <= allowed + ROUNDING
        ]
        return moves, not differing

    def _figures(self, key: Key, was: RowValues, now: RowValues) -> Iterator[Figure]:
        if self.reference.experiment.kind != "classification":
            yield from _solver_figures(was, now, self.tolerance)
            return
        part = self._held_out(key[0], was)
        same_accuracy = "accuracy" in was and was["accuracy"] == now.get("accuracy")
        for metric in self._metrics(was, now):
            a, b = float(was[metric]), float(now[metric])
            if self._stochastic(key[1]):
                allowed = math.inf  # its mean is compared
            elif self.tolerance is not None:
                allowed = self.tolerance
            elif metric in RECALL_METRICS and same_accuracy:
                allowed = 0.0
            else:
                allowed = part.one_sample(metric, a, b)
            yield metric, a, b, allowed

    def means(self, keys: Iterable[Key]) -> Iterator[tuple[Move, list[Key]]]:
        """Give the means of stochastic methods that moved, with the cells they are of.

        `keys` are the cells in which nothing moved by itself.
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
        """Return the mean that was, the one that is, and how far it may move."""
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

    def _metrics(self, was: RowValues, now: RowValues) -> list[str]:
        return [
            name
            for name in self.reference.experiment.metrics
            if is_scalar(name) and name in was and name in now
        ]

    def _stochastic(self, method: str) -> bool:
        return bool(self.reference.methods[method].get("stochastic"))

    def _held_out(self, dataset: str, row: RowValues) -> HeldOut:
        stratified = self.reference.experiment.split.kind in _STRATIFIED
        entry = self.reference.datasets[dataset]
        return HeldOut.of(entry, int(row["n_test"]), stratified=stratified)


def _solver_figures(
    was: RowValues, now: RowValues, tolerance: float | None
) -> Iterator[Figure]:
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


# --------------------------------------------------------------- the same experiment?


def differences(was: Any, now: Any, path: str = "") -> Iterator[str]:
    """Give the keys in which two nested descriptions differ, with both values.

    Mappings are compared key by key, anything else as a whole.

    Examples
    --------
    >>> list(differences({"seed": 0, "selection": {"k": 5}}, {"selection": {"k": 10}}))
    ['seed 0 -> None', 'selection.k 5 -> 10']
    """
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*was, *now]):
            below = f"{path}.{key}" if path else str(key)
            yield from differences(was.get(key), now.get(key), below)
    elif was != now:
        yield f"{path} {was!r} -> {now!r}"


def _another_experiment(reference: Results, fresh: Results) -> Iterator[str]:
    """Say in what the two are not the same experiment on the same data.

    What only one of them has is no difference: a run may have a part of the data sets
    and methods, and methods, modes and metrics may be added to an experiment.
    """
    yield from _differences_in(("schema",), reference.manifest, fresh.manifest)
    old, new = (experiment_identity(r.experiment) for r in (reference, fresh))
    if not (reference.plans_known and fresh.plans_known):
        old, new = {**old, **_NO_PLANS}, {**new, **_NO_PLANS}
    yield from _differences_in(_PROTOCOL, old, new)
    for what in ("scaling", "metrics"):
        if not set(old[what]) & set(new[what]):
            yield from differences(old[what], new[what], what)
    for mode in [mode for mode in old["scaling"] if mode in new["scaling"]]:
        path = f"selection_modes.{mode}"
        yield from _other_plan("selection_modes", mode, old, new, path)
    for name in _in_both(fresh.rows["dataset"], reference.datasets, fresh.datasets):
        sides = reference.datasets[name], fresh.datasets[name]
        for text in _differences_in(("fingerprint", "substitute"), *sides):
            yield f"data set {name}: {text}"
    for name in _in_both(fresh.rows["method"], reference.methods, fresh.methods):
        sides = reference.methods[name], fresh.methods[name]
        facts = _differences_in(("name", "steps", "grid", "params"), *sides)
        plan = _other_plan("selection_overrides", name, old, new, "selection")
        for text in (*facts, *plan):
            yield f"method {name}: {text}"


def _differences_in(
    keys: Iterable[str], was: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    for key in keys:
        yield from differences(was.get(key), now.get(key), key)


def _in_both(
    names: Iterable[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[str]:
    """Give the names, each once, that both manifests describe."""
    return (name for name in dict.fromkeys(names) if name in old and name in new)


def _other_plan(
    of: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any], path: str
) -> Iterator[str]:
    """Compare the selection of a mode or method, if either has one of its own."""
    if name in old[of] or name in new[of]:
        was, now = (side[of].get(name, side["selection"]) for side in (old, new))
        yield from differences(was, now, path)


# ------------------------------------------------------------------------- the check


@dataclass
class CheckedExperiment:
    """What became of the cells of one experiment."""

    name: str  #: The experiment
    #: Why it is not the same experiment
    obstacles: list[str] = field(default_factory=list)
    #: Versions that differ, and codes of one of the two that is not of one code
    context: list[str] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)  #: What moved
    #: Cells without any difference, and with one that is allowed
    exact: int = 0
    within: int = 0
    #: Cells of the reference that were compared, and all of them
    covered: int = 0
    reference: int = 0
    #: Fresh cells that are not in the reference
    new: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether something moved, or it is not the same experiment."""
        return bool(self.obstacles or self.moves)

    def summary(self) -> str:
        """Return one line: cells compared, exact, within tolerance, not covered."""
        moved = self.covered - self.exact - self.within
        return (
            f"{self.name}: {self.covered} of {self.reference} reference cells compared:"
            f" {self.exact} exact, {self.within} within tolerance, {moved} moved;"
            f" {self.reference - self.covered} not in the fresh run,"
            f" {len(self.new)} not in the reference"
        )


def compare(
    reference: Results, fresh: Results, *, tolerance: float | None = None
) -> CheckedExperiment:
    """Compare fresh results of an experiment with the reference.

    Only cells that the fresh results have are compared; times never are. `tolerance` is
    an absolute difference to allow instead of :mod:`drmbench.protocol.allowance`'s.
    Raises InputError if rows cannot be told apart, or lack what identifies them.
    """
    machines = [r.manifest.get("environment", {}) for r in (reference, fresh)]
    packages = (machine.get("packages", {}) for machine in machines)
    versions = sorted(differences(*packages))
    old, new = keyed(reference), keyed(fresh)
    found = CheckedExperiment(
        reference.name,
        obstacles=list(_another_experiment(reference, fresh)),
        context=[
            *_differences_in(_ENVIRONMENT, *machines),
            *versions,
            *_makers(reference, fresh),
        ],
        reference=len(old),
        new=[place_of(key) for key in new if key not in old],
    )
    if reference.manifest.get("schema") != fresh.manifest.get("schema"):
        return found  # columns of one name need not mean the same
    comparer = CellComparer(reference, old, new, tolerance)
    cells = {key: comparer.cell(key) for key in old if key in new}
    found.moves = [move for moves, _ in cells.values() for move in moves]
    unmoved = {key for key, (moves, _) in cells.items() if not moves}
    for move, keys in comparer.means([key for key in cells if key in unmoved]):
        found.moves.append(move)
        unmoved -= set(keys)
    found.covered = len(cells)
    found.exact = sum(cells[key][1] for key in unmoved)
    found.within = len(unmoved) - found.exact
    return found


def _makers(reference: Results, fresh: Results) -> Iterator[str]:
    """Say what computed the cells of both, where that is known and not the same."""
    was, now = (
        [maker.get("code") for maker in r.manifest.get("made_by") or []]
        for r in (reference, fresh)
    )
    if fresh.makers:
        yield f"{fresh.name} is not of one code: {'; '.join(fresh.makers)}"
    elif was and now and was != now:
        yield f"code {', '.join(map(str, was))} -> {now[0]}"


def compare_folders(
    reference: Path,
    fresh: Path,
    names: Sequence[str] = (),
    *,
    tolerance: float | None = None,
) -> list[CheckedExperiment]:
    """Compare all experiments of two folders, or some; `tolerance` as for `compare`.

    Raises InputError if an experiment is not in both, or no cell is in both.
    """
    old = load_results(reference, names, sound=False)
    new = load_results(fresh, names, sound=False)
    found = []
    for name in sorted({*old, *new}):
        if name in old and name in new:
            found.append(compare(old[name], new[name], tolerance=tolerance))
        elif name in old:
            found.append(CheckedExperiment(name, reference=len(old[name].rows)))
        else:
            places = [place_of(key) for key in keyed(new[name])]
            found.append(CheckedExperiment(name, new=places))
    if not any(one.covered or one.obstacles for one in found):
        there = [
            f"{folder} has results of"
            f" {', '.join(experiments_in(folder)) or 'no experiment'}"
            for folder in (reference, fresh)
        ]
        raise InputError(
            f"nothing to compare: {', '.join(there)}, and no cell is in both."
            " `drmbench run CONFIG` makes fresh results."
        )
    return found


def failure_text(checked: Iterable[CheckedExperiment]) -> str:
    """Return the list of what moved; obstacles first, about 40 lines at most."""
    lines = []
    for one in checked:
        lines += [f"{one.name}: not the same experiment: {o}" for o in one.obstacles]
        lines += [f"{one.name}: {move}" for move in one.moves]
    return "\n".join(shortened(lines))


def shortened(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are.

    Examples
    --------
    >>> shortened(["a"] * 42)[-1]
    'and 2 more'
    """
    more = len(lines) - _LISTED
    return [*lines[:_LISTED], *([f"and {more} more"] if more > 0 else [])]
