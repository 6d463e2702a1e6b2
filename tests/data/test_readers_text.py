"""Readers of text formats on small files, their messages included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.io import arff as scipy_arff

from drmbench.data.readers import get_reader
from drmbench.data.readers.common import Blob, RawTable
from drmbench.errors import InputError


def read(reader: str, *contents: str, names: str = "file", **options: Any) -> RawTable:
    blobs = [
        Blob(f"{names}{number}", content.encode())
        for number, content in enumerate(contents, start=1)
    ]
    return get_reader(reader)(blobs, **options)


def refusal(reader: str, *contents: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(reader, *contents, **options)
    return str(caught.value)


KEEL = """@relation toys
@attribute Size real [0.0, 9.0]
@attribute Colour {red, green, blue}
@attribute Weight integer[1, 5]
@attribute Class{yes,no}
@inputs Size, Colour, Weight
@outputs Class
@data
1.5, blue, 3, yes
?, red, 4, no
2.0, <null>, 5, no
"""


class TestKeel:
    def test_header_gives_names_codes_and_missing_values(self) -> None:
        table = read("keel", KEEL)
        expected = [[1.5, 2, 3], [math.nan, 0, 4], [2, math.nan, 5]]
        np.testing.assert_array_equal(table.X, expected)
        assert table.feature_names == ("Size", "Colour", "Weight")
        assert table.nominal == (1,)
        assert table.labels.tolist() == ["yes", "no", "no"]

    def test_parts_tell_the_file(self) -> None:
        table = read("keel", KEEL, KEEL.replace("1.5,", "7.5,"))
        assert table.parts.tolist() == [0, 0, 0, 1, 1, 1]
        assert table.X[[0, 3], 0].tolist() == [1.5, 7.5]

    def test_without_inputs_and_outputs_the_last_column_is_the_class(self) -> None:
        lines = [line for line in KEEL.split("\n") if "puts" not in line]
        np.testing.assert_array_equal(
            read("keel", "\n".join(lines)).X, read("keel", KEEL).X
        )

    def test_output_may_stand_first(self) -> None:
        table = read(
            "keel",
            "@attribute Class {a,b}\n@attribute V real\n@output Class\n@data\na,1\nb,2",
        )
        assert table.X.ravel().tolist() == [1, 2]
        assert table.labels.tolist() == ["a", "b"]

    def test_raw_rows_are_coded_in_sorted_order_over_all_files(self) -> None:
        table = read("keel", "1, small, A\n", "2, big, B\n3,<null>,A\r\n")
        np.testing.assert_array_equal(table.X, [[1, 1], [2, 0], [3, math.nan]])
        assert table.nominal == (1,)
        assert table.labels.tolist() == ["A", "B", "A"]
        assert table.parts.tolist() == [0, 1, 1]

    def test_ranges_like_40_49_are_categories_not_numbers(self) -> None:
        table = read("keel", "40-49, x\n30-39, y\n")
        assert table.nominal == (0,)
        assert table.X.ravel().tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (KEEL.replace("blue, 3", "pink, 3"), "line 9, column 2 (Colour): expected"),
            (KEEL.replace("1.5, blue", "wide, blue"), "expected a number, found 'wide"),
            (KEEL.replace("4, no", "4, maybe"), "out of 'yes', 'no', found 'maybe'"),
            (KEEL.replace("3, yes", "yes"), "expected 3 columns"),
            (KEEL.replace("3, yes", "3, ?"), "line 9: the class label is missing"),
            (KEEL.replace("@data", ""), "line 9: expected @relation"),
            (KEEL.partition("@data")[0], "no @data line"),
            (KEEL.partition("1.5")[0], "no data in the file"),
            (KEEL.replace("@outputs Class", "@outputs Clas"), "Did you mean 'Class'?"),
            (KEEL.replace("@outputs Class", "@outputs Class, Size"), "one output"),
            (KEEL.replace("{yes,no}", "{yes,no"), "no closing brace"),
            (KEEL.replace("real [0.0, 9.0]", "date"), "has the type 'date'"),
            (KEEL.replace("Size real [0.0, 9.0]", ""), "needs a name and a type"),
            (KEEL.replace("@attribute Weight integer[1, 5]\n", ""), "3 columns that"),
            ("", "no data in the file"),
            ("1,2,a\n1,2\n", "line 2: expected 3 columns as in the rows before"),
            ("a\nb\n", "no feature column"),
        ],
    )
    def test_malformed_files_are_refused(self, content: str, expected: str) -> None:
        message = refusal("keel", content)
        assert expected in message
        assert "file1" in message

    def test_files_must_declare_the_same_columns(self) -> None:
        other = KEEL.replace("red, green", "green, red")
        assert "other columns than file1" in refusal("keel", KEEL, other)


ARFF = """% a comment
@RELATION 'my toys'

