"""Readers of binary array formats and images on small files made here."""

from __future__ import annotations

import bz2
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rdata
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_array
from sklearn.datasets import dump_svmlight_file

from drmbench.data.readers import get_reader, libsvm
from drmbench.data.readers import images as image_reader
from drmbench.data.readers.common import Blob, RawTable
from drmbench.errors import InputError

X = np.array([[1.5, 0.0, -2.0], [0.0, 3.25, 4.0], [7.0, 8.0, 9.0], [0.0, 0.0, 1.0]])


def read(reader: str, *contents: bytes, **options: Any) -> RawTable:
    blobs = [Blob(f"file{i}", content) for i, content in enumerate(contents, start=1)]
    return get_reader(reader)(blobs, **options)


def refusal(reader: str, *contents: bytes, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(reader, *contents, **options)
    return str(caught.value)


class TestLibsvm:
    @staticmethod
    def dump(samples: Any, labels: Any) -> bytes:
        file = io.BytesIO()
        dump_svmlight_file(samples, labels, file, zero_based=False)
        return file.getvalue()

    @pytest.mark.parametrize("compress", [bytes, bz2.compress])
    def test_what_scikit_learn_writes(self, compress: Callable[..., bytes]) -> None:
        table = read("libsvm", compress(self.dump(X, [1, -1, 1, 2.5])))
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == ["1", "-1", "1", "2.5"]

    def test_files_share_the_largest_index(self) -> None:
        table = read("libsvm", b"1 1:5\n", b"2 3:1 # a comment\n")
        assert table.X.tolist() == [[5, 0, 0], [0, 0, 1]]
        assert table.parts.tolist() == [0, 1]

    def test_number_of_features_can_be_given(self) -> None:
        assert read("libsvm", b"1 1:5\n2 2:1\n", n_features=4).X.shape == (2, 4)

    @pytest.mark.parametrize(
        ("content", "options", "expected"),
        [
            (b"1 1:5\nx 1:5\n", {}, "line 2: expected 'label index:value …', found 'x"),
            (b"1 1:5\n1 2:\n", {}, "file1, line 2"),
            (b"1 1:5\n1 2\n", {}, "file1, line 2"),
            (b"1,2 1:5\n", {}, "file1, line 1"),
            (b"1 2:5 1:5\n", {}, "not a readable LIBSVM file"),
            (b"1 0:5\n", {}, "indices start at 1"),
            (b"1 5:1\n", {"n_features": 4}, "feature index 5 in data of 4 features"),
            (b"1 1:inf\n", {}, "1 infinite values, the first in sample 1, feature 1"),
            (b"1 99999999:1\n" * 9, {}, "GiB as a dense matrix"),
            (b"", {}, "no data in the file"),
            (b"1\n2\n", {}, "found shape (2, 0)"),
            (b"nan 1:1\n", {}, "sample 1 has no class label"),
        ],
    )
    def test_malformed_files_are_refused(
        self, content: bytes, options: dict[str, Any], expected: str
    ) -> None:
        assert expected in refusal("libsvm", content, **options)

    def test_the_limit_of_dense_data_is_some_gigabytes(self) -> None:
        assert 2**30 <= 8 * libsvm.MAX_DENSE_CELLS <= 2**33


class TestMat:
    @staticmethod
    def save(**variables: Any) -> bytes:
        file = io.BytesIO()
        savemat(file, variables)
        return file.getvalue()

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            ([[1, 2, 1, 3]], ["1", "2", "1", "3"]),
            ([[1.0], [2.0], [1.0], [0.5]], ["1", "2", "1", "0.5"]),
            (np.array(["cat", "dog", "cat", "ox"]), ["cat", "dog", "cat", "ox"]),
            (np.array(["a", "b", "c", "dd"], dtype=object), ["a", "b", "c", "dd"]),
            (np.array([True, False, True, True]), ["True", "False", "True", "True"]),
        ],
    )
    def test_labels_of_any_kind(self, labels: Any, expected: list[str]) -> None:
        table = read("mat", self.save(X=X, Y=labels))
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == expected

    def test_named_variables_with_samples_in_columns(self) -> None:
        content = self.save(DATA=X.T.astype(np.uint8), Label=[[1, 2, 3, 4]], other=X)
        table = read("mat", content, x="DATA", y="Label", transpose=True)
        np.testing.assert_array_equal(table.X, X.astype(np.uint8))

    def test_the_only_matrix_is_found_and_turned(self) -> None:
        table = read("mat", self.save(anything=X.T, gnd=[1, 2, 3, 4]))
        np.testing.assert_array_equal(table.X, X)

    def test_a_square_matrix_has_its_samples_in_rows(self) -> None:
        table = read("mat", self.save(X=X[:3], Y=[1, 2, 3]))
        np.testing.assert_array_equal(table.X, X[:3])

    def test_sparse_matrices_become_dense(self) -> None:
        table = read("mat", self.save(X=csc_array(X), Y=[1, 2, 3, 4]))
        np.testing.assert_array_equal(table.X, X)

    @pytest.mark.parametrize(
        ("variables", "options", "expected"),
        [
            ({"X": X, "Y": [1, 2]}, {}, "4 samples but 2 class labels"),
            ({"X": X, "Z": [1, 2, 3, 4]}, {}, "which variable holds the labels"),
            ({"A": X, "B": X, "y": [1] * 4}, {}, "which variable holds the samples"),
            ({"X": X, "Y": [1] * 4}, {"x": "fea"}, "Variables: X, Y"),
            ({"X": X * 1j, "Y": [1] * 4}, {"x": "X"}, "variable 'X' is complex"),
            ({"X": np.where(X == 7, np.inf, X), "Y": [1] * 4}, {}, "infinite values"),
            ({"X": X, "Y": [1, 2, np.nan, 4]}, {}, "sample 3 has no class label"),
            (
                {"X": X, "Y": np.array(["a", X, "b", "c"], dtype=object)},
                {},
                "sample 2 has no class label of its own",
            ),
            ({"X": X, "Y": X}, {}, "one class label per sample, found shape (4, 3)"),
            ({"X": {"a": 1}, "Y": [1] * 4}, {"x": "X"}, "variable 'X' is struct"),
        ],
    )
    def test_unusable_content_is_refused(
        self, variables: dict[str, Any], options: dict[str, Any], expected: str
    ) -> None:
        assert expected in refusal("mat", self.save(**variables), **options)

    def test_damaged_and_newer_files_are_refused(self) -> None:
        whole = self.save(X=X, Y=[1, 2, 3, 4])
        assert "not a readable MATLAB file" in refusal("mat", whole[:300])
        assert "not a readable MATLAB file" in refusal("mat", b"")
        assert "save(..., '-v7')" in refusal("mat", b"MATLAB 7.3 MAT-file" + bytes(500))


