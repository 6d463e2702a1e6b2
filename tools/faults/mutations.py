"""Damaged data and model files through every reader.

Whatever the bytes, a reader gives a sound table or an ``InputError`` that names the
file. Formats that carry checksums give what was written, or nothing.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import re
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reader_files import INSERTS, VALID, assert_sound
from scipy.io import savemat

from drmbench.data.readers import get_reader, reader_names
from drmbench.data.readers.common import Blob, RawTable
from drmbench.data.user import load_user_file, open_chunked
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.model_file import load_model, save_model
from drmbench.errors import DrmbenchError, InputError
from drmbench.protocol.table_model_file import load_table_model

from .small import command
from .trials import Attack, Trial
from .warm import warm_up

#: Rows of a chunk, so that small files have several.
_CHUNK = 4


@dataclass(frozen=True)
class Format:
    """A kind of file, a valid one, and how it is read."""

    name: str
    files: tuple[tuple[str, bytes], ...]  #: Names and contents; one of them is damaged
    #: Reads them; returned is what must not change where there are checksums
    read: Callable[[Path, list[Blob]], Any]
    weight: int = 8  #: How often it is damaged: readers that take long, less often
    checked: bool = False  #: Whether checksums cover all of the content


@dataclass(frozen=True)
class Menagerie:
    """All formats, and what the valid files of each give."""

    folder: Path
    formats: tuple[Format, ...]
    whole: dict[str, Any]


def prepare(folder: Path) -> Menagerie:
    """Write a valid file of every format, and read it."""
    warm_up()
    warnings.simplefilter("ignore")
    formats = (*_registered(), *_tables(folder), *_chunked(), *_models(folder))
    whole = {}
    for one in formats:
        place = folder / f"valid-{one.name}"
        place.mkdir()
        whole[one.name] = one.read(place, [Blob(*file) for file in one.files])
    return Menagerie(folder, formats, whole)


def attempt(given: Menagerie, trial: Trial, rng: random.Random) -> None:
    """Damage a file of some format, and read it."""
    weights = [one.weight for one in given.formats]
    one = rng.choices(given.formats, weights)[0]
    blobs = [Blob(*file) for file in one.files]
    victim = rng.randrange(len(blobs))
    content = bytearray(blobs[victim].data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(_CHANGES)(rng, content)
    blobs[victim] = Blob(blobs[victim].name, bytes(content))
    trial.units = 1
    trial.story.append(f"{one.name}: {blobs[victim].name}, {bytes(content)[:1500]!r}")
    place = given.folder / f"{one.name}-{trial.number % 2}"
    place.mkdir(exist_ok=True)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            found = one.read(place, blobs)
    except InputError as error:
        trial.outcomes["refused"] += 1
        if not any(blob.name in str(error) for blob in blobs):
            trial.violate("wrong", f"a refusal that does not name the file: {error}")
    except AssertionError:
        trial.violate("wrong", f"an unsound table: {traceback.format_exc(limit=-3)}")
    except (DrmbenchError, Exception):
        trial.violate("traceback", traceback.format_exc(limit=-8))
    else:
        trial.outcomes["read"] += 1
        original = one.files[victim][1]
        several = bytes(content).startswith(original * 2)  # whole streams may follow
        if one.checked and found != given.whole[one.name] and not several:
            trial.violate("wrong", "other content in spite of its checksum")


def _registered() -> list[Format]:
    """Return the readers of the catalogue, on bytes."""

    def reading(reader: str) -> Callable[[Path, list[Blob]], Any]:
        return lambda folder, blobs: _sound(get_reader(reader)(blobs))

    slow = {"ar": 1, "semeion": 2, "rdata": 4, "keel": 16, "arff": 16, "libsvm": 16}
    return [
        Format(name, tuple(VALID[name]), reading(name), weight=slow.get(name, 8))
        for name in reader_names()
    ]


def _sound(table: RawTable) -> Any:
    """Check a table, and return what it holds."""
    assert_sound(table)
    return table.X.tobytes(), table.labels.tolist(), table.feature_names


def _of_table(folder: Path, blobs: list[Blob], target: str | None = "kind") -> Any:
    """Write a user's file and load it."""
    path = folder / blobs[0].name
    path.write_bytes(blobs[0].data)
    dataset = load_user_file(path, target=target)
    X, y = dataset.X, dataset.y
    assert X.shape == (y.size, X.shape[1])
    assert X.shape[1] > 0
    assert not np.isinf(X).any()
    assert len(dataset.class_names) > 1
    assert set(np.unique(y)) == set(range(len(dataset.class_names)))
    return X.tobytes(), y.tobytes(), dataset.class_names, dataset.feature_names


