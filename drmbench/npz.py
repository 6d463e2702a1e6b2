"""numpy's array files, whose headers are believed only as far as bytes follow them."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

_HEADERS = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


class ArrayHeader(NamedTuple):
    """What the header of an array says."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def elements(self) -> int:
        """How many elements the array has."""
        return math.prod(self.shape)


def read_header(stream: IO[bytes], length: int) -> ArrayHeader:
    """Read the header of an array of which there are `length` bytes, header included.

    `ValueError` is raised unless exactly its elements follow, and for objects, which
    would have to be unpickled. No memory is taken for elements.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3)))
    >>> file.seek(0)
    0
    >>> read_header(file, len(file.getvalue())).shape
    (2, 3)
    """
    version = npy.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"arrays of version {version} cannot be read")
    shape, _, dtype = _HEADERS[version](stream)
    header = ArrayHeader(shape, dtype)
    if dtype.hasobject:
        raise ValueError("objects cannot be loaded when allow_pickle=False")
    if min(shape, default=0) < 0:
        raise ValueError(f"impossible shape {shape}")
    expected, found = header.elements * dtype.itemsize, length - stream.tell()
    if expected != found or (header.elements and not dtype.itemsize):
        raise ValueError(
            f"its header says {shape} of type {dtype}, {expected:,} bytes, but"
            f" {found:,} follow"
        )
    return header


class NpzArchive(Mapping[str, NDArray[Any]]):
    """The arrays of an npz file by name, each read when it is asked for."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(stream)
        self._members = {
            member.filename.removesuffix(".npy"): member
            for member in self._archive.infolist()
        }
        #: Bytes of all arrays together; more is never unpacked
        self.size = sum(member.file_size for member in self._members.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._archive.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members  # nothing is read

    def __len__(self) -> int:
        return len(self._members)

    def header(self, name: str) -> ArrayHeader:
        """Return what an array will be; `ValueError` as :func:`read_header`."""
        member = self._members[name]
        with self._archive.open(member) as stream:
            return read_header(stream, member.file_size)

    def __getitem__(self, name: str) -> NDArray[Any]:
        self.header(name)
        with self._archive.open(self._members[name]) as stream:
            array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
        return array
