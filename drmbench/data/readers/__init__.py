"""The readers: one function per format, looked up by the name the catalogue uses.

A reader takes named bytes (:class:`~drmbench.data.readers.common.Blob`) and gives a
:class:`~drmbench.data.readers.common.RawTable`; content it cannot make sense of is an
:class:`~drmbench.errors.InputError` that names the file and, for text, the line.
Each reader's own docstring tells what options it accepts.

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
``pgm``          grey images, one folder per class
``rdata``        ``.RData``/``.rda``: list(x, y) or data.frame
``semeion``      UCI's semeion.data
``tic-tac-toe``  UCI's and KEEL's tic-tac-toe end games
===============  ==========================================================
"""

from __future__ import annotations

import importlib
from typing import NamedTuple

from drmbench.data.readers.common import Reader
from drmbench.errors import InputError, did_you_mean

__all__ = ["READER_VERSIONS", "get_reader", "reader_names", "reader_version"]


class _Registered(NamedTuple):
    """Where a reader lives, and the version of what it returns."""

    module: str
    function: str = "read"
    version: int = 1


# Raise a version whenever the reader returns other numbers, labels or row order for
# the same bytes: parsed copies in the cache are keyed by it.
_READERS = {
    "ar": _Registered("images", "read_ar"),
    "arff": _Registered("declared", "read_arff"),
    "broad": _Registered("genes", "read_broad"),
    "compcancer": _Registered("genes", "read_compcancer"),
    "delimited": _Registered("delimited"),
    "esl14cancer": _Registered("genes", "read_esl14cancer"),
    "keel": _Registered("declared", "read_keel"),
    "khan": _Registered("genes", "read_khan"),
    "libsvm": _Registered("libsvm"),
    "mat": _Registered("mat"),
    "nci60": _Registered("genes", "read_nci60"),
    "npz": _Registered("npz"),
    "pgm": _Registered("images", "read_pgm"),
    "rdata": _Registered("rdata"),
    "semeion": _Registered("delimited", "read_semeion"),
    "tic-tac-toe": _Registered("delimited", "read_tic_tac_toe"),
}

READER_VERSIONS: dict[str, int] = {
    name: reader.version for name, reader in _READERS.items()
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
    >>> from drmbench.data.readers.common import Blob
    >>> read = get_reader("delimited")
    >>> table = read([Blob("a.csv", b"1,2,yes\n3,4,no\n")], delimiter=",")
    >>> table.X.tolist(), table.labels.tolist()
    ([[1.0, 2.0], [3.0, 4.0]], ['yes', 'no'])
    >>> get_reader("kell")
    Traceback (most recent call last):
    drmbench.errors.InputError: no reader is named 'kell'. Did you mean 'keel'? ...
    """
    found = _registered(name)
    module = importlib.import_module(f"{__name__}.{found.module}")
    reader: Reader = getattr(module, found.function)
    return reader


def reader_version(name: str) -> int:
    """Return the version of a reader's output, part of the key of parsed copies.

    Examples
    --------
    >>> reader_version("keel") >= 1
    True
    """
    return _registered(name).version


def _registered(name: str) -> _Registered:
    if name not in _READERS:
        raise InputError(
            f"no reader is named {name!r}.{did_you_mean(name, _READERS)}"
            f" Readers: {', '.join(reader_names())}"
        )
    return _READERS[name]
