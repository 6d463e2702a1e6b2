"""Read grey images: folders of PGM files, and the AR faces of a MATLAB file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.arrays import load_variables, variable
from drmbench.data.readers.common import Blob, RawTable, array_table, read_each
from drmbench.errors import InputError

_GAP = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(
    rb"(P[25])" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})\s"
)

AR_HEIGHT, AR_WIDTH = 42, 30
AR_SIDE = 32
AR_PEOPLE = (*range(1, 26), *range(51, 76))
"""Labels of the AR faces that are kept: 25 men and 25 women."""


def read_pgm(blobs: list[Blob]) -> RawTable:
    r"""Read one image per blob; its class is the name of the folder it stands in.

    Binary (P5) and plain (P2) files are read; pixels are in the file's order, row
    after row. All images must have the same size.

    Examples
    --------
    >>> bright, dark = b"P2 2 1 255\n200 255", b"P2 2 1 255\n3 4"
    >>> table = read_pgm([Blob("s1/1.pgm", bright), Blob("s2/1.pgm", dark)])
    >>> table.X.tolist(), table.labels.tolist()
    ([[200.0, 255.0], [3.0, 4.0]], ['s1', 's2'])
    """
    if not blobs:
        raise InputError("no file to read")
    images = [parse_image(blob) for blob in blobs]
    folders = [PurePosixPath(blob.name).parent.name for blob in blobs]
    for blob, image, folder in zip(blobs, images, folders, strict=True):
        if image.shape != images[0].shape:
            raise InputError(
                f"{blob.name}: {_size(image)} pixels, but {blobs[0].name} has"
                f" {_size(images[0])}"
            )
        if not folder:
            raise InputError(
                f"{blob.name}: no folder in the name to take the class from"
            )
    return RawTable(
        X=np.array([image.ravel() for image in images]),
        labels=np.array(folders, dtype=np.str_),
        parts=np.arange(len(blobs), dtype=np.int64),
    )


def _size(image: NDArray[np.float64]) -> str:
    return f"{image.shape[1]} × {image.shape[0]}"


def parse_image(blob: Blob) -> NDArray[np.float64]:
    """Return the grey levels of a PGM file as a (height, width) array."""
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
    if header[1] == b"P2":
        tokens = re.sub(rb"#[^\n]*", b"", body).split()
        if not all(token.isdigit() and len(token) <= 5 for token in tokens):
            raise InputError(f"{blob.name}: a pixel is not a number")
        levels = np.array([int(token) for token in tokens], dtype=np.uint32)
    else:
        dtype = np.dtype(">u2" if maximum > 255 else "u1")
        whole = min(len(body) // dtype.itemsize, count)
        levels = np.frombuffer(body, dtype=dtype, count=whole).astype(np.uint32)
    if levels.size != count:
        raise InputError(
            f"{blob.name}: expected {count} pixels ({width} × {height}), found"
            f" {levels.size}"
        )
    if levels.max() > maximum:
        raise InputError(f"{blob.name}: a pixel is brighter than the maximum {maximum}")
    return levels.astype(np.float64).reshape(height, width)


def read_ar(blobs: list[Blob]) -> RawTable:
    """Read the AR faces as rows of 1,024 grey levels, column after column.

    Notes
    -----
    The paper used 50 people × 26 images of 32 × 32 pixels and names neither the people
    nor the way images were reduced. The public file ``AR_42_30.mat`` has 100 people
    (1-50 men, 51-100 women) × 26 images of 42 × 30. This reader takes the first 25 men
    and the first 25 women and resizes bicubically: the same kind of data as the
    paper's, not the same numbers. Grey levels are rounded to whole numbers in 0 … 255,
    as in an image of 8 bits; the numbers are then the same on every machine.
    """

    def read_one(blob: Blob) -> RawTable:
        variables = load_variables(blob)
        pixels = variable(blob, variables, "DATA")
        labels = variable(blob, variables, "Label").ravel()
        if pixels.ndim != 2 or pixels.shape != (AR_HEIGHT * AR_WIDTH, labels.size):
            raise InputError(
                f"{blob.name}: expected DATA with {AR_HEIGHT * AR_WIDTH} rows and a"
                f" column for each of the {labels.size} labels, found shape"
                f" {pixels.shape}"
            )
        table = array_table(blob.name, pixels.T, labels)
        kept = np.isin(table.labels, [str(person) for person in AR_PEOPLE])
        # MATLAB stores an image column by column, so a row of X is its transpose.
        images = table.X[kept].reshape(-1, AR_WIDTH, AR_HEIGHT).transpose(0, 2, 1)
        resized = np.clip(np.rint(resize(images, AR_SIDE, AR_SIDE)), 0, 255)
        flat = resized.transpose(0, 2, 1).reshape(-1, AR_SIDE * AR_SIDE)
        return array_table(blob.name, flat, table.labels[kept])

    return read_each(blobs, read_one)


def resize(images: NDArray[np.float64], height: int, width: int) -> NDArray[np.float64]:
    """Resize images (n, rows, columns) bicubically.

    Examples
    --------
    >>> resize(np.full((1, 4, 4), 7.0), 2, 3).round(9).tolist()
    [[[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]]
    """
    down = resize_weights(images.shape[1], height)
    across = resize_weights(images.shape[2], width)
    return np.asarray(down @ images @ across.T)


def resize_weights(source: int, target: int) -> NDArray[np.float64]:
    """Return the (target, source) weights that resize one axis bicubically.

    Keys' cubic kernel (a = -1/2) between pixel centres, widened when the axis shrinks
    so that it averages; weights beyond the border are dropped and the rest scaled to
    sum to one.
    """
    scale = source / target
    support = max(scale, 1.0)
    centres = (np.arange(target) + 0.5) * scale - 0.5
    distance = np.abs(np.arange(source) - centres[:, None]) / support
    near = (1.5 * distance - 2.5) * distance**2 + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    weights = np.where(distance < 1, near, np.where(distance < 2, far, 0.0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