def _csv() -> bytes:
    rng = random.Random(5)
    lines = ["width,city,height,kind"]
    for row in range(24):
        city = rng.choice(("bonn", "köln", "ulm"))
        height = f"{rng.gauss(0, 1):.2f}" if row % 7 else ""
        lines.append(f"{rng.gauss(row % 2, 1):.3f},{city},{height},{'ab'[row % 2]}")
    return ("\n".join(lines) + "\n").encode()


def _tables(folder: Path) -> list[Format]:
    """Return users' own files, by path."""
    text = _csv()
    frame = pd.read_csv(io.BytesIO(text))
    frame.to_excel(folder / "t.xlsx", index=False)
    frame.to_parquet(folder / "t.parquet")
    lines = frame.to_json(orient="records", lines=True, force_ascii=False)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", text)
    tables: dict[str, tuple[bytes, int, bool]] = {
        "t.csv": (text, 24, False),
        "t.tsv": (text.replace(b",", b"\t"), 8, False),
        "t.jsonl": (lines.encode(), 12, False),
        "t.xlsx": ((folder / "t.xlsx").read_bytes(), 2, False),
        "t.parquet": ((folder / "t.parquet").read_bytes(), 8, False),
        "t.csv.gz": (gzip.compress(text, mtime=0), 12, True),
        "t.csv.bz2": (bz2.compress(text), 8, True),
        "t.csv.xz": (lzma.compress(text), 8, True),
        "t.csv.zip": (zipped.getvalue(), 12, True),
    }
    found = [
        Format(f"table-{name}", ((name, content),), _of_table, weight, checked)
        for name, (content, weight, checked) in tables.items()
    ]
    rng = np.random.default_rng(3)
    arrays = io.BytesIO()
    np.savez(arrays, X=rng.normal(size=(600, 3)), y=np.arange(600) % 2)
    plain = lambda place, blobs: _of_table(place, blobs, None)  # noqa: E731
    own = (("u.npz", arrays.getvalue()),)
    return [
        *found,
        Format("user-npz", own, plain, 12, checked=True),
        Format("user-arff", (("u.arff", VALID["arff"][0][1]),), plain, 8),
        Format("user-libsvm", (("u.libsvm", VALID["libsvm"][0][1]),), plain, 8),
        Format("user-mat", (("u.mat", VALID["mat"][0][1]),), plain, 8),
        Format("user-mat-packed", (("u.mat", _packed_mat()),), plain, 8, checked=True),
        *_packed("keel"),
        *_packed("arff"),
        *_packed("libsvm"),
    ]


def _packed_mat() -> bytes:
    file = io.BytesIO()
    rng = np.random.default_rng(6)
    arrays = {"X": rng.normal(size=(600, 3)), "Y": np.arange(600) % 2}
    savemat(file, arrays, do_compression=True)
    return file.getvalue()


def _packed(reader: str) -> Iterator[Format]:
    """Give a text format of the catalogue compressed, as sources have it."""

    def read(folder: Path, blobs: list[Blob]) -> Any:
        return _sound(get_reader(reader)(blobs))

    ((name, content),) = VALID[reader]
    gzipped = gzip.compress(content, mtime=0)
    yield Format(f"{reader}-gz", ((f"{name}.gz", gzipped),), read, 6, checked=True)
    bzipped = bz2.compress(content)
    yield Format(f"{reader}-bz2", ((f"{name}.bz2", bzipped),), read, 6, checked=True)


