"""Text in whatever encoding a person's file has, as UTF-8."""

from __future__ import annotations

import codecs

from drmbench.errors import InputError, quoted

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", ""),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
"""Byte-order marks, the encodings they tell, and what these are called if said."""

_SAMPLE = 4096


def as_utf8(file: str, data: bytes, encoding: str | None) -> tuple[bytes, str]:
    """Return text as UTF-8, and the encoding that was assumed: empty for UTF-8.

    Without a byte-order mark, text that is not UTF-8 is taken for UTF-16 if every
    other byte is zero, and else for Windows' extension of latin-1.

    Examples
    --------
    >>> as_utf8("a.csv", "größer".encode("latin-1"), None)[1]
    'latin-1 (Windows-1252)'
    """
    if encoding is not None:
        return _decoded(file, data, encoding).encode(), ""
    for mark, name, said in _MARKS:
        if data.startswith(mark) and (said or _is_utf8(data)):
            return _decoded(file, data, name).encode(), said
    zeros = data[:_SAMPLE]
    for name, text, blank in (
        ("utf-16-le", zeros[::2], zeros[1::2]),
        ("utf-16-be", zeros[1::2], zeros[::2]),
    ):
        if len(blank) > 1 and blank.count(0) > 0.8 * len(blank) > text.count(0) * 8:
            return _decoded(file, data, name).encode(), "UTF-16"
    if _is_utf8(data):
        return data, ""
    try:
        return data.decode("cp1252").encode(), "latin-1 (Windows-1252)"
    except UnicodeDecodeError:
        return data.decode("latin-1").encode(), "latin-1"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(file: str, data: bytes, encoding: str) -> str:
    try:
        if codecs.lookup(encoding).name == "utf-8":
            encoding = "utf-8-sig"  # a byte-order mark is no text
        return data.decode(encoding)
    except LookupError:
        raise InputError(
            f"{file}: no encoding is called {quoted(encoding)}; common ones are utf-8,"
            f" utf-16, latin-1 and cp1252"
        ) from None
    except (UnicodeError, ValueError) as error:
        start = getattr(error, "start", 0)
        line = data.count(b"\n", 0, start) + 1
        raise InputError(
            f"{file}, line {line}: not {encoding} text ({error}); say another encoding"
            f" (--encoding), such as latin-1"
        ) from error
