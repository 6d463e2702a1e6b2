"""Formulas as MathML, which browsers draw themselves: no script, nothing to fetch.

The TeX source stays in the page as the text for those who cannot see the formula.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, Literal

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

#: Signs that the converter leaves to the browser, which would space or stretch them.
TIGHT = re.compile(r'<mo(?: stretchy="false")?>(&#x02016;|&#x0007C;|&#x0002F;)</mo>')


def mathml(tex: str, display: Literal["inline", "block"]) -> str:
    """Return a formula as an element of a page."""
    said = escape(" ".join(tex.split()))
    drawn = TIGHT.sub(
        r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>',
        convert(tex, display=display),
    )
    return drawn.replace("<math ", f'<math alttext="{said}" ', 1)


def inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; a wide one scrolls, not the page."""
    self.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
