"""The Broad Institute's .res and .cls files, in both layouts found in the wild."""

from __future__ import annotations

import pytest

from drmbench.data.readers import get_reader
from drmbench.data.readers.common import Blob, RawTable
from drmbench.errors import InputError

PREAMBLE = "\tBreast tumour\t\tProstate tumour\t\n2\n"
TRAIN = (
    "Description\tAccession\tBreast_1\t\tProstate_1\t\n"
    + PREAMBLE
    + "control gene\tAFFX-1\t-73\tA\t-16\tP\n"
    + "f\xe9rritin\tAFFX-2\t12.5\tP\t13\tM\n"
)
TEST = (
    "Description\tAccession\tBreast_2\n"
    "control gene\tAFFX-1\t-44\tA\n"
    "ferritin\tAFFX-2\t4.5\tA\n"
)


def read(train: str = TRAIN, test: str = TEST, *classes: str) -> RawTable:
    labels = classes or ("0 1", "0\n")
    blobs = [
        Blob("GCM_Training.res", train.encode("latin-1")),
        Blob("GCM_Test.res", test.encode("latin-1")),
        Blob("GCM_Training.cls", labels[0].encode()),
        Blob("GCM_Test.cls", labels[1].encode()),
    ]
    return get_reader("broad")(blobs)


def test_values_alternate_with_calls_and_genes_become_columns() -> None:
    table = read()
    assert table.X.tolist() == [[-73, 12.5], [-16, 13], [-44, 4.5]]
    assert table.labels.tolist() == ["0", "1", "0"]
    assert table.parts.tolist() == [0, 0, 1]
    assert table.feature_names == ("AFFX-1", "AFFX-2")


def test_the_two_lines_below_the_header_may_be_left_out_or_blank() -> None:
    whole = read()
    for replacement in ("", "\n\n", "2\n"):
        table = read(TRAIN.replace(PREAMBLE, replacement))
        assert table.X.tolist() == whole.X.tolist()


def test_lines_may_end_in_a_tab() -> None:
    padded = TRAIN.replace("P\n", "P\t\n").replace("M\n", "M\t\n")
    assert read(padded).X.tolist() == read().X.tolist()


def test_a_class_file_of_three_lines_names_the_classes() -> None:
    named = "2 2 1\n# Breast Prostate\n0 1\n"
    table = read(TRAIN, TEST, named, "1 1 1\n# Breast\nBreast\n")
    assert table.labels.tolist() == ["Breast", "Prostate", "Breast"]


@pytest.mark.parametrize(
    ("train", "test", "classes", "expected"),
    [
        (TRAIN.replace("Accession", "Gene"), TEST, (), "line 1: expected the columns"),
        (TRAIN.replace("\n2\n", "\n3\n"), TEST, (), "expected 3 genes × 2 samples"),
        (TRAIN.replace("\t13\tM", ""), TEST, (), "line 5: expected 6 columns"),
        (TRAIN.replace("12.5", "high"), TEST, (), "line 5, sample 1: expected a num"),
        (TRAIN, TEST.replace("AFFX-2", "AFFX-9"), (), "other genes than GCM_Training"),
        (TRAIN, TEST, ("0 1 1", "0"), "3 classes, but GCM_Training.res has 2 samples"),
        (TRAIN, TEST, ("0 1", "x"), "expected class numbers, found 'x'"),
        (TRAIN, TEST, ("0\n1", "0"), "expected one line of classes"),
        (TRAIN, TEST, ("2 2 1\nA B\n0 1", "0"), "second line must start with '#'"),
        ("", TEST, (), "GCM_Training.res, line 1"),
    ],
)
def test_malformed_files_are_refused(
    train: str, test: str, classes: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(train, test, *classes)
    assert expected in str(caught.value)


def test_every_res_needs_its_cls() -> None:
    with pytest.raises(InputError, match=r"as many \.cls as \.res files"):
        get_reader("broad")([Blob("a.res", TRAIN.encode("latin-1"))])
