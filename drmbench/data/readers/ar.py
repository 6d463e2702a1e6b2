"""Reconstruct the paper's AR face set from the public file ``AR_42_30.mat``.

The paper used 50 people × 26 images of 32 × 32 pixels and names neither the people nor
the way images were reduced. The public file has 100 people (1-50 men, 51-100 women)
× 26 images of 42 × 30. This reader takes the first 25 men and the first 25 women and
resizes bicubically: the same kind of data as the paper's, not the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.arrays import array_table, stack
from drmbench.data.readers.mat import load_variables, variable
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError

HEIGHT, WIDTH = 42, 30
SIDE = 32
PEOPLE = (*range(1, 26), *range(51, 76))
"""Labels that are kept: 25 men and 25 women."""


def read(blobs: list[Blob]) -> Table:
    """Read the AR faces as rows of 1,024 grey levels, column after column.

    Grey levels are rounded to whole numbers in 0 … 255, as in an image of 8 bits; the
    numbers are then the same on every machine.
    """
    return stack([blob.name for blob in blobs], [_read_one(blob) for blob in blobs])


def _read_one(blob: Blob) -> Table:
    variables = load_variables(blob)
    pixels = variable(blob, variables, "DATA")
    labels = variable(blob, variables, "Label").ravel()
    if pixels.ndim != 2 or pixels.shape != (HEIGHT * WIDTH, labels.size):
        raise InputError(
            f"{blob.name}: expected DATA with {HEIGHT * WIDTH} rows and a column for"
            f" each of the {labels.size} labels, found shape {pixels.shape}"
        )
    table = array_table(blob.name, pixels.T, labels)
    kept = np.isin(table.labels, [str(person) for person in PEOPLE])
    # MATLAB stores an image column by column, so a row of X is its transpose.
    images = table.X[kept].reshape(-1, WIDTH, HEIGHT).transpose(0, 2, 1)
    resized = np.clip(np.rint(resize(images, SIDE, SIDE)), 0, 255)
    flat = resized.transpose(0, 2, 1).reshape(-1, SIDE * SIDE)
    return array_table(blob.name, flat, table.labels[kept])


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
    distances = np.abs(np.arange(source) - centres[:, None]) / support
    weights = _keys_kernel(distances)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _keys_kernel(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    near = (1.5 * distance - 2.5) * distance**2 + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return np.where(distance < 1, near, np.where(distance < 2, far, 0.0))
