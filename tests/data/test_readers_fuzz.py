"""Whatever bytes a reader is given, it returns a table or raises InputError."""

from __future__ import annotations

import bz2
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reader_files import INSERTS, VALID, assert_sound

from drmbench.data.readers import get_reader, reader_names
from drmbench.data.readers.common import Blob
from drmbench.errors import InputError

SETTINGS = settings(
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)


def read(reader: str, blobs: list[Blob]) -> None:
    """Read; a table must be sound, and nothing but InputError may be raised."""
    with suppress(InputError):
        assert_sound(get_reader(reader)(blobs))


@pytest.mark.parametrize("reader", reader_names())
def test_the_valid_file_is_read(reader: str) -> None:
    assert_sound(get_reader(reader)([Blob(*file) for file in VALID[reader]]))


@pytest.mark.parametrize("reader", reader_names())
@given(data=st.data())
@SETTINGS
def test_random_bytes(reader: str, data: st.DataObject) -> None:
    prefix = st.sampled_from(
        [b"", b"@data\n", b"P5 2 2 9 ", b"RDX3\nX\n", b"\x1f\x9d\x90"]
    )
    content = st.tuples(prefix, st.binary(max_size=200)).map(b"".join)
    read(reader, [Blob(name, data.draw(content)) for name, _ in VALID[reader]])


@pytest.mark.parametrize("reader", reader_names())
@given(data=st.data())
@SETTINGS
def test_mutated_files(reader: str, data: st.DataObject) -> None:
    files = [Blob(*file) for file in VALID[reader]]
    victim = data.draw(st.integers(0, len(files) - 1))
    content = bytearray(files[victim].data)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = start + data.draw(st.integers(0, 8))
        content[start:end] = data.draw(st.binary(max_size=8) | st.sampled_from(INSERTS))
    files[victim] = Blob(files[victim].name, bytes(content))
    read(reader, files)


@pytest.mark.parametrize("reader", reader_names())
def test_files_cut_short_anywhere(reader: str) -> None:
    for place, (name, content) in enumerate(VALID[reader]):
        for length in np.linspace(0, len(content) - 1, num=40, dtype=int):
            files = [Blob(*file) for file in VALID[reader]]
            files[place] = Blob(name, content[:length])
            read(reader, files)


@given(cut=st.integers(0, 60), byte=st.integers(0, 255))
@SETTINGS
def test_damaged_compression(cut: int, byte: int) -> None:
    whole = bytearray(bz2.compress(b"1 2 a\n3 4 b\n" * 5))
    whole[min(cut, len(whole) - 1)] = byte
    read("delimited", [Blob("a.bz2", bytes(whole))])
