"""A person's own files: every format, every kind of label, every message."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from drmbench.data.user import SUFFIXES, load_user_file
from drmbench.errors import InputError

CSV = "size,colour,kind\n1.5,red,cat\n2,blue,dog\n3,red,cat\n"


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        return path

    return write_file


def refusal(path: Path, target: str | None = "kind", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_user_file(path, target=target, **options)
    return str(caught.value)


class TestTables:
    def test_numbers_categories_and_provenance(self, write: Any) -> None:
        data = load_user_file(write("pets.csv", CSV), target="kind")
        assert data.name == "pets"
        assert data.X.tolist() == [[1.5, 1], [2, 0], [3, 1]]
        assert data.feature_names == ("size", "colour")
        assert data.nominal == (1,)
        assert data.class_names == ("cat", "dog")
        assert data.y.tolist() == [0, 1, 0]
        digest = hashlib.sha256(CSV.encode()).hexdigest()
        assert data.provenance.source == "file"
        assert data.provenance.files == {"pets.csv": f"sha256:{digest}"}

    def test_name_can_be_given(self, write: Any) -> None:
        data = load_user_file(write("pets.csv", CSV), target="kind", name="my pets")
        assert data.name == "my pets"

    def test_target_may_be_any_column(self, write: Any) -> None:
        data = load_user_file(write("pets.csv", CSV), target="colour")
        assert data.class_names == ("blue", "red")
        assert data.feature_names == ("size", "kind")

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.tsv", CSV.replace(",", "\t")),
            ("a.csv", CSV.replace(",", ";")),
            ("a.csv", CSV.replace(",", "\t")),
            ("A.CSV", CSV),
            ("a.csv", CSV.replace("\n", "\r\n")),
            ("a.csv", CSV.replace("\n", "\r")),
            ("a.csv", "  \n" + CSV.replace(",", ";")),
            ("a.csv", "\ufeff" + CSV),
            ("a.csv", CSV.replace("red", '"red"').replace(",", ", ")),
            ("a.csv", CSV + "\n,,\n"),
            ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
            ("a.csv.bz2", bz2.compress(CSV.encode())),
        ],
    )
    def test_spellings_of_the_same_table(
        self, write: Any, name: str, content: str | bytes
    ) -> None:
        data = load_user_file(write(name, content), target="kind")
        assert data.name.lower() == "a"
        assert data.X.tolist() == [[1.5, 1], [2, 0], [3, 1]]
        assert data.class_names == ("cat", "dog")

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            (["yes", "no", "yes"], ("no", "yes")),
            (["10", "9", "10"], ("9", "10")),
            (["-1", "+1", "-1"], ("-1", "+1")),
            (["True", "False", "True"], ("False", "True")),
            (["0.5", "1.5", "0.5"], ("0.5", "1.5")),
            (["9", "10", "b"], ("10", "9", "b")),
            (["größer", "日本", "größer"], ("größer", "日本")),
        ],
    )
    def test_labels_of_any_kind(
        self, write: Any, labels: list[str], expected: tuple[str, ...]
    ) -> None:
        rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels))
        data = load_user_file(write("a.csv", "v,kind\n" + rows), target="kind")
        assert data.class_names == expected
        assert [data.class_names[number] for number in data.y] == labels


MISSING = "a,b,c,kind\n1,,x,u\n2,5,NA,v\n3,?,y,u\n"
NUMBERED = "\n".join(f"{i},p{i},{'uv'[i % 2]}" for i in range(25))
MEASURED = "\n".join(f"{i},{i * 0.37}" for i in range(10))
UNIQUE = "\n".join(f"{i},{i}" for i in range(25))


class TestTableMessages:
    @pytest.mark.parametrize(
        ("content", "target", "expected"),
        [
            (CSV, None, "say which column holds the class"),
            (CSV, None, "Columns: size, colour, kind"),
            (CSV, "knid", "no column is named 'knid'. Did you mean 'kind'? Columns:"),
            ("a,kind\n1,\n2,NaN\n", "kind", "'kind' has no value in any row"),
            ("a,kind\n1,u\n2,u\n", "kind", "all 2 rows have the class 'u'"),
            ("a,a,kind\n1,1,u\n", "kind", "duplicate column names: 'a'"),
            ("5,2,3\n4,5,6\n", "3", "Columns: column1, column2, column3"),
            ("a,kind\n", "kind", "no rows below the header"),
            ("kind\nu\nv\n", "kind", "no feature column"),
            ("a,kind\n1,u\n2,v,9\n", "kind", "line 3: expected 2 columns"),
            (
                "a,kind\n1,u\n2,v\nx,u\n",
                "kind",
                "line 4, column 'a': expected a number",
            ),
            (
                "a,kind\n1,u\ninf,v\n",
                "kind",
                "line 3, column 1 (a): 'inf' is not a fin",
            ),
            ("a;kind\n1,500;u\n2,500;v\n", "kind", "line 2, column 'a': '1,500' may"),
            (
                "i,id,kind\n" + NUMBERED,
                "kind",
                "no feature column is left. 'i': number",
            ),
            ("i,id,kind\n" + NUMBERED, "kind", "'id': another text in each of 25 rows"),
            ("a,kind\n" + MEASURED, "kind", "looks like regression"),
            (
                "a,kind\n" + UNIQUE,
                "kind",
                "every one of the 25 rows has a class of its",
            ),
            ('a,kind\n1,"u\n', "kind", "unexpected end of data"),
            ("", "kind", "the file is empty"),
            (" \n\n", "kind", "the file is empty"),
        ],
    )
    def test_each_problem_has_its_own_message(
        self, write: Any, content: str, target: str | None, expected: str
    ) -> None:
        message = refusal(write("mine.csv", content), target)
        assert expected in message
        assert "mine.csv" in message

    def test_missing_values_where_the_data_must_be_complete(self, write: Any) -> None:
        message = refusal(write("mine.csv", MISSING), complete=True)
        assert (
            "mine.csv: 3 missing values, in columns 'b', 'c', the first in" in message
        )
        assert "the first in line 2;" in message
        assert "`protocol.preparation: table`" in message

    def test_many_missing_columns_are_summed_up(self, write: Any) -> None:
        names = ",".join(f"c{i}" for i in range(9))
        path = write("mine.csv", f"{names},kind\n{'?,' * 9}u\n{'1,' * 9}v\n")
        assert "9 missing values, in columns 'c0'" in refusal(path, complete=True)
        assert "'c4' and 4 more" in refusal(path, complete=True)

    def test_text_in_another_encoding_than_said_names_the_line(
        self, write: Any
    ) -> None:
        path = write("mine.csv", "a,kind\n1,u\n2,größer\n".encode("latin-1"))
        message = refusal(path, encoding="utf-8")
        assert "mine.csv, line 3: not utf-8-sig text" in message
        assert "--encoding" in message
        assert "no encoding is called 'latin-99'" in refusal(path, encoding="latin-99")


class TestFiles:
    def test_no_such_file_suggests_a_neighbour(self, write: Any) -> None:
        path = write("penguins.csv", CSV)
        message = refusal(path.with_name("pengiuns.csv"))
        assert "no such file. Did you mean 'penguins.csv'?" in message

    def test_no_such_folder(self, tmp_path: Path) -> None:
        assert "no such file" in refusal(tmp_path / "nowhere" / "a.csv")

    def test_a_directory(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder.csv"
        folder.mkdir()
        assert "a directory, not a file" in refusal(folder)

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0,
        reason="the superuser may read every file",
    )
    def test_a_file_without_permission(self, write: Any) -> None:
        path = write("a.csv", CSV)
        path.chmod(0)
        assert "cannot be read" in refusal(path)

    @pytest.mark.parametrize("name", ["a.xls", "a.txt", "a", "csv", "a.gz"])
    def test_unknown_endings_list_the_valid_ones(self, write: Any, name: str) -> None:
        message = refusal(write(name, CSV))
        assert all(suffix in message for suffix in SUFFIXES)


class TestOtherFormats:
    X = np.array([[1.0, 0.5], [2.0, 1.5], [3.0, 2.5], [4.0, 3.5]])

    def save_npz(self, tmp_path: Path, **arrays: Any) -> Path:
        path = tmp_path / "mine.npz"
        np.savez(path, **arrays)
        return path

    def test_npz(self, tmp_path: Path) -> None:
        path = self.save_npz(tmp_path, X=self.X, y=[True, False, True, True])
        data = load_user_file(path)
        np.testing.assert_array_equal(data.X, self.X)
        assert data.class_names == ("False", "True")
        assert data.y.tolist() == [1, 0, 1, 1]

    def test_npz_with_a_target_of_another_name(self, tmp_path: Path) -> None:
        path = self.save_npz(tmp_path, X=self.X, kind=[3, 1, 3, 1])
        assert load_user_file(path, target="kind").class_names == ("1", "3")
        assert "no array is named 'y'" in refusal(path, None)

    def test_npz_with_missing_values_or_one_class(self, tmp_path: Path) -> None:
        gaps = np.where(self.X == 2.5, np.nan, self.X)
        path = self.save_npz(tmp_path, X=gaps, y=[0, 1, 0, 1])
        np.testing.assert_array_equal(load_user_file(path).X, gaps)
        assert "1 missing values, in column 2, the first in sample 3" in refusal(
            path, None, complete=True
        )
        path = self.save_npz(tmp_path, X=self.X, y=[7, 7, 7, 7])
        assert "all 4 rows have the class '7'" in refusal(path, None)
        path = self.save_npz(tmp_path, X=self.X, y=[0.1, 0.2, 0.3, 0.4])
        assert "looks like regression" in refusal(path, None)

    def test_arff(self, write: Any) -> None:
        content = (
            "@relation r\n@attribute a real\n@attribute k {u,v}\n@data\n1,v\n2,u\n"
        )
        data = load_user_file(write("mine.arff", content))
        assert data.class_names == ("u", "v")
        assert data.y.tolist() == [1, 0]
        assert "no attribute is named 'kk'" in refusal(
            write("mine.arff", content), "kk"
        )
        twice = content.replace("@attribute k", "@attribute a real\n@attribute k")
        twice = twice.replace("1,v", "1,1,v").replace("2,u", "2,2,u")
        assert "duplicate column names: 'a'" in refusal(write("t.arff", twice), None)

    @pytest.mark.parametrize(
        ("name", "compress"), [("m.libsvm", bytes), ("m.svm.bz2", bz2.compress)]
    )
    def test_libsvm(self, write: Any, name: str, compress: Any) -> None:
        path = write(name, compress(b"+1 1:0.5\n-1 2:1\n"))
        data = load_user_file(path)
        assert data.name == "m"
        assert data.X.tolist() == [[0.5, 0], [0, 1]]
        assert data.class_names == ("-1", "1")
        assert "leave the target 'kind' out" in refusal(path)

    def test_mat(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.mat"
        savemat(path, {"fea": self.X.T, "kind": np.array(["a", "b", "a", "b"])})
        data = load_user_file(path, target="kind")
        np.testing.assert_array_equal(data.X, self.X)
        assert data.class_names == ("a", "b")
        assert "which variable holds the labels" in refusal(path, None)

    @pytest.mark.parametrize("suffix", [".npz", ".mat", ".arff", ".libsvm"])
    def test_garbage(self, write: Any, suffix: str) -> None:
        assert "mine" in refusal(write(f"mine{suffix}", b"\x00\x01garbage"), None)


@given(
    content=st.binary(max_size=120)
    | st.text("a1.,;\n\t\"'?", max_size=120).map(str.encode),
    suffix=st.sampled_from(sorted(SUFFIXES)),
)
@settings(
    deadline=None,
    derandomize=True,
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_bytes_load_or_are_refused(
    tmp_path: Path, content: bytes, suffix: str
) -> None:
    path = tmp_path / f"any{suffix}"
    path.write_bytes(content)
    try:
        data = load_user_file(path, target=None if suffix == ".libsvm" else "a")
    except InputError:
        return
    assert not np.isinf(data.X).any()
    assert data.n_classes >= 2
