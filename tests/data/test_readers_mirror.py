"""The paper's own files: shapes, class counts, and numbers known from elsewhere."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.io import loadmat

from drmbench.data.readers import get_reader
from drmbench.data.readers.common import Blob, RawTable
from drmbench.data.readers.lzw import lzw_pieces
from drmbench.data.readers.matfile import decode

MIRROR = Path(os.environ.get("DRMBENCH_MIRROR") or "no mirror")

pytestmark = [
    pytest.mark.mirror,
    pytest.mark.skipif(
        not MIRROR.is_dir(), reason="DRMBENCH_MIRROR is not a folder with the files"
    ),
]


class Case(NamedTuple):
    reader: str
    files: list[str]
    shape: tuple[int, int]
    counts: list[int]
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


CASES = {
    "leukemia": Case("rdata", ["golub.RData"], (72, 7129), [47, 25]),
    "lung": Case("rdata", ["gordon.RData"], (181, 12533), [150, 31]),
    "nakayama": Case(
        "rdata",
        ["nakayama.RData"],
        (105, 22283),
        [21, 19, 16, 15, 15, 6, 4, 3, 3, 3],
    ),
    "prostate": Case(
        "rdata",
        ["prostate.train.rda", "prostate.test.rda"],
        (136, 12600),
        [77, 59],
        {"classes": {"0": "tumour", "1": "normal"}},
    ),
    "nci": Case("mat", ["nci9.mat"], (60, 9712), [9, 9, 8, 8, 7, 6, 6, 5, 2]),
    "eyaleb": Case(
        "mat",
        ["YaleB_32x32.mat"],
        (2414, 1024),
        [*[64] * 31, 63, 63, 63, 62, 60, 60, 59],
        {"x": "fea", "y": "gnd"},
    ),
    "jaffe": Case(
        "mat",
        ["jaffe_213n_676d_10c.mat"],
        (213, 676),
        [23, 22, 22, 22, 21, 21, 21, 21, 20, 20],
    ),
    "pix": Case("mat", ["pixraw10P.mat"], (100, 10000), [10] * 10),
    "yale": Case("mat", ["Yale.mat"], (165, 1024), [11] * 15),
    "all of ar": Case("mat", ["AR_42_30.mat"], (2600, 1260), [26] * 100),
    "ar": Case("ar", ["AR_42_30.mat"], (1300, 1024), [26] * 50),
    "semeion": Case(
        "semeion",
        ["semeion/semeion.data"],
        (1593, 256),
        [162, 161, 161, 161, 159, 159, 159, 158, 158, 155],
    ),
    "tic-tac-toe": Case(
        "tic-tac-toe", ["tic-tac-toe/tic-tac-toe.data"], (958, 9), [626, 332]
    ),
    "pendigits": Case(
        "delimited",
        ["pendigits/pendigits.tra", "pendigits/pendigits.tes"],
        (10992, 16),
        [1144, 1144, 1143, 1143, 1142, 1056, 1055, 1055, 1055, 1055],
        {"delimiter": ","},
    ),
    "shuttle": Case(
        "delimited",
        ["shuttle.trn.Z", "shuttle.tst"],
        (58000, 9),
        [45586, 8903, 3267, 171, 50, 13, 10],
    ),
    "poker": Case(
        "delimited",
        ["poker-hand-training-true.data", "poker_test_first100k.csv"],
        (125010, 10),
        [62593, 52784, 6079, 2611, 472, 249, 186, 24, 6, 6],
        {"delimiter": ",", "header": [False, True]},
    ),
    "ijcnn1": Case(
        "libsvm",
        ["ijcnn1.trn.bz2", "ijcnn1.tst.bz2"],
        (141691, 22),
        [128126, 13565],
    ),
}


def blobs(*names: str) -> list[Blob]:
    return [Blob(name, (MIRROR / name).read_bytes()) for name in names]


@cache
def read(name: str) -> RawTable:
    case = CASES[name]
    return get_reader(case.reader)(blobs(*case.files), **case.options)


@pytest.mark.parametrize("name", CASES)
def test_shape_and_class_counts(name: str) -> None:
    case, table = CASES[name], read(name)
    assert table.X.shape == case.shape
    assert sorted(Counter(table.labels.tolist()).values(), reverse=True) == case.counts
    assert np.isfinite(table.X).all()
    assert len(set(table.parts.tolist())) == len(case.files)


def test_prostate_parts_differ_tenfold_in_intensity() -> None:
    table = read("prostate")
    means = [table.X[table.parts == part].mean() for part in (0, 1)]
    assert means == pytest.approx([26, 308], abs=1)


def test_genes_have_names() -> None:
    names = read("leukemia").feature_names
    assert names is not None
    assert names[0] == "AFFX-BioB-5_at"


def test_shuttle_decodes_like_the_gzip_program() -> None:
    if shutil.which("gzip") is None:
        pytest.skip("no gzip program")
    content = (MIRROR / "shuttle.trn.Z").read_bytes()
    shown = subprocess.run(["gzip", "-dc"], input=content, capture_output=True)
    if shown.returncode:
        pytest.skip("this gzip does not read .Z files")
    assert b"".join(lzw_pieces(content)) == shown.stdout


def test_semeion_without_its_stray_byte_is_the_original() -> None:
    content = (MIRROR / "semeion/semeion.data").read_bytes()
    original = hashlib.md5(content[:-1], usedforsecurity=False).hexdigest()
    assert original == "cb545d371d2ce14ec121470795a77432"
    assert content[-1:] == b"E"
    assert set(np.unique(read("semeion").X)) == {0, 1}


@pytest.mark.parametrize("file", sorted(path.name for path in MIRROR.glob("*.mat")))
def test_matlab_files_decode_as_scipy_decodes_them(file: str) -> None:
    decoded = decode((MIRROR / file).read_bytes())
    expected = loadmat(MIRROR / file)
    assert set(decoded) == {name for name in expected if not name.startswith("__")}
    for name, value in decoded.items():
        np.testing.assert_array_equal(value, expected[name])


def test_ar_images_still_look_like_those_of_the_source() -> None:
    source, small = read("all of ar"), read("ar")
    kept = np.isin(source.labels, small.labels)
    assert np.array_equal(source.labels[kept], small.labels)
    np.testing.assert_allclose(
        source.X[kept].mean(axis=1), small.X.mean(axis=1), rtol=0.02
    )


@pytest.mark.parametrize(
    "folder", sorted(path.name for path in MIRROR.glob("*-5-fold"))
)
def test_keel_training_and_test_parts_make_the_same_whole(folder: str) -> None:
    read_keel = get_reader("keel")
    stem = folder.removesuffix("-5-fold")
    wholes = []
    for fold in range(1, 6):
        names = [f"{folder}/{stem}-5-{fold}{part}.dat" for part in ("tra", "tst")]
        table = read_keel(blobs(*names))
        wholes.append(sorted(zip(map(tuple, table.X), table.labels, strict=True)))
    assert len(wholes[0]) > 100
    assert all(whole == wholes[0] for whole in wholes)
