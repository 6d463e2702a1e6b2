"""Fitted linear models in files: numpy arrays and JSON text, nothing executable."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from drmbench import __version__
from drmbench.drm.linear import ClassSums
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.partition import Array
from drmbench.drm.system import check_weights
from drmbench.drm.weights import ClassWeight
from drmbench.errors import InputError, reason_of, refused
from drmbench.files import replacing
from drmbench.npz import NpzArchive

#: What the file says it is.
FORMAT = "drmbench linear DRM"
#: Layout of the file; raise it when an older reader could not use a new file.
VERSION = 2
_SCALING = "intercept_scaling"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A linear DRM with what is needed to use it on other data."""

    classifier: LinearDRMClassifier  #: The fitted model
    #: Names of the features, in the model's order
    feature_names: tuple[str, ...] | None = None
    #: What the classes are called, in the order of ``classifier.classes_``; None where
    #: the classes themselves are the names
    class_names: tuple[str, ...] | None = None
    #: What features are divided by before the model sees them
    scale: Array | None = None
    target: str | None = None  #: Name of the column that held the class

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return int(self.classifier.n_features_in_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class, by its name, of each row of unscaled X."""
        samples = np.asarray(X, dtype=np.float64)
        if self.scale is not None:
            samples = samples / self.scale
        predicted = self.classifier.predict(samples)
        if self.class_names is None:
            return predicted
        codes = np.searchsorted(self.classifier.classes_, predicted)
        return np.array(self.class_names, dtype=np.str_)[codes]


def save_model(
    path: str | Path,
    classifier: LinearDRMClassifier,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    scale: Array | None = None,
    target: str | None = None,
) -> None:
    """Write a fitted model to an npz archive; a reader finds all of it or none.

    The other arguments are as in :class:`StoredModel`.

    Raises
    ------
    InputError
        The file cannot be written, or the classes are neither numbers nor text.

    Examples
    --------
    >>> import tempfile
    >>> model = LinearDRMClassifier().fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(Path(folder) / "pets.npz", model)
    ...     load_model(Path(folder) / "pets.npz").predict([[0.1, 2.0]]).tolist()
    ['dog']
    """
    classes = classifier.classes_
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes):
        classes = classes.astype(np.str_)
    if classes.dtype.kind not in "biufU":  # numpy would have to pickle it
        raise InputError(
            f"classes of type {classes.dtype} cannot be written; use numbers or text"
        )
    about = {
        "format": FORMAT,
        "version": VERSION,
        "drmbench": __version__,
        "alpha": float(classifier.alpha),
        "beta": float(classifier.beta),
        "class_weight": classifier.class_weight_.tolist()
        if isinstance(classifier.class_weight, Mapping)
        else classifier.class_weight,
        "fit_intercept": bool(classifier.fit_intercept),
        "intercept_scaling": float(classifier.intercept_scaling),
        "feature_names": None if feature_names is None else list(feature_names),
        "class_names": None if class_names is None else list(class_names),
        "target": target,
    }
    arrays: dict[str, Any] = {
        "about": np.array(json.dumps(about)),
        "classes": classes,
        "sums": classifier.sums_,
        "counts": classifier.class_count_,
        "masses": classifier.class_mass_,
    }
    if scale is not None:
        arrays["scale"] = np.asarray(scale, dtype=np.float64)
    try:
        with replacing(Path(path)) as temporary, temporary.open("wb") as stream:
            np.savez(stream, **arrays)  # of types that need no pickle
    except OSError as error:
        why = f"{path}: cannot be written ({reason_of(error)})"
        raise refused(error, why) from error


def load_model(path: str | Path) -> StoredModel:
    """Read a model that :func:`save_model` wrote.

    Raises
    ------
    InputError
        There is no such file, it is damaged, is not a model, or was written by a newer
        version; nothing in a file is ever executed.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; `drmbench fit … --save` writes models")
    try:
        with path.open("rb") as stream, NpzArchive(stream) as archive:
            if archive.size > path.stat().st_size:  # arrays are stored as they are
                raise ValueError("compressed")
            arrays = dict(archive)
        about = json.loads(str(arrays["about"]))
    # Damaged content makes zipfile, numpy and json raise almost anything.
    except Exception as error:
        raise InputError(
            f"{path}: not a readable model file; `drmbench fit … --save` writes models"
        ) from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"{path}: not a model file of drmbench")
    version = about.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise InputError(
            f"{path}: a model file of version {version!r}, written by drmbench"
            f" {about.get('drmbench')}; this drmbench ({__version__}) reads up to"
            f" version {VERSION}: update it, or fit again"
        )
    try:
        return _assembled(about, arrays)
    except (
        *(AttributeError, LookupError, OverflowError, TypeError, ValueError),
    ) as error:
        raise InputError(f"{path}: a damaged model file ({error})") from error


def _assembled(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> StoredModel:
    classes, sums, counts = arrays["classes"], arrays["sums"], arrays["counts"]
    # Models of version 1 have no weights.
    masses = counts.astype(np.float64) if about["version"] == 1 else arrays["masses"]
    scale = arrays.get("scale")
    alpha, beta = _number(about, "alpha"), _number(about, "beta")
    check_weights(alpha, beta)
    fit_intercept = about.get("fit_intercept", False)
    g, width = classes.size, sums.shape[-1]
    p = width - bool(fit_intercept)
    sound = (
        classes.shape == (g,)
        and np.array_equal(np.unique(classes), classes)
        and p > 0
        and sums.shape == (g, width, width)
        and sums.dtype == np.float64
        and np.isfinite(sums).all()
        and counts.shape == (g,)
        and counts.dtype == np.int64
        and (counts >= 0).all()
        and counts.any()
        and masses.shape == (g,)
        and masses.dtype == np.float64
        and np.isfinite(masses).all()
        and np.array_equal(masses > 0, counts > 0)
        and (masses >= 0).all()
    )
    if scale is not None:
        sound = sound and scale.shape == (p,) and scale.dtype == np.float64
        sound = sound and ((scale > 0) & np.isfinite(scale)).all()
    if not sound:
        raise ValueError("its arrays do not fit together")
    classifier = LinearDRMClassifier.from_sums(
        classes,
        ClassSums(sums, counts, masses),
        alpha=alpha,
        beta=beta,
        class_weight=_class_weight(about.get("class_weight"), classes),
        fit_intercept=fit_intercept,
        intercept_scaling=_number({_SCALING: 1.0, **about}, _SCALING),
    )
    classifier._validate_params()
    return StoredModel(
        classifier,
        feature_names=_names(about, "feature_names", p),
        class_names=_names(about, "class_names", g),
        scale=scale,
        target=None if about["target"] is None else str(about["target"]),
    )


def _number(about: Mapping[str, Any], key: str) -> float:
    """Return a number of a file, which may be a larger one than any float."""
    value = about[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{key} must be a number, got {value!r}")
    return float(value)


def _class_weight(stored: Any, classes: NDArray[Any]) -> ClassWeight:
    """Return an estimator's class weights; a file has a dict's in class order."""
    if stored is None or stored == "balanced":
        return cast(ClassWeight, stored)
    if not isinstance(stored, list) or len(stored) != classes.size:
        raise ValueError(f"its class_weight is not one number per class: {stored!r}")
    return dict(zip(classes.tolist(), stored, strict=True))


def _names(about: dict[str, Any], key: str, count: int) -> tuple[str, ...] | None:
    names = about[key]
    if names is None:
        return None
    if (
        not isinstance(names, list)
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) != count
        or len(names) != count
    ):
        raise ValueError(f"its {key} are not {count} different names")
    return tuple(names)
