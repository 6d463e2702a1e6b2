"""``load``: the one way to a data set of the catalogue, whatever source it has."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drmbench.data.assemble import assemble, check_counts
from drmbench.data.checksums import bytes_checksum
from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.entries import DatasetEntry
from drmbench.data.fetch import Fetcher
from drmbench.data.parsed import copy_path, read_copy, write_copy
from drmbench.data.paths import find_places
from drmbench.data.readers import get_reader
from drmbench.data.registry import load_catalogue
from drmbench.data.sources import Found, resolve
from drmbench.errors import DataUnavailableError, InputError, did_you_mean

if TYPE_CHECKING:
    from drmbench.data.readers.table import Table

logger = logging.getLogger(__name__)


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
        Where the set cannot be had, return its real relative from the catalogue, if it
        has one. ``provenance.substitute_for`` and ``.note`` then say so.
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
        If it cannot be had here; the text lists every source and why it failed.
    CheckFailedError
        If what came is not what the catalogue says.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.X.shape, iris.class_counts
    ((150, 4), {'setosa': 50, 'versicolor': 50, 'virginica': 50})
    """
    entry = load_catalogue().entry(name)
    _check_parameters(entry, parameters)
    if entry.parameters:
        return _generate(entry, parameters)
    fetcher = Fetcher(find_places(data_dir))
    try:
        return load_exact(entry, fetcher)
    except DataUnavailableError as unavailable:
        if not substitutes or entry.substitute is None:
            raise
        return _load_substitute(entry, fetcher, unavailable)


def load_exact(entry: DatasetEntry, fetcher: Fetcher) -> Dataset:
    """Load one data set of the catalogue itself, never a relative of it."""
    found = resolve(entry, fetcher)
    if found.source.package:
        return _load_from_package(entry, found)
    checksums = found.checksums()
    note = " ".join(filter(None, (entry.difference, entry.note)))
    provenance = Provenance(found.origin, checksums, note=note)
    path = copy_path(fetcher.places.parsed, entry, found.source, checksums)
    dataset = read_copy(path, provenance)
    if dataset is None:
        table = get_reader(found.source.reader)(found.blobs(), **found.source.options)
        dataset = assemble(entry, found.source, table, provenance)
        write_copy(path, dataset)
    check_counts(entry, dataset)
    return dataset


def _load_substitute(
    entry: DatasetEntry, fetcher: Fetcher, unavailable: DataUnavailableError
) -> Dataset:
    assert entry.substitute is not None
    relative = load_catalogue().entry(entry.substitute.dataset)
    try:
        dataset = load_exact(relative, fetcher)
    except DataUnavailableError as error:
        raise DataUnavailableError(f"{unavailable}\n{error}") from error
    logger.warning(
        "%s stands in for %s, which cannot be had", relative.name, entry.name
    )
    provenance = dataclasses.replace(
        dataset.provenance, substitute_for=entry.name, note=entry.substitute.note
    )
    return dataclasses.replace(dataset, provenance=provenance)


def _load_from_package(entry: DatasetEntry, found: Found) -> Dataset:
    table = _package_table(found.source.loader)
    content = bytes_checksum(table.X.tobytes() + "\n".join(table.labels).encode())
    provenance = Provenance(
        found.origin, {found.source.loader: content}, note=entry.note
    )
    return assemble(entry, found.source, table, provenance)


def _package_table(loader: str) -> Table:
    """Return what one of scikit-learn's loading functions has."""
    import numpy as np
    from sklearn import datasets

    from drmbench.data.readers.table import Table

    bunch = getattr(datasets, loader)()
    return Table(
        X=np.ascontiguousarray(bunch.data, dtype=np.float64),
        labels=np.asarray(bunch.target_names)[bunch.target].astype(str),
        parts=np.zeros(len(bunch.target), dtype=np.int64),
        feature_names=tuple(bunch.feature_names),
    )


def _check_parameters(entry: DatasetEntry, parameters: dict[str, Any]) -> None:
    for name in parameters:
        if name not in entry.parameters:
            valid = ", ".join(entry.parameters) or "none"
            raise InputError(
                f"{entry.name} has no parameter {name!r}."
                f"{did_you_mean(name, entry.parameters)} It takes: {valid}."
            )


def _generate(entry: DatasetEntry, parameters: dict[str, Any]) -> Dataset:
    from drmbench.data.synthetic import make_synthetic

    return make_synthetic(**{**entry.parameters, **parameters})
