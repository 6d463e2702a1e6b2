"""Undo the compression of a source file, recognised by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from drmbench.data.readers.common import Blob
from drmbench.errors import InputError

GZIP, BZIP2, COMPRESS = b"\x1f\x8b", b"BZh", b"\x1f\x9d"
XZ, ZIP = b"\xfd7zXZ\0", b"PK\x03\x04"
"""First bytes of the compressed formats."""

MAX_UNPACKED = 2**31
"""Bytes that xz and zip files may unpack to: a small file can hold a thousandfold."""

_CLEAR = 256
_FIRST_WIDTH = 9
_LITERALS = [bytes([value]) for value in range(256)]


def unlzw(data: bytes) -> bytes:
    """Return the content of a file of the Unix ``compress`` program (``.Z``).

    Other or damaged data are a `ValueError`.

    Notes
    -----
    LZW codes are packed least significant bit first and grow from 9 bits to the width
    the header allows. The encoder writes them in blocks of eight; when the width
    changes or the table is cleared, the rest of the current block is padding. The
    format has neither a length nor a checksum, so a file cut short between two codes
    cannot be told from a whole one.

    Examples
    --------
    >>> unlzw(bytes.fromhex("1f9d9061c4041c2806"))
    b'abababab'
    """
    if data[:2] != COMPRESS or len(data) < 3:
        raise ValueError("no .Z header")
    flags = data[2]
    max_width, clears = flags & 0x1F, bool(flags & 0x80)
    if not _FIRST_WIDTH <= max_width <= 16 or flags & 0x60:
        raise ValueError(f"unknown .Z header flags {flags:#04x}")
    empty_table = [*_LITERALS, b""] if clears else _LITERALS
    table, previous = list(empty_table), b""
    output: list[bytes] = []
    width, section, position, end = _FIRST_WIDTH, 24, 24, 8 * len(data)
    while True:
        if len(table) == 1 << width and width < max_width:
            section = position = _next_block(section, position, width)
            width += 1
        if position + width > end:
            return b"".join(output)
        first_byte = position >> 3
        window = int.from_bytes(data[first_byte : first_byte + 3], "little")
        code = (window >> (position & 7)) & ((1 << width) - 1)
        position += width
        if clears and code == _CLEAR:
            section = position = _next_block(section, position, width)
            table, previous, width = list(empty_table), b"", _FIRST_WIDTH
            continue
        if code < len(table):
            string = table[code]
        elif code == len(table) and previous:  # the code that is about to be defined
            string = previous + previous[:1]
        else:
            raise ValueError(f"code {code} before its definition")
        output.append(string)
        if previous and len(table) < 1 << max_width:
            table.append(previous + string[:1])
        previous = string


def _next_block(section: int, position: int, width: int) -> int:
    """Return the bit where the block of eight codes that holds `position` ends."""
    block = 8 * width
    return section + -(-(position - section) // block) * block


def unxz(data: bytes) -> bytes:
    """Return the content of an xz file, unless it is too large."""
    with lzma.LZMAFile(io.BytesIO(data)) as stream:
        return _capped(stream.read(MAX_UNPACKED + 1))


def unzip(data: bytes) -> bytes:
    """Return the content of the one file in a zip archive, unless it is too large."""
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        archive.open(_only_member(archive)) as stream,
    ):
        return _capped(stream.read(MAX_UNPACKED + 1))


def zipped_name(blob: Blob) -> str:
    """Return the name of the one file in a zip archive."""
    with unpacking(blob.name, "zip"), zipfile.ZipFile(io.BytesIO(blob.data)) as archive:
        return _only_member(archive).filename


def check_unpacked(file: str, data: bytes) -> None:
    """Refuse an archive whose files are too large together."""
    with unpacking(file, "zip"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_size(sum(member.file_size for member in archive.infolist()))


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """Return the one file of an archive; what macOS adds to it does not count."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        names = ", ".join(repr(member.filename) for member in members[:5])
        raise InputError(
            f"expected exactly one file in it, found {len(members)}"
            f"{': ' if members else ''}{names}{', …' if len(members) > 5 else ''}"
        )
    if members[0].flag_bits & 1:
        raise InputError("the file in it is encrypted")
    return members[0]


def _capped(data: bytes) -> bytes:
    _check_size(len(data))
    return data


def _check_size(size: int) -> None:
    if size > MAX_UNPACKED:
        raise InputError(f"unpacks to more than {MAX_UNPACKED:,} bytes")


@contextmanager
def unpacking(file: str, kind: str) -> Iterator[None]:
    """Turn what unpacking raises into an InputError."""
    try:
        yield
    except InputError as error:  # what is wrong with it is said already
        raise InputError(f"{file}: {error}") from error
    except (
        *(OSError, EOFError, ValueError, zlib.error, lzma.LZMAError),
        *(zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError),
    ) as error:
        raise InputError(
            f"{file}: damaged or truncated {kind} data ({error})"
        ) from error


_DECOMPRESSORS: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    GZIP: ("gzip", gzip.decompress),
    BZIP2: ("bzip2", bz2.decompress),
    COMPRESS: ("compress (.Z)", unlzw),
    XZ: ("xz", unxz),
    ZIP: ("zip", unzip),
}


def decompress(blob: Blob) -> bytes:
    """Return the bytes inside a compressed file, or those of a plain one."""
    for magic, (kind, undo) in _DECOMPRESSORS.items():
        if blob.data.startswith(magic):
            with unpacking(blob.name, kind):
                return undo(blob.data)
    return blob.data
