"""Parsed copies of data sets, so that a source file is parsed once and not each time.

A copy is one uncompressed npz without pickles. Its key is a digest of everything its
content follows from; a copy that cannot be read or written is never an error.
"""

from __future__ import annotations

import hashlib
import json
import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.data.assemble import row_orders
from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.entries import DatasetEntry, Source
from drmbench.data.readers import reader_version
from drmbench.files import replacing

logger = logging.getLogger(__name__)

FORMAT = 1
"""Raise it when the layout of the copies, or the way data sets are built, changes."""


def copy_path(
    folder: Path, entry: DatasetEntry, source: Source, checksums: dict[str, str]
) -> Path:
    """Return where the parsed copy of a data set from given files is kept."""
    facts = [
        FORMAT,
        sorted(checksums.items()),
        [source.reader, reader_version(source.reader), dict(source.options)],
        [source.members, source.rows, dict(source.labels)],
        [source.drop_labels, source.drop_missing],
        [list((entry.class_counts or {}).items()), entry.given_split, entry.folds],
        row_orders().get(entry.name),
    ]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return folder / entry.name / f"{digest[:32]}.npz"


def read_copy(path: Path, provenance: Provenance) -> Dataset | None:
    """Return the data set of a parsed copy, or None if there is no usable one."""
    if not path.is_file():
        return None
    try:
        # numpy leaves a damaged file open if it opened it itself
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        return _from_arrays(arrays, provenance)
    except Exception as error:  # whatever damage makes zipfile, numpy or json raise
        logger.warning("the parsed copy %s is damaged (%s); made again", path, error)
        return None


def write_copy(path: Path, dataset: Dataset) -> None:
    """Keep a parsed copy; warn once a process if that is not possible."""
    try:
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, **_to_arrays(dataset))
    except OSError as error:
        _warn_once(path.parents[1], error.strerror or str(error))


@lru_cache(maxsize=8)
def _warn_once(folder: Path, reason: str) -> None:
    logger.warning("no parsed copies can be kept in %s: %s", folder, reason)


def _to_arrays(dataset: Dataset) -> dict[str, Any]:
    facts = {
        "name": dataset.name,
        "class_names": dataset.class_names,
        "feature_names": dataset.feature_names,
        "nominal": dataset.nominal,
    }
    arrays: dict[str, Any] = {"X": dataset.X, "y": dataset.y}
    if dataset.split is not None:
        arrays["train"], arrays["test"] = dataset.split
    if dataset.folds is not None:
        arrays["folds"] = dataset.folds
    return {**arrays, "facts": np.array(json.dumps(facts))}


def _from_arrays(arrays: dict[str, NDArray[Any]], provenance: Provenance) -> Dataset:
    facts = json.loads(str(arrays["facts"]))
    names = facts["feature_names"]
    return Dataset(
        name=facts["name"],
        X=arrays["X"],
        y=arrays["y"],
        class_names=tuple(facts["class_names"]),
        provenance=provenance,
        feature_names=None if names is None else tuple(names),
        nominal=tuple(facts["nominal"]),
        split=(arrays["train"], arrays["test"]) if "train" in arrays else None,
        folds=arrays.get("folds"),
    )
