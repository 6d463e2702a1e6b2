"""Drawings as files: the same results give the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib import ft2font

from drmbench.errors import InputError
from drmbench.files import replacing
from drmbench.report.figures.drawing import Drawing
from drmbench.report.figures.style import house_style

FORMATS = ("svg", "pdf", "png")
INDEX = "README.md"

_DPI = 200
#: Metadata that would change with the day or the version of matplotlib. The index
#: names the version: files that did would differ even where the drawing does not.
_NO_DATES = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
_HEAD = (
    "# Figures\n\nDrawn from stored results by `drmbench figures`; each also as SVG and"
    " PDF.\n\n"
)
_SECTION = re.compile(r"^<!-- figure: (\S+) -->\n", re.MULTILINE)


def drawn_with() -> str:
    """Return the versions of what decides the bytes of a drawing, besides the results.

    Another matplotlib lays figures out differently, another FreeType letters.
    """
    return f"matplotlib {mpl.__version__}, FreeType {ft2font.__freetype_version__}"


def rendered(drawing: Drawing, suffix: str) -> bytes:
    """Return a drawing as the bytes of a file.

    Parameters
    ----------
    drawing : Drawing
        What to render.
    suffix : {"svg", "pdf", "png"}
        The format.
    """
    stream = io.BytesIO()
    metadata = {**_NO_DATES[suffix], "Title": drawing.title}
    with house_style():
        drawing.figure.savefig(stream, format=suffix, dpi=_DPI, metadata=metadata)
    return stream.getvalue()


def to_svg(drawing: Drawing) -> str:
    """Return a drawing as the text of an SVG file."""
    return rendered(drawing, "svg").decode("utf-8")


def write_drawings(
    drawings: Iterable[Drawing], folder: Path, *, keep_others: bool
) -> list[Path]:
    """Write each drawing in every format, and an index with the captions.

    Parameters
    ----------
    drawings : iterable of Drawing
        What to write.
    folder : Path
        Where; made if need be.
    keep_others : bool
        Whether the index keeps figures that are there and not drawn now.

    Returns
    -------
    list of Path
        The files, the index last.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    written, sections = [], {}
    try:
        for drawing in drawings:
            for suffix in FORMATS:
                path = folder / f"{drawing.id}.{suffix}"
                written.append(_write(path, rendered(drawing, suffix)))
            sections[drawing.id] = _section(drawing)
        if sections:
            others = _present_sections(folder) if keep_others else {}
            text = _HEAD + "\n".join({**others, **sections}.values())
            written.append(_write(folder / INDEX, text.encode()))
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}"
        ) from error
    return written


def _write(target: Path, content: bytes) -> Path:
    with replacing(target) as temporary:
        temporary.write_bytes(content)
    return target


def _section(drawing: Drawing) -> str:
    return (
        f"<!-- figure: {drawing.id} -->\n## {drawing.title}\n\n"
        f"![{drawing.title}]({drawing.id}.png)\n\n{drawing.caption}\n\n"
        f"[SVG]({drawing.id}.svg) · [PDF]({drawing.id}.pdf) · {drawn_with()}\n"
    )


def _present_sections(folder: Path) -> dict[str, str]:
    """Return the sections of the index that is there, of figures that still are."""
    index = folder / INDEX
    text = index.read_text(encoding="utf-8") if index.is_file() else ""
    parts: Sequence[str] = _SECTION.split(text)[1:]
    found = {
        name: f"<!-- figure: {name} -->\n{body.rstrip()}\n"
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
    return {n: body for n, body in found.items() if (folder / f"{n}.png").is_file()}
