"""The linear DRM on dask collections equals the one in memory, however it is cut."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from drmbench import LinearDRMClassifier
from drmbench.drm import dask_sums

quick = settings(max_examples=25, deadline=None, derandomize=True)
N, P = 60, 4
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def problem(seed=0, labels=(3, 5, 9)):
    rng = np.random.default_rng(seed)
    y = rng.integers(len(labels), size=N)
    X = rng.normal(size=(N, P)) + 2.0 * np.eye(len(labels), P)[y]
    return X, np.array(labels)[y]


def assert_same(model, expected, X, X_memory=None):
    X_memory = X if X_memory is None else X_memory
    assert np.array_equal(model.classes_, expected.classes_)
    assert model.classes_.dtype == expected.classes_.dtype
    assert np.array_equal(model.class_count_, expected.class_count_)
    size = np.abs(expected.sums_).max()
    assert np.allclose(model.sums_, expected.sums_, rtol=1e-10, atol=1e-12 * size)
    ours = np.asarray(model.dissimilarities(X))
    theirs = expected.dissimilarities(X_memory)
    assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-11)
    assert np.array_equal(np.asarray(model.predict(X)), expected.predict(X_memory))


def make(alpha=0.5, beta=0.2):
    return LinearDRMClassifier(alpha=alpha, beta=beta)


def frame(X, y, cuts=(0, 0, 7, 30, 30, 60), **columns):
    """A dask dataframe with partitions of unknown sizes, some of them empty."""
    table = pd.DataFrame(X, columns=NAMES).assign(kind=y, **columns)
    parts = [table.iloc[start:stop] for start, stop in pairwise(cuts)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=table[:0])


@quick
@given(
    st.lists(st.integers(0, N), max_size=20),
    st.lists(st.integers(0, N), max_size=5),
    st.integers(1, P),
    st.sampled_from([0.0, 0.5]),
)
def test_any_chunking_equals_memory(row_cuts, label_cuts, columns, alpha):
    def sizes(cuts):
        return tuple(np.diff([0, *sorted(cuts), N]).tolist())

    X, y = problem()
    lazy_X = da.from_array(X, chunks=(sizes(row_cuts), columns))
    lazy_y = da.from_array(y, chunks=(sizes(label_cuts),))
    expected = make(alpha).fit(X, y)
    assert_same(make(alpha).fit(lazy_X, lazy_y), expected, lazy_X, X)
    assert_same(make(alpha).fit(lazy_X, y), expected, X)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "maybe", "certainly"]),
        np.array(["no", "maybe", "certainly"], dtype=object),
        np.array([0.0, 1.0, 2.0]),
        np.array([False, True]),
    ],
    ids=["text", "objects", "floats", "booleans"],
)
def test_labels_of_any_kind(labels):
    X, y = problem(labels=labels)
    y = y.astype(labels.dtype)
    lazy_X, lazy_y = da.from_array(X, chunks=(7, P)), da.from_array(y, chunks=11)
    assert_same(make().fit(lazy_X, lazy_y), make().fit(X, y), lazy_X, X)


def test_a_class_may_be_missing_from_blocks():
    X, y = problem()
    order = np.argsort(y, kind="stable")  # every block but few has one class only
    X, y = X[order], y[order].astype(str)
    lazy = da.from_array(X, chunks=(5, P))
    assert_same(make().fit(lazy, da.from_array(y, chunks=5)), make().fit(X, y), lazy, X)


def test_more_blocks_than_one_task_adds(monkeypatch):
    monkeypatch.setattr(dask_sums, "FAN_IN", 2)
    X, y = problem()
    assert_same(make().fit(da.from_array(X, chunks=(1, P)), y), make().fit(X, y), X)


def weights_of(seed=1):
    """Weights of the samples of a problem, some 0."""
    return np.random.default_rng(seed).integers(0, 4, N)


@quick
@given(
    st.lists(st.integers(0, N), max_size=8),
    st.lists(st.integers(0, N), max_size=5),
    st.sampled_from([None, "balanced", {3: 2.0, 9: 0.25}]),
    st.booleans(),
)
def test_weights_cut_in_any_way(row_cuts, weight_cuts, class_weight, lazy):
    """Whole weights in blocks are the samples repeated in memory."""

    def sizes(cuts):
        return tuple(np.diff([0, *sorted(cuts), N]).tolist())

    X, y = problem()
    weights = weights_of()
    lazy_X = da.from_array(X, chunks=(sizes(row_cuts), 2))
    given_weights = da.from_array(weights, chunks=(sizes(weight_cuts),))
    model = make().set_params(class_weight=class_weight)
    model.fit(lazy_X, y, sample_weight=given_weights if lazy else weights)
    expected = make().set_params(class_weight=class_weight)
    expected.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.allclose(model.class_mass_, expected.class_count_)
    assert np.allclose(model.class_weight_, expected.class_weight_)
    ours, theirs = model.dissimilarities(lazy_X), expected.dissimilarities(X)
    assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("kind", ["series", "array", "memory", "other partitions"])
def test_weights_of_dataframes_of_unknown_sizes(kind):
    X, y = problem()
    weights = weights_of()
    table = frame(X, y, weight=weights)
    given_weights = {
        "series": table["weight"],
        "array": table["weight"].map_partitions(np.asarray),
        "memory": pd.Series(weights, index=np.arange(N)[::-1]),
        "other partitions": frame(X, weights, (0, 10, 20, 60))["kind"],
    }[kind]
    for labels in (table["kind"], y):
        model = make().fit(table[NAMES], labels, sample_weight=given_weights)
        named = pd.DataFrame(X, columns=NAMES)
        assert_same(model, make().fit(named, y, weights), table[NAMES], named)


def test_a_class_without_weight_is_left_out_of_all_blocks():
    X, y = problem()
    lazy = da.from_array(X, chunks=(7, P))
    model = make().fit(lazy, y, sample_weight=da.from_array((y != 5) * 2.0, chunks=9))
    assert_same(model, make().fit(X[y != 5], y[y != 5], 2.0), X)
    assert model.classes_.tolist() == [3, 9]


@pytest.mark.parametrize("labels", [(3, 5, 9), ("no", "maybe", "certainly")])
@pytest.mark.parametrize("kind", ["series", "array", "memory", "other partitions"])
def test_dataframes_of_unknown_sizes(labels, kind):
    X, y = problem(labels=labels)
    table = frame(X, y)
    given_y = {
        "series": table["kind"],
        "array": table["kind"].map_partitions(np.asarray),
        "memory": y,
        "other partitions": frame(X, y, (0, 10, 20, 60))["kind"],
    }[kind]
    model = make().fit(table[NAMES], given_y)
    expected = make().fit(pd.DataFrame(X, columns=NAMES), y.astype(object))
    expected.classes_ = expected.classes_.astype(model.classes_.dtype)
    assert model.feature_names_in_.tolist() == NAMES
    assert_same(model, expected, table[NAMES], pd.DataFrame(X, columns=NAMES))


def test_a_shared_source_is_read_once():
    X, y = problem()
    whole = pd.DataFrame(X, columns=NAMES).assign(kind=y)
    reads = []

    def read(number):
        reads.append(number)
        return whole.iloc[number * 20 : number * 20 + 20]

    table = dd.from_map(read, range(3), meta=whole[:0])
    reads.clear()
    make().fit(table[NAMES], table["kind"])
    assert sorted(reads) == [0, 1, 2]
    reads.clear()
    make().fit(table[NAMES], table["kind"], sample_weight=table["a"] ** 2)
    assert sorted(reads) == [0, 1, 2]


def test_every_block_is_read_once():
    X, y = problem()
    reads = []

    def read(block, block_info=None):
        reads.append(block_info[0]["chunk-location"][0])
        return block

    lazy = da.from_array(X, chunks=(10, P)).map_blocks(read, dtype=float, meta=X[:0])
    make().set_params(class_weight="balanced").fit(lazy, y, sample_weight=weights_of())
    assert sorted(reads) == list(range(6))


def test_sparse_blocks():
    X, y = problem()
    thin = da.from_array(X, chunks=(25, P)).map_blocks(sparse.csr_matrix)
    assert_same(make().fit(thin, y), make().fit(X, y), X)


def test_predictions_are_lazy_and_belong_to_the_model_that_made_them():
    X, y = problem()
    lazy = da.from_array(X, chunks=(25, 2))
    model = make().fit(X, y)
    before = model.predict(X)
    predicted, scores = model.predict(lazy), model.decision_function(lazy)
    model.fit(X[::-1], y)
    assert isinstance(predicted, da.Array)
    assert predicted.chunks == ((25, 25, 10),)
    assert predicted.dtype == y.dtype
    assert np.array_equal(predicted.compute(), before)
    assert scores.shape == (N, 3)
    assert np.array_equal(model.classes_[scores.compute().argmax(axis=1)], before)


def test_two_classes_have_one_score():
    X, y = problem(labels=(0, 1))
    model = make().fit(da.from_array(X, chunks=(25, 2)), y)
    scores = model.decision_function(da.from_array(X, chunks=(7, P)))
    assert scores.shape == (N,)
    assert np.allclose(scores.compute(), make().fit(X, y).decision_function(X))


def test_a_frame_is_checked_by_its_column_names():
    X, y = problem()
    model = make().fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(X, y)[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="3 features"):
        make().fit(X, y).predict(da.ones((5, 3)))


def test_the_collections_themselves_stay_as_they_are():
    X, y = problem()
    lazy = frame(X, y)[NAMES].map_partitions(np.asarray)
    make().fit(lazy, y)
    assert np.isnan(lazy.shape[0])


def with_value(value, kind=float):
    X = problem()[0].astype(kind)
    X[33, 1] = value
    return da.from_array(X, chunks=(10, P))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (da.ones((N, P)), np.arange(N - 1) % 2, f"{N} samples, {N - 1} labels"),
        (da.ones((N, P)), da.ones(N - 1), f"{N} samples, {N - 1} labels"),
        (with_value(np.nan), np.arange(N) % 2, "(?s)block 3 .*contains NaN"),
        (with_value(np.inf), np.arange(N) % 2, "(?s)block 3 .*infinity"),
        (with_value("red", object), np.arange(N) % 2, "block 3 .*'red'"),
        (da.ones((N, P)), np.ones(N), "one class only"),
        (da.ones((N, P)), np.linspace(0, 1, N), "(?s)block 0 .*continuous"),
        (da.ones((N, P)), da.ones((N, 2)), "one column of labels"),
        (da.ones((N, P)), [None, "a"] * (N // 2), "block 0"),
        (da.ones(N), np.arange(N) % 2, "2D"),
        (da.ones((0, P)), np.ones(0), "no samples"),
    ],
)
def test_what_cannot_be_fitted_is_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(N - 1), f"X and sample_weight .*: {N} samples, {N - 1} weights"),
        (da.ones(N + 1), f"X and sample_weight .*: {N} samples, {N + 1} weights"),
        (np.ones((N, 1)), "one column of weights as sample_weight, got 2D"),
        (da.ones((N, 1)), "one column of weights as sample_weight, got 2D"),
        (np.where(np.arange(N) == 33, -1, 1), "block 3 .*sample 3 has -1"),
        (np.where(np.arange(N) == 33, np.nan, 1), "block 3 .*NaN"),
        (da.from_array(np.array(["x"] * N)), "block . .*must hold numbers"),
        (np.zeros(N), "all sample weights are zero"),
    ],
)
def test_weights_that_cannot_be_used_are_named(weights, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        make().fit(da.from_array(X, chunks=(10, P)), y, sample_weight=weights)


def test_what_cannot_be_fitted_in_a_frame_is_named():
    X, y = problem(labels=("no", "yes"))
    table = frame(X, y)
    with pytest.raises(ValueError, match="columns 'kind' of X hold no numbers"):
        make().fit(table, table["kind"])
    with pytest.raises(ValueError, match="differ in length in one of their partitions"):
        make().fit(table[NAMES], frame(X, y, (0, 1, 7, 30, 30, 60))["kind"])
    with pytest.raises(ValueError, match="one column of labels"):
        make().fit(table[NAMES], table[NAMES])
    short = frame(X, np.ones(N), (0, 1, 7, 30, 30, 60))["kind"]
    with pytest.raises(ValueError, match="X and sample_weight differ in length in one"):
        make().fit(table[NAMES], table["kind"], sample_weight=short)


def test_a_distributed_cluster():
    distributed = pytest.importorskip("distributed")
    X, y = problem(labels=("no", "maybe", "certainly"))
    lazy = da.from_array(X, chunks=(13, 2))
    # Threads that talk by tcp: all is serialised as between machines, none is started.
    options = {"processes": False, "protocol": "tcp", "n_workers": 2}
    with (
        dask.config.set(scheduler=None),
        distributed.LocalCluster(
            host="127.0.0.1", dashboard_address="127.0.0.1:0", **options
        ) as cluster,
        distributed.Client(cluster),
    ):
        assert_same(make().fit(lazy, y), make().fit(X, y), lazy, X)
        weights = weights_of()
        assert_same(make().fit(lazy, y, weights), make().fit(X, y, weights), lazy, X)
        with pytest.raises(ValueError, match=r"(?s)block 3 .*contains NaN"):
            make().fit(with_value(np.nan), y)


def test_dask_is_not_imported_for_arrays_in_memory():
    code = (
        "import sys; from drmbench import LinearDRMClassifier as C;"
        "C().fit([[0, 1], [1, 0]], [0, 1]).predict([[0, 1]]);"
        "assert 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