class TestNpz:
    @staticmethod
    def save(**arrays: Any) -> bytes:
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            (["b", "a ", "b", "a"], ["b", "a", "b", "a"]),
            ([3, 1, 2, 1], ["3", "1", "2", "1"]),
            ([True, False, True, True], ["True", "False", "True", "True"]),
            ([b"u", b"v", b"u", b"v"], ["u", "v", "u", "v"]),
            ([0.5, 1.0, 0.5, 2.0], ["0.5", "1", "0.5", "2"]),
        ],
    )
    def test_labels_of_any_kind(self, labels: Any, expected: list[str]) -> None:
        table = read("npz", self.save(X=X, y=labels))
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == expected

    def test_other_names_and_missing_values(self) -> None:
        data = np.where(X == 7, np.nan, X).astype(np.float32)
        table = read("npz", self.save(data=data, kind=[1, 2, 1, 2]), x="data", y="kind")
        np.testing.assert_array_equal(table.X, data)
        assert table.X.dtype == np.float64

    def test_pickled_objects_are_never_loaded(self) -> None:
        content = self.save(X=X, y=np.array(["a", None, "b", "c"], dtype=object))
        assert "allow_pickle=False" in refusal("npz", content)

    def test_unusable_content_is_refused(self) -> None:
        assert "Did you mean 'Y'?" in refusal("npz", self.save(X=X, Y=[1]))
        assert "expected the samples as a matrix" in refusal(
            "npz", self.save(X=X[0], y=[1])
        )
        assert "expected real numbers" in refusal(
            "npz", self.save(X=X.astype(str), y=[1] * 4)
        )
        single = io.BytesIO()
        np.save(single, X)
        assert "not an npz archive" in refusal("npz", single.getvalue())
        assert "not a readable npz" in refusal("npz", self.save(X=X, y=[1])[:-30])
        assert "not a readable npz" in refusal("npz", b"no zip at all")

    def test_files_must_have_the_same_features(self) -> None:
        contents = [self.save(X=X, y=[1] * 4), self.save(X=X[:, :2], y=[1] * 4)]
        assert "file2: 2 features, but file1 has 3" in refusal("npz", *contents)

    @pytest.mark.parametrize(
        ("said", "damaged"), [(b"(900, 3)", b"(900, 1)"), (b"'<f8'", b"'<f4'")]
    )
    def test_an_array_with_another_header_is_refused(
        self, said: bytes, damaged: bytes
    ) -> None:
        content = self.save(X=np.ones((900, 3)), y=np.arange(900) % 2)
        assert said in content
        altered = content.replace(said, damaged, 1)
        assert "its header says" in refusal("npz", altered)


