"""Models of tables in files: JSON text and arrays, nothing that is executed."""

from __future__ import annotations

import dataclasses
import io
import json
import platform
import zipfile
from collections.abc import Collection, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from drmbench import __version__
from drmbench.data.new_rows import Feature
from drmbench.errors import InputError, quoted, reason_of, refused
from drmbench.files import read_regular, replacing
from drmbench.protocol.safe_objects import (
    MOST_BYTES,
    check_archive,
    dump_object,
    foreign_types,
    load_object,
)
from drmbench.protocol.table_model import TableModel

#: What the file says it is.
FORMAT = "drmbench table model"
#: Layout of the file; raise it when an older reader could not use a new file.
VERSION = 1

_ABOUT, _OBJECTS = "about.json", "objects.skops"
#: The fields of a model that are objects or arrays.
_OBJECT_FIELDS = (
    *("estimator", "preparation", "divisors"),
    *("calibrated", "probes", "answers"),
)
#: Packages whose fitted estimators another version may not understand.
_LIBRARIES = (
    "scikit-learn",
    "imbalanced-learn",
    "numpy",
    "scipy",
    "liblinear-official",
)


@dataclasses.dataclass(frozen=True)
class LoadedTableModel:
    """A model out of a file."""

    model: TableModel  #: The model
    #: What a user should know: other versions of libraries than at the fit
    remarks: tuple[str, ...] = ()


def is_table_model(path: Path) -> bool:
    """Whether a file has the members of a model of a table."""
    if not path.is_file():  # a pipe would be waited for
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return {_ABOUT, _OBJECTS} <= set(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def versions_here(method: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the versions that a fitted model depends on; `method` adds its own."""
    found = {"drmbench": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        found[name] = metadata.version(name)
    return {**found, **(method or {})}


def save_table_model(path: Path, model: TableModel) -> tuple[str, ...]:
    """Write a model; a reader finds all of it or none.

    Returned are types in it that :func:`load_table_model` must be told to trust: of
    estimators that are neither drmbench's nor scikit-learn's.

    Raises
    ------
    InputError
        The file cannot be written, or the estimator cannot be: what is read back must
        predict the same.
    """
    objects = dump_object({name: getattr(model, name) for name in _OBJECT_FIELDS})
    foreign = foreign_types(objects)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "features": [[f.name, f.levels] for f in model.features],
        "class_names": model.class_names,
        "target": model.target,
        "dropped": model.dropped,
        "no_probabilities": model.no_probabilities,
        "provenance": model.provenance,
    }
    text = json.dumps(about, indent=1, default=_plain)
    try:
        restored = _assembled(json.loads(text), load_object(objects, trust=foreign))
        same = restored.answers_as_before()
    except Exception as error:  # of estimators that people bring
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise InputError(f"the model cannot be read back ({reason})") from error
    if not same:
        raise InputError("the model cannot be saved: read back it predicts otherwise")
    try:
        with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
            archive.writestr(_ABOUT, text)
            archive.writestr(_OBJECTS, objects)
    except OSError as error:
        why = f"{path}: cannot be written ({reason_of(error)})"
        raise refused(error, why) from error
    return foreign


def _plain(value: Any) -> Any:
    """Return a numpy number, a path or the like as JSON can hold it."""
    return value.item() if isinstance(value, np.generic) else str(value)


def load_table_model(path: Path, *, trust: Collection[str] = ()) -> LoadedTableModel:
    """Read a model that :func:`save_table_model` wrote.

    `trust` are types, as ``module.Class``, that may be built beside drmbench's and
    scikit-learn's own; their modules are imported.

    Raises
    ------
    InputError
        There is no such file, it is damaged, is not a model, was written by a newer
        version, holds types that are not trusted, or predicts otherwise than it did
        with the libraries it was fitted with. Nothing in a file is ever executed.
    """
    damaged = f"{path}: a damaged model file; `drmbench fit … --save` writes models"
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"larger than {MOST_BYTES:,} bytes")
        data = read_regular(path)
        check_archive(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = json.loads(archive.read(_ABOUT))
            objects = archive.read(_OBJECTS)
        known = about["format"] == FORMAT
        version = about["version"]
        others = _other_versions(dict(about["provenance"]["versions"]))
    # Damaged content makes zipfile and json raise almost anything.
    except Exception as error:
        raise InputError(damaged) from error
    if not known:
        raise InputError(f"{path}: not a model file of drmbench")
    if version != VERSION:
        raise InputError(
            f"{path}: a model file of version {quoted(version)}; this drmbench"
            f" ({__version__}) reads version {VERSION}: update it, or fit again"
        )
    try:
        foreign = [name for name in foreign_types(objects) if name not in trust]
    except Exception as error:
        raise InputError(damaged) from error
    if foreign:
        raise InputError(_distrust(path, foreign))
    try:
        model = _assembled(about, load_object(objects, trust=trust))
    except Exception as error:
        if others:
            raise InputError(f"{path}: cannot be read here; {others}") from error
        raise InputError(damaged) from error
    if not model.answers_as_before():
        why = others or "the file is damaged"
        raise InputError(f"{path}: the model predicts otherwise than it did; {why}")
    return LoadedTableModel(model, (others,) if others else ())


def _distrust(path: Path, foreign: Collection[str]) -> str:
    named = [":".join(name.rsplit(".", 1)) for name in foreign]
    options = " ".join(f"--trust {name}" for name in named)
    return (
        f"{path}: it holds what is neither drmbench's nor scikit-learn's:"
        f" {', '.join(named)}. If you know who made the file and trust this code, add"
        f" {options}"
    )


def _other_versions(stored: Mapping[str, str]) -> str:
    """Say which libraries are not those of the fit, and what helps; or nothing."""
    here = versions_here()
    libraries = [name for name in stored if name not in ("drmbench", "python")]
    differing = []
    for name in libraries:
        try:
            found = here.get(name) or metadata.version(name)
        except metadata.PackageNotFoundError:  # a module of one's own has a checksum
            continue
        if found != stored[name]:
            differing.append(f"{name} {stored[name]} (here is {found})")
    if not differing:
        return ""
    return f"it was fitted with {', '.join(differing)}: install these, or fit again"


def _assembled(about: Mapping[str, Any], objects: Any) -> TableModel:
    """Build the model; `ValueError` and the like where parts do not fit together."""
    features = tuple(
        Feature(name, None if levels is None else tuple(map(str, levels)))
        for name, levels in about["features"]
    )
    model = TableModel(
        **{name: objects[name] for name in _OBJECT_FIELDS},
        features=features,
        class_names=tuple(map(str, about["class_names"])),
        target=about["target"],
        dropped=tuple(map(str, about["dropped"])),
        no_probabilities=str(about["no_probabilities"]),
        provenance=about["provenance"],
    )
    if not isinstance(model.target, str | None):
        raise ValueError("its target is no name")
    numbers = np.arange(len(model.class_names))
    if not np.array_equal(getattr(model.estimator, "classes_", numbers), numbers):
        raise ValueError("its classes do not fit its estimator")
    width, divisors = model.probes.shape[1], model.divisors
    if model.preparation is None and width != len(features):
        raise ValueError("its columns do not fit its estimator")
    if divisors is not None and not (
        divisors.shape == (width,) and (divisors > 0).all()
    ):
        raise ValueError("its scales do not fit its columns")
    return model
