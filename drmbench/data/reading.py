"""What a person can say about how a table of theirs is to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from drmbench.data.number_text import Decimal
from drmbench.errors import InputError, did_you_mean, quoted

_SEPARATOR_WORDS = {"tab": "\t", "\\t": "\t", "space": " "}
_BY_NAME = ("drop", "nominal", "numeric")
_VALID = {
    "csv": (*_BY_NAME, "sep", "encoding", "decimal", "header"),
    "tsv": (*_BY_NAME, "sep", "encoding", "decimal", "header"),
    "jsonl": (*_BY_NAME, "encoding", "decimal"),
    "excel": (*_BY_NAME, "decimal", "header", "sheet"),
    "parquet": (*_BY_NAME, "decimal"),
}
"""What can be said of each format; nothing of those that are not here."""


@dataclass(frozen=True)
class Reading:
    """How a table is read; what is not said is found out."""

    drop: tuple[str, ...] = ()  #: columns to leave out
    nominal: tuple[str, ...] = ()  #: columns whose values are categories
    numeric: tuple[
        str, ...
    ] = ()  #: columns to keep as numbers, whatever they look like
    sep: str | None = None  #: what separates columns: a character, "tab" or "space"
    encoding: str | None = None  #: of the text, as Python calls it
    decimal: Decimal | None = None  #: "." or ","
    header: bool | None = None  #: whether the first row holds the names of the columns
    sheet: str | None = None  #: of an Excel file

    @property
    def separator(self) -> str | None:
        """The character that separates columns, if said."""
        return _SEPARATOR_WORDS.get(self.sep or "", self.sep)

    def said(self) -> dict[str, Any]:
        """Return what is said, by its name; lists as files of experiments have them."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in found.items()
            if value not in (None, ())
        }

    def check_format(self, file: str, kind: str) -> None:
        """Refuse what cannot be said of a file's format, or is no valid value."""
        valid = _VALID.get(kind, ())
        for key in self.said():
            if key not in valid:
                words = f"only {', '.join(valid)}" if valid else "nothing of that kind"
                raise InputError(
                    f"{file}: {quoted(key)} cannot be said of this format; {words}"
                )
        separator = self.separator
        if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
            raise InputError(
                f"{file}: the separator must be one character, tab or space, not"
                f" {quoted(self.sep)}"
            )
        if self.decimal not in (None, ".", ","):
            raise InputError(
                f"{file}: the decimal mark is '.' or ',', not {quoted(self.decimal)}"
            )
        if self.decimal == separator == ",":
            raise InputError(
                f"{file}: a comma cannot be both separator and decimal mark"
            )

    def check_names(self, file: str, names: Sequence[str], target: str) -> None:
        """Refuse names that no column has, and contradictions."""
        said = [*self.drop, *self.nominal, *self.numeric]
        for name in said:
            if name not in names:
                raise InputError(
                    f"{file}: no column is named"
                    f" {quoted(name)}.{did_you_mean(name, names)}"
                    f" Columns: {', '.join(names)}"
                )
        if target in said:
            raise InputError(
                f"{file}: {quoted(target)} is the target; it cannot be dropped,"
                " nominal or"
                f" numeric as well"
            )
        twice = [name for name, count in Counter(said).items() if count > 1]
        if twice:
            raise InputError(
                f"{file}: the column {quoted(twice[0])} is named twice; it can be one"
                " of"
                f" drop, nominal and numeric"
            )
