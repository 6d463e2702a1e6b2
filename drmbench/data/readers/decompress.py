"""Undo the compression of a source file, recognised by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable

from drmbench.data.readers.table import Blob
from drmbench.data.readers.unlzw import unlzw
from drmbench.errors import InputError

_DECOMPRESSORS: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", gzip.decompress),
    b"BZh": ("bzip2", bz2.decompress),
    b"\x1f\x9d": ("compress (.Z)", unlzw),
}


def decompress(blob: Blob) -> bytes:
    """Return the bytes inside a gzip, bzip2 or ``.Z`` file, or those of a plain one.

    Raises
    ------
    InputError
        The file begins like a compressed one but is damaged or cut short.

    Examples
    --------
    >>> decompress(Blob("a.csv.gz", gzip.compress(b"1,2")))
    b'1,2'
    >>> decompress(Blob("a.csv", b"1,2"))
    b'1,2'
    """
    for magic, (kind, undo) in _DECOMPRESSORS.items():
        if blob.data.startswith(magic):
            try:
                return undo(blob.data)
            except (OSError, EOFError, ValueError, zlib.error) as error:
                raise InputError(
                    f"{blob.name}: damaged or truncated {kind} data ({error})"
                ) from error
    return blob.data
