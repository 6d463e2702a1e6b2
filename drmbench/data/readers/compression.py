"""Undo the compression of a source file, as far as it may unpack.

A small file can hold a thousandfold. What it unpacks to is counted as it comes, and no
more is unpacked than allowed: a user's file has :data:`MAX_UNPACKED` or what the
environment variable ``DRMBENCH_MAX_UNPACKED`` says, a file of the catalogue what its
data set can have (:attr:`Blob.most`).
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import IO, Any

from drmbench.data.paths import UNPACKED, allowed_to_unpack
from drmbench.data.readers.common import Blob
from drmbench.data.readers.lzw import MARK, lzw_pieces
from drmbench.errors import InputError

GZIP, BZIP2, COMPRESS = b"\x1f\x8b", b"BZh", MARK
XZ, ZIP = b"\xfd7zXZ\0", b"PK\x03\x04"
"""First bytes of the compressed formats."""

MAX_UNPACKED = 2**31
"""Bytes that a user's file may unpack to, unless they allow more."""

PIECE = 2**20
"""Bytes that are unpacked at a time."""


class Meter:
    """Counts what a file unpacks to, and refuses more than `most` bytes.

    Without `most` it is what a user's file may have; and what is not packed at all,
    `stored` bytes of it, is never too much.
    """

    def __init__(self, file: str, most: int | None = None, stored: int = 0) -> None:
        self._file, self._count = file, 0
        self._remedy = "more than the data set can have"
        if most is None:
            most = allowed_to_unpack(MAX_UNPACKED)
            self._remedy = f"if it is to be so large, allow more by {UNPACKED}=8G"
        self._most = max(most, stored)

    def add(self, size: int) -> None:
        """Count bytes, before or after they are unpacked."""
        self._count += size
        self.check(self._count)

    def check(self, size: int) -> None:
        """Refuse so many bytes in all, if they are too many."""
        if size > self._most:
            raise InputError(
                f"{self._file}: unpacks to more than {self._most:,} bytes;"
                f" {self._remedy}"
            )

    def joined(self, pieces: Iterable[bytes]) -> bytes:
        """Return the pieces as one, if they are not too much together."""
        whole = io.BytesIO()
        for piece in pieces:
            self.add(len(piece))
            whole.write(piece)
        return whole.getvalue()

    def inflated(self, data: bytes) -> bytes:
        """Return the content of a zlib stream, which must be whole."""
        decoder = zlib.decompressobj()

        def pieces() -> Iterator[bytes]:
            waiting = data
            while not decoder.eof and (piece := decoder.decompress(waiting, PIECE)):
                waiting = decoder.unconsumed_tail
                yield piece

        whole = self.joined(pieces())
        if not decoder.eof:
            raise zlib.error("incomplete or truncated stream")
        return whole


def opened_gzip(stream: IO[bytes]) -> Any:
    """Return the content of a gzip file as a stream."""
    return gzip.GzipFile(fileobj=stream)


STREAMS: dict[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    GZIP: ("gzip", opened_gzip),
    BZIP2: ("bzip2", bz2.BZ2File),
    XZ: ("xz", lzma.LZMAFile),
}
"""What opens the content of each format that can be read as a stream."""


def _stream_pieces(
    open_content: Callable[[IO[bytes]], Any], data: bytes
) -> Iterator[bytes]:
    with closing(open_content(io.BytesIO(data))) as stream:
        yield from iter(lambda: stream.read(PIECE), b"")


def _zip_pieces(blob: Blob) -> Iterator[bytes]:
    """Yield the content of the one file in a zip archive."""
    with (
        zipfile.ZipFile(io.BytesIO(blob.data)) as archive,
        archive.open(_only_member(blob.name, archive)) as stream,
    ):
        yield from iter(lambda: stream.read(PIECE), b"")


def zipped_name(blob: Blob) -> str:
    """Return the name of the one file in a zip archive."""
    with unpacking(blob.name, "zip"), zipfile.ZipFile(io.BytesIO(blob.data)) as archive:
        return _only_member(blob.name, archive).filename


def check_unpacked(file: str, data: bytes) -> None:
    """Refuse an archive whose files are too large together."""
    with unpacking(file, "zip"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        # More than the size that is written there is never unpacked.
        Meter(file).add(sum(member.file_size for member in archive.infolist()))


def _only_member(file: str, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """Return the one file of an archive; what macOS adds to it does not count."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        names = ", ".join(repr(member.filename) for member in members[:5])
        raise InputError(
            f"{file}: expected exactly one file in it, found {len(members)}"
            f"{': ' if members else ''}{names}{', …' if len(members) > 5 else ''}"
        )
    if members[0].flag_bits & 1:
        raise InputError(f"{file}: the file in it is encrypted")
    return members[0]


@contextmanager
def unpacking(file: str, kind: str) -> Iterator[None]:
    """Turn what unpacking raises into an InputError."""
    try:
        yield
    except InputError:  # what is wrong with it is said already
        raise
    except MemoryError as error:
        raise InputError(f"{file}: the {kind} data do not fit into memory") from error
    except (
        *(OSError, EOFError, ValueError, zlib.error, lzma.LZMAError),
        *(zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError),
    ) as error:
        raise InputError(
            f"{file}: damaged or truncated {kind} data ({error})"
        ) from error


def packed(blob: Blob) -> tuple[str, Iterable[bytes]]:
    """Return how a file is compressed, or nothing, and its content as it is unpacked.

    What is damaged raises as it comes.
    """
    for mark, (kind, open_content) in STREAMS.items():
        if blob.data.startswith(mark):
            return kind, _stream_pieces(open_content, blob.data)
    if blob.data.startswith(COMPRESS):
        return "compress (.Z)", lzw_pieces(blob.data)
    if blob.data.startswith(ZIP):
        return "zip", _zip_pieces(blob)
    return "", [blob.data]


def decompress(blob: Blob) -> bytes:
    """Return the bytes inside a compressed file, or those of a plain one."""
    kind, pieces = packed(blob)
    if not kind:
        return blob.data
    with unpacking(blob.name, kind):
        return Meter(blob.name, blob.most).joined(pieces)