def _chunked() -> list[Format]:
    """Return users' own files that are read in chunks."""

    def read(place: Path, blobs: list[Blob]) -> Any:
        path = place / blobs[0].name
        path.write_bytes(blobs[0].data)
        target = {".npy": "last", ".libsvm": None}.get(path.suffix, "kind")
        file, parts = open_chunked(path, target=target), []
        for chunk in file.chunks(_CHUNK):
            assert chunk.X.shape[1] == file.n_features
            assert not np.isinf(chunk.X).any()
            parts.append((chunk.X.tobytes(), chunk.labels.tolist()))
        return parts

    rows = [f"{n}.5,{n % 3},{'ab'[n % 2]}" for n in range(12)]
    text = "\n".join(["x,y,kind", *rows, ""]).encode()
    matrix = io.BytesIO()
    np.save(matrix, np.arange(36.0).reshape(12, 3) % 5)
    packed = gzip.compress(text, mtime=0)
    return [
        Format("chunks-csv", (("c.csv", text),), read, 12),
        Format("chunks-csv.gz", (("c.csv.gz", packed),), read, 8, checked=True),
        Format("chunks-npy", (("c.npy", matrix.getvalue()),), read, 8),
        Format("chunks-libsvm", (("c.libsvm", VALID["libsvm"][0][1]),), read, 8),
    ]


def _models(folder: Path) -> list[Format]:
    """Return files of fitted models, which must predict as they did."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 3)), np.repeat(["a", "b", "c"], 10)
    save_model(folder / "m.npz", LinearDRMClassifier().fit(X, y), scale=np.ones(3) * 2)
    (folder / "m.csv").write_bytes(_csv())
    fit = ("fit", folder / "m.csv", "--target", "kind", "--method", "nb")
    ended = command(*fit, "--save", folder / "m.model")
    assert ended.code == 0, ended.err
    table = rng.normal(size=(20, 3))
    table[:, 1] = np.arange(20) % 3

    def linear(place: Path, blobs: list[Blob]) -> Any:
        path = place / blobs[0].name
        path.write_bytes(blobs[0].data)
        return load_model(path).predict(X).tolist()

    def fitted(place: Path, blobs: list[Blob]) -> Any:
        path = place / blobs[0].name
        path.write_bytes(blobs[0].data)
        return load_table_model(path).model.predict(table).tolist()

    npz, skops = (folder / "m.npz").read_bytes(), (folder / "m.model").read_bytes()
    return [
        Format("model-npz", (("m.npz", npz),), linear, 12, checked=True),
        Format("model-skops", (("m.model", skops),), fitted, 2, checked=True),
    ]


def _flip(rng: random.Random, content: bytearray) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def _replace(rng: random.Random, content: bytearray) -> None:
    start = rng.randint(0, len(content))
    content[start : start + rng.randint(0, 8)] = rng.randbytes(rng.randint(0, 8))


def _insert(rng: random.Random, content: bytearray) -> None:
    start = rng.randint(0, len(content))
    content[start:start] = rng.choice(INSERTS)


def _cut(rng: random.Random, content: bytearray) -> None:
    del content[rng.randint(0, len(content)) :]


def _drop(rng: random.Random, content: bytearray) -> None:
    start = rng.randint(0, len(content))
    del content[start : start + rng.randint(1, 64)]


def _repeat(rng: random.Random, content: bytearray) -> None:
    start = rng.randint(0, len(content))
    piece = content[start : start + rng.randint(1, 200)]
    content[start:start] = piece * rng.choice((1, 1, 3))


def _redigit(rng: random.Random, content: bytearray) -> None:
    """Make a digit that stands in text another one: a size that is not the size."""
    found = [match.start() for match in _SIZE.finditer(content)]
    if found:
        content[rng.choice(found)] = rng.choice(b"0123456789")


def _inflate(rng: random.Random, content: bytearray) -> None:
    """Make a number that stands in text a huge or strange one."""
    found = list(re.finditer(rb"\d+", bytes(content)))
    if found:
        match = rng.choice(found)
        content[match.start() : match.end()] = rng.choice(_NUMBERS)


#: Digits where headers of arrays and tables have them.
_SIZE = re.compile(rb"(?<=[( ,<fiU])\d(?=[\d,)' ])")
_NUMBERS = (
    *(b"0", b"-1", b"99999999999", b"4294967296", b"9" * 40, b"1e400", b"1_0"),
    *(b"0x10", "\u0663".encode(), b"1.7976931348623157e308", b"NaN", b"1e-400"),
)
_CHANGES: tuple[Callable[[random.Random, bytearray], None], ...] = (
    *(_flip, _flip, _flip, _replace, _insert),
    *(_cut, _drop, _repeat, _inflate, _redigit),
)

ATTACK = Attack(
    name="mutations",
    unit="files",
    full=200_000,
    sample=800,
    share=0.17,
    limit=10.0,
    prepare=prepare,
    attempt=attempt,
)
