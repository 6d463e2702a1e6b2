"""What each column of a person's own table is used as: a feature, or nothing.

Numbers are numeric, texts with few levels nominal. Left out are columns that no method
can learn from, or should not: without a value, constant, identifiers, free text, dates.
All of that can be overruled by name, and every decision is told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drmbench.data.dataset import TableColumn
from drmbench.data.fast_cells import Texts
from drmbench.data.found_table import OWN_MISSING, FoundColumn, FoundTable
from drmbench.data.number_text import (
    Decimal,
    NumberEvidence,
    days_since_1970,
    looks_like_date,
    parse_column,
    parse_number,
)
from drmbench.data.readers.cells import is_number
from drmbench.data.reading import Reading
from drmbench.errors import InputError, quoted, shortened

IDENTIFIER_ROWS = 20
"""Rows from which on another value in each of them makes an identifier."""

FEW_LEVELS = 20
"""Levels that a nominal column may always have."""

ROWS_PER_LEVEL = 10
"""Rows that levels have on average, if there are more of them: with fewer, a training
part of some folds knows little of a level and often nothing at all."""

_STEP = 10
"""Mean step up to which ascending whole numbers count rows and do not measure."""

_ID_NAME = re.compile(
    r"(?:.*[\W_])?(?:id|ids|idx|index|row|rownum|rowid|uuid|guid|key|nr|no)(?:[\W_].*)?"
    r"|unnamed.*|column1|.*[a-z](?:Id|ID)",
)


class Levels(NamedTuple):
    """Distinct texts of a column without missing values, sorted, and each row's."""

    values: list[str]
    codes: NDArray[np.intp]  #: -1 where the value is missing


class Settled(NamedTuple):
    """A column with its role, and its numbers unless it is dropped."""

    column: TableColumn
    numbers: NDArray[np.float64] | None = None


def levels_of(texts: Texts) -> Levels:
    """Return the levels of a column of texts."""
    missing = OWN_MISSING - ({"-"} if "+" in texts.values else set())
    used = {texts.values[place] for place in np.unique(texts.places)}
    values = sorted(used - missing)
    coding = {value: code for code, value in enumerate(values)}
    codes = np.array([coding.get(text, -1) for text in texts.values], dtype=np.intp)
    return Levels(values, codes[texts.places])


def label_levels(column: FoundColumn) -> Levels:
    """Return the class of every row of the target."""
    if isinstance(column, Texts):
        return levels_of(column)
    return _levels_of_numbers(column)


def _levels_of_numbers(numbers: NDArray[np.float64]) -> Levels:
    """Return whole numbers without a fraction as levels, in numerical order."""
    missing = np.isnan(numbers)
    found, places = np.unique(numbers[~missing], return_inverse=True)
    codes = np.full(len(numbers), -1, dtype=np.intp)
    codes[~missing] = places
    texts = [str(int(x)) if x.is_integer() else repr(x) for x in found.tolist()]
    return Levels(texts, codes)


