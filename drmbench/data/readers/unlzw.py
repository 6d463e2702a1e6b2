"""Decode the LZW files of the Unix ``compress`` program (``.Z``).

Codes are packed least significant bit first and grow from 9 bits to the width the
header allows. The encoder writes them in blocks of eight; when the width changes or
the table is cleared, the rest of the current block is padding.
"""

from __future__ import annotations

_MAGIC = b"\x1f\x9d"
_CLEAR = 256
_FIRST_WIDTH = 9
_LITERALS = [bytes([value]) for value in range(256)]


def unlzw(data: bytes) -> bytes:
    """Return the content of a ``.Z`` file.

    Raises
    ------
    ValueError
        The data are not of this format, or damaged.

    Notes
    -----
    The format has neither a length nor a checksum, so a file cut short between two
    codes cannot be told from a whole one.

    Examples
    --------
    >>> unlzw(bytes.fromhex("1f9d9061c4041c2806"))
    b'abababab'
    """
    max_width, clears = _header(data)
    return b"".join(_decode(data, max_width, clears))


def _header(data: bytes) -> tuple[int, bool]:
    """Return the largest code width and whether code 256 clears the table."""
    if data[:2] != _MAGIC or len(data) < 3:
        raise ValueError("no .Z header")
    flags = data[2]
    max_width = flags & 0x1F
    if not _FIRST_WIDTH <= max_width <= 16 or flags & 0x60:
        raise ValueError(f"unknown .Z header flags {flags:#04x}")
    return max_width, bool(flags & 0x80)


def _decode(data: bytes, max_width: int, clears: bool) -> list[bytes]:
    """Return the string of every code, in order."""
    empty_table = [*_LITERALS, b""] if clears else _LITERALS
    table, previous = list(empty_table), b""
    output: list[bytes] = []
    width, section, position, end = _FIRST_WIDTH, 24, 24, 8 * len(data)
    while True:
        if len(table) == 1 << width and width < max_width:
            section = position = _next_block(section, position, width)
            width += 1
        if position + width > end:
            return output
        first_byte = position >> 3
        window = int.from_bytes(data[first_byte : first_byte + 3], "little")
        code = (window >> (position & 7)) & ((1 << width) - 1)
        position += width
        if clears and code == _CLEAR:
            section = position = _next_block(section, position, width)
            table, previous, width = list(empty_table), b"", _FIRST_WIDTH
            continue
        string = _string(table, code, previous)
        output.append(string)
        if previous and len(table) < 1 << max_width:
            table.append(previous + string[:1])
        previous = string


def _string(table: list[bytes], code: int, previous: bytes) -> bytes:
    """Return what a code stands for; the code about to be defined may be used."""
    if code < len(table):
        return table[code]
    if code == len(table) and previous:
        return previous + previous[:1]
    raise ValueError(f"code {code} before its definition")


def _next_block(section: int, position: int, width: int) -> int:
    """Return the bit where the block of eight codes that holds `position` ends."""
    block = 8 * width
    return section + -(-(position - section) // block) * block
