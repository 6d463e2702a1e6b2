"""Tables as people have them: each read as its maker meant it, or refused clearly."""

from __future__ import annotations

import codecs
import io
import json
import lzma
import math
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drmbench.data import number_text
from drmbench.data.dataset import Dataset
from drmbench.data.fast_cells import EVERY_DIGIT
from drmbench.data.number_text import days_since_1970, parse_number
from drmbench.data.readers import compression
from drmbench.data.user import load_user_file
from drmbench.errors import InputError

NAN = math.nan
PLAIN = "size,colour,kind\n1.5,red,cat\n,blue,dog\n3,,cat\n-4,red,dog\n"
SIZES = [1.5, NAN, 3.0, -4.0]
COLOURS = [1.0, 0.0, NAN, 1.0]


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_file(name: str, content: str | bytes, **options: Any) -> Dataset:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        return load_user_file(path, **{"target": "kind", **options})

    return read_file


def roles(data: Dataset) -> dict[str, str]:
    return {column.name: column.role for column in data.columns}


def why(data: Dataset, name: str) -> str:
    return next(column.why for column in data.columns if column.name == name)


def refusal(read: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(*args, **options)
    return str(caught.value)


def zipped(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_csv", ".csv"), content)
    return packed.getvalue()


def json_lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


JSON = json_lines(
    {"size": 1.5, "colour": "red", "kind": "cat"},
    {"colour": "blue", "kind": "dog"},
    {"size": 3, "colour": None, "kind": "cat"},
    {"size": "-4", "colour": "red", "kind": "dog"},
)


@pytest.mark.parametrize(
    ("name", "content", "assumed"),
    [
        ("a.csv", PLAIN, ()),
        ("a.csv", "\ufeff" + PLAIN, ()),
        ("a.csv", PLAIN.encode("utf-16"), ("UTF-16",)),
        ("a.csv", PLAIN.encode("utf-16-le"), ("UTF-16",)),
        ("a.csv", PLAIN.encode("utf-16-be"), ("UTF-16",)),
        ("a.csv", codecs.BOM_UTF32_LE + PLAIN.encode("utf-32-le"), ("UTF-32",)),
        ("a.csv", PLAIN.replace(",", "|"), ("separated by '|'",)),
        ("a.csv", PLAIN.replace(",", "\t"), ("separated by tabs",)),
        ("a.tsv", PLAIN.replace(",", "\t"), ()),
        (
            "a.csv",
            PLAIN.replace(",", ";").replace(".", ","),
            ("separated by ';'", "decimal comma"),
        ),
        ("a.csv", PLAIN.replace("1.5", "NA").replace("NA", '"1.5"'), ()),
        ("a.csv", PLAIN.replace(",,", ",N/A,").replace("\n,", "\n-,"), ()),
        ("a.csv.xz", lzma.compress(PLAIN.encode()), ()),
        ("a.zip", zipped(a_csv=PLAIN), ()),
        ("a.csv.zip", zipped(data=PLAIN), ()),
        ("a.zip", zipped(**{"a_csv": PLAIN, "__MACOSX/a_csv": "x"}), ()),
        ("a.jsonl", JSON, ()),
        ("a.ndjson", JSON.replace("\n", "\n\n"), ()),
    ],
)
def test_the_same_table_in_many_forms(
    read: Any, name: str, content: str | bytes, assumed: tuple[str, ...]
) -> None:
    data = read(name, content)
    assert data.name == "a"
    np.testing.assert_array_equal(data.X, np.column_stack([SIZES, COLOURS]))
    assert data.feature_names == ("size", "colour")
    assert data.nominal == (1,)
    assert data.class_names == ("cat", "dog")
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.assumed == assumed
    assert roles(data) == {"size": "numeric", "colour": "nominal", "kind": "target"}
    assert [column.missing for column in data.columns] == [1, 1, 0]
    assert [c.levels for c in data.columns] == [(), ("blue", "red"), ("cat", "dog")]


def test_latin_1_is_read_and_said(read: Any) -> None:
    text = "stadt;kind\nKöln;ü€\nBonn;v\nKöln;v\n"
    data = read("a.csv", text.encode("cp1252"))
    assert data.columns[0].levels == ("Bonn", "Köln")
    assert data.class_names == ("v", "ü€")
    assert data.assumed == ("latin-1 (Windows-1252)", "separated by ';'")
    said = read("a.csv", text.encode("cp1252"), encoding="cp1252", sep=";")
    assert said.assumed == ()
    assert said.fingerprint == data.fingerprint


def test_a_table_without_names(read: Any) -> None:
    text = "5.1,3.5,setosa\n7.0,3.2,versicolor\n6.3,3.3,virginica\n"
    data = read("a.csv", text, target="column3")
    assert data.feature_names == ("column1", "column2")
    assert data.X.tolist() == [[5.1, 3.5], [7.0, 3.2], [6.3, 3.3]]
    assert data.assumed == ("no header",)
    words = "red,x,u\nblue,y,v\nred,y,u\n"
    said = read("a.csv", words, target="column3", header=False)
    assert said.X.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert "--no-header" in refusal(read, "a.csv", words, target="column3")
    numbered = read("a.csv", "0,1,2\n5,3,7\n1,2,9\n", target="2")
    assert (numbered.feature_names, numbered.assumed) == (("0", "1"), ())


def test_quoted_cells_may_have_line_breaks_and_separators(read: Any) -> None:
    text = 'note,v,kind\n"a,\nb",1,u\n"a,\nb",2,v\nc,x,u\nc,4,v\nc,5,v\n'
    message = refusal(read, "a.csv", text)
    assert "a.csv, line 6, column 'v': expected a number as in 4 other rows" in message
    assert "found 'x'" in message
    assert "--nominal v" in message
    data = read("a.csv", text.replace("x", "3"))
    assert data.columns[0].levels == ("a,\nb", "c")
    assert data.X.tolist() == [[0, 1], [0, 2], [1, 3], [1, 4], [1, 5]]


def test_money_thousands_and_per_cent(read: Any) -> None:
    text = (
        "price,rate,people,loss,kind\n"
        '"$1,234.50",12.5%,"12,000",(3.5),u\n'
        '$7.25,3 %,"1,000,000",−2,v\n'
        "$99,,950,4,u\n"
    )
    data = read("a.csv", text)
    np.testing.assert_array_equal(
        data.X,
        [[1234.5, 12.5, 12000, -3.5], [7.25, 3, 1e6, -2], [99, NAN, 950, 4]],
    )
    assert why(data, "price") == "thousands separated, without the sign $"
    assert why(data, "rate") == "without the sign %"
    assert data.nominal == ()


def test_decimal_commas_with_points_for_thousands(read: Any) -> None:
    text = "a;b;kind\n1.234,5;2.000;u\n7,25;950;v\n1.000.000;12.500;u\n"
    message = refusal(read, "a.csv", text)
    assert "line 4, column 'b': '12.500' may have a decimal mark" in message
    data = read("a.csv", text, decimal=",")
    assert data.X.tolist() == [[1234.5, 2000], [7.25, 950], [1e6, 12500]]
    assert data.assumed == ("separated by ';'",)


def test_a_comma_that_may_be_either_is_refused_until_said(read: Any) -> None:
    text = "a;kind\n1,234;u\n2,500;v\n"
    message = refusal(read, "a.csv", text)
    assert "line 2, column 'a': '1,234' may have a decimal mark or" in message
    assert "--decimal" in message
    assert read("a.csv", text, decimal=",").X.tolist() == [[1.234], [2.5]]
    assert read("a.csv", text, decimal=".").X.tolist() == [[1234], [2500]]
    # No thousand begins with 0.
    zero = read("a.csv", text + "0,125;u\n")
    assert zero.X.tolist() == [[1.234], [2.5], [0.125]]
    # Where commas separate columns, they hardly are decimal marks too.
    assert read("a.csv", 'a,kind\n"1,234",u\n"2,500",v\n').X.tolist() == [
        [1234],
        [2500],
    ]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    values=st.lists(st.text("0123456789.,+-_einfa ١%$", max_size=6), max_size=4),
    decimal=st.sampled_from([".", ","]),
)
def test_plain_numbers_are_parsed_fast_as_slowly(
    values: list[str], decimal: Any
) -> None:
    values = [value.strip() for value in values]
    fast = number_text._plain_numbers(values, decimal)
    slow = [parse_number(value, decimal) for value in values]
    if fast is not None:
        assert [one and one.value for one in slow] == pytest.approx(
            fast, rel=0, abs=0, nan_ok=True
        )
        assert not any(one and (one.sign or one.grouped) for one in slow)


def test_mixed_units_are_no_numbers(read: Any) -> None:
    data = read("a.csv", "a,kind\n5%,u\n$5,v\n€5,u\n")
    assert data.nominal == (0,)


@pytest.mark.parametrize(
    "dates",
    ["2024-03-{:02d}", "{:d}/3/2024", "{:d}.3.24 7:30", "2024-03-{:02d}T07:30:00Z"],
)
def test_dates_are_left_out_and_said(read: Any, dates: str) -> None:
    lines = [f"{dates.format(i + 1)},{i * 0.5},{'uv'[i % 2]}\n" for i in range(25)]
    data = read("a.csv", "day,a,kind\n" + "".join(lines))
    assert roles(data)["day"] == "dropped"
    assert "dates or times; --numeric day" in why(data, "day")
    if dates.startswith("2024"):
        days = read("a.csv", "day,a,kind\n" + "".join(lines), numeric=["day"]).X[:, 0]
        expected = pd.to_datetime([dates.format(i + 1) for i in range(25)], utc=True)
        epoch = (expected - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        np.testing.assert_allclose(days, epoch, rtol=0, atol=1e-9)
    else:
        assert "line 2, column 'day': expected a date such as 2024-03-31" in refusal(
            read, "a.csv", "day,a,kind\n" + "".join(lines), numeric=["day"]
        )


def identified(column: list[Any], name: str) -> str:
    rows = zip(column, "uv" * len(column), strict=False)
    body = "".join(f"{x},{i % 7},{k}\n" for i, (x, k) in enumerate(rows))
    return f"{name},a,kind\n{body}"


SHUFFLED = np.random.default_rng(0).permutation(50).tolist()


@pytest.mark.parametrize(
    ("name", "column", "words"),
    [
        ("", list(range(50)), "numbers the rows"),
        ("x", list(range(1, 51)), "numbers the rows"),
        ("x", list(range(1000, 1100, 2)), "ascends from row to row"),
        ("customer_id", SHUFFLED, "named like an identifier"),
        ("customerId", SHUFFLED, "named like an identifier"),
        ("x", [f"p{i}" for i in range(50)], "another text in each of 50 rows"),
        ("x", [f"word {i // 2}" for i in range(50)], "25 different texts in 50 rows"),
        ("x", [7] * 50, "constant: 7"),
        ("x", ["same"] * 50, "constant: 'same'"),
        ("x", ["?"] * 50, "no value in any row"),
    ],
)
def test_what_no_method_should_learn_from_is_left_out(
    read: Any, name: str, column: list[Any], words: str
) -> None:
    data = read("a.csv", identified(column, name))
    called = name or "column1"
    assert roles(data)[called] == "dropped"
    assert words in why(data, called)
    assert data.feature_names == ("a",)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("x", SHUFFLED),  # whole numbers may measure
        ("idea", SHUFFLED),
        ("paid", SHUFFLED),
        ("id", [i // 2 for i in range(50)]),  # groups, not rows
        ("population", [i**3 for i in range(1, 51)]),  # a sorted measurement
        ("x", [i / 10 for i in range(50)]),
        ("x", [f"city {i % 20}" for i in range(50)]),
        ("x", ["", *["yes"] * 49]),  # missing or not tells something
    ],
)
def test_what_only_looks_like_it_is_kept(
    read: Any, name: str, column: list[Any]
) -> None:
    data = read("a.csv", identified(column, name))
    assert roles(data)[name] in ("numeric", "nominal")


def test_roles_can_be_said(read: Any) -> None:
    text = identified(list(range(50)), "id")
    data = read("a.csv", text, numeric=["id"], nominal=["a"])
    assert roles(data) == {"id": "numeric", "a": "nominal", "kind": "target"}
    assert data.X[:, 0].tolist() == list(range(50))
    assert data.columns[1].levels == tuple("0123456")
    assert data.nominal == (1,)
    data = read("a.csv", text, drop=["a"], numeric=["id"])
    assert data.feature_names == ("id",)
    assert why(data, "a") == "as asked"


def test_numbers_as_levels_come_in_numerical_order(read: Any) -> None:
    text = "a,b,kind\n10,01,u\n9,1,v\n,2,u\n9.0,02,v\n"
    data = read("a.csv", text, nominal=["a", "b"])
    assert data.columns[0].levels == ("9", "10")
    np.testing.assert_array_equal(data.X[:, 0], [1, 0, NAN, 0])
    assert data.columns[1].levels == ("01", "02", "1", "2")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"drop": ["sise"]}, "no column is named 'sise'. Did you mean 'size'?"),
        ({"nominal": ["kind"]}, "'kind' is the target"),
        ({"nominal": ["size"], "drop": ["size"]}, "'size' is named twice"),
        (
            {"numeric": ["colour"]},
            "line 2, column 'colour': expected a number or a date",
        ),
        ({"drop": ["size", "colour"]}, "no feature column is left"),
        ({"sep": "::"}, "the separator must be one character"),
        ({"sep": ",", "decimal": ","}, "a comma cannot be both"),
        ({"decimal": "x"}, "the decimal mark is '.' or ','"),
        ({"sheet": "one"}, "'sheet' cannot be said of this format; only drop"),
        ({"encoding": "utf-99"}, "no encoding is called 'utf-99'"),
    ],
)
def test_what_is_said_must_make_sense(
    read: Any, options: dict[str, Any], expected: str
) -> None:
    message = refusal(read, "a.csv", PLAIN, **options)
    assert expected in message
    assert message.startswith("a.csv")


