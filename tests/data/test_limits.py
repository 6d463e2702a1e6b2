"""Small files that claim or unpack to very much: refused, and memory stays bounded."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import io
import lzma
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from support import MakePlaces, files_below

from drmbench.data import text_stream
from drmbench.data.catalogue import DatasetEntry
from drmbench.data.fetch import Fetcher, pin_on_first_use, record_of
from drmbench.data.loading import load_exact
from drmbench.data.paths import UNPACKED, allowed_to_unpack
from drmbench.data.readers import get_reader
from drmbench.data.readers.common import Blob
from drmbench.data.readers.compression import Meter, decompress
from drmbench.data.user import load_user_file, open_chunked
from drmbench.errors import InputError
from drmbench.npz import NpzArchive, read_header

LIMIT = 2**20
"""What files may unpack to in these tests."""

LARGE = 64 * 2**20
"""What they would unpack to."""

ROOM = 16 * LIMIT
"""What refusing them may take."""


@pytest.fixture(autouse=True)
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UNPACKED, str(LIMIT))


@contextmanager
def little_memory() -> Iterator[None]:
    """Fail if more than some times the limit is ever held."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < ROOM
    finally:
        tracemalloc.stop()


def pieces() -> Iterator[bytes]:
    """Give a large csv text, most of it blank lines."""
    yield b"a,kind\n1,u\n2,v\n"
    for _ in range(LARGE >> 20):
        yield b"\n" * 2**20


def one_line() -> Iterator[bytes]:
    yield b"a,kind\n"
    for _ in range(LARGE >> 20):
        yield b"1" * 2**20


def packed(compressor: Any, content: Iterator[bytes]) -> bytes:
    done = [compressor.compress(piece) for piece in content]
    return b"".join([*done, compressor.flush()])


def gzipped(content: Iterator[bytes]) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb") as stream:
        for piece in content:
            stream.write(piece)
    return out.getvalue()


def zipped(content: Iterator[bytes]) -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.csv", "w") as stream,
    ):
        for piece in content:
            stream.write(piece)
    return out.getvalue()


