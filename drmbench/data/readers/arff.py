"""Read Weka's ARFF files: numeric and nominal attributes, dense rows."""

from __future__ import annotations

from drmbench.data.readers.columns import tabulate
from drmbench.data.readers.declared import declared_rows
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError


def read(blobs: list[Blob], *, target: str | None = None) -> Table:
    r"""Read one or several ARFF files with the same header.

    Parameters
    ----------
    blobs : list of Blob
        The files.
    target : str or None
        Attribute that holds the class; the last one if None.

    Notes
    -----
    Missing values (``?``) become NaN; nominal attributes become codes 0, 1, … in
    declared order. String and date attributes and sparse rows are refused.

    Examples
    --------
    >>> lines = ["@relation r", "@attribute a numeric", "@attribute k {x, y}"]
    >>> table = read([Blob("r.arff", "\n".join([*lines, "@data", "2,x"]).encode())])
    >>> table.X.tolist(), table.labels.tolist(), table.feature_names
    ([[2.0]], ['x'], ('a',))
    """
    header, rows = declared_rows(blobs, _refuse_sparse)
    label = len(header.attributes) - 1
    if target is not None:
        label = header.column(target, rows.names[0])
    features = [j for j in range(len(header.attributes)) if j != label]
    return tabulate(rows, features, label, header.codings, header.names)


def _refuse_sparse(line: str, where: str) -> None:
    if line.startswith("{"):
        raise InputError(
            f"{where}: sparse ARFF rows are not supported; save the file with dense"
            f" rows (Weka's filter SparseToNonSparse does that)"
        )
