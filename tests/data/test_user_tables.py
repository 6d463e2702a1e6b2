"""Tables parsed by pandas: to the last bit and message as cell by cell."""

from __future__ import annotations

import bz2
import csv
import gzip
import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drmbench.data.chunks import FeatureRequest
from drmbench.data.fast_cells import DoubtfulError
from drmbench.data.found_table import TextTable
from drmbench.data.user import load_user_file
from drmbench.data.user_tables import UserTable
from drmbench.errors import InputError

ODD_NUMBERS = [
    *("1e-320", "4.9e-324", "2.4e-324", "1e400", "-1e400", "1e-400", "-0", "-0.0"),
    *("0.30000000000000004", "+1", "+-1", "1.", "1.e5", ".5", "+.5", ".", "e5", "1e"),
    *("1E5", "1e+05", "00012", "1e5.0", "1d5", "1f", "1_000", "0x10", "0x1p3", "0b1"),
    *("nan", "-nan", "NAN", "NaN", "inf", "-inf", "+inf", "Infinity", "infinit"),
    *("NA", "N/A", "?", "<null>", "null", "NULL", "None", "", "-", "True", "FALSE"),
    *(
        "1,5",
        "1 2",
        "1..2",
        "$1",
        "1%",
        "'1'",
        "٣",
        "１",
        "１２.５",
        "9007199254740993",
    ),
    *("1" * 400, "0." + "1" * 4000, "1" + "0" * 310, "1" + "0" * 400 + "e-400"),
    *("0.1" + "0" * 3000 + "1", "2.2250738585072011e-308", "1.7976931348623159e308"),
    *("1e99999999999999999999", "0e99999999999", "1e-99999999999999999999", "1e 5"),
    *("\t1", "1\t", "\x0b1", "1\x0c", "\x1c1", "1\xa0", " 3", "3 ", "  3  ", "\u20281"),
]
TEXTS = [
    "cat",
    "dog",
    " cat",
    "dog ",
    "größer",
    "日本",
    "a,b",
    "a;b",
    "a\tb",
    "1",
    "1.0",
]
TEXTS += [
    'say "hi"',
    '"',
    '""',
    "two\nlines",
    "+1",
    "#1",
    "\\",
    "it's",
    "\ufeff",
    "x" * 99,
]

quick = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def outcome(chunks: Any) -> list[Any]:
    """Return all bits of the chunks, and the message that they end with."""
    found: list[Any] = []
    try:
        for X, labels in chunks:
            assert X.flags.c_contiguous
            kind = None if labels is None else (labels.dtype, labels.tolist())
            found.append((X.shape, X.tobytes(), kind))
    except InputError as error:
        found.append(str(error))
    return found


def whole(path: Path, target: str, quick: bool = True) -> Any:
    """Return all that is found in a whole file, quickly or cell by cell."""
    doubt = {} if quick else {"side_effect": DoubtfulError}
    way = TextTable.quick_columns
    with patch.object(TextTable, "quick_columns", autospec=True, **doubt) as columns:
        if quick:
            columns.side_effect = way
        try:
            data = load_user_file(path, target=target)
        except InputError as error:
            return str(error)
    return (
        (data.X.shape, data.X.tobytes(), data.y.tolist(), data.class_names),
        (data.feature_names, data.nominal, data.columns, data.assumed),
    )


def agree(
    path: Path, target: str | None, chunksize: int, ignore: str | None = None
) -> None:
    """Check that both ways give the same, in chunks and whole."""
    try:
        table = UserTable(path, target, FeatureRequest(ignore=ignore))
    except InputError:
        return
    slow = outcome(table.slow_chunks(chunksize))
    assert outcome(table.chunks(chunksize)) == slow
    if target is not None:
        assert whole(path, target) == whole(path, target, quick=False)


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.6g}"),
    st.integers().map(str),
)
odd = st.one_of(
    numbers,
    st.sampled_from(ODD_NUMBERS),
    st.text("0123456789+-.eEinfNa_ xX", max_size=9),
)
texts = st.one_of(st.sampled_from(TEXTS), st.text(max_size=6))