def lzw() -> bytes:
    """Return codes of 16 bits that each stand for one letter more than the last."""
    codes = [ord("a"), *range(257, 65536)]
    bits, width, size, out = 0, 9, 0, bytearray(b"\x1f\x9d\x90")
    table, block = 257, 0
    for code in codes:
        bits |= code << size
        size, block = size + width, block + 1
        table += code != ord("a")
        if table == 1 << width and width < 16:
            size += -block % 8 * width
            out += bits.to_bytes(size // 8, "little")
            bits, size, block, width = 0, 0, 0, width + 1
    return bytes(out + bits.to_bytes(-(-size // 8), "little"))


BOMBS: dict[str, Callable[[], bytes]] = {
    "a.csv.gz": lambda: gzipped(pieces()),
    "a.csv.bz2": lambda: packed(bz2.BZ2Compressor(), pieces()),
    "a.csv.xz": lambda: packed(lzma.LZMACompressor(preset=1), pieces()),
    "a.csv.zip": lambda: zipped(pieces()),
    "a.csv.Z": lzw,
}


@pytest.fixture(params=BOMBS)
def bomb(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    path.write_bytes(BOMBS[request.param]())
    assert path.stat().st_size < 2 * 2**20
    return path


def test_no_compressed_file_unpacks_to_more_than_allowed(bomb: Path) -> None:
    with little_memory(), pytest.raises(InputError) as caught:
        load_user_file(bomb, target="kind")
    assert str(caught.value) == (
        f"{bomb.name}: unpacks to more than 1,048,576 bytes; if it is to be so large,"
        f" allow more by {UNPACKED}=8G"
    )


def test_all_readers_of_the_catalogue_have_the_data_set_s_limit() -> None:
    blob = Blob("a.txt", gzipped(pieces()), most=2**19)
    for name in ("arff", "compcancer", "delimited", "keel", "libsvm", "rdata"):
        with little_memory(), pytest.raises(InputError) as caught:
            get_reader(name)([blob])
        expected = "a.txt: unpacks to more than 524,288 bytes; more than the data set"
        assert str(caught.value).startswith(expected)


def test_a_source_unpacks_to_what_its_data_set_can_have(
    entry: DatasetEntry, make_places: MakePlaces, content: bytes
) -> None:
    (source,) = entry.sources
    blank = dataclasses.replace(source.artifacts[0], checksum=None, size=None)
    source = dataclasses.replace(source, artifacts=(blank,))
    loose = dataclasses.replace(entry, sources=(source,))
    places = make_places(offline=True)
    path = places.store / blank.name
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(content))
    assert load_exact(loose, Fetcher(places)).n_samples == entry.n
    record_of(path).unlink()
    path.write_bytes(gzip.compress(content + b" " * 2**21))
    with pytest.raises(InputError, match="more than the data set can have"):
        load_exact(loose, Fetcher(places))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.csv.gz", gzipped),
        ("a.csv.bz2", lambda content: packed(bz2.BZ2Compressor(), content)),
        ("a.csv.xz", lambda content: packed(lzma.LZMACompressor(preset=1), content)),
    ],
)
@pytest.mark.parametrize("content", [pieces, one_line])
def test_chunks_have_a_limit_too(
    name: str, make: Any, content: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_stream, "MAX_LINE", 2**20)
    monkeypatch.setattr(text_stream, "_DENSEST", 2)
    path = tmp_path / name
    path.write_bytes(make(content()))
    reason = "unpacks to more" if content is pieces else "a line of more than 1,048,576"
    with little_memory(), pytest.raises(InputError, match=f"{name}: {reason}"):
        for _ in open_chunked(path, target="kind").chunks(1000):
            pass


def test_chunks_of_large_files_have_no_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(UNPACKED, "1k")
    path = tmp_path / "a.csv.gz"
    rows = np.random.default_rng(0).integers(0, 2**30, 2000)
    text = "a,kind\n" + "".join(f"{row},{'uv'[row % 2]}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()))
    chunks = list(open_chunked(path, target="kind").chunks(300))
    np.testing.assert_array_equal(np.concatenate([c.X[:, 0] for c in chunks]), rows)


def test_the_limit_is_raised_and_lowered_by_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,kind\n" + b"1,u\n2,v\n" * 10**5))
    monkeypatch.setenv(UNPACKED, "700K")
    with pytest.raises(InputError, match="more than 716,800 bytes"):
        load_user_file(path, target="kind")
    monkeypatch.setenv(UNPACKED, "1 MiB")
    assert load_user_file(path, target="kind").n_samples == 2 * 10**5
    for wrong in ("lots", "-1", "0", "1e400", "nan"):
        monkeypatch.setenv(UNPACKED, wrong)
        with pytest.raises(InputError, match=f"{UNPACKED} must be a size such as 8G"):
            load_user_file(path, target="kind")
    monkeypatch.delenv(UNPACKED)
    assert allowed_to_unpack(17) == 17


def test_a_process_with_little_memory_refuses_a_bomb(tmp_path: Path) -> None:
    """The whole way, under a limit that three gigabytes would break."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "a.csv.bz2"
    with bz2.open(path, "wb", compresslevel=9) as stream:
        for _ in range(300):
            stream.write(bytes(2**20))
    code = "import sys; from drmbench.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "compare", str(path), "--target", "kind"]
    most = 3 * 2**30
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, UNPACKED: "64M", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )
    assert done.returncode == 2
    assert "a.csv.bz2: unpacks to more than 67,108,864 bytes" in done.stderr
    assert "Traceback" not in done.stderr


def npy(shape: tuple[int, ...], data: bytes = b"", descr: str = "<f8") -> bytes:
    """Return an array's file by hand, whatever its header says."""
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    text = repr(header).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def npz(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return out.getvalue()


LABELS = npy((2,), b"uv", "|S1")
CLAIMS = {
    "4 GB": npy((2, 2**28)),
    "10^18 elements": npy((10**9, 10**9)),
    "more than int64": npy((10**30, 10**30)),
    "one too many": npy((2, 2), bytes(24)),
    "one too few": npy((2, 1), bytes(24)),
    "negative": npy((-2, -1), bytes(16)),
    "without size": npy((2, 10**18), b"", "|S0"),
    "wide text": npy((2, 1), bytes(8), "<U536870911"),
    "version 9": b"\x93NUMPY\x09\x00" + npy((2, 1), bytes(16))[8:],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_headers_are_believed_as_far_as_bytes_follow(claim: str) -> None:
    content = CLAIMS[claim]
    with little_memory(), pytest.raises(ValueError, match=r"says|shape|version"):
        read_header(io.BytesIO(content), len(content))
    for members in ({"X": content, "y": LABELS}, {"X": npy((2, 1), bytes(16))}):
        members.setdefault("y", content)
        with (
            little_memory(),
            pytest.raises(InputError, match=r"a\.npz: not a readable"),
        ):
            get_reader("npz")([Blob("a.npz", npz(**members))])
    labels = Blob("labs.csv", b"x\nu\nv\n")
    with little_memory(), pytest.raises(InputError, match=r"a\.npy: not a readable"):
        get_reader("nci60")([Blob("a.npy", content), labels])


@pytest.mark.parametrize("claim", CLAIMS)
def test_chunks_of_arrays_too(claim: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(CLAIMS[claim])
    if claim == "one too few":  # numpy maps what it needs, and the rest is not read
        assert len(list(open_chunked(path).chunks(5))) == 1
        return
    with little_memory(), pytest.raises(InputError, match=r"a\.npy: "):
        list(open_chunked(path, target="last").chunks(5))


def test_archives_of_arrays_are_read_as_numpy_does() -> None:
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "b": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "c": np.array(["x", "yz"]),
        "d": np.array(5),
        "e": np.empty((0, 3)),
        "f": np.array([True, False]),
    }
    for save in (np.savez, np.savez_compressed):
        out = io.BytesIO()
        save(out, **arrays)
        with NpzArchive(io.BytesIO(out.getvalue())) as archive:
            assert list(archive) == list(arrays)
            for name, expected in arrays.items():
                np.testing.assert_array_equal(archive[name], expected)
                assert archive[name].dtype == expected.dtype
                assert archive.header(name).elements == expected.size


def test_arrays_unpack_to_a_limited_size() -> None:
    """Also where bytes become numbers of eight times their size."""
    zeros = bytes(LARGE // 4)
    for rows, descr in ((2**21, "<f8"), (2**24, "|u1")):
        content = npz(X=npy((rows, 1), zeros, descr), y=LABELS)
        with (
            little_memory(),
            pytest.raises(InputError, match=r"a\.npz: unpacks to more"),
        ):
            get_reader("npz")([Blob("a.npz", content)])
    many = npz(X=npy((2, 1), bytes(16)), y=LABELS, other=npy((2**24,), zeros, "|u1"))
    with little_memory(), pytest.raises(InputError, match=r"a\.npz: unpacks to more"):
        get_reader("npz")([Blob("a.npz", many)])
    few = npz(X=npy((2**18, 1), bytes(2**18), "|u1"), y=LABELS)
    with little_memory(), pytest.raises(InputError, match=r"a\.npz: unpacks to more"):
        get_reader("npz")([Blob("a.npz", few)])
    plain = io.BytesIO()  # what is not compressed is never too much
    np.savez(plain, X=np.zeros((2**21, 1), dtype=np.uint8), y=np.arange(2**21) % 2)
    assert get_reader("npz")([Blob("a.npz", plain.getvalue())]).X.shape == (2**21, 1)


def test_matlab_files_unpack_to_a_limited_size() -> None:
    out = io.BytesIO()
    savemat(out, {"X": np.zeros((2**22, 1)), "y": [0, 1]}, do_compression=True)
    one = out.getvalue()
    out = io.BytesIO()
    many = {f"v{number}": np.zeros(2**17) for number in range(32)}
    savemat(out, {**many, "y": [0, 1]}, do_compression=True)
    for content in (one, out.getvalue()):
        with (
            little_memory(),
            pytest.raises(InputError, match=r"a\.mat: unpacks to more"),
        ):
            get_reader("mat")([Blob("a.mat", content)])


def test_sparse_columns_of_a_matlab_file_are_counted_before_they_are_made() -> None:
    from test_readers_matfile import by_hand, sparse_parts

    content = by_hand("<", 5, 2, 1, sparse_parts([0], [0, 2**31 - 1], [1.0]))
    with little_memory(), pytest.raises(InputError, match="missing or negative"):
        get_reader("mat")([Blob("a.mat", content)])


def test_truncated_matlab_variables_are_refused() -> None:
    out = io.BytesIO()
    savemat(out, {"X": np.arange(50.0)}, do_compression=True)
    whole = bytearray(out.getvalue())
    cut = whole[:-6]
    cut[132:136] = struct.pack("<I", len(cut) - 136)
    with pytest.raises(InputError, match="incomplete or truncated stream"):
        get_reader("mat")([Blob("a.mat", bytes(cut))])


@pytest.fixture
def sheet(tmp_path: Path) -> Any:
    openpyxl = pytest.importorskip("openpyxl")

    def make(rows: list[list[Any]]) -> Path:
        book = openpyxl.Workbook(write_only=True)
        page = book.create_sheet("s")
        for row in rows:
            page.append(row)
        path = tmp_path / "a.xlsx"
        book.save(path)
        return path

    return make


def test_one_far_cell_of_a_sheet_makes_no_wide_table(sheet: Any) -> None:
    path = sheet([["a", "kind"], *([[1, "u"], [2, "v"]] * 500), [None] * 16000 + [1]])
    with little_memory(), pytest.raises(InputError, match=r"a\.xlsx: unpacks to more"):
        load_user_file(path, target="kind")


def test_sheets_are_read_as_pandas_does(sheet: Any) -> None:
    day = datetime(2024, 3, 1)
    rows = [
        [],
        ["a", "b", "day", "kind"],
        [1.5, None, day, "u"],
        [],
        [2, " x ", datetime(2024, 3, 2, 5, 30), "v"],
        [True, 3.0, None, "u", None],
        [None, "=1/0", day, "v"],
        ["#N/A", 10**15 + 0.5, day, "u"],
    ]
    path = sheet(rows)
    from drmbench.data.sheets import _sheet_rows, _text

    frame = pd.read_excel(path, header=None, dtype=object, na_filter=False)
    expected = [
        (number, [_text(cell) for cell in cells])
        for number, cells in enumerate(frame.itertuples(index=False), start=1)
    ]
    found, _, _ = _sheet_rows(path, path.read_bytes(), None)
    assert found == [row for row in expected if any(row[1])]


def test_rows_of_a_parquet_file_are_counted_before_they_are_read(
    tmp_path: Path,
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, rows = tmp_path / "a.parquet", 2**22
    columns = {"a": np.zeros(rows), "kind": np.zeros(rows, dtype=np.int8)}
    parquet.write_table(pyarrow.table(columns), path)
    assert path.stat().st_size < 2**20
    with (
        little_memory(),
        pytest.raises(InputError, match=r"a\.parquet: unpacks to more"),
    ):
        load_user_file(path, target="kind")


@pytest.mark.parametrize("index", [2**27, 999_999_999, 10**20])
def test_a_large_index_of_a_libsvm_file_is_refused(index: int, tmp_path: Path) -> None:
    path = tmp_path / "a.libsvm"
    path.write_text(f"1 1:0.5 {index}:2\n-1 2:1\n1 1:1\n")
    with little_memory(), pytest.raises(InputError, match=r"a\.libsvm: "):
        load_user_file(path)
    from drmbench.protocol.file_fit import scan

    with little_memory(), pytest.raises(InputError, match=r"a\.libsvm: "):
        scan(open_chunked(path), 10)


def test_a_long_class_label_does_not_widen_all_others(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,kind\n1," + "x" * 10**5 + "\n" + "1,u\n2,v\n" * 5000)
    reason = "a class label of 100,000 characters, 'xxxxxxxxxxxxxxxxxxxx'…; check"
    for read in (
        lambda: load_user_file(path, target="kind"),
        lambda: list(open_chunked(path, target="kind").chunks(10**6)),
        lambda: get_reader("delimited")(
            [Blob("a.csv", path.read_bytes())], delimiter=",", header=True, label="kind"
        ),
    ):
        with little_memory(), pytest.raises(InputError, match=reason):
            read()


def test_what_does_not_fit_memory_is_one_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: Any) -> bytes:
        raise MemoryError

    monkeypatch.setattr(Meter, "joined", full)
    with pytest.raises(
        InputError, match=r"a\.gz: the gzip data do not fit into memory"
    ):
        decompress(Blob("a.gz", gzip.compress(b"1 2 a\n")))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", "holds nothing"),
        (b"\n \n", r"holds '\\n \\n'"),
        (b"sha256:" + b"0" * 64, "holds 'sha256:000"),
        (b"0" * 63, "holds '0000"),
        (b"0" * 65, "holds '0000"),
        (b"g" * 64, "holds 'gggg"),
        (b"\xff\xfe" * 40, "holds '\ufffd"),
    ],
)
def test_a_pin_that_is_none_is_refused(
    entry: DatasetEntry,
    make_places: MakePlaces,
    content: bytes,
    shown: str,
) -> None:
    (source,) = entry.sources
    artifact = dataclasses.replace(source.artifacts[0], checksum=None)
    places = make_places(offline=True)
    path = places.store / artifact.name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"1,2,a\n3,4,b\n5,6,b\n" * 200)
    record_of(path).write_bytes(content)
    with pytest.raises(InputError, match=shown) as caught:
        Fetcher(places).find(artifact)
    message = str(caught.value)
    assert message.startswith(f"{record_of(path)}: it must hold the sha256 of data.csv")
    assert "delete it to trust the file that is there now" in message
    record_of(path).unlink()
    assert Fetcher(places).find(artifact) == path
    assert f"{artifact.name}.sha256" in files_below(places.store)
    pinned = record_of(path).read_text()
    record_of(path).write_text(pinned.upper())  # digits are digits
    assert Fetcher(places).find(artifact) == path


def test_a_pin_that_is_no_file_is_refused(
    entry: DatasetEntry, make_places: MakePlaces
) -> None:
    (source,) = entry.sources
    artifact = dataclasses.replace(source.artifacts[0], checksum=None, size=None)
    path = make_places().store / artifact.name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"data")
    for make in (os.mkdir, os.mkfifo):
        make(record_of(path))
        with pytest.raises(InputError, match=r"must hold the sha256 of data\.csv"):
            Fetcher(make_places()).find(artifact)
        if record_of(path).is_dir():
            record_of(path).rmdir()
        else:
            record_of(path).unlink()
    pin_on_first_use(path, artifact)
    assert record_of(path).is_file()
