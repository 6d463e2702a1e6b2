"""Files in chunks: the same rows as in memory, the same refusals, bounded memory."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from drmbench.data.chunks import ChunkedLibsvm, FeatureRequest
from drmbench.data.user import (
    load_user_file,
    open_chunked,
    open_labelled,
    rows_per_chunk,
)
from drmbench.errors import InputError

CSV = "size,kind,age\n1.5,cat,3\n2,dog,-4\n3,cat,5e1\n7,dog,0\n"
X_CSV = [[1.5, 3], [2, -4], [3, 50], [7, 0]]
LIBSVM = "+1 1:0.5 3:2 # a cat\n\n-1 2:1\n# nothing\n-1 1:7\t3:1e1\n2\n"

quick = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def gathered(path: Path, target: str | None, chunksize: int | None = None) -> Any:
    file = open_labelled(path, target=target)
    chunks = list(file.chunks(rows_per_chunk(file, chunksize)))
    X = np.concatenate([chunk for chunk, _ in chunks])
    labels = np.concatenate([part for _, part in chunks if part is not None])
    return X, labels, len(chunks)


def refusal(path: Path, target: str | None = "kind") -> str:
    with pytest.raises(InputError) as caught:
        gathered(path, target, 2)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", CSV),
        ("a.tsv", CSV.replace(",", "\t")),
        ("a.csv", CSV.replace(",", ";")),
        ("A.CSV", CSV.replace("\n", "\r\n")),
        ("a.csv", CSV.replace("\n", "\r")),
        ("a.csv", "\ufeff" + CSV + "\n,,\n"),
        ("a.csv", "\n" + CSV.replace("cat", '"cat"').replace(",", ", ")),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("a.csv.bz2", bz2.compress(CSV.encode())),
    ],
)
@pytest.mark.parametrize(("chunksize", "pieces"), [(1, 4), (3, 2), (4, 1), (None, 1)])
def test_spellings_of_the_same_table(
    write: Any, name: str, content: str | bytes, chunksize: int | None, pieces: int
) -> None:
    path = write(name, content)
    X, labels, count = gathered(path, "kind", chunksize)
    assert X.tolist() == X_CSV
    assert labels.tolist() == ["cat", "dog", "cat", "dog"]
    assert count == pieces
    whole = load_user_file(path, target="kind")
    assert np.array_equal(whole.X, X)


cells = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.6g}"))


@quick
@given(
    st.lists(st.tuples(cells, cells, st.integers(-1, 2)), min_size=4, max_size=30),
    st.integers(1, 31),
)
def test_any_chunksize_equals_the_whole_file_in_every_format(
    tmp_path: Path, rows: list[tuple[float, float, int]], chunksize: int
) -> None:
    rows = [*rows, (1.0, 1.0, 7), (2.0, -3.0, 8)]
    data = np.array(rows)
    tables = {
        "t.csv": "x,y,c\n" + "".join(f"{x!r},{y!r},{c}\n" for x, y, c in rows),
        "t.tsv": "x\ty\tc\n" + "".join(f"{x!r}\t{y!r}\t{c}\n" for x, y, c in rows),
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    dump_svmlight_file(
        data[:, :2], data[:, 2], str(tmp_path / "t.libsvm"), zero_based=False
    )
    np.save(tmp_path / "t.npy", data)
    expected = [str(c) for _, _, c in rows]
    targets = {"t.csv": "c", "t.tsv": "c", "t.libsvm": None, "t.npy": "last"}
    for name, target in targets.items():
        X, labels, count = gathered(tmp_path / name, target, chunksize)
        assert np.array_equal(X, data[:, :2]), name
        assert labels.tolist() == expected, name
        assert count == -(-len(rows) // chunksize), name


def test_libsvm_rows_are_those_of_the_whole_file(write: Any) -> None:
    path = write("a.libsvm.gz", gzip.compress(LIBSVM.encode(), mtime=0))
    whole = load_user_file(path)
    X, labels, count = gathered(path, "first", 2)
    assert count == 2
    assert np.array_equal(X, whole.X)
    assert X.tolist() == [[0.5, 0, 2], [0, 1, 0], [7, 0, 10], [0, 0, 0]]
    assert labels.tolist() == ["1", "-1", "-1", "2"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("target", "column"), [("last", 3), ("0", 0), ("-2", 2)])
def test_npy_columns(tmp_path: Path, order: Any, target: str, column: int) -> None:
    data = np.arange(20).reshape(5, 4)
    np.save(tmp_path / "a.npy", np.asarray(data, order=order))
    X, labels, _ = gathered(tmp_path / "a.npy", target, 2)
    assert X.tolist() == np.delete(data, column, axis=1).tolist()
    assert labels.tolist() == [str(label) for label in data[:, column]]


@pytest.mark.parametrize(
    ("content", "target", "expected"),
    [
        (CSV, None, "say which column holds the class (the target). Columns: size, ki"),
        (CSV, "knid", "no column is named 'knid'. Did you mean 'kind'? Columns:"),
        ("a,kind\n1,u\n2,v\n3,u\n,v\n", "kind", "line 5, column 'a': the value is mis"),
        ("a,kind\n1,u\n2,v\nNA,v\n", "kind", "line 4, column 'a': the value is missi"),
        ("a,kind\n1,u\n2,v\n3,\n", "kind", "line 4: the class label is missing"),
        ("a,kind\n1,u\n2,v\n4,u\n5,v,9\n", "kind", "line 5: expected 2 columns"),
        ("a,kind\n1,u\n2,v\n4,u\ninf,v\n", "kind", "line 5, column 1 (a): 'inf' is no"),
        ("a,kind\n1,u\n2,v\nred,u\n", "kind", "line 4, column 1 (a): expected a numb"),
        ("a,kind\nred,u\nblue,v\n", "kind", "in chunks takes numbers only"),
        ('a;kind\n"1,5";u\n', "kind", "expected a number, found '1,5'"),
        ('a,kind\n1,u\n"2,v\n', "kind", "line 3: unexpected end of data"),
        ("a,a,kind\n1,1,u\n", "kind", "duplicate column names: 'a'"),
        (",a,kind\n1,1,u\n", "kind", "column 1 has no name"),
        ("1,2,3\n4,5,6\n", "3", "the first row holds numbers (1, 2, 3)"),
        ("a,kind\n", "kind", "no rows below the header"),
        ("kind\nu\nv\n", "kind", "no feature column"),
        ("\n \n", "kind", "the file is empty"),
        ("", "kind", "the file is empty"),
        ("a,kind\n1,u\n2,\0v\n", "kind", "line 3: a zero byte"),
        (b"a,kind\n1,u\n2,\xe9\n", "kind", "line 3: not UTF-8 text (byte 0xe9)"),
        (
            gzip.compress(CSV.encode(), mtime=0)[:-12],
            "kind",
            "damaged or truncated data",
        ),
        (b"\x1f\x9dabc", "kind", "a .Z file cannot be read in chunks"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(
    write: Any, content: str | bytes, target: str | None, expected: str
) -> None:
    message = refusal(write("a.csv", content), target)
    assert expected in message
    assert "a.csv" in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1 1:2\n-1 1:1\n1 1:3\n1 2:a\n", "line 4: expected 'label index:value …'"),
        ("1 1:2\n-1 2:1 1:3\n", "line 2: expected 'label index:value …' with ascend"),
        ("\ncat 1:2\n", "line 2: expected 'label index:value …'"),
        ("1 1:2\n# x\n1 0:5\n", "line 3: feature index 0 in data of 1 features"),
        ("1 1:nan\n", "line 1, column 1: the value is missing"),
        ("1 1:1\n1 2:inf\n", "line 2, column 2: the value is infinite"),
        ("nan 1:1\n", "line 1: the class is missing"),
        ("1\n2\n", "no features in the file"),
        ("", "no features in the file"),
        ("1 1:1\n1 999999999:1\n", "too many to be made dense"),
    ],
)
def test_what_is_wrong_with_libsvm_is_named(
    write: Any, content: str, expected: str
) -> None:
    assert expected in refusal(write("a.svm", content), None)


def test_libsvm_has_no_named_target_and_keeps_to_its_features(write: Any) -> None:
    path = write("a.libsvm", LIBSVM)
    assert "leave the target 'kind' out" in refusal(path, "kind")
    wide = ChunkedLibsvm(path, None, FeatureRequest(count=5))
    assert next(wide.chunks(9)).X.shape == (4, 5)
    narrow = ChunkedLibsvm(path, None, FeatureRequest(count=2))
    with pytest.raises(InputError, match="line 1: feature index 3 in data of 2 featu"):
        next(narrow.chunks(9))
    empty = ChunkedLibsvm(write("b.libsvm", "# none\n"), None, FeatureRequest(count=2))
    with pytest.raises(InputError, match="no data in the file"):
        next(empty.chunks(9))


@pytest.mark.parametrize(
    ("array", "target", "expected"),
    [
        (np.ones((3, 2)), "2", "no column '2'; the target of an npy file is the numb"),
        (np.ones((3, 2)), "kind", "no column 'kind'"),
        (np.ones((3, 2)), None, "say which column holds the class"),
        (np.ones((3, 1)), "last", "no feature column"),
        (np.ones(3), "last", "expected the samples as a matrix, found shape (3,)"),
        (np.ones((0, 3)), "last", "found shape (0, 3)"),
        (np.array([["a", "b"]]), "last", "expected real numbers, found type <U1"),
        (np.ones((2, 2), complex), "last", "expected real numbers"),
        (np.array([[1, 1], [2, 1], [np.nan, 1.0]]), "last", "sample 3, column 1: the"),
        (np.array([[1, 1], [2, 1], [3, np.nan]]), "last", "sample 3, column 'the cla"),
    ],
)
def test_what_is_wrong_with_npy_is_named(
    tmp_path: Path, array: Any, target: str | None, expected: str
) -> None:
    np.save(tmp_path / "a.npy", array)
    assert expected in refusal(tmp_path / "a.npy", target)


def test_damaged_and_dangerous_npy_files_are_refused(write: Any, tmp_path: Any) -> None:
    np.save(tmp_path / "a.npy", np.ones((50, 4)))
    whole = (tmp_path / "a.npy").read_bytes()
    for content in (b"", b"PK\x03\x04", b"garbage" * 20, whole[:-8], whole[:40]):
        assert "not a readable npy file" in refusal(write("b.npy", content), "last")
    np.save(tmp_path / "c.npy", np.array([[{}, 1]]), allow_pickle=True)
    assert "not a readable npy file" in refusal(tmp_path / "c.npy", "last")


def test_paths_and_sizes_are_checked(write: Any, tmp_path: Path) -> None:
    path = write("pets.csv", CSV)
    assert "Did you mean 'pets.csv'?" in refusal(tmp_path / "pet.csv")
    assert "cannot be read in chunks; the name must end in" in refusal(
        tmp_path / "a.npz"
    )
    (tmp_path / "folder.csv").mkdir()
    assert "a directory, not a file" in refusal(tmp_path / "folder.csv")
    with pytest.raises(InputError, match="at least 1, not 0"):
        gathered(path, "kind", 0)
    two_columns = open_chunked(write("n.csv", "a,b\n1,2\n"))
    assert rows_per_chunk(two_columns) == 250_000


class TestFeaturesAskedFor:
    names = FeatureRequest(("age", "size"), 2, "kind")

    def test_columns_are_put_in_order(self, write: Any) -> None:
        for target in ("kind", None):  # the class is left out either way
            file = open_chunked(write("a.csv", CSV), target=target, request=self.names)
            (X, labels), *_ = file.chunks(9)
            assert X.tolist() == [[age, size] for size, age in X_CSV]
            assert (labels is None) is (target is None)
            assert file.feature_names == ("age", "size")

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("aeg,size\n1,2\n", "needs the column 'age', which the file does not have"),
            ("aeg,size\n1,2\n", "Did you mean 'aeg'?"),
            ("x,y\n1,2\n", "needs the columns 'age', 'size', which"),
            ("age,size,z\n1,2,3\n", "does not know the column 'z'"),
        ],
    )
    def test_other_columns_are_named(
        self, write: Any, content: str, expected: str
    ) -> None:
        with pytest.raises(InputError) as caught:
            open_chunked(write("a.csv", content), request=self.names)
        assert expected in str(caught.value)

    def test_without_names_the_number_counts(self, write: Any, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.ones((3, 3)))
        for path in (tmp_path / "a.npy", write("a.csv", "a,b,c\n1,2,3\n")):
            with pytest.raises(InputError, match="3 features, but the model has 2"):
                open_chunked(path, request=FeatureRequest(count=2))


def _peak(path: Path, target: str | None) -> int:
    tracemalloc.start()
    for _ in open_labelled(path, target=target).chunks(200):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    ("name", "head", "row", "target"),
    [
        ("a.csv", "x,y,kind\n", "1.25,{},{}\n", "kind"),
        ("a.libsvm", "", "{1} 1:1.25 2:{0}\n", None),
    ],
)
def test_memory_does_not_grow_with_the_file(
    write: Any, name: str, head: str, row: str, target: str | None
) -> None:
    rows = [row.format(number, number % 2) for number in range(16_000)]
    small = write("small" + name, head + "".join(rows[:2000]))
    large = write("large" + name, head + "".join(rows))
    _peak(small, target)  # what is loaded and cached once does not count
    assert _peak(large, target) < 2 * _peak(small, target)  # of eight times the rows
