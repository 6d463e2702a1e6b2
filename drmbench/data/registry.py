"""The catalogue: reads ``datasets/registry.yaml`` and answers for names and groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from drmbench.data.entries import DatasetEntry
from drmbench.data.paths import catalogue_file
from drmbench.data.schema import SchemaError, build_entry
from drmbench.errors import CheckFailedError, InputError, did_you_mean

# The C loader is as safe as SafeLoader and ten times as fast, where it was built.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Catalogue:
    """The data sets of a registry file; an entry is checked when it is first used.

    Parameters
    ----------
    path : Path
        The YAML file.

    Examples
    --------
    >>> catalogue = load_catalogue()
    >>> catalogue.entry("iris").n
    150
    >>> catalogue.entry("haberman").groups
    ('keel', 'keel-imbalanced')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = path.read_text(encoding="utf-8")
        try:
            self._document: dict[str, Any] = yaml.load(self._text, Loader=_LOADER)
        except yaml.YAMLError as error:
            raise CheckFailedError(f"{path} is not valid YAML: {error}") from error
        self._entries: dict[str, DatasetEntry] = {}

    @property
    def groups(self) -> dict[str, str]:
        """What each group is, by name, in the file's order."""
        return dict(self._document["groups"])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every data set, in the file's order."""
        return tuple(self._document["datasets"])

    def __iter__(self) -> Iterator[DatasetEntry]:
        return (self.entry(name) for name in self.names)

    def entry(self, name: str) -> DatasetEntry:
        """Return the entry of a data set, or raise `InputError` with near misses."""
        if name not in self._document["datasets"]:
            hint = did_you_mean(name, self.names)
            raise InputError(
                f"there is no data set {name!r} in the catalogue.{hint}"
                " See `drmbench data list`."
            )
        if name not in self._entries:
            try:
                self._entries[name] = build_entry(name, self._document)
            except SchemaError as error:
                raise CheckFailedError(f"{self._where(name)}: {error}") from error
        return self._entries[name]

    def group(self, group: str) -> list[DatasetEntry]:
        """Return the entries of a group, or raise `InputError` with near misses."""
        if group not in self.groups:
            hint = did_you_mean(group, self.groups)
            raise InputError(
                f"there is no group {group!r}.{hint} Groups: {', '.join(self.groups)}."
            )
        return [entry for entry in self if group in entry.groups]

    def entries(self, names: Iterable[str]) -> list[DatasetEntry]:
        """Return the entries of several names, each once."""
        return [self.entry(name) for name in dict.fromkeys(names)]

    def problems(self) -> list[str]:
        """Check every entry; return one message a problem, each with its line."""
        found = []
        for name in self.names:
            try:
                self._check_links(self.entry(name))
            except CheckFailedError as error:
                found.append(str(error))
        return found

    def _check_links(self, entry: DatasetEntry) -> None:
        unknown = [group for group in entry.groups if group not in self.groups]
        if unknown:
            raise CheckFailedError(
                f"{self._where(entry.name)}: unknown group {unknown[0]!r}."
                f"{did_you_mean(unknown[0], self.groups)}"
            )
        if entry.substitute and entry.substitute.dataset not in self.names:
            raise CheckFailedError(
                f"{self._where(entry.name)}: its substitute"
                f" {entry.substitute.dataset!r} is not in the catalogue."
            )

    def _where(self, name: str) -> str:
        match = re.search(rf"^  {re.escape(name)}:", self._text, re.MULTILINE)
        line = self._text.count("\n", 0, match.start()) + 1 if match else 0
        return f"{self.path}:{line}: {name}"


@lru_cache(maxsize=1)
def load_catalogue() -> Catalogue:
    """Return the catalogue that ships with drmbench (read once a process)."""
    return Catalogue(catalogue_file("registry.yaml"))
