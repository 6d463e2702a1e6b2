"""Figures from stored results: which there are, how they are drawn and written."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import ft2font

from drmbench.errors import InputError, quoted, reason_of, refused
from drmbench.files import replacing
from drmbench.report.figures.drawing import Drawing, NothingToDrawError
from drmbench.report.figures.ranks import LEAST_DATASETS, LEAST_METHODS
from drmbench.report.figures.recipes import recipes
from drmbench.report.figures.style import (
    fix_layout,
    headed,
    house_style,
    unknown_letters,
)
from drmbench.report.render import link_text, markdown_prose
from drmbench.running.results import Results, experiments_in, load_results

__all__ = [
    "FORMATS",
    "Drawing",
    "draw_all",
    "drawn_with",
    "rendered",
    "svg_index",
    "to_svg",
    "write_figures",
]

logger = logging.getLogger(__name__)

Say = Callable[[str], None]

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
    "# Figures\n\nDrawn from stored results by `drmbench figures`; with"
    f" `--format {','.join(FORMATS)}` also in other formats.\n\n"
)
_SECTION = re.compile(r"^<!-- figure: (\S+) -->\n", re.MULTILINE)


def draw_all(
    results: Mapping[str, Results], *, say: Say = logger.warning
) -> Iterator[Drawing]:
    """Draw every figure of results: experiment by experiment, then those of several.

    A drawing names the experiments whose rows it shows. `say` gets a message for each
    figure that has no usable rows, or names in letters that its font does not have, and
    one if no rule gives the results any figure.
    """
    ways = list(recipes(results))
    for draw in ways:
        try:
            with house_style():
                drawing = draw()
                fix_layout(drawing.figure)
        except NothingToDrawError as error:
            say(f"no figure: {error}")
        else:
            if unknown := unknown_letters(drawing.figure, drawing.title):
                say(f"{drawing.id}: letters drawn as boxes: {unknown[:20]}")
            yield drawing
    if results and not ways:
        say(
            f"no figure: {', '.join(results)}: ranks need {LEAST_METHODS} methods on"
            f" {LEAST_DATASETS} data sets"
        )


def drawn_with() -> str:
    """Return the versions of what decides the bytes of a drawing, besides the results.

    Another matplotlib lays figures out differently, another FreeType letters.
    """
    return f"matplotlib {mpl.__version__}, FreeType {ft2font.__freetype_version__}"


def rendered(drawing: Drawing, suffix: str) -> bytes:
    """Return a drawing, under its title, as a file in one of :data:`FORMATS`."""
    with house_style(), headed(drawing.figure, drawing.title) as whole:
        return _saved(drawing, suffix, bbox_inches=whole)


def to_svg(drawing: Drawing) -> str:
    """Return a drawing as the text of an SVG file; the title is not in the picture."""
    with house_style():
        return _saved(drawing, "svg").decode("utf-8")


def _saved(drawing: Drawing, suffix: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    metadata = {**_NO_DATES[suffix], "Title": drawing.title}
    drawing.figure.savefig(
        stream, format=suffix, dpi=_DPI, metadata=metadata, **options
    )
    return stream.getvalue()


def write_figures(
    results_folder: Path,
    names: Sequence[str],
    out: Path,
    *,
    formats: Sequence[str] = ("svg",),
    say: Say = logger.warning,
) -> list[Path]:
    """Draw stored results into ``out/figures``, with an index of the captions.

    No `names` means all experiments. Otherwise those figures are drawn that show one of
    them, with all other rows that they show, and the index keeps what it has of others.
    `formats` are some of :data:`FORMATS`, or ``all``; `say` is as for :func:`draw_all`.
    Returns the files, the index last. Raises InputError if there are no such results or
    formats, or a file cannot be written.
    """
    for name in formats:
        if name not in (*FORMATS, "all"):
            listed = ", ".join(FORMATS)
            raise InputError(f"no format {quoted(name)}; there are {listed}, and all")
    suffixes = [name for name in FORMATS if name in formats or "all" in formats]
    results = load_results(results_folder, names)
    if not results:
        raise InputError(
            f"{results_folder} has no results to draw. `drmbench run CONFIG --out"
            f" {results_folder}` would make some, or name another folder with"
            " --results."
        )
    rest = [name for name in experiments_in(results_folder) if name not in results]
    together = {**results, **(load_results(results_folder, rest) if rest else {})}
    folder = out / "figures"
    written, sections = [], {}
    try:
        for drawing in draw_all(dict(sorted(together.items())), say=say):
            if names and not set(names) & set(drawing.experiments):
                continue
            files = {suffix: f"{drawing.id}.{suffix}" for suffix in suffixes}
            for suffix, name in files.items():
                written.append(_write(folder / name, rendered(drawing, suffix)))
            sections[drawing.id] = _section(drawing, files)
        if sections:
            others = _present_sections(folder / INDEX) if names else {}
            text = _index({**others, **sections}.values())
            written.append(_write(folder / INDEX, text.encode()))
    except OSError as error:
        why = f"cannot write to {folder}: {reason_of(error)}"
        raise refused(error, why) from error
    return written


def svg_index(drawings: Iterable[Drawing]) -> str:
    """Return the index of drawings that were all written as SVG."""
    return _index(_section(x, {"svg": f"{x.id}.svg"}) for x in drawings)


def _write(target: Path, content: bytes) -> Path:
    with replacing(target) as temporary:
        temporary.write_bytes(content)
    return target


def _index(sections: Iterable[str]) -> str:
    return _HEAD + "\n".join(sections)


def _section(drawing: Drawing, files: Mapping[str, str]) -> str:
    """Return what the index says of a figure: it shows one format and links others."""
    shown = files.get("svg") or files.get("png", "")
    title, caption = markdown_prose(drawing.title), markdown_prose(drawing.caption)
    # The picture says its title; where none is shown, the heading does.
    heading = f"`{drawing.id}`" if shown else title
    image = f"![{link_text(title)}]({shown})\n\n" if shown else ""
    links = [f"[{s.upper()}]({name})" for s, name in files.items() if name != shown]
    return (
        f"<!-- figure: {drawing.id} -->\n## {heading}\n\n"
        f"{image}{caption}\n\n{' · '.join([*links, drawn_with()])}\n"
    )


def _present_sections(index: Path) -> dict[str, str]:
    """Return the sections of an existing index, of figures that are still there."""
    text = index.read_text(encoding="utf-8") if index.is_file() else ""
    parts: Sequence[str] = _SECTION.split(text)[1:]
    return {
        name: f"<!-- figure: {name} -->\n{body.rstrip()}\n"
        for name, body in zip(parts[::2], parts[1::2], strict=True)
        if any((index.parent / f"{name}.{suffix}").is_file() for suffix in FORMATS)
    }