def test_rows_without_a_class_are_left_out(read: Any) -> None:
    text = "a,b,kind\n1,x,u\n2,y,\n3,x,v\n4,z,?\n5,x,u\n6,w,v\n"
    data = read("a.csv", text)
    assert data.X[:, 0].tolist() == [1, 3, 5, 6]
    assert data.columns[1].levels == ("w", "x")
    assert data.columns[2].missing == 2
    assert data.assumed == ("2 rows without a class left out",)
    # Lines are still those of the file.
    assert "line 7, column 'a'" in refusal(read, "a.csv", text.replace("6,w", "six,w"))


def test_plus_and_minus_are_classes_and_levels(read: Any) -> None:
    data = read("a.csv", "a,b,kind\n1,+,+\n-,-,-\n3,-,+\n")
    assert data.class_names == ("+", "-")
    assert data.nominal == (1,)
    np.testing.assert_array_equal(data.X, [[1, 0], [NAN, 1], [3, 1]])


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "a,kind\n", "no rows below the header"),
        ("a.csv", "a,b,kind\n1,2,u\n3,4\n", "line 3: expected 3 columns"),
        ("a.csv", "a,a,kind\n1,2,u\n", "duplicate column names: 'a'"),
        ("a.csv", "a,kind\n1,u\n2,u\n", "all 2 rows have the class 'u'"),
        ("a.csv", "a,sort\n1,u\n2,v\n", "no column is named 'kind'"),
        ("a.csv", "a,kind\n1,u\n2,v\0\n", "line 3: a zero byte"),
        ("a.csv.xz", lzma.compress(PLAIN.encode())[:-9], "damaged or truncated xz"),
        ("a.zip", zipped(a_csv=PLAIN, b_csv=PLAIN), "one file in it, found 2: 'a.csv'"),
        ("a.zip", zipped(), "expected exactly one file in it, found 0"),
        ("a.zip", zipped(a_csv=PLAIN)[:-9], "damaged or truncated zip data"),
        ("a.zip", zipped(data=PLAIN), "the format of the file in it, 'data'"),
        ("a.jsonl", "\n", "the file is empty"),
        ("a.jsonl", JSON + "[1]\n", "line 5: expected an object"),
        ("a.jsonl", JSON + "{'a'}\n", "line 5: not JSON"),
        ("a.jsonl", '{"a": [1], "kind": "u"}\n', "line 1, key 'a': expected a number"),
        ("a.jsonl", '{"a": NaN, "kind": "u"}\n', "all 1 rows have the class 'u'"),
        ("a.npz", b"PK\x03\x04", "a.npz"),
    ],
)
def test_what_cannot_be_used_is_refused(
    read: Any, name: str, content: str | bytes, expected: str
) -> None:
    target = None if name == "a.npz" else "kind"
    message = refusal(read, name, content, target=target)
    assert expected in message
    assert name in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "packed"),
    [("a.csv.xz", lzma.compress), ("a.csv.zip", lambda data: zipped(a=data))],
)
def test_archives_unpack_to_a_limited_size(
    read: Any, name: str, packed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = ("a,kind\n" + "1,u\n2,v\n" * 1000).encode()
    monkeypatch.setattr(compression, "MAX_UNPACKED", len(content))
    assert read(name, packed(content)).n_samples == 2000
    monkeypatch.setattr(compression, "MAX_UNPACKED", len(content) - 1)
    assert "unpacks to more than" in refusal(read, name, packed(content))


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": [1.5, None, 3.0, 0.1],
            "count": pd.array([5, None, 7, 7], dtype="Int64"),
            "fur": [True, False, True, True],
            "colour": ["red", "blue", None, "red"],
            "day": pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-09", None]),
            "kind": ["cat", "dog", "cat", "dog"],
        }
    )


