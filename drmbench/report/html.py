"""HTML: tables and pages from Jinja2 templates, and drawings to stand inside a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from drmbench.report import claims, facts, protocol_words
from drmbench.report.fold_statistics import ROPE
from drmbench.report.table import Table, anchor

#: Columns from which a table on the page is printed in smaller letters.
WIDE = 16
#: Letters from which a cell's text on the page is broken into lines.
LONG = 30


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.globals.update(WIDE=WIDE, LONG=LONG, ROPE=ROPE)
_ENVIRONMENT.globals.update(claims=claims, facts=facts, words=protocol_words)
_ENVIRONMENT.filters["anchor"] = anchor


def render(template: str, **values: Any) -> Markup:
    """Fill in a file of ``drmbench/report/templates``; text is escaped, not Markup."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))


def to_html_page(table: Table) -> str:
    """Return a table as an HTML page of its own."""
    return str(render("table_page.html.j2", table=table))


def _rounded(path: re.Match[str]) -> str:
    """Return the data of a path on one line, to a hundredth of a point."""
    short = re.sub(r"\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}", path[0])
    return " ".join(short.split())


def inline_svg(svg: str, name: str, title: str) -> Markup:
    """Return the ``svg`` element of a whole SVG file, to stand on a page.

    Ids that are referred to get its name in front, so that no two drawings share one;
    other ids, metadata and digits beyond a hundredth of a point are dropped; style
    rules stay within the drawing; the size is left to the page, and so are colours: one
    such as ``#0072b2`` is what the page calls ``--c-0072b2``, if it does. The title is
    for those who do not see the drawing.
    """
    start = re.search(r"<svg\b[^>]*>", svg)
    if start is None:
        raise ValueError(f"{name}: not an SVG drawing")
    body = svg[start.end() :]
    needed = set(re.findall(r'(?:url\(#|href="#)([^")]+)', body))
    body = re.sub(
        r'\sid="([^"]+)"',
        lambda found: f' id="{name}-{found[1]}"' if found[1] in needed else "",
        body,
    )
    body = re.sub(r'(?<=\sd=")[^"]+', _rounded, body)
    for pattern, replacement in (
        (r"(?s)<metadata>.*?</metadata>", ""),
        (r">\s+<(?!/?text|/?tspan)", "><"),
        (r'(url\(#|href="#)([^")]+)', rf"\1{name}-\2"),
        (r"(<style[^>]*>)\s*\*\s*\{", rf"\1#{name} * {{"),
        (r"(?<=[:\s])#([0-9a-f]{6})\b(?=[;\"])", r"var(--c-\1, #\1)"),
    ):
        body = re.sub(pattern, replacement, body)
    width = re.search(r'\swidth="([\d.]+)', start[0])
    limit = f' style="max-width: {float(width[1]):g}pt"' if width else ""
    root = re.sub(r'\s(?:width|height)="[^"]*"', "", start[0]).removesuffix(">")
    root = re.sub(r'\bid="([^"]+)"', "", root)
    return Markup(
        f'{root} id="{name}" role="img" aria-labelledby="{name}-name"{limit}>'
        f'<title id="{name}-name">{escape(title)}</title>{body.strip()}'
    )
