"""Read folders of grey images in PGM format, one folder a class."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError

_GAP = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(
    rb"(P[25])" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})\s"
)


def read(blobs: list[Blob]) -> Table:
    r"""Read one image a blob; its class is the name of the folder it stands in.

    Binary (P5) and plain (P2) files are read; pixels are in the file's order, row
    after row. All images must have the same size.

    Examples
    --------
    >>> bright, dark = b"P2 2 1 255\n200 255", b"P2 2 1 255\n3 4"
    >>> table = read([Blob("s1/1.pgm", bright), Blob("s2/1.pgm", dark)])
    >>> table.X.tolist(), table.labels.tolist()
    ([[200.0, 255.0], [3.0, 4.0]], ['s1', 's2'])
    """
    if not blobs:
        raise InputError("no file to read")
    images = [parse_image(blob) for blob in blobs]
    for blob, image in zip(blobs, images, strict=True):
        if image.shape != images[0].shape:
            raise InputError(
                f"{blob.name}: {_size(image)} pixels, but {blobs[0].name} has"
                f" {_size(images[0])}"
            )
    return Table(
        X=np.array([image.ravel() for image in images]),
        labels=np.array([_folder(blob) for blob in blobs], dtype=np.str_),
        parts=np.arange(len(blobs), dtype=np.int64),
    )


def parse_image(blob: Blob) -> NDArray[np.float64]:
    """Return the grey levels of a PGM file as a (height, width) array.

    Raises
    ------
    InputError
        The header is damaged, pixels are missing, or a level exceeds the maximum.
    """
    header = _HEADER.match(blob.data)
    if header is None:
        raise InputError(
            f"{blob.name}: no PGM header (P2 or P5, width, height, maximum)"
        )
    width, height, maximum = (int(header[group]) for group in (2, 3, 4))
    if not (width and height and 0 < maximum < 65536):
        raise InputError(
            f"{blob.name}: impossible PGM header: {width} × {height} pixels up to"
            f" {maximum}"
        )
    body, count = blob.data[header.end() :], width * height
    levels = _plain(blob, body) if header[1] == b"P2" else _binary(body, count, maximum)
    if levels.size != count:
        raise InputError(
            f"{blob.name}: expected {count} pixels ({width} × {height}), found"
            f" {levels.size}"
        )
    if levels.max() > maximum:
        raise InputError(f"{blob.name}: a pixel is brighter than the maximum {maximum}")
    return levels.astype(np.float64).reshape(height, width)


def _binary(body: bytes, count: int, maximum: int) -> NDArray[np.uint16]:
    """Return the pixels that are there; an incomplete last one is left out."""
    dtype = np.dtype(">u2" if maximum > 255 else "u1")
    whole = min(len(body) // dtype.itemsize, count)
    return np.frombuffer(body, dtype=dtype, count=whole).astype(np.uint16)


def _plain(blob: Blob, body: bytes) -> NDArray[np.uint16]:
    tokens = re.sub(rb"#[^\n]*", b"", body).split()
    if not all(token.isdigit() and len(token) <= 5 for token in tokens):
        raise InputError(f"{blob.name}: a pixel is not a number")
    return np.array([int(token) for token in tokens], dtype=np.uint32)


def _folder(blob: Blob) -> str:
    folder = PurePosixPath(blob.name).parent.name
    if not folder:
        raise InputError(f"{blob.name}: no folder in the name to take the class from")
    return folder


def _size(image: NDArray[np.float64]) -> str:
    return f"{image.shape[1]} × {image.shape[0]}"
