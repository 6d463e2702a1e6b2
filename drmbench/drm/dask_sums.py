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
from drmbench.drm.partition import Array
from drmbench.drm.weights import check_sample_weight

#: Sums added up by one task; a worker holds that many at a time.
FAN_IN = 8

#: What goes with the rows of X: the names of arguments, and what they hold.
_COLUMNS = {"y": "labels", "sample_weight": "weights"}
#: Begins the names of these columns in a dataframe of the samples.
_PREFIX = "__drmbench_"

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
    def of(
        cls,
        X: Any,
        y: NDArray[Any],
        alpha: float,
        beta: float,
        weights: Array | None = None,
    ) -> LabelledSums:
        """Sum over the rows of X, whose labels are `y`; weight 0 leaves one out."""
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], y[kept], weights[kept]
        classes, codes = np.unique(y, return_inverse=True)
        return cls(classes, ClassSums.of(X, codes, classes.size, alpha, beta, weights))

    def only(self, chosen: NDArray[np.bool_]) -> LabelledSums:
        """Return the sums of some of the classes."""
        if chosen.all():
            return self
        sums = self.sums
        part = ClassSums(sums.G[chosen], sums.counts[chosen], sums.masses[chosen])
        return LabelledSums(self.classes[chosen], part)

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


def class_sums(
    X: Any, y: Any, alpha: float, beta: float, sample_weight: Any = None
) -> LabelledSums:
    """Return the class sums of a dask collection, computed block by block.

    A dataframe and series of as many partitions are taken partition by partition. To
    bring blocks of different unknown sizes together, or to cut labels or weights that
    are in memory to blocks of unknown size, those sizes are computed first: one more
    pass. If no sample has a positive weight, the result has no class.

    Raises
    ------
    ValueError
        X, y and the weights differ in length, or a block holds what cannot be used; the
        text says which block.
    """
    columns = {"y": y}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    parts = _block_tasks(X, columns, alpha, beta)
    while len(parts) > 1:
        parts = [
            _task(reduce)(operator.add, parts[start : start + FAN_IN])
            for start in range(0, len(parts), FAN_IN)
        ]
    total: LabelledSums = parts[0].compute()
    return total


def _task(function: Any) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False)


def _block_tasks(
    X: Any, columns: dict[str, Any], alpha: float, beta: float
) -> list[Any]:
    """Return one task per block; `columns` has the labels, and the weights if any."""
    if _is_frame(X) and all(
        _is_frame(column) and column.npartitions == X.npartitions
        for column in columns.values()
    ):
        for name, column in columns.items():
            _check_one_dimensional(name, column.ndim)
        # One dataframe of all, so that what they are made from is read once.
        meta = _with_columns(X._meta, *(column._meta for column in columns.values()))
        table = X.map_partitions(
            _with_columns, *columns.values(), meta=meta, align_dataframes=False
        )
        return [
            _task(_frame_sums)(number, alpha, beta, block)
            for number, block in enumerate(table.to_delayed())
        ]
    arrays = _aligned(_as_array(X), columns)
    blocks = zip(*(array.to_delayed().ravel() for array in arrays), strict=True)
    return [
        _task(_block_sums)(number, alpha, beta, *block)
        for number, block in enumerate(blocks)
    ]


def _with_columns(X: Any, *columns: Any) -> Any:
    """Return a partition with its labels and its weights, if any, as columns."""
    for name, column in zip(_COLUMNS, columns, strict=False):
        if len(X) != len(column):
            raise ValueError(
                f"X and {name} differ in length in one of their partitions: {len(X)}"
                f" samples, {len(column)} {_COLUMNS[name]}"
            )
        X = X.assign(**{_PREFIX + name: np.asarray(column)})
    return X


def _as_array(collection: Any) -> Any:
    """Return a dask array with all columns in each block."""
    if _is_frame(collection):
        collection = collection.map_partitions(np.asarray)
    return collection.rechunk({1: -1}) if collection.ndim == 2 else collection


def _aligned(X: Any, columns: dict[str, Any]) -> list[Any]:
    """Return X and its columns as dask arrays with the same blocks of rows."""
    arrays = {name: _column_array(name, column) for name, column in columns.items()}
    together = [X, *arrays.values()]
    if not any(map(_sized, together)) and len({a.numblocks[0] for a in together}) == 1:
        return together
    X = _with_sizes(X)
    for name, array in arrays.items():
        sized = _with_sizes(array)
        if X.shape[0] != sized.shape[0]:
            raise ValueError(
                f"X and {name} differ in length: {X.shape[0]} samples,"
                f" {sized.shape[0]} {_COLUMNS[name]}"
            )
        arrays[name] = sized.rechunk((X.chunks[0],))
    return [X, *arrays.values()]


def _column_array(name: str, column: Any) -> Any:
    """Return labels or weights, lazy or in memory, as a dask array."""
    import dask.array as da

    if is_dask(column):
        _check_one_dimensional(name, column.ndim)
        return _as_array(column)
    values = column_or_1d(column) if name == "y" else np.asarray(column)
    _check_one_dimensional(name, values.ndim)
    return da.from_array(values, chunks=-1)


def _check_one_dimensional(name: str, dimensions: int) -> None:
    if dimensions != 1:
        raise ValueError(
            f"expected one column of {_COLUMNS[name]} as {name}, got {dimensions}D"
        )


def _sized(array: Any) -> bool:
    return not np.isnan(array.shape[0])


def _with_sizes(array: Any) -> Any:
    """Return the array with known blocks; the given one stays as it is."""
    return array if _sized(array) else array.copy().compute_chunk_sizes()


def _frame_sums(number: int, alpha: float, beta: float, block: Any) -> LabelledSums:
    names = [_PREFIX + name for name in _COLUMNS if _PREFIX + name in block.columns]
    samples = block.drop(columns=names)
    return _block_sums(number, alpha, beta, samples, *(block[name] for name in names))


def _block_sums(
    number: int, alpha: float, beta: float, X: Any, y: Any, weights: Any = None
) -> LabelledSums:
    try:
        X, y = check_X_y(X, np.asarray(y), **_CHECKS)
        check_labels(y)
        checked = check_sample_weight(weights, len(y))
        return LabelledSums.of(X, y, alpha, beta, checked)
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
