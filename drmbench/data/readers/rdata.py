"""Read R's ``.RData``/``.rda`` files: a list of x and y, or a data frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import rdata
from numpy.typing import NDArray

from drmbench.data.readers.common import (
    Blob,
    RawTable,
    array_table,
    decoding,
    read_each,
)
from drmbench.data.readers.compression import Meter, packed
from drmbench.errors import InputError, quoted


class _Frame(dict[str, Any]):
    """Columns of an R data frame, by name."""


def read(
    blobs: list[Blob],
    *,
    object_name: str | None = None,
    classes: Mapping[str, str] | None = None,
) -> RawTable:
    """Read one or several R files, one object of each.

    The object is ``list(x = matrix, y = factor)``, one sample per row of x, or a data
    frame whose last column is the label; by default it is the one named like the file,
    or the only one. `classes` are names to give to the labels found, such as
    ``{"0": "tumour", "1": "normal"}``.
    """

    def read_one(blob: Blob) -> RawTable:
        with decoding(blob.name, "R data file"), warnings.catch_warnings():
            # rdata only warns of damage. But a tibble, say, for which it has no
            # constructor, is also a data frame and is read as such.
            for damage in ("Unknown file type", "Exception while decoding"):
                warnings.filterwarnings("error", damage, UserWarning)
            unknown_class = "Missing constructor for R class"
            warnings.filterwarnings("ignore", unknown_class, UserWarning)
            content = Meter(blob.name, blob.most).joined(packed(blob)[1])
            parsed = rdata.parser.parse_data(content)
            objects = rdata.conversion.convert(
                parsed, _CONSTRUCTORS, default_encoding="utf-8"
            )
            table = _from_object(blob, _choose(blob, objects, object_name))
        if classes is None:
            return table
        unknown = sorted(set(table.labels.tolist()) - set(classes))
        if unknown:
            listed = ", ".join(classes)
            raise InputError(
                f"{blob.name}: expected labels {listed}, found {quoted(unknown[0])}"
            )
        names = np.array([classes[label] for label in table.labels], dtype=np.str_)
        return replace(table, labels=names)

    return read_each(blobs, read_one)


def _choose(blob: Blob, objects: Any, name: str | None) -> Any:
    if not isinstance(objects, dict) or not objects:
        raise InputError(f"{blob.name}: no named objects in the file")
    stem = PurePosixPath(blob.name).name.rpartition(".")[0]
    if name is None:
        name = stem if stem in objects or len(objects) > 1 else next(iter(objects))
    if name not in objects:
        raise InputError(
            f"{blob.name}: no object is named {quoted(name)}. Objects:"
            f" {', '.join(objects)}"
        )
    return objects[name]


def _from_object(blob: Blob, content: Any) -> RawTable:
    if isinstance(content, _Frame):
        if len(content) < 2:
            raise InputError(
                f"{blob.name}: expected feature columns and a label column"
            )
        *names, label = content
        features = _Frame({name: content[name] for name in names})
        labels = _plain(content[label])
        return array_table(
            blob.name, _columns(features), labels, tuple(map(str, names))
        )
    if not isinstance(content, dict) or not {"x", "y"} <= set(content):
        raise InputError(
            f"{blob.name}: expected a list of x and y or a data frame, found"
            f" {type(content).__name__}"
        )
    x = content["x"]
    if isinstance(x, _Frame):
        return array_table(blob.name, _columns(x), content["y"], tuple(map(str, x)))
    named = x.coords.get(x.dims[1]) if hasattr(x, "coords") and x.ndim == 2 else None
    genes = None if named is None else tuple(map(str, named.values))
    return array_table(blob.name, _plain(x), content["y"], genes)


def _columns(frame: _Frame) -> NDArray[Any]:
    return np.column_stack([_plain(column) for column in frame.values()])


def _plain(values: Any) -> NDArray[Any]:
    """Return an R vector or matrix as a numpy array, R's NA as NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    return np.asarray(values)


def _factor(codes: Any, attributes: Mapping[str, Any]) -> NDArray[np.str_]:
    """Return the levels of an R factor; a missing one is empty."""
    levels = ["", *map(str, attributes["levels"])]
    places = np.ma.filled(np.ma.masked_array(codes), 0)
    return np.array([levels[place] if place > 0 else "" for place in places])


_CONSTRUCTORS: dict[str | bytes, Any] = {
    "factor": _factor,
    "ordered": _factor,
    "data.frame": lambda columns, attributes: _Frame(columns),
}
