"""Read tables of numbers in csv, tsv or white-space separated text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drmbench.data.readers.columns import Coding, tabulate
from drmbench.data.readers.rows import Rows, csv_rows, split_rows, without_headers
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError, did_you_mean


def read(
    blobs: list[Blob],
    *,
    delimiter: str | None = None,
    header: bool | Sequence[bool] = False,
    label: int | str = -1,
    codes: Mapping[str, float] | None = None,
) -> Table:
    r"""Read one or several delimited files with the same columns.

    Parameters
    ----------
    blobs : list of Blob
        The files; plain, gzip, bzip2 or ``.Z``.
    delimiter : str or None
        What separates cells; None for any white space.
    header : bool or sequence of bool
        Whether the first row holds column names; a sequence says it for each file.
    label : int or str
        Column of the class label: its number, negative from the right, or its name
        in the header.
    codes : mapping of str to float or None
        If given, all features are nominal and these are their codes; if None, all
        are numeric.

    Examples
    --------
    >>> file = Blob("a.tsv", b"height\tkind\n1.5\tcat\n2.5\tdog\n")
    >>> table = read([file], delimiter="\t", header=True, label="kind")
    >>> table.X.tolist(), table.labels.tolist(), table.feature_names
    ([[1.5], [2.5]], ['cat', 'dog'], ('height',))
    """
    rows = split_rows(blobs, None) if delimiter is None else csv_rows(blobs, delimiter)
    rows, names = without_headers(rows, _flags(header, len(blobs)))
    column = _label_column(rows, names, label)
    features = [j for j in range(rows.width) if j != column]
    codings: list[Coding | None] = [codes] * rows.width
    codings[column] = None
    return tabulate(rows, features, column, codings, names)


def _flags(header: bool | Sequence[bool], count: int) -> list[bool]:
    flags = [header] * count if isinstance(header, bool) else list(header)
    if len(flags) != count:
        raise InputError(
            f"the option header has {len(flags)} entries for {count} files"
        )
    return flags


def _label_column(rows: Rows, names: list[str] | None, label: int | str) -> int:
    if isinstance(label, int):
        if not -rows.width <= label < rows.width:
            raise InputError(
                f"{rows.names[0]}: no column {label} among {rows.width} columns"
            )
        return label % rows.width
    if names is None or label not in names:
        listed = ", ".join(names or ["none, for the file has no header"])
        raise InputError(
            f"{rows.names[0]}: no column is named {label!r}."
            f"{did_you_mean(label, names or [])} Columns: {listed}"
        )
    return names.index(label)
