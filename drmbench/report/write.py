"""Write tables, figures and the page into a results folder, whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from drmbench.data.loading import load
from drmbench.data.storage import replacing
from drmbench.report.convergence import CAPTION, draw
from drmbench.report.dataset_tables import dataset_tables
from drmbench.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Data sets of the convergence figure; all come with scikit-learn.
CONVERGENCE_SETS = ("iris", "wine", "optdigits")


def write_tables(results: Path) -> list[Path]:
    """Write every table as Markdown and CSV; return the files."""
    written = []
    for table in dataset_tables():
        for suffix, text in ((".md", table.markdown()), (".csv", table.csv())):
            written.append(_write(results / "tables" / f"{table.name}{suffix}", text))
    return written


def write_figures(results: Path) -> list[Path]:
    """Write every figure as SVG, PDF and PNG; return the files."""
    figure = draw([load(name) for name in CONVERGENCE_SETS])
    return [
        _write(results / "figures" / f"convergence.{suffix}", _rendered(figure, suffix))
        for suffix in ("svg", "pdf", "png")
    ]


def write_report(results: Path) -> list[Path]:
    """Write ``report.html``, one file that needs no other; return it."""
    figure = draw([load(name) for name in CONVERGENCE_SETS])
    text = page(dataset_tables(), [(_rendered(figure, "png"), CAPTION)])
    return [_write(results / "report.html", text)]


def _rendered(figure: Figure, suffix: str) -> bytes:
    """Return the figure as a file's bytes; the same figure gives the same bytes."""
    import matplotlib as mpl

    stream = io.BytesIO()
    no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
    with mpl.rc_context({"svg.hashsalt": "drmbench"}):
        figure.savefig(stream, format=suffix, dpi=150, metadata=no_date)
    return stream.getvalue()


def _write(target: Path, content: str | bytes) -> Path:
    data = content.encode("utf-8") if isinstance(content, str) else content
    with replacing(target) as temporary:
        temporary.write_bytes(data)
    return target
