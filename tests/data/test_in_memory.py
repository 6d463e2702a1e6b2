"""Arrays and data frames as data sets, and the files that workers read."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from drmbench.data.in_memory import dataset_in_memory, write_npz
from drmbench.data.user import load_user_file
from drmbench.errors import InputError

X = np.array([[1.5, 0.0], [0.0, 3.25], [7.0, 8.0], [2.0, 1.0]])
Y = ["b", "a", "b", "a"]


def refusal(X, y=Y, **options):
    with pytest.raises(InputError) as caught:
        dataset_in_memory(X, y, name="mine", **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (Y, ("a", "b")),
        (np.array([10, 9, 10, 9], dtype=np.int8), ("9", "10")),
        (np.array([True, False, True, False]), ("False", "True")),
        (pd.Series(["x", "y", "x", "y"], dtype="category"), ("x", "y")),
        (pd.array([2, 1, 2, 1], dtype="Int64"), ("1", "2")),
        (np.array([[0.5], [1.5], [0.5], [1.5]]), ("0.5", "1.5")),
    ],
)
def test_labels_of_any_kind(y, names):
    assert dataset_in_memory(X, y, name="mine").class_names == names


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_samples_of_any_kind(kind):
    data = dataset_in_memory(kind(X), Y, name="mine")
    np.testing.assert_array_equal(data.X, X)
    assert data.nominal == ()
    assert data.y.tolist() == [1, 0, 1, 0]


def test_text_becomes_codes_as_in_a_csv_file(tmp_path):
    frame = pd.DataFrame(
        {
            "size": [1, 2, 3, 4],
            "fur": ["long", "short", "curly", "long"],
            "tame": [True, False, True, True],
            "breed": pd.Categorical(["x", "z", "z", "y"], categories=["z", "y", "x"]),
        }
    )
    (tmp_path / "pets.csv").write_text(
        frame.assign(tame=[1, 0, 1, 1], kind=Y).to_csv(index=False)
    )
    from_file = load_user_file(tmp_path / "pets.csv", target="kind")
    data = dataset_in_memory(frame, Y, name="pets")
    assert data.nominal == from_file.nominal == (1, 3)
    assert data.fingerprint == from_file.fingerprint
    rows = dataset_in_memory(frame.values.tolist(), Y, name="pets")
    assert rows.fingerprint == data.fingerprint
    objects = dataset_in_memory(frame.to_numpy(dtype=object), Y, name="pets")
    assert objects.fingerprint == data.fingerprint


def test_columns_of_codes_by_name_and_number():
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert dataset_in_memory(frame, Y, name="m", categorical=["b"]).nominal == (1,)
    assert dataset_in_memory(X, Y, name="m", categorical=[1, 0]).nominal == (0, 1)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (csr_array(X), {}, "X is sparse"),
        (X[:3], {}, "X: 3 samples but 4 class labels"),
        (X[0], {}, "X: expected the samples as a matrix, found shape (2,)"),
        ([[1.0], [2.0, 3.0]], {}, "X is no matrix of samples"),
        (np.where(X > 7, np.inf, X), {}, "X: 1 infinite values"),
        (X, {"y": ["a", None, "b", "b"]}, "y: sample 2 has no class label"),
        (X, {"y": ["a"] * 4}, "y: all 4 rows have the class 'a'"),
        (X, {"y": np.eye(4)}, "one class label per sample"),
        (X, {"categorical": [2]}, "a column from 0 to 1, not 2"),
        (X, {"categorical": ["b"]}, "no column 'b'"),
        (pd.DataFrame(X, columns=["aa", "b"]), {"categorical": ["a"]}, "'aa'"),
        (pd.DataFrame({"x": pd.to_datetime([0, 1, 2, 3])}), {}, "column 'x' has the"),
        (X * 1j, {}, "type complex128"),
    ],
)
def test_what_cannot_be_used_gets_one_message(X, options, words):
    assert words in refusal(X, **options)


@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.text("ab1 é")),
        min_size=2,
        max_size=12,
    ),
    st.booleans(),
)
def test_workers_read_the_same_data(rows, coded):
    import tempfile
    from pathlib import Path

    values = np.array([[value, index] for index, (value, _) in enumerate(rows)])
    labels = [f"x{label}" if index else "-" for index, (_, label) in enumerate(rows)]
    options = {"categorical": [1]} if coded else {}
    data = dataset_in_memory(values, labels, name="mine", **options)
    with tempfile.TemporaryDirectory() as folder:
        path = write_npz(data, Path(folder))
        written = path.stat().st_mtime_ns
        again = load_user_file(path, name="mine")
        assert write_npz(data, Path(folder)).stat().st_mtime_ns == written
    assert again.fingerprint == data.fingerprint
    assert again.nominal == data.nominal
    assert data.fingerprint.startswith(path.stem.removeprefix("data-"))


@pytest.mark.parametrize("nominal", [[2], [-1], [0.5], [[0]]])
def test_a_file_with_columns_that_are_not_there_is_refused(tmp_path, nominal):
    np.savez(tmp_path / "a.npz", X=X, y=Y, nominal=nominal)
    with pytest.raises(InputError, match=r"a\.npz: the array 'nominal' must be"):
        load_user_file(tmp_path / "a.npz")


def test_missing_values_stay_missing():
    numbers = dataset_in_memory([[1.0], [np.nan], [3.0]], [0, 1, 0], name="gaps")
    assert np.isnan(numbers.X).ravel().tolist() == [False, True, False]
    frame = pd.DataFrame({"x": ["u", None, "v", "u"]})
    texts = dataset_in_memory(frame, [0, 1, 0, 1], name="gaps")
    assert np.array_equal(texts.X.ravel(), [0, np.nan, 1, 0], equal_nan=True)
    assert texts.nominal == (0,)