@attribute 'sepal length' NUMERIC
@attribute b {x, 'y z', "it's"}
@attribute Class {one, two}
@DATA
5.1, 'y z', one
% in between
?,"it's",two
"""


class TestArff:
    def test_quotes_comments_and_missing_values(self) -> None:
        table = read("arff", ARFF)
        np.testing.assert_array_equal(table.X, [[5.1, 1], [math.nan, 2]])
        assert table.feature_names == ("sepal length", "b")
        assert table.nominal == (1,)
        assert table.labels.tolist() == ["one", "two"]

    def test_target_may_be_any_attribute(self) -> None:
        table = read("arff", ARFF, target="b")
        assert table.labels.tolist() == ["y z", "it's"]
        assert table.feature_names == ("sepal length", "Class")
        assert "Did you mean 'Class'?" in refusal("arff", ARFF, target="class")

    def test_agrees_with_scipy(self, tmp_path: Any) -> None:
        content = "@relation r\n@attribute a real\n@attribute k {u,v}\n@data\n"
        content += "".join(f"{0.1 * i:.3f},{'uv'[i % 2]}\n" for i in range(30))
        path = tmp_path / "r.arff"
        path.write_text(content)
        records, _ = scipy_arff.loadarff(path)
        table = read("arff", content)
        np.testing.assert_array_equal(table.X[:, 0], records["a"])
        assert table.labels.tolist() == [label.decode() for label in records["k"]]

    def test_sparse_rows_and_string_attributes_are_refused(self) -> None:
        sparse = ARFF.replace("5.1, 'y z', one", "{0 5.1, 2 one}")
        assert "line 8: sparse ARFF" in refusal("arff", sparse)
        assert "type 'STRING'" in refusal("arff", ARFF.replace("NUMERIC", "STRING"))


class TestDelimited:
    def test_white_space_with_the_label_first(self) -> None:
        table = read("delimited", "  cat 1\t2\n dog  3 4\n\n", label=0)
        assert table.X.tolist() == [[1, 2], [3, 4]]
        assert table.labels.tolist() == ["cat", "dog"]

    def test_header_in_some_files_and_a_byte_order_mark(self) -> None:
        table = read(
            "delimited",
            "1,2,a\r\n",
            "\ufeffv,w,CLASS\r\n3,4,b\r\n",
            delimiter=",",
            header=[False, True],
        )
        assert table.X.tolist() == [[1, 2], [3, 4]]
        assert table.feature_names == ("v", "w")
        assert table.parts.tolist() == [0, 1]

    def test_quoted_cells_may_hold_the_delimiter(self) -> None:
        content = 'a,"the kind, if any"\n1,"x, y"\n'
        table = read(
            "delimited", content, delimiter=",", header=True, label="the kind, if any"
        )
        assert table.labels.tolist() == ["x, y"]

    @pytest.mark.parametrize(
        ("contents", "options", "expected"),
        [
            (["1,2,a\n1,x,a"], {}, "file1, line 2, column 2: expected a number"),
            (["1,2,a\n1,1_0,a"], {}, "found '1_0'"),
            (["1,2,a\n1,inf,a"], {}, "'inf' is not a finite number"),
            (["1,2,a\n1,1e999,a"], {}, "'1e999' is not a finite number"),
            (["1,2,a\n1,a"], {}, "line 2: expected 3 columns"),
            (["1,2,a\n", "1,a\n"], {}, "file2, line 1: expected 3 columns"),
            (["1,2,a\n1,2,\n"], {}, "line 2: the class label is missing"),
            (['1,2,a\n1,"2,a\n'], {}, "unexpected end of data"),
            (["p,q\n"], {"header": True}, "no rows below the header"),
            (["p,q\n1,a\n", "p,r\n1,a\n"], {"header": True}, "other column names"),
            (["p,kind\n1,a\n"], {"header": True, "label": "king"}, "mean 'kind'?"),
            (["1,a\n"], {"label": "kind"}, "the file has no header"),
            (["1,a\n"], {"label": 2}, "no column 2 among 2 columns"),
            (["1,a\n"], {"header": [True, False]}, "2 entries for 1 files"),
        ],
    )
    def test_malformed_files_are_refused(
        self, contents: list[str], options: dict[str, Any], expected: str
    ) -> None:
        assert expected in refusal("delimited", *contents, delimiter=",", **options)

    def test_bytes_that_are_no_text_are_refused_with_their_line(self) -> None:
        blob = Blob("a.csv", "1,2\n3,é\n".encode("latin-1"))
        with pytest.raises(InputError, match=r"a\.csv, line 2: not UTF-8 text .*0xe9"):
            get_reader("delimited")([blob])

    def test_zero_bytes_are_refused_with_their_line(self) -> None:
        assert "file1, line 2: a zero byte" in refusal("delimited", "1 a\n2 b\0\n")


class TestTicTacToe:
    def test_codes_are_the_same_for_uci_and_keel_spacing(self) -> None:
        tight = read("tic-tac-toe", "x,x,x,o,o,b,b,b,b,positive\n")
        loose = read("tic-tac-toe", "x, x, x, o, o, b, b, b, b, positive\n")
        np.testing.assert_array_equal(tight.X, [[1, 1, 1, 2, 2, 3, 3, 3, 3]])
        np.testing.assert_array_equal(tight.X, loose.X)
        assert tight.nominal == tuple(range(9))

    def test_other_symbols_are_refused(self) -> None:
        assert "expected one of 'x', 'o', 'b'" in refusal("tic-tac-toe", "x,0,positive")


class TestSemeion:
    @staticmethod
    def row(digit: int) -> str:
        pixels = ["1.0000" if j == digit else "0.0000" for j in range(256)]
        marks = ["1" if j == digit else "0" for j in range(10)]
        return " ".join([*pixels, *marks]) + " \r\n"

    def test_stray_last_byte_is_dropped(self) -> None:
        table = read("semeion", self.row(3) + self.row(0) + "E")
        assert table.labels.tolist() == ["3", "0"]
        assert table.X.argmax(axis=1).tolist() == [3, 0]
        assert table.X.shape == (2, 256)

    @pytest.mark.parametrize(
        ("damage", "expected"),
        [
            (("\nE", "\nF"), "expected 266 columns"),
            ((" 1 0 \r\nE", " 0 0 \r\nE"), "expected a single 1"),
            ((" 1 0 \r\nE", " 1 1 \r\nE"), "expected a single 1"),
            ((" 0 1 0 \r\nE", " 0 1 \r\nE"), "expected 256 pixels"),
        ],
    )
    def test_anything_else_is_refused(
        self, damage: tuple[str, str], expected: str
    ) -> None:
        content = (self.row(8) + "E").replace(*damage)
        assert expected in refusal("semeion", content)


class TestCompcancer:
    def test_genes_in_rows_become_columns(self) -> None:
        table = read(
            "compcancer", 'GENES\tALL\tAML\tALL\n"g_1"\t1\t2\t3\ng2\t4\t5\t6\n'
        )
        assert table.X.tolist() == [[1, 4], [2, 5], [3, 6]]
        assert table.labels.tolist() == ["ALL", "AML", "ALL"]
        assert table.feature_names == ("g_1", "g2")

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("GENE\tA\ng\t1\n", "line 1: expected 'GENES'"),
            ("GENES\tA\tB\ng\t1\n", "line 2: expected 3 columns"),
            ("GENES\tA\tB\ng\t1\tx\n", "line 2, column 3: expected a number"),
            ("GENES\tA\tB\n", "no rows below the header"),
        ],
    )
    def test_malformed_files_are_refused(self, content: str, expected: str) -> None:
        assert expected in refusal("compcancer", content)


class TestEsl14cancer:
    FILES = (
        ("14cancer.ytest", " 2\n"),
        ("14cancer.xtrain", " -73.0  -16.0\n 1 2\n 5 6\n"),
        ("14cancer.ytrain", " 1 14\n"),
        ("14cancer.xtest", "9\n8\n7\n"),
    )

    def read(self, **replaced: str) -> RawTable:
        blobs = [
            Blob(name, replaced.get(name.rpartition(".")[2], content).encode())
            for name, content in self.FILES
        ]
        return get_reader("esl14cancer")(blobs)

    def test_samples_are_columns_and_files_come_in_any_order(self) -> None:
        table = self.read()
        assert table.X.tolist() == [[-73, 1, 5], [-16, 2, 6], [9, 8, 7]]
        assert table.labels.tolist() == ["1", "14", "2"]
        assert table.parts.tolist() == [0, 0, 1]

    @pytest.mark.parametrize(
        ("replaced", "expected"),
        [
            ({"ytrain": "1 2 3"}, "2 samples but 3 class labels"),
            ({"xtest": "9\n8\n"}, "2 features, but the training set has 3"),
            ({"xtest": "9\n8\n"}, r"14cancer\.xtest: 2 features"),
            ({"xtrain": "1 2\n3\n"}, "line 2: expected 2 columns"),
            ({"xtrain": ""}, "14cancer.xtrain: no data"),
        ],
    )
    def test_malformed_files_are_refused(
        self, replaced: dict[str, str], expected: str
    ) -> None:
        with pytest.raises(InputError, match=expected):
            self.read(**replaced)

    def test_a_missing_file_is_named(self) -> None:
        with pytest.raises(InputError, match=r"one file \*\.xtrain"):
            get_reader("esl14cancer")([Blob("14cancer.xtest", b"1")])
