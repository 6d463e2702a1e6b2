"""Read gene-expression sets as published, one function per layout."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.cells import (
    csv_rows,
    gather,
    labels,
    number_matrix,
    numbers,
    split_rows,
    text,
    without_headers,
)
from drmbench.data.readers.common import (
    Blob,
    RawTable,
    array_table,
    decoding,
    read_each,
    stack,
)
from drmbench.errors import InputError, quoted
from drmbench.npz import read_header


def read_broad(blobs: list[Blob]) -> RawTable:
    """Read the Broad Institute's ``.res`` files and the ``.cls`` files that label them.

    The n-th ``.res`` goes with the n-th ``.cls``; their samples are part n. A label is
    the class's name where the ``.cls`` file names it, else its number.

    Notes
    -----
    A ``.res`` file has tab-separated columns ``Description``, ``Accession`` and, for
    each sample, its value and a present/absent call. A line of sample descriptions and
    one with the number of genes may follow the header. A ``.cls`` file ends in a line
    with the class of every sample; two lines with counts and class names may come
    before it.
    """
    expressions = [blob for blob in blobs if blob.name.endswith(".res")]
    classes = [blob for blob in blobs if blob.name.endswith(".cls")]
    if not expressions or len(expressions) != len(classes):
        raise InputError(
            f"expected as many .cls as .res files, found {len(classes)} and"
            f" {len(expressions)}"
        )
    tables: list[RawTable] = []
    for res, cls in zip(expressions, classes, strict=True):
        values, genes = _read_res(res)
        found = _read_cls(cls)
        if len(found) != values.shape[0]:
            raise InputError(
                f"{cls.name}: {len(found)} classes, but {res.name} has"
                f" {values.shape[0]} samples"
            )
        tables.append(array_table(res.name, values, found, genes))
    for res, table in zip(expressions, tables, strict=True):
        if table.feature_names != tables[0].feature_names:
            raise InputError(f"{res.name}: other genes than {expressions[0].name}")
    return stack([res.name for res in expressions], tables)


def _read_res(blob: Blob) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the values, one sample per row, and the genes' accessions."""
    # Gene descriptions come from many hands and are not always UTF-8.
    lines = text(blob, "latin-1").split("\n")
    header = lines[0].rstrip("\t\r ").split("\t")
    if [cell.strip().lower() for cell in header[:2]] != ["description", "accession"]:
        raise InputError(
            f"{blob.name}, line 1: expected the columns Description, Accession and"
            f" the samples"
        )
    n_samples = len(header[2::2])
    width = 2 + 2 * n_samples
    first, declared = 1, None
    while first < min(3, len(lines)):  # sample descriptions, number of genes
        cells = lines[first].strip().split("\t")
        if len(cells) == 1 and cells[0].isdecimal():
            declared = int(cells[0])
        elif not lines[first].startswith("\t") and cells != [""]:
            break
        first += 1

    def genes(_: Blob) -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(lines[first:], start=first + 1):
            if line.strip():
                cells = [cell.strip() for cell in line.split("\t")]
                yield number, cells if any(cells[width:]) else cells[:width]

    rows = gather([blob], genes)
    if rows.width < width or (declared is not None and declared != len(rows.cells)):
        raise InputError(
            f"{blob.name}: expected {declared or 'some'} genes × {n_samples} samples,"
            f" found {len(rows.cells)} rows of {rows.width} columns"
        )
    values = np.array(
        [numbers(rows, 2 + 2 * j, f"sample {j + 1}") for j in range(n_samples)]
    )
    return values, rows.columns[1]


def _read_cls(blob: Blob) -> list[str]:
    """Return the name of each sample's class; a class without one keeps its number."""
    lines = [line.strip() for line in text(blob).split("\n") if line.strip()]
    if len(lines) not in (1, 3):
        raise InputError(
            f"{blob.name}: expected one line of classes, or three with counts and"
            f" names before it, found {len(lines)} lines"
        )
    names: list[str] = []
    if len(lines) == 3:
        if not lines[1].startswith("#"):
            raise InputError(f"{blob.name}: the second line must start with '#'")
        names = lines[1][1:].split()
    found = lines[-1].split()
    for place, label in enumerate(found):
        if label in names:
            continue
        if not label.isdecimal():
            raise InputError(
                f"{blob.name}: expected class numbers, found {quoted(label)}"
            )
        if int(label) < len(names):
            found[place] = names[int(label)]
    return found


