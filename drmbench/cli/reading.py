"""Options about how a person's own table is read, for any command that reads one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Option

from drmbench.cli.listing import Field, print_listing
from drmbench.cli.terminal import remark
from drmbench.errors import InputError, quoted

if TYPE_CHECKING:  # loading numpy takes time that other commands do not need
    from drmbench.data.dataset import Dataset
    from drmbench.data.reading import Reading

Names = list[str] | None
_SEVERAL = "; repeat it or separate names by commas."

Drop = Annotated[Names, Option("--drop", help=f"Columns to leave out{_SEVERAL}")]
Nominal = Annotated[
    Names, Option("--nominal", help=f"Columns that hold categories{_SEVERAL}")
]
Numeric = Annotated[
    Names,
    Option(
        "--numeric",
        help="Columns to keep as numbers, though they look like identifiers or are"
        f" dates{_SEVERAL}",
    ),
]
Sep = Annotated[
    str | None, Option("--sep", help="What separates columns: a character, tab, space.")
]
Encoding = Annotated[
    str | None, Option("--encoding", help="Encoding of the text, such as latin-1.")
]
DecimalMark = Annotated[
    str | None, Option("--decimal", help="Decimal mark of numbers: . or ,")
]
NoHeader = Annotated[
    bool,
    Option("--no-header", help="The first row is data; columns are column1, column2 …"),
]
Sheet = Annotated[str | None, Option("--sheet", help="Sheet of an Excel file.")]


def reading_options(
    drop: Names,
    nominal: Names,
    numeric: Names,
    sep: str | None,
    encoding: str | None,
    decimal: str | None,
    no_header: bool,
    sheet: str | None,
) -> Reading:
    """Return what the options of a command say; take ``**vars()`` of it for a loader.

    A command has them as parameters annotated by the types of this module.
    """
    from drmbench.data.reading import Reading

    mark = {None: None, ".": ".", ",": ","}.get(decimal, "")
    if mark == "":
        raise InputError(f"--decimal must be . or , and not {quoted(decimal)}")
    return Reading(
        drop=_names(drop),
        nominal=_names(nominal),
        numeric=_names(numeric),
        sep={"\t": "tab", " ": "space"}.get(sep or "", sep),
        encoding=encoding,
        decimal=mark,  # type: ignore[arg-type]
        header=False if no_header else None,
        sheet=sheet,
    )


def _names(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names in options that may each have several."""
    parts = (part.strip() for one in given or () for part in one.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def show_reading(dataset: Dataset) -> None:
    """Say on stderr what was assumed about a file and done with its columns."""
    from drmbench.report.columns import columns_table

    if dataset.assumed:
        remark(f"read as: {', '.join(dataset.assumed)}")
    if dataset.columns:
        table = columns_table(dataset)
        fields = [Field(c.text, c.align, least=12, fold=True) for c in table.columns]
        rows = ([cell.text for cell in row] for row in table.rows)
        print_listing(fields, rows, sys.stderr)
        remark("")
