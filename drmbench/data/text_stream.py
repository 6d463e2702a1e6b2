"""A user's file opened: its bytes, or its text decompressed and decoded on the way."""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from drmbench.data.readers.compression import COMPRESS, STREAMS, XZ, ZIP, Meter
from drmbench.errors import InputError, did_you_mean
from drmbench.files import is_special

DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
"""What reading a damaged or truncated compressed file raises."""

MAX_LINE = 2**26
"""Bytes of the longest line of compressed text; a line is held in memory."""

_DENSEST = 100
"""How many times its size compressed text may have that is read in chunks."""

_READ = 2**16

_WHOLE_ONLY = ((COMPRESS, ".Z", "uncompress"), (ZIP, ".zip", "unzip"))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a user's file for reading bytes; what prevents it is an InputError."""
    if path.is_dir():
        raise InputError(f"{path}: a directory, not a file")
    if is_special(path):
        raise InputError(f"{path}: a pipe or device; give a regular file")
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        folder = path.parent
        siblings = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        hint = did_you_mean(path.name, siblings)
        raise InputError(f"{path}: no such file.{hint}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    with stream:
        yield stream


class _LimitedText(io.RawIOBase):
    """The content of a compressed file: so many bytes, in lines that fit memory."""

    def __init__(self, file: str, content: Any, size: int) -> None:
        self._file, self._content = file, content
        self._meter, self._line = Meter(file, stored=_DENSEST * size), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack as much as there is place for."""
        piece: bytes = self._content.read(len(buffer))
        last = piece.rfind(b"\n")
        self._line = len(piece) - 1 - last + (self._line if last < 0 else 0)
        if self._line > MAX_LINE:
            raise InputError(f"{self._file}: a line of more than {MAX_LINE:,} bytes")
        self._meter.add(len(piece))
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def open_text(path: Path, data: bytes | None = None) -> Iterator[io.TextIOWrapper]:
    r"""Open text for reading line by line, with ``\n`` at the end of each.

    Gzip, bzip2 and xz are told by their first bytes; a byte-order mark is dropped.
    Bytes that are not UTF-8 come through as lone surrogates, each in its line. `data`
    is the file's content, decompressed, if that is in memory already.
    """
    with opened(path) if data is None else io.BytesIO(data) as stream:
        content: Any = stream
        if data is None:
            first = stream.read(len(XZ))
            stream.seek(0)
            for mark, end, tool in _WHOLE_ONLY:
                if first.startswith(mark):
                    raise InputError(
                        f"{path.name}: a {end} file cannot be read in chunks; unpack it"
                        f" ({tool})"
                    )
            for mark, (_, open_content) in STREAMS.items():
                if first.startswith(mark):
                    size = path.stat().st_size
                    limited = _LimitedText(path.name, open_content(stream), size)
                    content = io.BufferedReader(limited, _READ)
        yield io.TextIOWrapper(content, encoding="utf-8-sig", errors="surrogateescape")


def numbered_lines(path: Path, data: bytes | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line :func:`open_text` reads.

    The `InputError` for a damaged file, or one that is not UTF-8, names the line.
    """
    with open_text(path, data) as text:
        number = 0
        try:
            for number, line in enumerate(text, start=1):
                if "\0" in line:
                    reason = "a zero byte; this is not text"
                    raise InputError(f"{path.name}, line {number}: {reason}")
                if not line.isascii():
                    line.encode()
                yield number, line
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) & 0xFF
            raise InputError(
                f"{path.name}, line {number}: not UTF-8 text (byte {byte:#04x}); save"
                f" the file as UTF-8"
            ) from error
        except DAMAGE as error:
            raise InputError(
                f"{path.name}, after line {number}: damaged or truncated data ({error})"
            ) from error
