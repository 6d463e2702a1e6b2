"""The linear DRM fitted to a file in chunks, with memory that does not grow with it.

Two passes: the first finds the classes and each feature's largest absolute value, the
second sums. One would not do: with α > 0 a sample's weight ``1/(α‖x‖² + β)`` depends on
its scaled norm, so sums of unscaled samples cannot be rescaled afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunks import ChunkedFile
from drmbench.data.user import check_discrete, sorting_key
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.model_file import StoredModel
from drmbench.drm.search import DRMClassifierCV
from drmbench.errors import InputError, quoted
from drmbench.protocol.scaling import feature_scales

Matrix = NDArray[np.float64]
Texts = NDArray[np.str_]

SELECTION_ROWS = 5000
"""Most rows that parameters are selected on; the leave-one-out holds them in memory."""

MAX_CELLS = 2**28
"""Largest classes × features² of a model: 2 GiB of numbers."""

LARGEST = 1e150
"""Larger numbers overflow when squared and summed."""


class DrawnRows(NamedTuple):
    """Rows drawn from a file, in its order."""

    X: Matrix
    labels: Texts


@dataclass(frozen=True, eq=False)
class FileFacts:
    """What one pass over a file tells."""

    #: Rows of each class; sorted, as numbers if all labels are numbers
    class_counts: dict[str, int]
    scale: Matrix  #: Largest absolute value of each feature, 1 for one of zeros
    #: Rows drawn at random; all of them if the file has no more than asked for
    sample: DrawnRows

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return sum(self.class_counts.values())


class ChosenWeights(NamedTuple):
    """Weights chosen by leave-one-out: their accuracy, and on how many rows."""

    alpha: float
    beta: float
    accuracy: float
    rows: int


class _Drawer:
    """Draw rows from a stream, each set of them equally likely.

    Every row gets a random key and the smallest keys stay, so that neither the size of
    the chunks nor their number changes which rows are drawn.
    """

    def __init__(self, size: int, n_features: int) -> None:
        self._size = size
        self._random = np.random.default_rng(0)
        self._keys = np.empty(0)
        self.drawn = DrawnRows(np.empty((0, n_features)), np.empty(0, dtype=np.str_))

    def add(self, X: Matrix, labels: Texts) -> None:
        """Offer some rows."""
        keys = np.concatenate([self._keys, self._random.random(len(X))])
        kept = np.sort(np.argsort(keys)[: self._size])
        self._keys = keys[kept]
        self.drawn = DrawnRows(
            np.concatenate([self.drawn.X, X])[kept],
            np.concatenate([self.drawn.labels, labels])[kept],
        )


def scan(file: ChunkedFile, rows: int, *, draw: int = 0) -> FileFacts:
    """Pass over a labelled file once, in chunks of `rows`; `draw` some at random.

    `InputError` is raised for what cannot be used: one class only, a target that looks
    like a measurement, or too many features or classes for a model in memory.
    """
    _check_size(file, 2)
    counts: Counter[str] = Counter()
    largest = np.zeros(file.n_features)
    drawer = _Drawer(draw, file.n_features)
    for X, labels in _labelled_chunks(file, rows):
        counts.update(labels.tolist())
        _check_size(file, len(counts))
        largest = np.maximum(largest, np.abs(X).max(axis=0))
        if draw:
            drawer.add(X, labels)
    names, total = sorted(counts), counts.total()
    if len(names) == 1:
        raise InputError(
            f"{file.path.name}: all {total} rows have the class {quoted(names[0])};"
            f" classification needs at least two classes"
        )
    check_discrete(file.path.name, names, total)
    order = sorted(range(len(names)), key=sorting_key(names))
    return FileFacts(
        class_counts={names[place]: counts[names[place]] for place in order},
        scale=feature_scales(largest[None, :]),
        sample=drawer.drawn,
    )


def _labelled_chunks(file: ChunkedFile, rows: int) -> Iterator[tuple[Matrix, Texts]]:
    for X, labels in file.chunks(rows):
        assert labels is not None, "the file was opened without its target"
        yield X, labels


def _check_size(file: ChunkedFile, n_classes: int) -> None:
    cells = n_classes * file.n_features**2
    if cells > MAX_CELLS:
        raise InputError(
            f"{file.path.name}: a model of {n_classes} classes and {file.n_features}"
            f" features holds classes × features² = {cells:.2g} numbers, more than the"
            f" {MAX_CELLS:.2g} allowed; check the target, or use fewer features"
        )


def choose_weights(sample: DrawnRows, scale: Matrix | None) -> ChosenWeights:
    """Choose α and β by the accuracy of exact leave-one-out on the rows of a sample."""
    X = sample.X if scale is None else sample.X / scale
    if np.unique(sample.labels).size < 2:
        raise InputError(
            f"the {len(X)} rows drawn to choose parameters on have one class only; give"
            f" --alpha and --beta instead of --select"
        )
    try:
        search = DRMClassifierCV(kernels="linear").fit(X, sample.labels)
    except IllConditionedError as error:
        raise InputError(f"no parameters could be chosen: {error}") from error
    return ChosenWeights(search.alpha_, search.beta_, search.best_score_, len(X))


def fit_file(
    file: ChunkedFile,
    rows: int,
    class_names: Sequence[str],
    *,
    alpha: float,
    beta: float,
    scale: Matrix | None,
) -> StoredModel:
    """Fit a model to a file in one pass, in chunks of `rows`.

    `class_names` are all its classes, as :func:`scan` finds them, and `scale` is what
    the features are divided by. `InputError` is raised if numbers are too large, the
    model cannot be solved for, or the file has changed since it was scanned.
    """
    model = LinearDRMClassifier(alpha=alpha, beta=beta)
    numbers = {name: number for number, name in enumerate(class_names)}
    for X, labels in _labelled_chunks(file, rows):
        samples = X if scale is None else X / scale
        if np.abs(samples).max() > LARGEST:
            raise InputError(
                f"{file.path.name}: numbers as large as {np.abs(samples).max():.1e};"
                f" scale the features"
            )
        found, inverse = np.unique(labels, return_inverse=True)
        try:
            codes = np.array([numbers[str(label)] for label in found])[inverse]
        except KeyError as error:
            raise InputError(
                f"{file.path.name}: changed while it was read; the class {error} is new"
            ) from None
        model.partial_fit(samples, codes, classes=np.arange(len(class_names)))
    try:
        model.dissimilarities(np.zeros((1, file.n_features)))
    except IllConditionedError as error:
        raise InputError(
            f"{file.path.name}: {error}; raise --beta, or scale the features"
        ) from error
    names = tuple(class_names)
    return StoredModel(model, file.feature_names, class_names=names, scale=scale)


def predictions(
    model: StoredModel, file: ChunkedFile, rows: int, tally: RecallTally | None = None
) -> Iterator[NDArray[Any]]:
    """Yield the predicted labels of a file, a chunk at a time; count the right ones."""
    for X, labels in file.chunks(rows):
        try:
            predicted = model.predict(X)
        except IllConditionedError as error:
            raise InputError(f"{file.path.name}: {error}") from error
        if tally is not None and labels is not None:
            tally.add(labels, predicted.astype(np.str_))
        yield predicted


class RecallTally:
    """How many samples of each class came, and how many were recognised.

    Examples
    --------
    >>> tally = RecallTally()
    >>> tally.add(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    >>> tally.add(np.array(["b"]), np.array(["b"]))
    >>> tally.scores()
    {'accuracy': 0.75, 'balanced accuracy': 0.75, 'G-mean': 0.707...}
    """

    def __init__(self) -> None:
        self._came: Counter[str] = Counter()
        self._right: Counter[str] = Counter()

    def add(self, truth: NDArray[np.str_], predicted: NDArray[np.str_]) -> None:
        """Count some samples."""
        self._came.update(truth.tolist())
        self._right.update(truth[truth == predicted].tolist())

    def unknown(self, classes: Collection[str]) -> list[str]:
        """Return the labels that came and are none of `classes`, sorted."""
        return sorted(set(self._came) - set(classes))

    def scores(self) -> dict[str, float]:
        """Return accuracy, and the arithmetic and geometric mean of the recalls."""
        recalls = np.array([self._right[c] / n for c, n in self._came.items()])
        return {
            "accuracy": self._right.total() / self._came.total(),
            "balanced accuracy": float(recalls.mean()),
            "G-mean": float(np.prod(recalls) ** (1.0 / recalls.size)),
        }