def read_compcancer(blobs: list[Blob]) -> RawTable:
    r"""Read gene tables with one gene per row and the classes in the header line.

    This is the layout of the CompCancer collection (de Souto et al., 2008) as the
    biclustlib package carries it: ``GENES``, then the class of every sample; below, a
    gene's name and its values, separated by tabs. Rows of the result are samples.

    Examples
    --------
    >>> file = Blob("g.txt", b"GENES\tALL\tAML\ng1\t1\t2\ng2\t3\t4\n")
    >>> table = read_compcancer([file])
    >>> table.X.tolist(), table.labels.tolist(), table.feature_names
    ([[1.0, 3.0], [2.0, 4.0]], ['ALL', 'AML'], ('g1', 'g2'))
    """

    def read_one(blob: Blob) -> RawTable:
        rows, header = without_headers(split_rows([blob], "\t"), [True])
        if header is None or header[0] != "GENES" or len(header) < 2:
            raise InputError(
                f"{blob.name}, line 1: expected 'GENES' and the class of every sample"
            )
        genes = tuple(name.strip('"') for name in rows.columns[0])
        return array_table(blob.name, number_matrix(rows, first=1).T, header[1:], genes)

    return read_each(blobs, read_one)


def read_esl14cancer(blobs: list[Blob]) -> RawTable:
    """Read the 14-cancer data of *The Elements of Statistical Learning*.

    The files are ``*.xtrain``, ``*.ytrain``, ``*.xtest`` and ``*.ytest``, in any order.
    The x files have one gene per row and one sample per column, separated by white
    space; the y files have the class of every sample. Part 0 is the training set, part
    1 the test set.
    """
    tables = []
    for part in ("train", "test"):
        x, y = pick(blobs, [f".x{part}", f".y{part}"])
        genes = number_matrix(split_rows([x], None))
        tables.append(array_table(x.name, genes.T, text(y).split()))
    return stack(["the training set", x.name], tables)


def read_nci60(blobs: list[Blob]) -> RawTable:
    """Read ISLP's ``NCI60data.npy`` (samples in rows) and ``NCI60labs.csv``."""
    data, names = pick(blobs, [".npy", "labs.csv"])
    with decoding(data.name, "npy file"):
        stream = io.BytesIO(data.data)
        read_header(stream, len(data.data))
        stream.seek(0)
        X = np.load(stream, allow_pickle=False)
    return array_table(data.name, X, _only_column(names))


def read_khan(blobs: list[Blob]) -> RawTable:
    """Read ISLP's ``Khan_xtrain.csv``, ``_ytrain``, ``_xtest``, ``_ytest``, any order.

    Part 0 is the training set, part 1 the test set.
    """
    tables = []
    for part in ("train", "test"):
        x, y = pick(blobs, [f"_x{part}.csv", f"_y{part}.csv"])
        rows, names = without_headers(csv_rows([x], ","), [True])
        genes = tuple(names) if names else None
        tables.append(array_table(x.name, number_matrix(rows), _only_column(y), genes))
    return stack(["the training set", x.name], tables)


def _only_column(blob: Blob) -> NDArray[np.str_]:
    """Return the labels in a csv file's only column, below its name."""
    rows, _ = without_headers(csv_rows([blob], ","), [True])
    return labels(rows, 0)


def pick(blobs: Sequence[Blob], endings: Sequence[str]) -> list[Blob]:
    """Return the one blob whose name ends in each of the endings, in their order.

    Examples
    --------
    >>> blobs = [Blob("a.ytrain", b""), Blob("a.xtrain", b"")]
    >>> [blob.name for blob in pick(blobs, [".xtrain", ".ytrain"])]
    ['a.xtrain', 'a.ytrain']
    """
    found = []
    for ending in endings:
        matches = [blob for blob in blobs if blob.name.endswith(ending)]
        if len(matches) != 1:
            names = ", ".join(blob.name for blob in blobs) or "none"
            raise InputError(f"expected one file *{ending} among the files: {names}")
        found.append(matches[0])
    return found
