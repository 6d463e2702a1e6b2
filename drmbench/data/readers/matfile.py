"""Decode MATLAB version 5 to 7 files: numbers, characters, cells, sparse matrices.

The common decoders of this format trust the sizes in a file, and a damaged one can
crash the whole process; this one checks every length against the bytes that are there.
Format: "MAT-File Format", The MathWorks, Level 5.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.compression import Meter

_HEADER_BYTES = 128
_MATRIX, _COMPRESSED = 14, 15
_NUMBER_TYPES = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8",
    12: "i8", 13: "u8",
}  # fmt: skip
_TEXT_TYPES = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHAR, _SPARSE = 1, 4, 5
_NUMBER_CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4",
    14: "i8", 15: "u8",
}  # fmt: skip
_OTHER_CLASSES = {2: "struct", 3: "object", 16: "function handle", 17: "object"}
_LOGICAL, _COMPLEX = 0x02, 0x08
_MAX_CELLS = 2**28


class Unsupported(NamedTuple):
    """Stands for a variable of a kind that holds no matrix, such as a struct."""

    kind: str


Variable = NDArray[Any] | Unsupported
"""What a variable can be."""


def decode(data: bytes, meter: Meter | None = None) -> dict[str, Variable]:
    """Return the variables of a MATLAB file by name.

    Numbers keep MATLAB's type, logical ones become bool; a character matrix becomes
    one string per row; a cell array becomes an object array; sparse becomes dense. The
    meter counts what is unpacked, and 8 bytes for each number and character. A
    damaged or other file raises ValueError, IndexError, struct.error or zlib.error.
    """
    mark = data[126:_HEADER_BYTES]
    if mark not in (b"IM", b"MI"):
        raise ValueError("no header of MATLAB version 5 to 7")
    order = "<" if mark == b"IM" else ">"
    variables: dict[str, Variable] = {}
    meter = meter or Meter("the MATLAB file")
    for kind, content in _elements(data[_HEADER_BYTES:], order):
        if kind == _COMPRESSED:
            kind, content = _next(_elements(meter.inflated(content), order))
        if kind != _MATRIX:
            raise ValueError(f"expected a variable, found data of type {kind}")
        name, value = _matrix(content, order, meter)
        if name:  # MATLAB's own workspace data has none
            variables[name] = value
    return variables


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of the data elements in a stretch of bytes."""
    position = 0
    while position < len(data):
        kind, size = struct.unpack_from(f"{order}II", data, position)
        start = position + 8
        if kind >> 16:  # small elements have their size beside the type
            kind, size, start = kind & 0xFFFF, kind >> 16, position + 4
        if start + size > len(data):
            raise ValueError(f"{size} bytes expected, {len(data) - start} found")
        yield kind, data[start : start + size]
        position = start + size
        if kind != _COMPRESSED:
            position += -position % 8


def _next(elements: Iterator[tuple[int, bytes]]) -> tuple[int, bytes]:
    for element in elements:
        return element
    raise ValueError("a variable is cut short")


def _matrix(content: bytes, order: str, meter: Meter) -> tuple[str, Variable]:
    """Return the name and the value of a variable or a cell."""
    elements = _elements(content, order)
    flags = _numbers(*_next(elements), order)
    class_number, bits = int(flags[0]) & 0xFF, int(flags[0]) >> 8
    shape = tuple(int(size) for size in _numbers(*_next(elements), order))
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"impossible dimensions {shape}")
    name = _next(elements)[1].decode("latin-1")
    if bits & _COMPLEX:
        return name, Unsupported("complex")
    if class_number == _CELL:
        return name, _cells(shape, elements, order, meter)
    meter.add(8 * min(math.prod(shape), len(content)))
    if class_number == _CHAR:
        return name, _characters(shape, *_next(elements), order)
    if class_number == _SPARSE:
        return name, _sparse(shape, elements, order)
    if class_number not in _NUMBER_CLASSES:
        kind = _OTHER_CLASSES.get(class_number, f"class {class_number}")
        return name, Unsupported(kind)
    dtype = "?" if bits & _LOGICAL else _NUMBER_CLASSES[class_number]
    values = _numbers(*_next(elements), order)
    return name, values.astype(dtype).reshape(shape, order="F")


def _numbers(kind: int, content: bytes, order: str) -> NDArray[Any]:
    if kind not in _NUMBER_TYPES:
        raise ValueError(f"expected numbers, found data of type {kind}")
    return np.frombuffer(content, dtype=order + _NUMBER_TYPES[kind])


def _characters(
    shape: tuple[int, ...], kind: int, content: bytes, order: str
) -> NDArray[Any]:
    """Return the rows of a character matrix as strings."""
    if kind in _TEXT_TYPES:
        endian = "" if kind == 16 else ("-le" if order == "<" else "-be")
        characters = list(content.decode(_TEXT_TYPES[kind] + endian))
    else:
        characters = [chr(code) for code in _numbers(kind, content, order)]
    table = (shape[0], math.prod(shape[1:]))
    rows = np.array(characters, dtype=np.str_).reshape(table, order="F")
    return np.array(["".join(row).rstrip() for row in rows], dtype=np.str_)


def _cells(
    shape: tuple[int, ...],
    elements: Iterator[tuple[int, bytes]],
    order: str,
    meter: Meter,
) -> NDArray[Any]:
    values = []
    for _ in range(math.prod(shape)):
        kind, content = _next(elements)
        if kind != _MATRIX:
            raise ValueError(f"expected a cell, found data of type {kind}")
        values.append(_matrix(content, order, meter)[1])
    cells = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        cells[place] = value
    return cells.reshape(shape, order="F")


def _sparse(
    shape: tuple[int, ...], elements: Iterator[tuple[int, bytes]], order: str
) -> NDArray[Any]:
    rows, ends, values = (_numbers(*_next(elements), order) for _ in range(3))
    if math.prod(shape) > _MAX_CELLS:
        raise ValueError(
            f"a sparse matrix of {shape} does not fit memory as a dense one"
        )
    counts = np.diff(ends)
    if ends.size != shape[1] + 1 or ends[0] != 0 or (counts < 0).any():
        raise ValueError("column ends of a sparse matrix do not grow")
    if rows.size < ends[-1] or (rows < 0).any():
        raise ValueError("row numbers of a sparse matrix are missing or negative")
    columns = np.repeat(np.arange(shape[1]), counts)
    dense = np.zeros(shape)
    dense[rows[: columns.size], columns] = values[: columns.size]
    return dense
