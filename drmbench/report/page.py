"""One self-contained HTML page with the tables and figures there are."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from drmbench import __version__
from drmbench.report.table import TextTable

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 84rem; margin: auto;
       padding: 1rem; color: #1a1a1a; background: #fff; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; }
caption { text-align: left; font-weight: 600; padding: 0.5rem 0; }
th, td { text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd;
         vertical-align: top; white-space: nowrap; }
td:last-child { white-space: normal; min-width: 14rem; }
img { max-width: 100%; }
figcaption { font-size: 0.85rem; }
"""


def page(tables: Sequence[TextTable], figures: Sequence[tuple[bytes, str]]) -> str:
    """Return the page.

    Parameters
    ----------
    tables : sequence of TextTable
        The tables, in order.
    figures : sequence of (bytes, str)
        PNG images and their captions.
    """
    parts = [table.html() for table in tables]
    parts += [_figure(png, caption) for png, caption in figures]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>drmbench</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>drmbench</h1>\n<p>Made by drmbench {__version__}. Data sets of the paper"
        " as the catalogue has them, and the convergence of the three algorithms.</p>\n"
        f"{body}\n</body>\n</html>\n"
    )


def _figure(png: bytes, caption: str) -> str:
    data = base64.b64encode(png).decode("ascii")
    text = html.escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )
