"""SVG drawings made fit to stand inside an HTML page, several beside each other."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_ROOT = re.compile(r"<svg\b[^>]*>")
_SIZE = re.compile(r'\s(?:width|height)="[^"]*"')
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_IDS = re.compile(r'\bid="([^"]+)"')
_USES = re.compile(r'(url\(#|href="#)([^")]+)')
_EVERYTHING = re.compile(r"(<style[^>]*>)\s*\*\s*\{")


def inline_svg(svg: str, anchor: str, title: str) -> Markup:
    """Return a drawing's ``svg`` element for a page.

    Ids get the anchor in front, so that no two drawings share one; style rules stay
    within the drawing; the size is left to the page; metadata is dropped.

    Parameters
    ----------
    svg : str
        A whole SVG file.
    anchor : str
        Id of the drawing on the page.
    title : str
        What the drawing shows, for those who do not see it.
    """
    start = _ROOT.search(svg)
    if start is None:
        raise ValueError(f"{anchor}: not an SVG drawing")
    body = _METADATA.sub("", svg[start.end() :]).strip()
    body = _IDS.sub(rf'id="{anchor}-\1"', body)
    body = _USES.sub(rf"\1{anchor}-\2", body)
    body = _EVERYTHING.sub(rf"\1#{anchor} * {{", body)
    width = re.search(r'\swidth="([\d.]+)', start[0])
    root = _SIZE.sub("", start[0]).removesuffix(">")
    root = _IDS.sub("", root)
    limit = f' style="max-width: {float(width[1]):g}pt"' if width else ""
    name = f'<title id="{anchor}-name">{escape(title)}</title>'
    return Markup(
        f'{root} id="{anchor}" role="img" aria-labelledby="{anchor}-name"{limit}>'
        f"{name}{body}"
    )