class TestNci60:
    def test_numbers_from_npy_and_labels_from_csv(self) -> None:
        file = io.BytesIO()
        np.save(file, X)
        labels = b'label\n"CNS"\n"RENAL"\n"CNS"\n"K562A-repro"\n'
        blobs = [Blob("NCI60labs.csv", labels), Blob("NCI60data.npy", file.getvalue())]
        table = get_reader("nci60")(blobs)
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == ["CNS", "RENAL", "CNS", "K562A-repro"]

    def test_damaged_numbers_are_refused(self) -> None:
        blobs = [Blob("a.npy", b"\x93NUMPY"), Blob("labs.csv", b"label\nx\n")]
        with pytest.raises(InputError, match="not a readable npy file"):
            get_reader("nci60")(blobs)


class TestKhan:
    def test_two_parts_of_two_files_each(self) -> None:
        blobs = [
            Blob("Khan_xtest.csv", b'"V1","V2"\n5,6\n'),
            Blob("Khan_xtrain.csv", b'"V1","V2"\n1,2\n3,4\n'),
            Blob("Khan_ytest.csv", b'"x"\n3\n'),
            Blob("Khan_ytrain.csv", b'"x"\n2\n4\n'),
        ]
        table = get_reader("khan")(blobs)
        assert table.X.tolist() == [[1, 2], [3, 4], [5, 6]]
        assert table.labels.tolist() == ["2", "4", "3"]
        assert table.parts.tolist() == [0, 0, 1]
        assert table.feature_names == ("V1", "V2")


class TestPgm:
    def test_plain_and_binary_with_comments(self) -> None:
        images = [
            Blob("faces/s1/1.pgm", b"P5\n# camera\n3 2\n255\n" + bytes(range(6))),
            Blob("faces/s2/1.pgm", b"P2 3 2 # wide\n 9\n5 4 3\n2 1 0\n"),
        ]
        table = get_reader("pgm")(images)
        assert table.X.tolist() == [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]]
        assert table.labels.tolist() == ["s1", "s2"]
        assert table.parts.tolist() == [0, 1]

    @pytest.mark.parametrize("dtype", ["uint8", "uint16"])
    def test_what_pillow_writes(self, dtype: str) -> None:
        levels = np.arange(12, dtype=dtype).reshape(3, 4) * (
            300 if dtype[4:] == "16" else 20
        )
        file = io.BytesIO()
        Image.fromarray(levels).save(file, format="PPM")
        table = get_reader("pgm")([Blob("a/b.pgm", file.getvalue())])
        np.testing.assert_array_equal(table.X, [levels.ravel()])

    @pytest.mark.parametrize(
        ("name", "content", "expected"),
        [
            ("s/1.pgm", b"P6 1 1 255\n1", "no PGM header"),
            ("s/1.pgm", b"P5 3 2 255\n12345", "expected 6 pixels (3 × 2), found 5"),
            ("s/1.pgm", b"P5 999999999 999999999 255\n1", "pixels (999999999 × "),
            ("s/1.pgm", b"P5 0 2 255\n", "impossible PGM header"),
            ("s/1.pgm", b"P5 1 2 70000\n12", "impossible PGM header"),
            ("s/1.pgm", b"P2 2 1 9\n5 x", "a pixel is not a number"),
            ("s/1.pgm", b"P2 2 1 9\n5 10", "brighter than the maximum 9"),
            ("1.pgm", b"P2 2 1 9\n5 1", "no folder in the name"),
        ],
    )
    def test_malformed_images_are_refused(
        self, name: str, content: bytes, expected: str
    ) -> None:
        with pytest.raises(InputError) as caught:
            get_reader("pgm")([Blob(name, content)])
        assert expected in str(caught.value)
        assert name in str(caught.value)

    def test_images_must_have_one_size(self) -> None:
        images = [Blob("s/1.pgm", b"P2 2 1 9\n5 1"), Blob("s/2.pgm", b"P2 1 2 9\n5 1")]
        with pytest.raises(InputError, match=r"s/2.pgm: 1 × 2 pixels, but s/1.pgm has"):
            get_reader("pgm")(images)


