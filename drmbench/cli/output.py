"""What commands print in common: examples in their help, JSON, classes and bars."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer import Option

from drmbench.errors import shortened

AsJson = Annotated[bool, Option("--json", help="Print JSON, and nothing else.")]

_SHOWN_CLASSES = 10


def examples(*commands: str) -> str:
    """Return the epilogue of a command's help: example calls, one per paragraph.

    Examples
    --------
    >>> examples("drmbench data list").splitlines()
    ['Examples:', '', 'drmbench data list']
    """
    return "\n\n".join(["Examples:", *commands])


def print_json(value: object) -> None:
    """Print something as JSON; what is no finite number is null there."""
    plain = _finite(value)
    typer.echo(json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def size_words(size: float) -> str:
    """Return a number of bytes to read.

    Examples
    --------
    >>> size_words(19_300_000), size_words(9_030)
    ('19.3 MB', '9 kB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"


def class_words(counts: Mapping[str, int]) -> str:
    """Return how many classes there are and how many samples each has, shortened.

    Examples
    --------
    >>> class_words({"no": 305, "yes": 25})
    '2 classes (no 305, yes 25)'
    """
    named = [f"{shortened(name, 40)} {count}" for name, count in counts.items()]
    more = ", …" if len(named) > _SHOWN_CLASSES else ""
    return f"{len(named)} classes ({', '.join(named[:_SHOWN_CLASSES])}{more})"


def bar(share: float, width: int = 40) -> str:
    """Return a horizontal bar for a share of the largest, never empty above zero.

    Examples
    --------
    >>> len(bar(1.0)), len(bar(0.5)), len(bar(0.001)), len(bar(0.0))
    (40, 20, 1, 0)
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    block = "█" if encoding.startswith("utf") else "#"
    return block * (max(1, round(width * share)) if share > 0 else 0)