def written(cell: str, delimiter: str, quoted: bool) -> str:
    needs = any(mark in cell for mark in (delimiter, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if quoted or needs else cell


@quick
@given(st.data())
def test_well_formed_tables_read_the_same_both_ways(
    tmp_path: Path, data: st.DataObject
) -> None:
    delimiter = data.draw(st.sampled_from(",;\t"))
    rows = data.draw(
        st.lists(st.tuples(odd, numbers, texts, texts), min_size=1, max_size=12)
    )
    if data.draw(st.booleans()):  # else one odd cell spoils almost every table
        rows = [(repr(float(row)), *cells[1:]) for row, cells in enumerate(rows)]
    quotes = data.draw(st.sampled_from(["never", "always", "some"]))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    gap = data.draw(st.sampled_from(["", "", " ", "  "]))
    lines = [delimiter.join(["a", "b", "c", "kind"])]
    for row in rows:
        cells = [
            written(
                cell, delimiter, quotes == "always" or (quotes == "texts" and j > 1)
            )
            for j, cell in enumerate(row)
        ]
        lines.append((delimiter + gap).join(cells))
        lines += data.draw(st.sampled_from([[], [], [], [""], [delimiter * 3], ["  "]]))
    path = tmp_path / "t.csv"
    start = data.draw(st.sampled_from(["", "\ufeff"]))
    text = start + end.join(lines) + data.draw(st.sampled_from(["", end]))
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    target = data.draw(st.sampled_from(["kind", "kind", "c", None]))
    agree(path, target, data.draw(st.integers(1, 13)))


@quick
@given(st.text('a1.5,"\n\r\t; é-+e\0', max_size=60), st.integers(1, 4))
def test_any_text_reads_the_same_both_ways(
    tmp_path: Path, text: str, chunksize: int
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,kind\n" + text.encode())
    agree(path, "kind", chunksize)
    path.write_bytes(b"a,b,kind\n1,2,u\n" + text.encode())
    agree(path, "kind", chunksize)
    agree(path, None, chunksize)


@pytest.mark.parametrize("cell", ODD_NUMBERS)
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
def test_each_odd_number_reads_the_same_both_ways(
    tmp_path: Path, cell: str, quoted: bool, rows: int
) -> None:
    content = written(cell, ",", quoted)
    path = tmp_path / "t.csv"
    for others in ("1.5", content):
        lines = [f"{others},u", *[f"{content},v"] * rows, "2,w"]
        for body in (lines, lines[:-1]):
            path.write_text("a,kind\n" + "\n".join(body) + "\n", encoding="utf-8")
            agree(path, "kind", 2)
            agree(path, None, 9)


@pytest.mark.parametrize(
    "body",
    [
        "True,u\nFalse,v\n",
        "1,u\nTrue,v\n",
        "1,u\n2\n",
        "1,u\n2,v,w\n",
        "1,u,\n2,v,\n",
        "1,u\n,\n2,v\n",
        '1,"u\nv"\n2,w\n',
        '1,u"v\n2,w\n',
        '1,"u"v\n2,w\n',
        '1, "u" \n2,w\n',
        '1,"u,"v",w"\n',
        '"1","u""v"\n2,"w,x"\n',
        "1,u\n2,v\0\n",
        "1,u\n\u00a0,\u00a0\n2,v\n",
        "1,u\n2,\u2028v\n",
        f"1,{'u' * (csv.field_size_limit() + 1)}\n2,v\n",
    ],
)
def test_what_pandas_would_read_otherwise_is_left_to_the_slow_way(
    tmp_path: Path, body: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + body, encoding="utf-8")
    for chunksize in (1, 2, 9):
        agree(path, "kind", chunksize)
        agree(path, "a", chunksize)
        agree(path, None, chunksize)
        agree(path, None, chunksize, ignore="kind")


def test_damaged_data_read_the_same_both_ways(tmp_path: Path) -> None:
    rows = "".join(f"{math.sin(i)!r},{'uv'[i % 2]}\n" for i in range(5000))
    content = ("a,kind\n" + rows).encode()
    for name, packed in (("t.csv.gz", gzip.compress), ("t.csv.bz2", bz2.compress)):
        path = tmp_path / name
        path.write_bytes(packed(content)[:-40])
        agree(path, "kind", 100)
        path.write_bytes(packed(content))
        agree(path, "kind", 100)
    (tmp_path / "t.csv").write_bytes(content + b"1,\xe9\n2,u\n")
    agree(tmp_path / "t.csv", "kind", 100)


@pytest.mark.parametrize(
    "text",
    [
        "size,colour,kind\n1.5,red,cat\n-2e3,blue,dog\n3,red,cat\n",
        'size;colour;kind\r\n1;"red, or so";"cat"\r\n\r\n2;"a ""b""";dog\r\n;;\r\n',
        "\ufeffsize, colour, kind\n1, red, größer\n2, blue, 日本\n",
        "size,colour,kind\nNA,red,cat\n2.5,,dog\n,blue,cat\n-,NA,?\n",
    ],
)
def test_ordinary_tables_are_read_the_fast_way(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    expected = whole(path, "kind", quick=False)
    monkeypatch.delattr(TextTable, "slow_columns")
    assert whole(path, "kind") == expected
    assert not isinstance(expected, str)


def test_ordinary_chunks_are_read_the_fast_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    rows = '1.5,cat,"3"\n\n2, "dog" ,4\n7,"a, ""b""",5e1\n,,\n'.replace('" ,', '",')
    path.write_text("\ufeffsize,kind,age\n" + rows.replace("\n", "\r\n"), newline="")
    labelled = UserTable(path, "kind", FeatureRequest())
    ignoring = UserTable(path, None, FeatureRequest(("age", "size"), 2, "kind"))
    expected = [outcome(table.slow_chunks(2)) for table in (labelled, ignoring)]
    monkeypatch.delattr(UserTable, "slow_chunks")
    found = [outcome(table.chunks(2)) for table in (labelled, ignoring)]
    assert found == expected
    assert [len(chunks) for chunks in found] == [2, 2]


@pytest.mark.parametrize("rows", [3, 250])
def test_wide_tables_read_the_same_both_ways(tmp_path: Path, rows: int) -> None:
    values = np.random.default_rng(0).normal(size=(rows, 120)).tolist()
    lines = [",".join([f"g{j}" for j in range(120)] + ["kind"])]
    lines += [",".join([*map(repr, row), "uv"[i % 2]]) for i, row in enumerate(values)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    for chunksize in (2, 220):
        agree(path, "kind", chunksize)
