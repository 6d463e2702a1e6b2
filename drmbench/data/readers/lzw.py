"""Undo the compression of the Unix ``compress`` program."""

from __future__ import annotations

from collections.abc import Iterator

MARK = b"\x1f\x9d"
"""First bytes of a ``.Z`` file."""

_CLEAR = 256
_FIRST_WIDTH = 9
_LITERALS = [bytes([value]) for value in range(256)]


def lzw_pieces(data: bytes) -> Iterator[bytes]:
    """Yield the content of a file of the Unix ``compress`` program (``.Z``).

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
    >>> list(lzw_pieces(bytes.fromhex("1f9d9061c4041c2806")))
    [b'a', b'b', b'ab', b'aba', b'b']
    """
    if data[:2] != MARK or len(data) < 3:
        raise ValueError("no .Z header")
    flags = data[2]
    max_width, clears = flags & 0x1F, bool(flags & 0x80)
    if not _FIRST_WIDTH <= max_width <= 16 or flags & 0x60:
        raise ValueError(f"unknown .Z header flags {flags:#04x}")
    empty_table = [*_LITERALS, b""] if clears else _LITERALS
    table, previous = list(empty_table), b""
    width, section, position, end = _FIRST_WIDTH, 24, 24, 8 * len(data)
    while True:
        if len(table) == 1 << width and width < max_width:
            section = position = _next_block(section, position, width)
            width += 1
        if position + width > end:
            return
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
        yield string
        if previous and len(table) < 1 << max_width:
            table.append(previous + string[:1])
        previous = string


def _next_block(section: int, position: int, width: int) -> int:
    """Return the bit where the block of eight codes that holds `position` ends."""
    block = 8 * width
    return section + -(-(position - section) // block) * block
