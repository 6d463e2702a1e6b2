"""Text files line by line: decompressed and decoded on the way, never held whole."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TypeVar

from drmbench.errors import InputError, did_you_mean

Item = TypeVar("Item")

_GZIP, _BZIP2, _COMPRESS = b"\x1f\x8b", b"BZh", b"\x1f\x9d"


def batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of `size` items, the last of them perhaps shorter.

    Examples
    --------
    >>> list(batches(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    while batch := list(islice(items, size)):
        yield batch


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a user's file for reading bytes; what prevents it is an InputError."""
    if path.is_dir():
        raise InputError(f"{path}: a directory, not a file")
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        folder = path.parent
        siblings = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        raise InputError(
            f"{path}: no such file.{did_you_mean(path.name, siblings)}"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    with stream:
        yield stream


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield every line's number, from 1, and its text with ``\n`` at the end.

    Gzip and bzip2 are recognised by their first bytes; a byte-order mark is dropped.

    Raises
    ------
    InputError
        The file cannot be read, its compression is damaged, or it is not UTF-8 text;
        the message names the line.
    """
    with opened(path) as stream:
        # Bytes that are no UTF-8 come through as lone surrogates, each in its line.
        text = io.TextIOWrapper(
            _decompressed(path, stream), encoding="utf-8-sig", errors="surrogateescape"
        )
        number = 0
        try:
            for number, line in enumerate(text, start=1):
                _check_text(path, number, line)
                yield number, line
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(
                f"{path.name}, after line {number}: damaged or truncated data ({error})"
            ) from error


def _decompressed(
    path: Path, stream: IO[bytes]
) -> IO[bytes] | gzip.GzipFile | bz2.BZ2File:
    first = stream.read(3)
    stream.seek(0)
    if first.startswith(_GZIP):
        return gzip.open(stream)
    if first.startswith(_BZIP2):
        return bz2.open(stream)
    if first.startswith(_COMPRESS):
        raise InputError(
            f"{path.name}: a .Z file cannot be read in chunks; unpack it (uncompress)"
        )
    return stream


def _check_text(path: Path, number: int, line: str) -> None:
    if "\0" in line:
        raise InputError(f"{path.name}, line {number}: a zero byte; this is not text")
    if line.isascii():
        return
    try:
        line.encode()
    except UnicodeEncodeError as error:
        byte = ord(line[error.start]) & 0xFF
        raise InputError(
            f"{path.name}, line {number}: not UTF-8 text (byte {byte:#04x}); save the"
            f" file as UTF-8"
        ) from error