class TestAr:
    def content(self, people: int = 100) -> bytes:
        labels = np.repeat(np.arange(1, people + 1), 2)
        rows, columns = np.mgrid[: image_reader.AR_HEIGHT, : image_reader.AR_WIDTH]
        images = [label + 2.0 * rows + columns for label in labels]
        pixels = np.array([image.ravel(order="F") for image in images]).T
        return TestMat.save(DATA=pixels.astype(np.uint8), Label=labels[None, :])

    def test_fifty_people_as_32_by_32_columns_first(self) -> None:
        table = read("ar", self.content())
        assert table.X.shape == (100, 1024)
        assert sorted(set(map(int, table.labels))) == [*range(1, 26), *range(51, 76)]
        image = table.X[0].reshape(32, 32, order="F")
        # A plane stays a plane: 2 a row over 42 rows, 1 a column over 30 columns.
        assert image[16, 5] - image[8, 5] == pytest.approx(8 * 2 * 42 / 32, abs=1)
        assert image[9, 24] - image[9, 8] == pytest.approx(16 * 30 / 32, abs=1)

    def test_grey_levels_are_whole_and_in_range(self) -> None:
        noisy = (
            np.random.default_rng(0).integers(
                0, 2, (image_reader.AR_HEIGHT * image_reader.AR_WIDTH, 2)
            )
            * 255
        )
        table = read("ar", TestMat.save(DATA=noisy, Label=[[1, 51]]))
        assert np.array_equal(table.X, np.rint(table.X))
        assert table.X.min() == 0
        assert table.X.max() == 255

    def test_resizing_agrees_with_pillow(self) -> None:
        image = np.random.default_rng(1).uniform(
            0, 255, (image_reader.AR_HEIGHT, image_reader.AR_WIDTH)
        )
        picture = Image.fromarray(image.astype(np.float32))
        expected = np.asarray(picture.resize((32, 32), Image.Resampling.BICUBIC))
        np.testing.assert_allclose(
            image_reader.resize(image[None], 32, 32)[0], expected, atol=1e-3
        )

    @pytest.mark.parametrize(("source", "target"), [(42, 32), (30, 32), (5, 5), (3, 9)])
    def test_weights_sum_to_one(self, source: int, target: int) -> None:
        weights = image_reader.resize_weights(source, target)
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        if source == target:
            np.testing.assert_allclose(weights, np.eye(source), atol=1e-15)

    def test_other_layouts_are_refused(self) -> None:
        content = TestMat.save(DATA=np.ones((5, 2)), Label=[[1, 2]])
        assert "expected DATA with 1260 rows" in refusal("ar", content)


