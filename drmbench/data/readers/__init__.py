"""The readers: one module a format, looked up by the name the catalogue uses.

A reader takes named bytes (:class:`~drmbench.data.readers.table.Blob`) and gives a
:class:`~drmbench.data.readers.table.Table`; content it cannot make sense of is an
:class:`~drmbench.errors.InputError` that names the file and, for text, the line.
What each reader accepts as options is told in its own docstring.

===============  ==========================================================
name             what it reads
===============  ==========================================================
``ar``           AR faces from ``AR_42_30.mat``: 50 people, 32 × 32
``arff``         Weka's ARFF (dense)
``broad``        Broad Institute ``.res`` with ``.cls`` (GCM)
``compcancer``   gene tables whose header line holds the classes
``delimited``    csv, tsv, white space; ``.Z``, ``.gz``, ``.bz2`` or plain
``esl14cancer``  ``14cancer.xtrain/.ytrain/.xtest/.ytest``
``keel``         KEEL ``.dat`` with or without header
``khan``         Khan's four csv files as ISLP carries them
``libsvm``       LIBSVM/svmlight text; plain or compressed
``mat``          MATLAB up to version 7
``nci60``        NCI60's ``.npy`` and label csv as ISLP carries them
``npz``          numpy archives without pickles
``pgm``          grey images, one folder a class
``rdata``        ``.RData``/``.rda``: list(x, y) or data.frame
``semeion``      UCI's semeion.data
``tic-tac-toe``  UCI's and KEEL's tic-tac-toe end games
===============  ==========================================================
"""

from __future__ import annotations

import importlib
from typing import NamedTuple

from drmbench.data.readers.table import Reader
from drmbench.errors import InputError, did_you_mean

__all__ = ["READER_VERSIONS", "get_reader", "reader_names", "reader_version"]


class _Entry(NamedTuple):
    """Where a reader lives, and the version of what it returns."""

    module: str
    function: str = "read"
    version: int = 1


# Raise a version whenever the reader returns other numbers, labels or row order for
# the same bytes: parsed copies in the cache are keyed by it.
_READERS = {
    "ar": _Entry("ar"),
    "arff": _Entry("arff"),
    "broad": _Entry("broad"),
    "compcancer": _Entry("compcancer"),
    "delimited": _Entry("delimited"),
    "esl14cancer": _Entry("esl14cancer"),
    "keel": _Entry("keel"),
    "khan": _Entry("islp", "read_khan"),
    "libsvm": _Entry("libsvm"),
    "mat": _Entry("mat"),
    "nci60": _Entry("islp", "read_nci60"),
    "npz": _Entry("npz"),
    "pgm": _Entry("pgm"),
    "rdata": _Entry("rdata"),
    "semeion": _Entry("semeion"),
    "tic-tac-toe": _Entry("tictactoe"),
}

READER_VERSIONS: dict[str, int] = {
    name: entry.version for name, entry in _READERS.items()
}
"""Version of every reader, by its name."""


def reader_names() -> tuple[str, ...]:
    """Return the names of all readers, sorted."""
    return tuple(sorted(_READERS))


def get_reader(name: str) -> Reader:
    r"""Return the reader of that name; its module is imported only now.

    Raises
    ------
    InputError
        There is no such reader.

    Examples
    --------
    >>> from drmbench.data.readers.table import Blob
    >>> read = get_reader("delimited")
    >>> table = read([Blob("a.csv", b"1,2,yes\n3,4,no\n")], delimiter=",")
    >>> table.X.tolist(), table.labels.tolist()
    ([[1.0, 2.0], [3.0, 4.0]], ['yes', 'no'])
    >>> get_reader("kell")
    Traceback (most recent call last):
    drmbench.errors.InputError: no reader is named 'kell'. Did you mean 'keel'? ...
    """
    entry = _entry(name)
    module = importlib.import_module(f"{__name__}.{entry.module}")
    reader: Reader = getattr(module, entry.function)
    return reader


def reader_version(name: str) -> int:
    """Return the version of a reader's output, part of the key of parsed copies.

    Examples
    --------
    >>> reader_version("keel") >= 1
    True
    """
    return _entry(name).version


def _entry(name: str) -> _Entry:
    if name not in _READERS:
        raise InputError(
            f"no reader is named {name!r}.{did_you_mean(name, _READERS)}"
            f" Readers: {', '.join(reader_names())}"
        )
    return _READERS[name]
