"""Read gene tables with one gene a row and the classes in the header line.

This is the layout of the CompCancer collection (de Souto et al., 2008) as the
biclustlib package carries it: ``GENES``, then the class of every sample; below, a
gene's name and its values, separated by tabs.
"""

from __future__ import annotations

from drmbench.data.readers.arrays import array_table, stack
from drmbench.data.readers.columns import number_matrix
from drmbench.data.readers.rows import split_rows, without_headers
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError


def read(blobs: list[Blob]) -> Table:
    r"""Read a gene table; rows of the result are samples, columns are genes.

    Examples
    --------
    >>> file = Blob("g.txt", b"GENES\tALL\tAML\ng1\t1\t2\ng2\t3\t4\n")
    >>> table = read([file])
    >>> table.X.tolist(), table.labels.tolist(), table.feature_names
    ([[1.0, 3.0], [2.0, 4.0]], ['ALL', 'AML'], ('g1', 'g2'))
    """
    return stack([blob.name for blob in blobs], [_read_one(blob) for blob in blobs])


def _read_one(blob: Blob) -> Table:
    rows, header = without_headers(split_rows([blob], "\t"), [True])
    if header is None or header[0] != "GENES" or len(header) < 2:
        raise InputError(
            f"{blob.name}, line 1: expected 'GENES' and the class of every sample"
        )
    genes = tuple(name.strip('"') for name in rows.columns[0])
    return array_table(blob.name, number_matrix(rows, first=1).T, header[1:], genes)
