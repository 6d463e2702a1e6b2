"""A person's csv or tsv table in chunks of rows; the features must be numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunk import Chunk, FeatureRequest, refuse_missing
from drmbench.data.readers.columns import is_nominal, labels, numbers
from drmbench.data.readers.headed import (
    MISSING_CELLS,
    check_names,
    find_delimiter,
    refuse_numbers,
    target_column,
)
from drmbench.data.readers.rows import Rows
from drmbench.data.readers.table import Blob
from drmbench.data.text_stream import batches, numbered_lines
from drmbench.errors import InputError, did_you_mean

Record = tuple[int, list[str]]


class ChunkedTable:
    """A csv or tsv file with a row of column names.

    Parameters
    ----------
    path : Path
        The file.
    target : str or None
        Column that holds the class; None if the rows have none.
    request : FeatureRequest
        Which features are wanted, where that is known beforehand.
    delimiter : str or None
        What separates cells; None to find out from the first line.
    """

    def __init__(
        self,
        path: Path,
        target: str | None,
        request: FeatureRequest,
        delimiter: str | None = None,
    ) -> None:
        self.path = path
        self._delimiter = delimiter or self._sought_delimiter()
        self._label = None
        if target is not None:
            self._label = target_column(path.name, self._names, target)
        self._features = self._feature_columns(request)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the columns of a chunk."""
        return tuple(self._names[column] for column in self._features)

    @property
    def labelled(self) -> bool:
        """Whether chunks have labels."""
        return self._label is not None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self._features)

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows, at most `chunksize` at a time."""
        records = self._records()
        next(records)
        found = False
        for batch in batches(records, chunksize):
            found = True
            yield self._chunk(batch)
        if not found:
            raise InputError(f"{self.path.name}: no rows below the header")

    def _sought_delimiter(self) -> str:
        for _, line in numbered_lines(self.path):
            if line.strip():
                return find_delimiter(Blob(self.path.name, line.encode()))
        raise InputError(f"{self.path}: the file is empty")

    @cached_property
    def _names(self) -> list[str]:
        names = next((cells for _, cells in self._records()), None)
        if names is None:
            raise InputError(f"{self.path}: the file is empty")
        refuse_numbers(self.path.name, names)
        check_names(self.path.name, names)
        return names

    def _feature_columns(self, request: FeatureRequest) -> list[int]:
        names = self._names
        left = [
            column
            for column, name in enumerate(names)
            if column != self._label
            and not (name == request.ignore and self._label is None)
        ]
        if request.names is not None:
            _match_names(self.path.name, [names[j] for j in left], request.names)
            return [names.index(name) for name in request.names]
        if not left:
            raise InputError(
                f"{self.path.name}: no feature column beside the class label"
            )
        request.check_count(self.path.name, len(left))
        return left

    def _records(self) -> Iterator[Record]:
        """Yield the line number and cells of each row that has any, header first."""
        reader = csv.reader(
            (line for _, line in numbered_lines(self.path)),
            delimiter=self._delimiter,
            skipinitialspace=self._delimiter != "\t",
            strict=True,
        )
        width = None
        try:
            for record in reader:
                cells = [cell.strip() for cell in record]
                if any(cells):
                    width = width or len(cells)
                    self._check_width(reader.line_num, cells, width)
                    yield reader.line_num, cells
        except csv.Error as error:
            raise InputError(
                f"{self.path.name}, line {reader.line_num}: {error}"
            ) from error

    def _check_width(self, line: int, cells: Sequence[str], width: int) -> None:
        if len(cells) != width:
            raise InputError(
                f"{self.path.name}, line {line}: expected {width} columns as in the"
                f" rows before, found {len(cells)}"
            )

    def _chunk(self, batch: list[Record]) -> Chunk:
        lines, cells = zip(*batch, strict=True)
        rows = Rows((self.path.name,), list(cells), [0] * len(cells), list(lines))
        X = np.empty((len(cells), self.n_features))
        for place, column in enumerate(self._features):
            X[:, place] = self._numbers(rows, column)
        refuse_missing(
            self.path.name, X, lambda row: f"line {lines[row]}", self.feature_names
        )
        if self._label is None:
            return Chunk(X, None)
        return Chunk(X, labels(rows, self._label, missing=MISSING_CELLS))

    def _numbers(self, rows: Rows, column: int) -> NDArray[np.float64]:
        title = f"column {column + 1} ({self._names[column]})"
        try:
            return numbers(rows, column, title, MISSING_CELLS)
        except InputError as error:
            if not is_nominal(rows.columns[column], MISSING_CELLS):
                raise
            raise InputError(
                f"{error}. Reading in chunks takes numbers only: correct the cell, or"
                f" remove the column or code it as numbers if it holds categories"
            ) from error


def _match_names(file: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns that are not those wanted, in whatever order."""
    absent = [name for name in wanted if name not in found]
    extra = [name for name in found if name not in wanted]
    if absent:
        hints = did_you_mean(absent[0], extra)
        raise InputError(
            f"{file}: the model needs the column{_listed(absent)}, which the file does"
            f" not have.{hints} Columns: {', '.join(found)}"
        )
    if extra:
        raise InputError(
            f"{file}: the model does not know the column{_listed(extra)}; remove what"
            f" is no feature, or name the column with the class by --target"
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:5]))}{more}"
