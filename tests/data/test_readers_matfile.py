"""The decoder of MATLAB files against scipy's, and on damaged bytes."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat, savemat
from scipy.sparse import csc_array

from drmbench.data.readers.matfile import Unsupported, decode

TYPES = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def save(compress: bool = False, **variables: Any) -> bytes:
    file = io.BytesIO()
    savemat(file, variables, do_compression=compress)
    return file.getvalue()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (3, 4), (2, 3, 2), (0, 3)])
def test_numbers_as_scipy_reads_them(
    compress: bool, dtype: str, shape: tuple[int, ...]
) -> None:
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    content = save(compress, a=values, other_name=values + 1)
    decoded, expected = decode(content), loadmat(io.BytesIO(content))
    assert list(decoded) == ["a", "other_name"]
    for name, value in decoded.items():
        assert isinstance(value, np.ndarray)
        assert value.dtype == expected[name].dtype
        np.testing.assert_array_equal(value, expected[name])


def test_text_logical_cells_and_sparse() -> None:
    sparse = csc_array([[0, 1.5, 0], [2, 0, 0]])
    names = np.array(["one", "two words", "größer"])
    cells = np.array([["a", "bc"], [np.array([[1, 2]]), True]], dtype=object)
    decoded = decode(save(t=names, b=np.array([[True, False]]), s=sparse, c=cells))
    text, flags, dense, boxes = (decoded[name] for name in "tbsc")
    assert isinstance(text, np.ndarray)
    assert text.tolist() == names.tolist()
    assert isinstance(flags, np.ndarray)
    assert flags.dtype == bool
    assert isinstance(dense, np.ndarray)
    np.testing.assert_array_equal(dense, sparse.toarray())
    assert isinstance(boxes, np.ndarray)
    assert boxes[0, 1].tolist() == ["bc"]
    assert boxes[1, 0].tolist() == [[1, 2]]


def test_what_is_no_matrix_is_named() -> None:
    decoded = decode(
        save(z=np.array([1j]), c=csc_array([[1j, 0], [0, 1]]), s={"field": 1})
    )
    assert decoded == {
        "z": Unsupported("complex"),
        "c": Unsupported("complex"),
        "s": Unsupported("struct"),
    }


def test_empty_text_and_cells_of_equal_shapes() -> None:
    pairs = np.empty(2, dtype=object)
    pairs[0], pairs[1] = np.array([[1, 2]]), np.array([[3, 4]])
    decoded = decode(save(nothing="", pairs=pairs))
    assert np.size(decoded["nothing"]) == 0
    boxes = decoded["pairs"]
    assert isinstance(boxes, np.ndarray)
    assert [box.tolist() for box in boxes.ravel()] == [[[1, 2]], [[3, 4]]]


def element(order: str, kind: int, content: bytes) -> bytes:
    padding = bytes(-len(content) % 8)
    return struct.pack(f"{order}II", kind, len(content)) + content + padding


def by_hand(
    order: str, class_number: int, rows: int, columns: int, rest: bytes
) -> bytes:
    """Return a file with one variable x, written without any library."""
    body = element(order, 6, struct.pack(f"{order}II", class_number, 0))
    body += element(order, 5, struct.pack(f"{order}ii", rows, columns))
    body += element(order, 1, b"x") + rest
    mark = b"\x00\x01IM" if order == "<" else b"\x01\x00MI"
    header = b"MATLAB 5.0 MAT-file".ljust(124) + mark
    return header + element(order, 14, body)


@pytest.mark.parametrize("order", "<>")
def test_files_of_either_byte_order(order: str) -> None:
    numbers = element(order, 9, struct.pack(f"{order}dd", 1.5, -2.0))
    content = by_hand(order, 6, 1, 2, numbers)
    np.testing.assert_array_equal(decode(content)["x"], [[1.5, -2.0]])
    np.testing.assert_array_equal(loadmat(io.BytesIO(content))["x"], [[1.5, -2.0]])


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", [4, 17])
def test_text_as_matlab_itself_writes_it(order: str, kind: int) -> None:
    encoding = "utf-16-le" if order == "<" else "utf-16-be"
    columns_first = "cdaotg".encode(encoding)
    content = by_hand(order, 4, 2, 3, element(order, kind, columns_first))
    assert np.asarray(decode(content)["x"]).tolist() == ["cat", "dog"]


def sparse_parts(rows: list[int], ends: list[int], values: list[float]) -> bytes:
    return (
        element("<", 5, struct.pack(f"<{len(rows)}i", *rows))
        + element("<", 5, struct.pack(f"<{len(ends)}i", *ends))
        + element("<", 9, struct.pack(f"<{len(values)}d", *values))
    )


@given(st.data())
@settings(deadline=None, derandomize=True, max_examples=150)
def test_damaged_bytes_raise_and_never_crash(data: st.DataObject) -> None:
    cells = np.array(["a", "b"], dtype=object)
    content = bytearray(save(x=np.eye(3), s=csc_array(np.eye(2)), t="text", c=cells))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(128, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    try:
        decoded = decode(bytes(content))
    except (ValueError, IndexError, struct.error):
        return
    assert all(
        isinstance(value, np.ndarray | Unsupported) for value in decoded.values()
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "no header"),
        (bytes(200), "no header"),
        (save(x=1.0)[:-4], "bytes expected"),
        (save(x=1.0)[:128] + struct.pack("<II", 9, 0), "expected a variable"),
        (save(x=1.0)[:128] + struct.pack("<II", 14, 0), "cut short"),
        (by_hand("<", 6, -1, 2, b""), "impossible dimensions"),
        (by_hand("<", 6, 3, 2, element("<", 9, bytes(16))), "cannot reshape"),
        (by_hand("<", 4, 2, 2, element("<", 4, bytes(6))), "cannot reshape"),
        (by_hand("<", 1, 1, 1, element("<", 9, bytes(8))), "expected a cell"),
        (by_hand("<", 5, 2, 1, sparse_parts([0], [0, 9], [1])), "missing or negative"),
        (by_hand("<", 5, 2, 1, sparse_parts([-1], [0, 1], [1])), "missing or negative"),
        (by_hand("<", 5, 2, 1, sparse_parts([0], [1, 0], [1])), "do not grow"),
        (by_hand("<", 5, 2**30, 9, sparse_parts([0], [0], [1])), "does not fit memory"),
    ],
)
def test_malformed_files_are_refused(content: bytes, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        decode(content)
