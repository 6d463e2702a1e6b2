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
``ramaswamy``    ``.rds``: list(X, y, X.test, y.test)
``rdata``        ``.RData``/``.rda``: list(x, y) or data.frame
``semeion``      UCI's semeion.data
``tic-tac-toe``  UCI's and KEEL's tic-tac-toe end games
===============  ==========================================================
"""

from __future__ import annotations

import importlib

from drmbench.data.readers.common import Reader
from drmbench.errors import InputError, did_you_mean, quoted

__all__ = ["get_reader", "reader_names", "reader_version"]

# Module, function and version of every reader. Raise the version whenever the reader
# returns other numbers, labels or row order for the same bytes: parsed copies in the
# cache are keyed by it.
_READERS = {
    "ar": ("images", "read_ar", 1),
    "arff": ("declared", "read_arff", 1),
    "broad": ("genes", "read_broad", 1),
    "compcancer": ("genes", "read_compcancer", 1),
    "delimited": ("delimited", "read", 1),
    "esl14cancer": ("genes", "read_esl14cancer", 1),
    "keel": ("declared", "read_keel", 1),
    "khan": ("genes", "read_khan", 1),
    "libsvm": ("libsvm", "read", 1),
    "mat": ("arrays", "read_mat", 1),
    "nci60": ("genes", "read_nci60", 1),
    "npz": ("arrays", "read_npz", 2),
    "pgm": ("images", "read_pgm", 1),
    "ramaswamy": ("ramaswamy", "read", 1),
    "rdata": ("rdata", "read", 1),
    "semeion": ("delimited", "read_semeion", 1),
    "tic-tac-toe": ("delimited", "read_tic_tac_toe", 1),
}


def reader_names() -> tuple[str, ...]:
    """Return the names of all readers, sorted."""
    return tuple(sorted(_READERS))


def get_reader(name: str) -> Reader:
    r"""Return the reader of that name; its module is imported only now.

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
    module, function, _ = _registered(name)
    reader: Reader = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    return reader


def reader_version(name: str) -> int:
    """Return the version of a reader's output, part of the key of parsed copies."""
    return _registered(name)[2]


def _registered(name: str) -> tuple[str, str, int]:
    if name not in _READERS:
        raise InputError(
            f"no reader is named {quoted(name)}.{did_you_mean(name, _READERS)}"
            f" Readers: {', '.join(reader_names())}"
        )
    return _READERS[name]
