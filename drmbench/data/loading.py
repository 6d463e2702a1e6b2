"""``load``: the one way to a data set of the catalogue, whatever source it has.

What was parsed once is kept as one uncompressed npz without pickles. Its key is a
digest of everything its content follows from, and a digest of its bytes lies beside it;
a copy that cannot be read or written, or was altered, is never an error.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from drmbench.data.assemble import assemble, check_counts, row_orders
from drmbench.data.catalogue import DatasetEntry, Source, load_catalogue
from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.fetch import Fetcher
from drmbench.data.paths import find_places
from drmbench.data.readers import get_reader, reader_version
from drmbench.data.readers.common import RawTable
from drmbench.data.sources import resolve
from drmbench.errors import DataUnavailableError, InputError, did_you_mean, quoted
from drmbench.files import replacing

logger = logging.getLogger(__name__)

_warn_once = lru_cache(maxsize=8)(logger.warning)

FORMAT = 1
"""Raise it when the layout of the copies, or the way data sets are built, changes."""


_CELL_BYTES, _FILE_BYTES = 64, 2**20
"""What a source may unpack to: bytes per number, the most is 15; and per file."""


def load(
    name: str,
    *,
    substitutes: bool = False,
    data_dir: str | Path | None = None,
    **parameters: Any,
) -> Dataset:
    """Load a data set of the catalogue, fetching and verifying it first if need be.

    Parameters
    ----------
    name : str
        Its name in the catalogue (``drmbench data list``).
    substitutes : bool, default=False
        Where the set cannot be obtained, return its real relative from the catalogue,
        if it has one. ``provenance.substitute_for`` and ``.note`` then say so.
    data_dir : path, optional
        Folder searched first, and written to, instead of ``$DRMBENCH_DATA``.
    **parameters
        For generated data only: ``load("synthetic", n=1000, p=20, seed=1)``.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If there is no such data set or parameter.
    DataUnavailableError
        If it cannot be obtained here; the text lists every source and why it failed.
    CheckFailedError
        If what came is not what the catalogue says.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.X.shape, iris.class_counts
    ((150, 4), {'setosa': 50, 'versicolor': 50, 'virginica': 50})
    """
    entry = load_catalogue().entry(name)
    for parameter in parameters:
        if parameter not in entry.parameters:
            valid = ", ".join(entry.parameters) or "none"
            raise InputError(
                f"{entry.name} has no parameter {quoted(parameter)}."
                f"{did_you_mean(parameter, entry.parameters)} It takes: {valid}."
            )
    if entry.parameters:
        from drmbench.data.synthetic import make_synthetic

        return make_synthetic(**{**entry.parameters, **parameters})
    fetcher = Fetcher(find_places(data_dir))
    try:
        return load_exact(entry, fetcher)
    except DataUnavailableError as unavailable:
        if not substitutes or entry.substitute is None:
            raise
        relative = load_catalogue().entry(entry.substitute.dataset)
        try:
            dataset = load_exact(relative, fetcher)
        except DataUnavailableError as error:
            raise DataUnavailableError(f"{unavailable}\n{error}") from error
    logger.warning(
        "%s stands in for %s, which cannot be obtained", relative.name, entry.name
    )
    provenance = dataclasses.replace(
        dataset.provenance, substitute_for=entry.name, note=entry.substitute.note
    )
    return dataclasses.replace(dataset, provenance=provenance)


def load_exact(entry: DatasetEntry, fetcher: Fetcher) -> Dataset:
    """Load one data set of the catalogue itself, never a relative of it."""
    found = resolve(entry, fetcher)
    if found.source.package:
        from sklearn import datasets

        bunch = getattr(datasets, found.source.loader)()
        table = RawTable(
            X=np.ascontiguousarray(bunch.data, dtype=np.float64),
            labels=np.asarray(bunch.target_names)[bunch.target].astype(str),
            parts=np.zeros(len(bunch.target), dtype=np.int64),
            feature_names=tuple(bunch.feature_names),
        )
        content = table.X.tobytes() + "\n".join(table.labels).encode()
        digest = hashlib.sha256(content).hexdigest()
        files = {found.source.loader: f"sha256:{digest}"}
        provenance = Provenance(found.origin, files, note=entry.note)
        return assemble(entry, found.source, table, provenance)
    checksums = found.checksums()
    note = " ".join(filter(None, (entry.difference, entry.note)))
    provenance = Provenance(found.origin, checksums, note=note)
    path = copy_path(fetcher.places.parsed, entry, found.source, checksums)
    dataset = read_copy(path, provenance)
    if dataset is None:
        blobs = found.blobs(_CELL_BYTES * entry.n * (entry.p + 1) + _FILE_BYTES)
        table = get_reader(found.source.reader)(blobs, **found.source.options)
        dataset = assemble(entry, found.source, table, provenance)
        write_copy(path, dataset)
    check_counts(entry, dataset)
    return dataset


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
    if not path.is_file() or not _digest_path(path).is_file():
        return None
    try:
        known = _digest_path(path).read_text(encoding="ascii").strip()
        # numpy leaves a damaged file open if it opened it itself
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != known:
                raise ValueError("it is not what was written")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files}
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
    except Exception as error:  # whatever damage makes zipfile, numpy or json raise
        logger.warning("the parsed copy %s is damaged (%s); made again", path, error)
        return None


def _digest_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def write_copy(path: Path, dataset: Dataset) -> None:
    """Keep a parsed copy; warn once per process if that is not possible."""
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
    arrays["facts"] = np.array(json.dumps(facts))
    try:
        with replacing(path) as temporary:
            with temporary.open("w+b") as stream:
                np.savez(stream, **arrays)
                stream.seek(0)
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            with replacing(_digest_path(path)) as beside:
                beside.write_text(f"{digest}\n", encoding="ascii")
    except OSError as error:
        reason = error.strerror or str(error)
        _warn_once("no parsed copies can be kept in %s: %s", path.parents[1], reason)