class Settler:
    """Decides about the columns of one table, as far as the `reading` does not.

    The `evidence` of all columns tells what a comma is in those that could be read
    either way; if there is none, it groups digits where `commas_group`.
    """

    def __init__(
        self,
        found: FoundTable,
        reading: Reading,
        evidence: NumberEvidence,
        commas_group: bool,
    ) -> None:
        self._found = found
        self._reading = reading
        self._evidence = evidence
        self._commas_group = commas_group
        self.assumed_commas = False  #: whether decimal commas were found, not said

    def settle(self, number: int) -> Settled:
        """Return a column's role and numbers."""
        name, found = self._found.names[number], self._found.columns[number]
        if name in self._reading.drop:
            missing = _missing(found)
            return Settled(TableColumn(name, "dropped", "as asked", missing))
        if isinstance(found, Texts):
            return self._settle_texts(name, levels_of(found))
        if name in self._reading.nominal:
            return _nominal(name, _levels_of_numbers(found), "as asked")
        return self._numeric(name, found, ())

    def _settle_texts(self, name: str, levels: Levels) -> Settled:
        values, codes = levels
        missing = int((codes < 0).sum())
        if not values:
            return Settled(TableColumn(name, "dropped", "no value in any row", missing))
        if name in self._reading.nominal:
            return _nominal(name, _as_categories(levels), "as asked")
        decimal = self._decimal_of(name, levels)
        written = parse_column(values, decimal)
        if written is not None:
            self.assumed_commas |= decimal == "," and self._reading.decimal is None
            numbers = _spread(written.values, codes)
            self._refuse_infinite(name, levels, numbers)
            return self._numeric(name, numbers, written.how)
        dates = all(map(looks_like_date, values))
        if name in self._reading.numeric:
            return self._forced_numeric(name, levels, decimal, dates)
        if dates:
            why = f"dates or times; --numeric {name} makes days of them"
            return Settled(TableColumn(name, "dropped", why, missing))
        self._refuse_mostly_numbers(name, levels, decimal)
        return _text_column(name, levels)

    def _decimal_of(self, name: str, levels: Levels) -> Decimal:
        """Return the decimal mark of a column; refuse it if both could be meant."""
        preferred = self._reading.decimal
        either: list[Decimal] = [".", ","]
        fits = [
            mark for mark in either if parse_column(levels.values, mark) is not None
        ]
        if preferred is not None:
            return "." if fits == ["."] else preferred
        if len(fits) == 1:
            return fits[0]
        if not fits:
            return "," if self._evidence == NumberEvidence(True, False) else "."
        doubtful = next(
            (code for code, v in enumerate(levels.values) if "," in v), None
        )
        if doubtful is None:  # a decimal point, unless all others are commas
            marked = [code for code, v in enumerate(levels.values) if "." in v]
            if not marked or not self._evidence.comma:
                return "."
            doubtful = marked[0]
        elif self._evidence.comma != self._evidence.point:
            return "," if self._evidence.comma else "."
        elif self._commas_group and not self._evidence.comma:
            return "."
        raise InputError(
            f"{self._where(name, levels, doubtful)}:"
            f" {quoted(levels.values[doubtful])} may"
            f" have a decimal mark or separated thousands; say which by --decimal , or"
            f" --decimal ."
        )

    def _where(self, name: str, levels: Levels, code: int) -> str:
        row = int(np.flatnonzero(levels.codes == code)[0])
        return f"{self._found.file}, {self._found.place(row)}, column {quoted(name)}"

    def _first(self, levels: Levels, codes: Collection[int]) -> int:
        """Return which of some levels comes first in the file."""
        return int(levels.codes[np.flatnonzero(np.isin(levels.codes, list(codes)))[0]])

    def _refuse_infinite(
        self, name: str, levels: Levels, numbers: NDArray[np.float64]
    ) -> None:
        if np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            number = self._found.names.index(name) + 1
            value = levels.values[levels.codes[row]]
            raise InputError(
                f"{self._found.file}, {self._found.place(row)}, column {number}"
                f" ({name}): {quoted(value)} is not a finite number"
            )

    def _refuse_mostly_numbers(
        self, name: str, levels: Levels, decimal: Decimal
    ) -> None:
        """Refuse a column of numbers among which are some texts: mistakes, it seems."""
        odd = [c for c, v in enumerate(levels.values) if not parse_number(v, decimal)]
        present = int((levels.codes >= 0).sum())
        n_odd = int(np.isin(levels.codes, odd).sum())
        if odd and n_odd <= present // 2:
            code = self._first(levels, odd)
            raise InputError(
                f"{self._where(name, levels, code)}: expected a number as in"
                f" {present - n_odd} other rows, found {quoted(levels.values[code])};"
                " correct"
                f" it, or say --nominal {name} if these are categories, --drop {name}"
                f" to leave the column out"
            )

    def _forced_numeric(
        self, name: str, levels: Levels, decimal: Decimal, dates: bool
    ) -> Settled:
        """Make numbers of what was said to be numeric and is not: dates only."""
        odd = [c for c, v in enumerate(levels.values) if not parse_number(v, decimal)]
        if not dates:
            code = self._first(levels, odd or range(len(levels.values)))
            raise InputError(
                f"{self._where(name, levels, code)}: expected a number or a date, found"
                f" {quoted(levels.values[code])}"
            )
        days = []
        for code, value in enumerate(levels.values):
            try:
                days.append(days_since_1970(value))
            except InputError as error:
                raise InputError(
                    f"{self._where(name, levels, code)}: {error}"
                ) from None
        return self._numeric(name, _spread(days, levels.codes), ("days since 1970",))

    def _numeric(
        self, name: str, numbers: NDArray[np.float64], how: tuple[str, ...]
    ) -> Settled:
        missing = int(np.isnan(numbers).sum())
        asked = name in self._reading.numeric
        why = "" if asked else _why_not_numeric(name, numbers, missing)
        if why:
            return Settled(TableColumn(name, "dropped", why, missing))
        words = (*(["as asked"] if asked else []), *how)
        return Settled(TableColumn(name, "numeric", ", ".join(words), missing), numbers)


