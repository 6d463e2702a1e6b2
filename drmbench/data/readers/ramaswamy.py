"""Read a training and a test part out of one R object, as in ``Ramaswamy2001.rds``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import rdata

from drmbench.data.readers.common import Blob, RawTable, array_table, decoding, stack
from drmbench.data.readers.compression import Meter, packed
from drmbench.data.readers.genes import pick
from drmbench.errors import InputError

_PARTS = (("X", "y"), ("X.test", "y.test"))


def read(blobs: list[Blob]) -> RawTable:
    """Read an ``.rds`` file with ``list(X, y, X.test, y.test)``, samples in rows.

    Part 0 is the training set, part 1 the test set; anything else in the list is
    left out.
    """
    (blob,) = pick(blobs, [".rds"])
    with decoding(blob.name, "R data file"), warnings.catch_warnings():
        # rdata only warns of damage; classes it has no constructor for are not needed.
        warnings.filterwarnings("error", "Exception while decoding", UserWarning)
        warnings.filterwarnings("ignore", "Missing constructor for R", UserWarning)
        unpacked = Meter(blob.name, blob.most).joined(packed(blob)[1])
        parsed = rdata.parser.parse_data(unpacked, extension=".rds")
        content = rdata.conversion.convert(parsed, default_encoding="utf-8")
        names = [name for part in _PARTS for name in part]
        if not isinstance(content, dict) or not set(names) <= set(content):
            found = content if isinstance(content, dict) else [type(content).__name__]
            raise InputError(
                f"{blob.name}: expected a list of {', '.join(names)}, found"
                f" {', '.join(map(str, found)) or 'an empty one'}"
            )
        tables = [_part(blob, content[x], content[y]) for x, y in _PARTS]
    return stack([f"{blob.name}, {x}" for x, _ in _PARTS], tables)


def _part(blob: Blob, x: Any, y: Any) -> RawTable:
    named = x.coords.get(x.dims[1]) if hasattr(x, "coords") and x.ndim == 2 else None
    genes = None if named is None else tuple(map(str, named.values))
    return array_table(blob.name, np.asarray(x), np.asarray(y), genes)
