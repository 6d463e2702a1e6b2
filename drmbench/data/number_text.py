"""Numbers and dates as people write them: ``$1,234.00``, ``12,5 %``, ``2024-03-31``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from drmbench.data.readers.cells import is_number
from drmbench.errors import InputError, quoted

Decimal = Literal[".", ","]
"""What stands before the fraction of a number."""

_PERCENT = "%"
_SIGNS = "$€£¥₹"
_WRITTEN = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>[{_SIGNS}]?)\s*(?P<inner>[+-]?)"
    rf"(?P<digits>[\d.,'’\s]*\d[.,]?(?:[eE][+-]?\d+)?)\s*(?P<after>[{_SIGNS}{_PERCENT}]?)"
)
_DIGITS: dict[Decimal, re.Pattern[str]] = {
    ".": re.compile(
        r"(?:[1-9]\d{0,2}(?P<group>[,'’\s])\d{3}(?:(?P=group)\d{3})*|\d*)"
        r"(?:\.\d*)?(?:[eE][+-]?\d+)?",
        re.ASCII,
    ),
    ",": re.compile(
        r"(?:[1-9]\d{0,2}(?P<group>[.'’\s])\d{3}(?:(?P=group)\d{3})*|\d*)"
        r"(?:,\d*)?(?:[eE][+-]?\d+)?",
        re.ASCII,
    ),
}
_DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}([-/.])\d{1,2}\1(?:\d{4}|\d{2}))"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?"
_DATE = re.compile(
    rf"(?:{_DAY}(?:(?:T|,?\s+){_TIME}\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)?|{_TIME})", re.ASCII
)


class WrittenNumber(NamedTuple):
    """A number, and what was written around it."""

    value: float
    sign: str = ""  #: a currency's sign or that of per cent
    grouped: bool = False  #: whether thousands are separated


def parse_number(cell: str, decimal: Decimal) -> WrittenNumber | None:
    """Return the number that a cell holds, None if it holds none.

    Examples
    --------
    >>> parse_number("$1,234.50", "."), parse_number("12,5 %", ",")
    (WrittenNumber(value=1234.5, sign='$', grouped=True),
     WrittenNumber(value=12.5, sign='%', grouped=False))
    >>> parse_number("12,34", "."), parse_number("(7)", ".")
    (None, WrittenNumber(value=-7.0, sign='', grouped=False))
    """
    if decimal == "." and is_number(cell):
        return WrittenNumber(float(cell))
    text = cell.replace("−", "-")
    negative = text.startswith("(") and text.endswith(")")
    found = _WRITTEN.fullmatch(text[1:-1] if negative else text)
    if found is None or (found["sign"] and found["inner"]):
        return None
    if found["before"] and found["after"]:
        return None
    digits = _DIGITS[decimal].fullmatch(found["digits"])
    if digits is None or not any(map(str.isdecimal, found["digits"])):
        return None
    plain = found["digits"].replace(digits["group"] or "", "").replace(",", ".")
    minus = negative or "-" in (found["sign"], found["inner"])
    value = float(plain) * (-1 if minus else 1)
    return WrittenNumber(
        value, found["before"] or found["after"], digits["group"] is not None
    )


class WrittenColumn(NamedTuple):
    """The numbers that the values of a column stand for, and how they are written."""

    values: list[float]
    how: tuple[str, ...]  #: what was taken care of, in words


def parse_column(values: Sequence[str], decimal: Decimal) -> WrittenColumn | None:
    """Return the numbers of a column, None unless all are numbers of one kind.

    Per cent is another kind than plain numbers, and one currency another than the next.
    """
    plain = _plain_numbers(values, decimal)
    if plain is not None:
        commas = decimal == "," and any("," in value for value in values)
        return WrittenColumn(plain, ("decimal comma",) if commas else ())
    numbers: list[WrittenNumber] = []
    for value in values:
        number = parse_number(value, decimal)
        if number is None:
            return None
        numbers.append(number)
    signs = {one.sign for one in numbers}
    if len(signs - {""}) > 1 or (_PERCENT in signs and len(signs) > 1):
        return None
    how = []
    if decimal == "," and any("," in value for value in values):
        how.append("decimal comma")
    if any(one.grouped for one in numbers):
        how.append("thousands separated")
    if signs - {""}:
        how.append(f"without the sign {next(iter(signs - {''}))}")
    return WrittenColumn([one.value for one in numbers], tuple(how))


def _plain_numbers(values: Sequence[str], decimal: Decimal) -> list[float] | None:
    """Return numbers without signs and groups, fast; None if there may be others."""
    together = "".join(values)
    if "_" in together:
        return None
    if decimal == ",":
        # float takes words for infinity, and digits of all scripts.
        if not together.isascii() or any(mark in together for mark in "nN."):
            return None
        values = [value.replace(",", ".") for value in values]
    try:
        return [float(value) for value in values]
    except ValueError:
        return None


class NumberEvidence(NamedTuple):
    """What the values of some columns say about decimal commas and points."""

    comma: bool  #: a column has numbers that only a decimal comma explains
    point: bool  #: a column has numbers that only a decimal point explains


def evidence_of(columns: Iterable[Sequence[str]]) -> NumberEvidence:
    """Weigh columns of texts that may be numbers."""
    comma = point = False
    for values in columns:
        marked = [value for value in values if "," in value or "." in value]
        if not marked:
            continue
        as_point, as_comma = (
            parse_column(marked, decimal) is not None for decimal in _DIGITS
        )
        comma |= as_comma and not as_point
        point |= as_point and not as_comma
    return NumberEvidence(comma, point)


def looks_like_date(value: str) -> bool:
    """Tell whether a text is a date, a time or both, in figures.

    Examples
    --------
    >>> [looks_like_date(x) for x in ("2024-03-31", "31.3.24 7:30", "12:30", "40-49")]
    [True, True, True, False]
    """
    return _DATE.fullmatch(value) is not None


def days_since_1970(value: str) -> float:
    """Return a date of ISO 8601 as days, with fractions, from 1970-01-01 on.

    Examples
    --------
    >>> days_since_1970("1970-01-03T12:00")
    2.5
    """
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise InputError(
            f"expected a date such as 2024-03-31, found {quoted(value)}"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp() / 86400
