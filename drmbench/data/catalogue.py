"""The catalogue: what ``datasets/registry.yaml`` says, as checked, frozen records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from drmbench.data.paths import catalogue_file
from drmbench.errors import CheckFailedError, InputError, did_you_mean, quoted

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


Pin = Literal["sha256", "git-sha1", "first use"]
"""What a file is verified by, the strongest first; the first download of a file that
nobody has published a checksum of is trusted, and every later one must equal it."""


@dataclass(frozen=True)
class Artifact:
    """One file that can be fetched and verified."""

    name: str  #: path below a data directory or mirror
    checksum: str | None = None  #: "sha256:…" or "git-sha1:…", if one is published
    size: int | None = None  #: length in bytes
    url: str | None = None  #: public address
    requirement: str | None = None  #: "package==version" if pip can download it

    @property
    def pin(self) -> Pin:
        """What the file is verified by."""
        if self.checksum is None:
            return "first use"
        return "git-sha1" if self.checksum.startswith("git-sha1:") else "sha256"


@dataclass(frozen=True)
class Source:
    """One way to get a data set: files, members of a wheel, or an installed package."""

    label: str  #: what it is called in messages and in the provenance
    artifacts: tuple[Artifact, ...] = ()  #: files to fetch; none for a package
    members: tuple[str, ...] = ()  #: paths or patterns inside the only artifact
    package: str = ""  #: installed package, else empty
    loader: str = ""  #: its loading function
    reader: str = ""  #: name of the reader of the files
    options: Mapping[str, Any] = field(default_factory=dict)  #: of the reader
    rows: Rows = "file"  #: how the rows are ordered
    labels: Mapping[str, str] = field(default_factory=dict)  #: class of a file's label
    drop_labels: tuple[str, ...] = ()  #: labels (as in the files) to leave out
    drop_missing: bool = False  #: whether rows with missing values are left out


@dataclass(frozen=True)
class PaperUse:
    """How the paper uses a data set."""

    names: tuple[str, ...]  #: the spellings of its name in the paper's tables
    #: stratified random splits, the set's own split, or KEEL's folds
    split: Literal["random", "given", "folds"]
    train: int | None = None  #: size of the training part; None with folds
    test: int | None = None  #: size of the test part; None with folds


@dataclass(frozen=True)
class Substitute:
    """A real relative that may stand in, marked, for a set that cannot be obtained."""

    dataset: str
    note: str


@dataclass(frozen=True)
class Origin:
    """Where the samples of a data set were first published; many sets may share it."""

    name: str
    title: str  #: what was published, and by whom
    basis: str = ""  #: what it rests on that these data sets come from there


@dataclass(frozen=True)
class DatasetEntry:
    """Everything the catalogue knows about one data set."""

    name: str
    title: str  #: a line of description
    groups: tuple[str, ...]
    n: int  #: samples
    p: int  #: features
    classes: int  #: number of classes
    class_counts: Mapping[str, int] | None  #: in class order; None if never counted
    citation: str
    licence: str
    sources: tuple[Source, ...]  #: ways to get it, the preferred one first
    origin: Origin | None = None  #: where its samples were first published
    paper: PaperUse | None = None  #: its use in the paper; None for sets beyond it
    #: whether the paper used these samples with these classes, in whatever form
    in_paper: bool = False
    matches_paper: bool | None = None  #: whether it is what the paper used, if it did
    difference: str = ""  #: why it is not, if it is not
    note: str = ""  #: anything else worth knowing
    given_split: int | None = None  #: how many of the first rows are for training
    folds: bool = False  #: whether keel_folds.json has folds of it
    substitute: Substitute | None = None  #: a relative for when it cannot be obtained
    #: parameters and their defaults, for generated data
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def imbalance_ratio(self) -> float | None:
        """Largest class over smallest, or None where the counts are not known."""
        if not self.class_counts:
            return None
        return max(self.class_counts.values()) / min(self.class_counts.values())

    @property
    def pin(self) -> Pin | None:
        """What its files are verified by, the weakest; None if it has no files."""
        pins = {file.pin for source in self.sources for file in source.artifacts}
        return max(pins, key=get_args(Pin).index, default=None)


class Catalogue:
    """The data sets of a YAML file; an entry is checked when it is first used.

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
                f"there is no data set {quoted(name)} in the catalogue.{hint}"
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
                f"there is no group {quoted(group)}.{hint} Groups:"
                f" {', '.join(self.groups)}."
            )
        return [entry for entry in self if group in entry.groups]

    def entries(self, names: Iterable[str]) -> list[DatasetEntry]:
        """Return the entries of several names, each once."""
        return [self.entry(name) for name in dict.fromkeys(names)]

    def relatives(self, entry: DatasetEntry) -> list[DatasetEntry]:
        """Return the other entries of the same origin."""
        return [
            other
            for other in self
            if other.origin and other.origin == entry.origin and other is not entry
        ]

    def problems(self) -> list[str]:
        """Check every entry; return one message per problem, each with its line."""
        found = []
        for name in self.names:
            try:
                entry = self.entry(name)
            except CheckFailedError as error:
                found.append(str(error))
                continue
            unknown = [group for group in entry.groups if group not in self.groups]
            if unknown:
                hint = did_you_mean(unknown[0], self.groups)
                found.append(
                    f"{self._where(name)}: unknown group {quoted(unknown[0])}.{hint}"
                )
            elif entry.substitute and entry.substitute.dataset not in self.names:
                found.append(
                    f"{self._where(name)}: its substitute"
                    f" {quoted(entry.substitute.dataset)} is not in the catalogue."
                )
        return found

    def _where(self, name: str) -> str:
        match = re.search(rf"^  {re.escape(name)}:", self._text, re.MULTILINE)
        line = self._text.count("\n", 0, match.start()) + 1 if match else 0
        return f"{self.path}:{line}: {name}"


@lru_cache(maxsize=1)
def load_catalogue() -> Catalogue:
    """Return the catalogue that ships with drmbench (read once per process)."""
    return Catalogue(catalogue_file("registry.yaml"))


def origins() -> dict[str, str]:
    """Return which origin (:func:`origin_of`) each data set of the catalogue has."""
    return {name: origin_of(name) for name in load_catalogue().names}


def origin_of(name: str) -> str:
    """Return which publication of samples a data set comes from.

    Data sets of one origin have samples in common, or would have but for their classes:
    they are no independent evidence. A set without relatives is its own origin.

    Examples
    --------
    >>> origin_of("ecoli1") == origin_of("ecoli-0-1_vs_5")
    True
    >>> origin_of("leukemia"), origin_of("golub-1999-v2")
    ('golub1999', 'golub1999')
    """
    return origin_name(load_catalogue().entry(name))


def in_paper(name: str) -> bool:
    """Return whether the paper used these samples with these classes, in any form.

    Examples
    --------
    >>> in_paper("haberman"), in_paper("golub-1999-v1"), in_paper("golub-1999-v2")
    (True, True, False)
    """
    return load_catalogue().entry(name).in_paper


def origin_name(entry: DatasetEntry) -> str:
    """Return the name of an entry's origin; a set without one is its own."""
    return entry.origin.name if entry.origin else entry.name
