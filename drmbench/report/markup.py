"""HTML elements whose text is escaped unless it is already HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable


class Html(str):
    """Text that is HTML already; everything else is escaped when it is put in one."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """Return text as HTML; what is HTML already stays as it is.

    Examples
    --------
    >>> escaped("a < b"), escaped(Html("<b>"))
    ('a &lt; b', '<b>')
    """
    return text if isinstance(text, Html) else Html(html.escape(text))


def tag(name: str, /, *children: str, **attributes: str | bool) -> Html:
    """Return an element.

    Parameters
    ----------
    name : str
        Name of the element.
    *children : str
        Its content, escaped unless it is :class:`Html`.
    **attributes : str or bool
        Attributes; ``class_`` is ``class``, ``data_value`` is ``data-value``. True
        gives an attribute without a value, False none.

    Examples
    --------
    >>> tag("a", "R&D", href="#rd", class_="big")
    '<a href="#rd" class="big">R&amp;D</a>'
    """
    return Html(f"{void(name, **attributes)}{joined(children, '')}</{name}>")


def void(name: str, /, **attributes: str | bool) -> Html:
    """Return an element that has no content, or the start of one that has."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    return Html(f"<{name}{shown}>")


def _attribute(key: str, value: str | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" if value else ""
    return f' {name}="{html.escape(value)}"'


def joined(parts: Iterable[str], separator: str = "\n") -> Html:
    """Return parts one after the other, each escaped unless it is HTML."""
    return Html(separator.join(map(escaped, parts)))


def bullets(items: Iterable[str], **attributes: str | bool) -> Html:
    """Return a list without numbers."""
    return tag("ul", *(tag("li", item) for item in items), **attributes)


def terms(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return a list of terms, each with what is said of it."""
    rows = (tag("div", tag("dt", name), tag("dd", said)) for name, said in pairs)
    return tag("dl", *rows)


def commands(lines: Iterable[str], label: str) -> Html:
    """Return commands to be copied; `label` names the block to screen readers."""
    text = tag("code", "\n".join(lines))
    return tag("pre", text, tabindex="0", role="region", aria_label=label)


def details(summary: str, *content: str, open_: bool = False) -> Html:
    """Return a part that opens when its summary is chosen, and in print."""
    return tag("details", tag("summary", summary), *content, open=open_)


def section(anchor: str, level: int, title: str, *content: str) -> Html:
    """Return a section of the page under a heading of a level."""
    heading = tag(f"h{level}", title, id=f"{anchor}-title")
    return tag(
        "section", heading, *content, id=anchor, aria_labelledby=f"{anchor}-title"
    )
