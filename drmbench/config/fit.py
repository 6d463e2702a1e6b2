"""Tells whether a single value fits a shape, and says why not."""

from __future__ import annotations

import math
import re
import unicodedata

from drmbench.config.shapes import (
    Choice,
    Flag,
    Nothing,
    Number,
    Parameter,
    Shape,
    Text,
)
from drmbench.config.tree import Items, Node, Scalar, shown
from drmbench.errors import did_you_mean


def fit(node: Node, shape: Shape) -> Node | None:
    """Return a value as the shape wants it, or None if it does not fit.

    Examples
    --------
    >>> fit(Scalar(3e3, 1), Number(low=1, whole=True))
    Scalar(value=3000, line=1)
    >>> fit(Scalar("3", 1), Number()) is None
    True
    """
    if isinstance(shape, Parameter):
        return _fit_parameter(node)
    return _fit_scalar(node, shape) if isinstance(node, Scalar) else None


def misfit(node: Node, shape: Shape) -> str:
    """Say what a value must be and is not, with near misses.

    Examples
    --------
    >>> misfit(Scalar(0, 1), Number(low=1, whole=True))
    'must be a whole number of at least 1, not 0'
    """
    return f"must be {shape.describe()}, not {shown(node)}{_hint(node, shape)}"


def _hint(node: Node, shape: Shape) -> str:
    value = node.value if isinstance(node, Scalar) else None
    match shape, value:
        case Choice(), str():
            hint = did_you_mean(value, shape.values())
            return f".{hint}" if hint else ""
        case ((Text() | Choice()), (int() | float())):
            return "; in quotes it would be text"
        case Number(), str() if _reads_as_number(value):
            return "; without quotes it would be a number"
    return ""


def _reads_as_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _fit_parameter(node: Node) -> Node | None:
    parts = node.items if isinstance(node, Items) else (node,)
    return node if all(_is_usable(part) for part in parts) else None


def _is_usable(node: Node) -> bool:
    """Tell whether a value is plain: no list or mapping, NaN or odd character."""
    match node:
        case Scalar(value=str() as text):
            return not _odd(text)
        case Scalar(value=float() as number):
            return math.isfinite(number)
    return isinstance(node, Scalar)


def _fit_scalar(node: Scalar, shape: Shape) -> Scalar | None:
    match shape, node.value:
        case Text(), str():
            return _fit_text(node, shape)
        case Choice(), str():
            return node if shape.allows(str(node.value)) else None
        case Number(), int() | float():
            return _fit_number(node, shape)
        case (Flag(), bool()) | (Nothing(), None):
            return node
    return None


def _fit_text(node: Scalar, shape: Text) -> Scalar | None:
    text = str(node.value)
    broken = shape.one_line and "\n" in text
    if broken or _odd(text) or not re.search(shape.pattern, text):
        return None
    return Scalar(text.strip(), node.line)


def _odd(text: str) -> bool:
    """Tell whether there are control characters or halves of characters in a text."""
    return any(
        unicodedata.category(character) in ("Cc", "Cs")
        for character in text
        if character not in "\n\t"
    )


def _fit_number(node: Scalar, shape: Number) -> Scalar | None:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not shape.allows(value) or (isinstance(value, float) and math.isinf(value)):
        return None
    if math.isnan(value):
        return None
    if shape.whole:
        return Scalar(int(value), node.line) if value == int(value) else None
    return node
