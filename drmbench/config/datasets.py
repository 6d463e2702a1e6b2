"""Finds the data sets an experiment file names: in the catalogue, or as files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drmbench.config.generated import checked_parameters
from drmbench.config.model import DatasetRef
from drmbench.config.problems import Problems
from drmbench.config.tree import Node, Scalar, Table
from drmbench.data.catalogue import DatasetEntry, PaperUse, load_catalogue
from drmbench.errors import InputError, did_you_mean


@dataclass(frozen=True)
class ChosenSet:
    """A data set of an experiment, and what must be known of it to split it.

    Attributes
    ----------
    ref : DatasetRef
        How to load it.
    line : int
        Where the file names it, or its group.
    n, classes : int
        Samples and classes.
    paper : PaperUse or None
        Its use in the paper.
    given, folds : bool
        Whether it comes with a split, or with folds.
    """

    ref: DatasetRef
    line: int
    n: int
    classes: int
    paper: PaperUse | None = None
    given: bool = False
    folds: bool = False

    @property
    def name(self) -> str:
        """What results call it."""
        return self.ref.name


def choose_datasets(
    items: Sequence[Node], folder: Path, problems: Problems
) -> list[ChosenSet]:
    """Return the data sets that the items of ``datasets`` stand for.

    Parameters
    ----------
    items : sequence of Node
        Names, groups, files and generated data, as the schema has checked them.
    folder : Path
        What paths of files are relative to.
    problems : Problems
        Where duplicates, wrong parameters and unreadable files are noted.

    Returns
    -------
    list of ChosenSet
        Each data set once, in the order of first mention. A group may bring in sets
        that are named beside it; what is said of a set by name counts.
    """
    chooser = _Chooser(folder, problems)
    for item in items:
        chooser.add(item)
    return list(chooser.chosen.values())


class _Chooser:
    """Collects the data sets of one file."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        self.chosen: dict[str, ChosenSet] = {}
        self._folder = folder
        self._problems = problems
        self._named: dict[str, int] = {}
        self._groups: dict[str, int] = {}

    def add(self, item: Node) -> None:
        """Add what one item of the list stands for."""
        match item:
            case Scalar(value=str() as name):
                self._add_named(name, Table(line=item.line))
            case Table() if "group" in item:
                self._add_group(item)
            case Table() if "path" in item:
                self._add_file(item)
            case Table() if "name" in item:
                self._add_named(item.value("name"), item)

    def _add_group(self, item: Table) -> None:
        group = item.value("group")
        if self._repeated(f"the group {group!r}", group, item.line, self._groups):
            return
        entries = {entry.name: entry for entry in load_catalogue().group(group)}
        for node in item.items("except"):
            name = str(node.value) if isinstance(node, Scalar) else ""
            if entries.pop(name, None) is None:
                self._problems.add(
                    node.line,
                    f"the group {group!r} has no data set {name!r} to leave out."
                    f"{did_you_mean(name, entries)} See `drmbench data list --group"
                    f" {group}`",
                )
        if not entries:
            self._problems.add(item.line, f"nothing is left of the group {group!r}")
        for name, entry in entries.items():
            self.chosen.setdefault(
                name, _from_catalogue(entry, DatasetRef(name), item.line)
            )

    def _add_named(self, name: str, item: Table) -> None:
        entry = load_catalogue().entry(name)
        label = item.value("as", name)
        if label != name and self._taken(label, item.line_of("as")):
            return
        parameters = checked_parameters(entry, item.table("parameters"), self._problems)
        ref = DatasetRef(
            label, parameters=parameters, source=name if label != name else ""
        )
        self._choose(_from_catalogue(entry, ref, item.line))

    def _add_file(self, item: Table) -> None:
        chosen = self._read_file(item)
        if chosen and not self._taken(chosen.name, item.line):
            self._choose(chosen)

    def _read_file(self, item: Table) -> ChosenSet | None:
        from drmbench.data.user import load_user_file

        written = os.path.expanduser(item.value("path"))  # noqa: PTH111  # never raises
        target, name = item.value("target"), item.value("name")
        try:
            path = (self._folder / written).resolve()
            data = load_user_file(path, target=target, name=name)
        except InputError as error:
            self._problems.add(item.line_of("path"), str(error))
            return None
        except (OSError, RuntimeError) as error:  # a name too long, a link to itself
            self._problems.add(item.line_of("path"), f"{written!r}: {error}")
            return None
        ref = DatasetRef(data.name, path=path, target=target)
        return ChosenSet(ref, item.line, data.n_samples, data.n_classes)

    def _choose(self, chosen: ChosenSet) -> None:
        what = f"the data set {chosen.name!r}"
        if not self._repeated(what, chosen.name, chosen.line, self._named):
            self.chosen[chosen.name] = chosen

    def _repeated(self, what: str, key: str, line: int, seen: dict[str, int]) -> bool:
        if key not in seen:
            seen[key] = line
            return False
        self._problems.add(line, f"{what} is there twice, first in line {seen[key]}")
        return True

    def _taken(self, label: str, line: int) -> bool:
        """Refuse a label that would make results look like another data set's."""
        if label not in load_catalogue().names:
            return False
        self._problems.add(
            line,
            f"{label!r} is the name of a data set of the catalogue; give this one"
            " another",
        )
        return True


def _from_catalogue(entry: DatasetEntry, ref: DatasetRef, line: int) -> ChosenSet:
    generated = {**entry.parameters, **ref.parameters}
    return ChosenSet(
        ref,
        line,
        n=generated.get("n", entry.n),
        classes=generated.get("classes", entry.classes),
        paper=entry.paper,
        given=entry.given_split is not None,
        folds=entry.folds,
    )
