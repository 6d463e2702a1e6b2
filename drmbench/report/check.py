"""The regression check: fresh results against the committed ones, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drmbench.config.model import experiment_identity
from drmbench.errors import InputError
from drmbench.report.check_cells import CellComparer, Move, keyed, place_of
from drmbench.run.results import Results, experiments_in, load_results

_PROTOCOL = ("kind", "seed", "split", "selection", "measure")
_ENVIRONMENT = ("python", "platform", "cpu", "blas")
_LISTED = 40


@dataclass
class Comparison:
    """What became of the cells of one experiment.

    Attributes
    ----------
    name : str
        The experiment.
    obstacles : list of str
        Why it is not the same experiment.
    context : list of str
        Versions that differ.
    moves : list of Move
        What moved.
    exact, within : int
        Cells without any difference, and with one that is allowed.
    covered, reference : int
        Cells of the reference that were compared, and all of them.
    new : list of str
        Fresh cells that are not in the reference.
    """

    name: str
    obstacles: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    exact: int = 0
    within: int = 0
    covered: int = 0
    reference: int = 0
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
) -> Comparison:
    """Compare fresh results of an experiment with the reference.

    Only cells that the fresh results have are compared; times never are.

    Parameters
    ----------
    reference, fresh : Results
        What is committed, and what was run now.
    tolerance : float or None
        Absolute difference to allow instead of
        :mod:`drmbench.protocol.allowance`'s.

    Raises
    ------
    InputError
        If rows cannot be told apart, or lack what identifies them.
    """
    found = Comparison(
        reference.name,
        obstacles=list(_other_experiment(reference, fresh)),
        context=list(_versions(reference, fresh)),
    )
    old, new = keyed(reference), keyed(fresh)
    found.reference = len(old)
    found.new = [place_of(key) for key in new if key not in old]
    if _schema(reference) != _schema(fresh):
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


def _schema(results: Results) -> Any:
    return results.manifest.get("schema")


def _other_experiment(reference: Results, fresh: Results) -> Iterator[str]:
    """Say in what the two are not the same experiment on the same data."""
    yield from _differences(("schema",), reference.manifest, fresh.manifest)
    yield from _differences(_PROTOCOL, _protocol(reference), _protocol(fresh))
    for name in _in_both(fresh.rows["dataset"], reference.datasets, fresh.datasets):
        old, new = reference.datasets[name], fresh.datasets[name]
        for text in _differences(("fingerprint", "substitute"), old, new):
            yield f"data set {name}: {text}"
    for name in _in_both(fresh.rows["method"], reference.methods, fresh.methods):
        old, new = (
            {**found.methods[name], "selection": _own_selection(found, name)}
            for found in (reference, fresh)
        )
        for text in _differences(("name", "grid", "params", "selection"), old, new):
            yield f"method {name}: {text}"


def _in_both(
    names: Iterable[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[str]:
    """Give the names, each once, that both manifests describe."""
    return (name for name in dict.fromkeys(names) if name in old and name in new)


def _protocol(results: Results) -> dict[str, Any]:
    """Return what decides numbers; selection in words where no more is known."""
    identity = experiment_identity(results.experiment)
    return {**identity, **results.manifest.get("selection_words", {})}


def _own_selection(results: Results, method: str) -> Any:
    return _protocol(results)["selection_overrides"].get(method)


def _differences(
    what: Iterable[str], was: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    for key in what:
        if was.get(key) != now.get(key):
            yield f"{key} {was.get(key)!r} -> {now.get(key)!r}"


def _versions(reference: Results, fresh: Results) -> Iterator[str]:
    """Give what differs in the environment."""
    old, new = (r.manifest.get("environment", {}) for r in (reference, fresh))
    yield from _differences(_ENVIRONMENT, old, new)
    packages, now = old.get("packages", {}), new.get("packages", {})
    yield from _differences(sorted({*packages, *now}), packages, now)


def compare_folders(
    reference: Path,
    fresh: Path,
    names: Sequence[str] = (),
    *,
    tolerance: float | None = None,
) -> list[Comparison]:
    """Compare all experiments of two folders, or some.

    Parameters
    ----------
    reference, fresh : Path
        Folders with one folder an experiment.
    names : sequence of str
        Experiments; none means all.
    tolerance : float or None
        As for :func:`compare`.

    Raises
    ------
    InputError
        If an experiment is not in both, or no cell is in both.
    """
    old, new = load_results(reference, names), load_results(fresh, names)
    found = [
        compare(old[name], new[name], tolerance=tolerance)
        if name in old and name in new
        else _one_sided(name, old.get(name), new.get(name))
        for name in sorted({*old, *new})
    ]
    if not any(one.covered or one.obstacles for one in found):
        raise InputError(
            f"nothing to compare: {_has(reference)}, {_has(fresh)}, and no cell is in"
            " both. `drmbench run CONFIG` makes fresh results."
        )
    return found


def _one_sided(name: str, old: Results | None, new: Results | None) -> Comparison:
    return Comparison(
        name,
        reference=len(old.rows) if old else 0,
        new=[place_of(key) for key in keyed(new)] if new else [],
    )


def _has(folder: Path) -> str:
    names = experiments_in(folder)
    return f"{folder} has results of {', '.join(names) or 'no experiment'}"


def failure_text(comparisons: Iterable[Comparison]) -> str:
    """Return the list of what moved; obstacles first, about 40 lines at most."""
    lines = []
    for one in comparisons:
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
    if len(lines) <= _LISTED:
        return list(lines)
    return [*lines[:_LISTED], f"and {len(lines) - _LISTED} more"]