def check_frame(data: Dataset) -> None:
    expected = [[1.5, 5, 1, 1], [NAN, NAN, 0, 0], [3, 7, 1, NAN], [0.1, 7, 1, 1]]
    np.testing.assert_array_equal(data.X, expected)
    assert data.nominal == (2, 3)
    assert data.columns[2].levels == ("False", "True")
    assert roles(data)["day"] == "dropped"
    assert data.class_names == ("cat", "dog")


def test_parquet(read: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    stored = tmp_path / "f.parquet"
    frame().to_parquet(stored)
    check_frame(read("a.parquet", stored.read_bytes()))
    days = read("a.parquet", stored.read_bytes(), numeric=["day"]).X[:, 4]
    first = days_since_1970("2024-03-01")
    np.testing.assert_array_equal(days, [first, first + 1, first + 8, NAN])
    nested = pd.DataFrame({"a": [[1], [2]], "kind": ["u", "v"]})
    nested.to_parquet(stored)
    message = refusal(read, "a.parquet", stored.read_bytes())
    assert "a.parquet, column 'a': expected numbers, texts" in message
    assert "not a readable parquet file" in refusal(read, "a.parquet", b"PAR1xx")
    words = pd.DataFrame({"a": ["köln", "ulm"] * 2, "kind": ["u", "v"] * 2})
    words.to_parquet(stored, compression=None)
    damaged = stored.read_bytes().replace("köln".encode(), b"k\xc3\x36ln")
    assert "not a readable parquet file" in refusal(read, "a.parquet", damaged)


def test_excel(read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl")
    stored = tmp_path / "f.xlsx"
    with pd.ExcelWriter(stored) as book:
        frame().to_excel(book, sheet_name="pets", index=False)
        frame().iloc[:, [0, 5]].to_excel(
            book, sheet_name="raw", index=False, header=False
        )
    content = stored.read_bytes()
    data = read("a.xlsx", content)
    check_frame(data)
    assert data.assumed == ("the first sheet, 'pets'",)
    raw = read("a.xlsx", content, sheet="raw", target="column2")
    np.testing.assert_array_equal(raw.X[:, 0], [1.5, NAN, 3, 0.1])
    assert raw.assumed == ("no header",)
    assert "Sheets: pets, raw" in refusal(read, "a.xlsx", content, sheet="peds")
    assert "a.xlsx: damaged or truncated zip" in refusal(read, "a.xlsx", b"PK\x03\x04")
    monkeypatch.setattr(compression, "MAX_UNPACKED", 1000)
    assert "unpacks to more than 1,000 bytes" in refusal(read, "a.xlsx", content)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("a.parquet", "pyarrow", "parquet"), ("a.xlsx", "openpyxl", "excel")],
)
def test_a_package_that_is_missing_is_named(
    read: Any, name: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    message = refusal(read, name, zipped(a_csv=PLAIN))
    assert f"the package {package}, which is not installed" in message
    assert f"pip install 'drmbench[{extra}]'" in message


def test_a_large_table_with_gaps_is_what_pandas_reads(read: Any) -> None:
    rng = np.random.default_rng(1)
    n = 30_000
    made = pd.DataFrame(rng.normal(size=(n, 20))).mask(rng.random((n, 20)) < 0.1)
    made.columns = [f"v{j}" for j in range(20)]
    made["city"] = rng.choice(["Köln", "Bonn", "Ulm"], n)
    made["kind"] = rng.choice(["u", "v"], n)
    text = made.to_csv(index=True)
    data = read("a.csv", text)
    again = pd.read_csv(io.StringIO(text), index_col=0, **EVERY_DIGIT)
    np.testing.assert_array_equal(data.X[:, :20], again.iloc[:, :20].to_numpy())
    codes = again["city"].astype("category").cat.codes
    np.testing.assert_array_equal(data.X[:, 20], codes)
    assert roles(data)["column1"] == "dropped"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    value=st.decimals(-(10**9), 10**9, places=2, allow_nan=False),
    comma=st.booleans(),
    sign=st.sampled_from(["", "$", "€", "%"]),
    grouped=st.booleans(),
)
def test_written_numbers_are_parsed_back(
    value: Any, comma: bool, sign: str, grouped: bool
) -> None:
    text = f"{value:,.2f}" if grouped else f"{value:.2f}"
    if comma:
        text = text.translate(str.maketrans(",.", ".,"))
    text = f"{text} {sign}" if sign in "€%" else f"{sign}{text}"
    found = parse_number(text.strip(), "," if comma else ".")
    assert found is not None
    assert found.value == float(value)
    assert found.sign == sign
