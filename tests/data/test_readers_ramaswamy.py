from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rdata

from drmbench.data.catalogue import load_catalogue
from drmbench.data.readers import get_reader
from drmbench.data.readers.common import Blob
from drmbench.errors import InputError

X = np.arange(12.0).reshape(4, 3)
TUMOURS = ["Breast", "Prostate", "Lung", "Colorectal", "Lymphoma", "Bladder"]
TUMOURS += ["Melanoma", "Uterus", "Leukemia", "Renal", "Pancreas", "Ovary"]
TUMOURS += ["Mesothelioma", "CNS"]


def save(folder: Path, content: Any) -> Blob:
    path = folder / "Ramaswamy2001.rds"
    rdata.write_rds(path, content)
    return Blob(path.name, path.read_bytes())


def factor(*names: str) -> pd.Categorical:
    return pd.Categorical(names, categories=TUMOURS)


def test_training_and_test_parts_of_one_object(tmp_path: Path) -> None:
    content = {
        "X": X,
        "y": factor("CNS", "Breast", "CNS", "Lung"),
        "X.test": X[:2] + 50,
        "y.test": factor("Renal", "Breast"),
        "fData": pd.DataFrame({"Symbol": [1, 2, 3]}),
    }
    table = get_reader("ramaswamy")([save(tmp_path, content)])
    np.testing.assert_array_equal(table.X, np.vstack([X, X[:2] + 50]))
    expected = ["CNS", "Breast", "CNS", "Lung", "Renal", "Breast"]
    assert table.labels.tolist() == expected
    assert table.parts.tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"X": X, "y": factor("CNS")}, "expected a list of X, y, X.test, y.test"),
        (X, "expected a list of X, y, X.test, y.test"),
        (
            {"X": X, "y": factor("CNS"), "X.test": X, "y.test": factor("CNS")},
            "4 samples but 1 class labels",
        ),
        (
            {
                "X": X[:1],
                "y": factor("CNS"),
                "X.test": X[:1, :2],
                "y.test": factor("CNS"),
            },
            "2 features, but",
        ),
    ],
)
def test_other_content_is_refused(tmp_path: Path, content: Any, expected: str) -> None:
    with pytest.raises(InputError, match=r"Ramaswamy2001\.rds") as caught:
        get_reader("ramaswamy")([save(tmp_path, content)])
    assert expected in str(caught.value)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = save(tmp_path, {"X": X}).data
    for damaged in (whole[:-30], b"not R at all", b""):
        with pytest.raises(InputError, match="not a readable R data file"):
            get_reader("ramaswamy")([Blob("a.rds", damaged)])


def test_both_sources_of_ramaswamy_have_the_same_classes() -> None:
    """The labels of the first are 1 to 14, in the order of the tumours' names here."""
    numbers, one_file = load_catalogue().entry("ramaswamy").sources
    assert numbers.reader == "esl14cancer"
    assert one_file.reader == "ramaswamy"
    expected = {name: str(place) for place, name in enumerate(TUMOURS, start=1)}
    assert one_file.labels == expected