class TestRdata:
    @staticmethod
    def save(tmp_path: Any, name: str = "sun.RData", **objects: Any) -> Blob:
        path = tmp_path / name
        rdata.write_rda(path, objects)
        return Blob(name, path.read_bytes())

    # R's ascii serialisation, value by value, of
    # sun <- list(x = matrix(c(1, 2, 3, NA), 2, dimnames = list(NULL, c("g1", "g2"))),
    #             y = c("a", "b"))
    BY_HAND = (
        "RDA2 A 2 197123 131840"
        " 1026 1 262153 3 sun"
        " 531 2"
        " 526 4 1 2 3 NA"
        " 1026 1 262153 3 dim 13 2 2 2"
        " 1026 1 262153 8 dimnames 19 2 254 16 2 262153 2 g1 262153 2 g2"
        " 254"
        " 16 2 262153 1 a 262153 1 b"
        " 1026 1 262153 5 names 16 2 262153 1 x 262153 1 y"
        " 254 254"
    )

    def test_list_of_matrix_and_factor(self, tmp_path: Any) -> None:
        kinds = pd.Categorical(["glioma", "normal", "glioma", "normal"])
        blob = self.save(tmp_path, sun={"x": X, "y": kinds})
        table = get_reader("rdata")([blob])
        np.testing.assert_array_equal(table.X, X)
        assert table.labels.tolist() == ["glioma", "normal", "glioma", "normal"]

    def test_list_of_data_frame_and_labels(self, tmp_path: Any) -> None:
        frame = pd.DataFrame({"g1": [1.5, 2.5], "g2": [3, 4]})
        blob = self.save(tmp_path, sun={"x": frame, "y": ["u", "v"]})
        table = get_reader("rdata")([blob])
        assert table.X.tolist() == [[1.5, 3], [2.5, 4]]
        assert table.feature_names == ("g1", "g2")

    def test_gene_names_and_missing_values_of_a_matrix(self) -> None:
        content = self.BY_HAND.replace(" ", "\n").encode() + b"\n"
        table = get_reader("rdata")([Blob("sun.RData", content)])
        np.testing.assert_array_equal(table.X, [[1, 3], [2, np.nan]])
        assert table.feature_names == ("g1", "g2")
        assert table.labels.tolist() == ["a", "b"]

    def test_data_frames_with_the_label_last_are_joined(self, tmp_path: Any) -> None:
        train = pd.DataFrame({"V1": [1, 2], "V2": [0.5, 1.5], "V3": [0, 1]})
        test = pd.DataFrame({"V1": [3], "V2": [2.5], "V3": [1]})
        blobs = [
            self.save(tmp_path, "prostate.train.rda", **{"prostate.train": train}),
            self.save(tmp_path, "prostate.test.rda", **{"prostate.test": test}),
        ]
        table = get_reader("rdata")(blobs, classes={"0": "tumour", "1": "normal"})
        assert table.X.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5]]
        assert table.labels.tolist() == ["tumour", "normal", "normal"]
        assert table.parts.tolist() == [0, 0, 1]
        assert table.feature_names == ("V1", "V2")

    def test_missing_integers_become_nan(self, tmp_path: Any) -> None:
        gaps = pd.array([1, None], dtype="Int32")
        frame = pd.DataFrame({"V1": gaps, "V2": [3, 4], "y": [0, 1]})
        table = get_reader("rdata")([self.save(tmp_path, only=frame)])
        np.testing.assert_array_equal(table.X, [[1, 3], [np.nan, 4]])

    def test_the_object_named_like_the_file_is_taken(self, tmp_path: Any) -> None:
        content = {"x": X, "y": ["a", "b", "a", "b"]}
        other = {"x": X[:2], "y": ["a", "b"]}
        blob = self.save(tmp_path, "golub.RData", golub_train=other, golub=content)
        assert get_reader("rdata")([blob]).X.shape == (4, 3)
        chosen = get_reader("rdata")([blob], object_name="golub_train")
        assert chosen.X.shape == (2, 3)

    @pytest.mark.parametrize(
        ("objects", "options", "expected"),
        [
            ({"a": 1, "b": 2}, {}, "no object is named 'sun'. Objects: a, b"),
            ({"sun": {"x": X}}, {}, "expected a list of x and y or a data frame"),
            ({"sun": X}, {}, "expected a list of x and y or a data frame"),
            ({"sun": {"x": X, "y": ["a"]}}, {}, "4 samples but 1 class labels"),
            ({"sun": pd.DataFrame({"y": [1]})}, {}, "expected feature columns"),
            (
                {"sun": {"x": X[:2], "y": pd.Categorical(["a", None])}},
                {},
                "sample 2 has no class label",
            ),
            (
                {"sun": pd.DataFrame({"V1": [1], "y": [2]})},
                {"classes": {"0": "tumour"}},
                "expected labels 0, found '2'",
            ),
        ],
    )
    def test_unusable_content_is_refused(
        self,
        tmp_path: Any,
        objects: dict[str, Any],
        options: dict[str, Any],
        expected: str,
    ) -> None:
        with pytest.raises(InputError) as caught:
            get_reader("rdata")([self.save(tmp_path, **objects)], **options)
        assert expected in str(caught.value)
        assert "sun.RData" in str(caught.value)

    def test_damaged_files_are_refused(self, tmp_path: Any) -> None:
        whole = self.save(tmp_path, sun={"x": X, "y": ["a", "b", "a", "b"]}).data
        for damaged in (whole[:-30], b"RDX3\nX\n", b"not R at all", b""):
            assert "not a readable R data file" in refusal("rdata", damaged)
