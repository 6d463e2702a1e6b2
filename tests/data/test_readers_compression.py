"""Decompression by first bytes, and the LZW decoder against gzip's."""

from __future__ import annotations

import bz2
import gzip
import random
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drmbench.data.readers import get_reader
from drmbench.data.readers.common import Blob
from drmbench.data.readers.compression import decompress
from drmbench.data.readers.lzw import lzw_pieces
from drmbench.errors import InputError


class Compress:
    """An LZW encoder as `compress` has it, written for these tests.

    `clear_at` is the size of the table at which a clear code is written.
    """

    def __init__(self, max_width: int = 16, clear_at: int = 1 << 20) -> None:
        self.max_width, self.clear_at = max_width, clear_at
        self.output = bytearray([0x1F, 0x9D, 0x80 | max_width])
        self.codes: list[int] = []
        self.reset()

    def reset(self) -> None:
        self.table = {bytes([value]): value for value in range(256)}
        self.free, self.width = 257, 9

    def flush(self, length: int) -> None:
        shifted = (code << self.width * at for at, code in enumerate(self.codes))
        self.output += sum(shifted).to_bytes(length, "little")
        self.codes = []

    def flush_whole_blocks(self) -> None:
        self.flush(-(-len(self.codes) // 8) * self.width)

    def define(self, string: bytes) -> None:
        if self.free < 1 << self.max_width:
            self.table[string] = self.free
            self.free += 1
        # The decoder is one entry behind and widens its codes one code later.
        if self.free - 1 == 1 << self.width and self.width < self.max_width:
            self.flush_whole_blocks()
            self.width += 1
        if self.free >= self.clear_at:
            self.codes.append(256)
            self.flush_whole_blocks()
            self.reset()

    def encode(self, data: bytes) -> bytes:
        current = b""
        for byte in (bytes([value]) for value in data):
            if current + byte in self.table:
                current += byte
                continue
            self.codes.append(self.table[current])
            self.define(current + byte)
            current = byte
        if current:
            self.codes.append(self.table[current])
        self.flush(-(-len(self.codes) * self.width // 8))
        return bytes(self.output)


def noise(length: int, symbols: int) -> bytes:
    chooser = random.Random(length)
    return bytes(chooser.randrange(symbols) for _ in range(length))


def gzip_reads_lzw() -> bool:
    program = shutil.which("gzip")
    if program is None:
        return False
    shown = subprocess.run(
        [program, "-dc"], input=Compress().encode(b"abab"), capture_output=True
    )
    return shown.stdout == b"abab"


CASES = {
    "empty": Compress().encode(b""),
    "one symbol": Compress().encode(b"a" * 5000),
    "all widths": Compress().encode(noise(60_000, 256)),
    "full table": Compress(max_width=12).encode(noise(20_000, 256)),
    "cleared": Compress(clear_at=700).encode(noise(9000, 50)),
    "cleared at a width": Compress(clear_at=513).encode(noise(9000, 256)),
}


@pytest.mark.skipif(not gzip_reads_lzw(), reason="no gzip program that reads .Z")
@pytest.mark.parametrize("case", CASES)
def test_same_bytes_as_the_gzip_program(case: str) -> None:
    shown = subprocess.run(
        ["gzip", "-dc"], input=CASES[case], capture_output=True, check=True
    )
    assert b"".join(lzw_pieces(CASES[case])) == shown.stdout


@given(
    data=st.binary(max_size=3000) | st.text("ab", max_size=3000).map(str.encode),
    max_width=st.integers(10, 16),
    clear_at=st.sampled_from([258, 300, 512, 513, 1 << 20]),
)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_round_trip(data: bytes, max_width: int, clear_at: int) -> None:
    assert b"".join(lzw_pieces(Compress(max_width, clear_at).encode(data))) == data


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "no .Z header"),
        (b"\x1f\x9d", "no .Z header"),
        (b"\x1f\x9d\x88abc", "unknown .Z header flags"),
        (b"\x1f\x9d\xf0abc", "unknown .Z header flags"),
        (b"\x1f\x9d\x90\xff\xff\xff", "code 511 before its definition"),
    ],
)
def test_damaged_lzw_is_refused(data: bytes, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        b"".join(lzw_pieces(data))


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, bz2.compress, Compress().encode]
)
def test_readers_see_through_compression(compress: object) -> None:
    assert callable(compress)
    blob = Blob("numbers", compress(b"1 2 a\n3 4 b\n"))
    table = get_reader("delimited")([blob])
    assert table.X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_truncated_data_are_refused_by_name(compress: object) -> None:
    assert callable(compress)
    whole = compress(noise(500, 256))
    with pytest.raises(InputError, match=r"a\.gz: damaged or truncated"):
        decompress(Blob("a.gz", whole[:-20]))
