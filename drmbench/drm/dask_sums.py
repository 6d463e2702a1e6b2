"""The linear DRM on dask collections: class sums by map and reduce, lazy predictions.

A block of samples becomes one p × p sum and one count for each class it has, and these
are added up a few at a time, so the samples are read once and are never in memory
together. dask is imported only once a collection is given.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_X_y, column_or_1d

from drmbench.drm.decision import nearest_class
from drmbench.drm.linear import ClassSums, LinearModel

#: Sums added up by one task; a worker holds that many at a time.
FAN_IN = 8

_LABEL = "__drmbench_label__"

#: What a block must satisfy; it may be empty.
_CHECKS: dict[str, Any] = {
    "dtype": np.float64,
    "accept_sparse": "csr",
    "ensure_min_samples": 0,
    "estimator": "LinearDRMClassifier",
}


def is_dask(X: Any) -> bool:
    """Tell whether X is a dask collection, without importing dask.

    Examples
    --------
    >>> is_dask([[1.0, 2.0]])
    False
    """
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _is_frame(X: Any) -> bool:
    """Tell a dask dataframe or series from a dask array."""
    return is_dask(X) and hasattr(X, "npartitions") and hasattr(X, "map_partitions")


def check_labels(y: NDArray[Any]) -> None:
    """Refuse a continuous target; only floats can be one, and the check is slow."""
    if y.dtype.kind == "f" and y.size:
        check_classification_targets(y)


@dataclass(frozen=True, eq=False)
class LabelledSums:
    """Class sums of samples whose classes are not known beforehand.

    Examples
    --------
    >>> first = LabelledSums.of(np.ones((2, 1)), np.array(["b", "c"]), 0.0, 1.0)
    >>> second = LabelledSums.of(np.ones((2, 1)), np.array(["a", "b"]), 0.0, 1.0)
    >>> total = first + second
    >>> total.classes.tolist(), total.sums.counts.tolist()
    (['a', 'b', 'c'], [1, 2, 1])
    """

    classes: NDArray[Any]  #: The labels met so far, sorted
    sums: ClassSums  #: Their sums and counts

    @classmethod
    def of(cls, X: Any, y: NDArray[Any], alpha: float, beta: float) -> LabelledSums:
        """Sum over the rows of X, whose labels are `y`."""
        classes, codes = np.unique(y, return_inverse=True)
        return cls(classes, ClassSums.of(X, codes, classes.size, alpha, beta))

    def __add__(self, other: LabelledSums) -> LabelledSums:
        # The labels of an empty part can have another type than those of the rest.
        if not other.classes.size:
            return self
        if not self.classes.size:
            return other
        classes = np.union1d(self.classes, other.classes)
        return LabelledSums(classes, self._among(classes) + other._among(classes))

    def _among(self, classes: NDArray[Any]) -> ClassSums:
        """Return the sums with nothing for those of `classes` not met here."""
        wide = ClassSums.empty(classes.size, self.sums.G.shape[1])
        places = np.searchsorted(classes, self.classes)
        wide.G[places] = self.sums.G
        wide.counts[places] = self.sums.counts
        wide.masses[places] = self.sums.masses
        return wide


def columns_of(X: Any) -> Any:
    """Return an empty stand-in for a collection: its columns and, if any, their names.

    Raises
    ------
    ValueError
        The collection is no table, or has columns of text.
    """
    if X.ndim != 2:
        raise ValueError(f"expected a 2D dask collection as X, got {X.ndim}D")
    if not _is_frame(X):
        return np.empty((0, X.shape[1]))
    text = X._meta.select_dtypes(exclude=["number", "bool", "boolean"]).columns
    if len(text):
        raise ValueError(
            f"the columns {', '.join(map(repr, text))} of X hold no numbers; leave them"
            f" out or code them as numbers"
        )
    return X._meta


def class_sums(X: Any, y: Any, alpha: float, beta: float) -> LabelledSums:
    """Return the class sums of a dask collection, computed block by block.

    A dataframe and a series of as many partitions are taken partition by partition. To
    bring blocks of different unknown sizes together, or to cut labels that are in
    memory to blocks of unknown size, those sizes are computed first: one more pass.

    Raises
    ------
    ValueError
        X and y differ in length, or a block holds what cannot be used; the text says
        which block.
    """
    parts = _block_tasks(X, y, alpha, beta)
    while len(parts) > 1:
        parts = [
            _task(reduce)(operator.add, parts[start : start + FAN_IN])
            for start in range(0, len(parts), FAN_IN)
        ]
    total: LabelledSums = parts[0].compute()
    if not total.classes.size:
        raise ValueError("X has no samples")
    return total


def _task(function: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False)


def _block_tasks(X: Any, y: Any, alpha: float, beta: float) -> list[Any]:
    if _is_frame(X) and _is_frame(y) and X.npartitions == y.npartitions:
        _check_one_dimensional(y)
        # One dataframe of both, so that what they are made from is read once.
        meta = _with_labels(X._meta, y._meta)
        both = X.map_partitions(_with_labels, y, meta=meta, align_dataframes=False)
        return [
            _task(_frame_sums)(block, number, alpha, beta)
            for number, block in enumerate(both.to_delayed())
        ]
    samples, labels = _aligned(_as_array(X), y)
    pairs = zip(samples.to_delayed().ravel(), labels.to_delayed().ravel(), strict=True)
    return [
        _task(_block_sums)(block, block_labels, number, alpha, beta)
        for number, (block, block_labels) in enumerate(pairs)
    ]


def _with_labels(X: Any, y: Any) -> Any:
    if len(X) != len(y):
        raise ValueError(
            f"X and y differ in length in one of their partitions: {len(X)} samples,"
            f" {len(y)} labels"
        )
    return X.assign(**{_LABEL: np.asarray(y)})


def _as_array(collection: Any) -> Any:
    """Return a dask array with all columns in each block."""
    if _is_frame(collection):
        collection = collection.map_partitions(np.asarray)
    return collection.rechunk({1: -1}) if collection.ndim == 2 else collection


def _aligned(X: Any, y: Any) -> tuple[Any, Any]:
    """Return X and y as dask arrays with the same blocks of rows."""
    import dask.array as da

    if is_dask(y):
        _check_one_dimensional(y)
        y = _as_array(y)
        if not (_sized(X) or _sized(y)) and X.numblocks[0] == y.numblocks[0]:
            return X, y
    else:
        y = da.from_array(column_or_1d(y), chunks=-1)
    X, y = _with_sizes(X), _with_sizes(y)
    if X.shape[0] != y.shape[0]:
        raise ValueError(
            f"X and y differ in length: {X.shape[0]} samples, {y.shape[0]} labels"
        )
    return X, y.rechunk((X.chunks[0],))


def _check_one_dimensional(y: Any) -> None:
    if y.ndim != 1:
        raise ValueError(f"expected one column of labels as y, got {y.ndim}D")


def _sized(array: Any) -> bool:
    return not np.isnan(array.shape[0])


def _with_sizes(array: Any) -> Any:
    """Return the array with known blocks; the given one stays as it is."""
    return array if _sized(array) else array.copy().compute_chunk_sizes()


def _frame_sums(block: Any, number: int, alpha: float, beta: float) -> LabelledSums:
    samples = block.drop(columns=_LABEL)
    return _block_sums(samples, block[_LABEL], number, alpha, beta)


def _block_sums(X: Any, y: Any, number: int, alpha: float, beta: float) -> LabelledSums:
    try:
        X, y = check_X_y(X, np.asarray(y), **_CHECKS)
        check_labels(y)
        return LabelledSums.of(X, y, alpha, beta)
    except (TypeError, ValueError) as error:
        raise ValueError(f"block {number} of the samples: {error}") from error


def lazy_dissimilarities(X: Any, model: LinearModel) -> Any:
    """Return δ of a dask collection as a dask array of shape (m, g)."""
    from dask.delayed import delayed

    samples = _as_array(X)
    return samples.map_blocks(
        _block_dissimilarities,
        # One task that all blocks depend on, not a copy in each of them.
        model=delayed(model),
        chunks=(samples.chunks[0], (len(model.forms),)),
        dtype=np.float64,
        meta=np.empty((0, 0)),
    )


def _block_dissimilarities(X: Any, model: LinearModel) -> Any:
    return model.dissimilarities(check_array(X, input_name="X", **_CHECKS))


def lazy_classes(delta: Any, classes: NDArray[Any]) -> Any:
    """Return the nearest class of each row of a dask array δ, as a dask array."""
    return delta.map_blocks(
        nearest_class,
        classes,
        drop_axis=1,
        dtype=classes.dtype,
        meta=np.empty(0, dtype=classes.dtype),
    )
