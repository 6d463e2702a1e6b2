"""A small valid file of every reader, and what is put into them to damage them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import rdata
from scipy.io import savemat

from drmbench.data.readers.common import RawTable


def _saved(save: Callable[..., Any], *args: Any, **kwargs: Any) -> bytes:
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


def _saved_rdata(**objects: Any) -> bytes:
    """Return an uncompressed file, in which every byte can be damaged."""
    converted = rdata.conversion.convert_python_to_r_data(objects, file_type="rda")
    return rdata.unparser.unparse_data(converted, file_type="rda")


def _saved_rds(content: Any) -> bytes:
    converted = rdata.conversion.convert_python_to_r_data(content, file_type="rds")
    return rdata.unparser.unparse_data(converted, file_type="rds")


NUMBERS = np.array([[1.5, 2.0], [-3.0, 4.0], [5.0, 0.25]])
LABELS = ["a", "b", "a"]
RAMASWAMY = {"X": NUMBERS, "y": LABELS, "X.test": NUMBERS[:1], "y.test": LABELS[:1]}
SEMEION_ROW = b"0.0000 " * 256 + b"1 0 0 0 0 0 0 0 0 0 \r\n"
AR_PIXELS = np.arange(2520, dtype=np.uint8).reshape(1260, 2)

ARFF = b"""@relation r
@attribute a real
@attribute 'k' {u,'v w'}
@data
1,u
?,'v w'
"""
KEEL = b"""@relation r
@attribute A real [0.0, 9.0]
@attribute C {p, n}
@inputs A
@outputs C
@data
1.5, p
<null>, n
"""
RES = b"""Description\tAccession\ts1\t\ts2

2
g\tG1\t1\tA\t2\tP
h\tG2\t3\tA\t4\tP
"""
GAMES = b"x,o,b,x,o,b,x,o,b,positive\nb,b,b,b,b,b,b,b,b,negative\n"

VALID: dict[str, list[tuple[str, bytes]]] = {
    "ar": [("ar.mat", _saved(savemat, {"DATA": AR_PIXELS, "Label": [[1, 51]]}))],
    "arff": [("a.arff", ARFF)],
    "broad": [("a.res", RES), ("a.cls", b"2 2 1\n# A B\n0 1\n")],
    "compcancer": [("a.txt", b'GENES\tA\tB\ng1\t1\t2\n"g2"\t3\t4.5\n')],
    "delimited": [("a.txt", b"1 2 a\n3 -4e5 b\n")],
    "esl14cancer": [
        ("c.xtrain", b"1 2\n3 4\n"),
        ("c.ytrain", b"1 2\n"),
        ("c.xtest", b"5\n6\n"),
        ("c.ytest", b"1\n"),
    ],
    "keel": [("a.dat", KEEL)],
    "khan": [
        ("K_xtrain.csv", b'"V1","V2"\n1,2\n3,4\n'),
        ("K_ytrain.csv", b'"x"\n1\n2\n'),
        ("K_xtest.csv", b'"V1","V2"\n5,6\n'),
        ("K_ytest.csv", b'"x"\n1\n'),
    ],
    "libsvm": [("a.libsvm", b"+1 1:0.5 3:-2e-3\n-1 2:1 # note\n")],
    "mat": [("a.mat", _saved(savemat, {"X": NUMBERS, "Y": [1, 2, 1]}))],
    "nci60": [
        ("N.npy", _saved(np.save, NUMBERS)),
        ("labs.csv", b'label\n"A"\n"B"\n"A"\n'),
    ],
    "npz": [("a.npz", _saved(np.savez, X=NUMBERS, y=LABELS))],
    "pgm": [
        ("s1/1.pgm", b"P5\n# c\n2 2\n255\nabcd"),
        ("s2/1.pgm", b"P2 2 2 9\n1 2 3 4"),
    ],
    "ramaswamy": [("a.rds", _saved_rds(RAMASWAMY))],
    "rdata": [("a.RData", _saved_rdata(a={"x": NUMBERS, "y": LABELS}))],
    "semeion": [("s.data", SEMEION_ROW * 2 + b"E")],
    "tic-tac-toe": [("t.data", GAMES)],
}

INSERTS = [
    *(bytes([mark]) for mark in b",\t\n\"'{\x00"),
    b"nan",
    b"1e999",
    b"-1",
]


def assert_sound(table: RawTable) -> None:
    n, p = table.X.shape
    assert n > 0
    assert p > 0
    assert table.labels.shape == table.parts.shape == (n,)
    assert not np.isinf(table.X).any()
    assert all(str(label).strip() for label in table.labels)
    assert table.feature_names is None or len(table.feature_names) == p