def _missing(found: FoundColumn) -> int:
    if isinstance(found, Texts):
        return int((levels_of(found).codes < 0).sum())
    return int(np.isnan(found).sum())


def _spread(values: Sequence[float], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return each row's value; NaN where it is missing."""
    return np.array([*values, np.nan])[codes]


def _nominal(name: str, levels: Levels, why: str) -> Settled:
    codes = np.where(levels.codes < 0, np.nan, levels.codes.astype(np.float64))
    missing = int((levels.codes < 0).sum())
    return Settled(
        TableColumn(name, "nominal", why, missing, tuple(levels.values)), codes
    )


def _as_categories(levels: Levels) -> Levels:
    """Return numbers in numerical order, 1 and 1.0 as one; but 01 remains a text."""
    plain = all(is_number(v) and not re.match(r"[+-]?0\d", v) for v in levels.values)
    if not plain or not all(np.isfinite(float(value)) for value in levels.values):
        return levels
    return _levels_of_numbers(_spread([float(v) for v in levels.values], levels.codes))


def _text_column(name: str, levels: Levels) -> Settled:
    """Return a column of texts as categories, or drop it if these are too many."""
    values, codes = levels
    missing = int((codes < 0).sum())
    present, count = len(codes) - missing, len(values)
    keep = f"; --nominal {shortened(name, 80)} keeps it"
    if count == present >= IDENTIFIER_ROWS:
        why = f"another text in each of {present} rows, like an identifier{keep}"
    elif count > max(FEW_LEVELS, present // ROWS_PER_LEVEL):
        why = f"{count} different texts in {present} rows{keep}"
    elif count == 1 and not missing:
        why = f"constant: {quoted(values[0])}"
    else:
        return _nominal(name, levels, "")
    return Settled(TableColumn(name, "dropped", why, missing))


def _why_not_numeric(name: str, numbers: NDArray[np.float64], missing: int) -> str:
    """Say why numbers are no feature; nothing if they are."""
    n = len(numbers)
    if missing == n:
        return "no value in any row"
    if missing:
        return ""
    if (numbers == numbers[0]).all():
        return f"constant: {numbers[0]:g}" if n > 1 else ""
    if n < IDENTIFIER_ROWS or not (numbers == np.rint(numbers)).all():
        return ""
    keep = f"; --numeric {shortened(name, 80)} keeps it"
    steps = np.diff(numbers)
    if (steps == 1).all() and numbers[0] in (0, 1):
        return f"numbers the rows{keep}"
    if (steps > 0).all() and numbers[-1] - numbers[0] < _STEP * n:
        return f"ascends from row to row, like an identifier{keep}"
    like_id = _ID_NAME.fullmatch(name.lower()) or _ID_NAME.fullmatch(name)
    if like_id and len(np.unique(numbers)) == n:
        return f"named like an identifier, another number in each row{keep}"
    return ""
