"""The values of an experiment file, each with the line it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias


@dataclass(frozen=True)
class Scalar:
    """A text, number, true, false or nothing."""

    value: str | int | float | bool | None
    line: int


@dataclass(frozen=True)
class Items:
    """A list; `complete` unless invalid items were taken out."""

    items: tuple[Node, ...]
    line: int
    complete: bool = True


class Entry(NamedTuple):
    """A value in a mapping, and the line of its key."""

    key_line: int
    value: Node


@dataclass(frozen=True)
class Table:
    """A mapping with text keys; `lost` are those taken out with an invalid value."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    line: int = 1
    lost: frozenset[str] = frozenset()

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def value(self, key: str, default: Any = None) -> Any:
        """Return a key's value as plain Python, or `default` where it is absent."""
        return plain(self.entries[key].value) if key in self.entries else default

    def values(self, *keys: str) -> dict[str, Any]:
        """Return those of the keys that are present, as plain Python."""
        return {key: self.value(key) for key in keys if key in self.entries}

    def table(self, key: str) -> Table:
        """Return the mapping under a key; an empty one where it is absent."""
        node = self.entries[key].value if key in self.entries else None
        return node if isinstance(node, Table) else Table(line=self.line_of(key))

    def items(self, key: str) -> tuple[Node, ...]:
        """Return the list under a key; an empty one where it is absent."""
        node = self.entries[key].value if key in self.entries else None
        return node.items if isinstance(node, Items) else ()

    def whole(self, key: str) -> bool:
        """Tell whether the list under a key is there, with nothing taken out."""
        node = self.entries[key].value if key in self.entries else None
        return isinstance(node, Items) and node.complete

    def line_of(self, key: str) -> int:
        """Return the line of a key, or that of the mapping where it is absent."""
        return self.entries[key].key_line if key in self.entries else self.line


Node: TypeAlias = Scalar | Items | Table


def plain(node: Node) -> Any:
    """Return a value as plain Python, without lines.

    Examples
    --------
    >>> plain(Table({"k": Entry(1, Items((Scalar(5, 1), Scalar("a", 2)), 1))}))
    {'k': [5, 'a']}
    """
    match node:
        case Scalar(value=value):
            return value
        case Items(items=items):
            return [plain(item) for item in items]
        case Table(entries=entries):
            return {key: plain(entry.value) for key, entry in entries.items()}


def shown(node: Node) -> str:
    """Say in a message what a value is.

    Examples
    --------
    >>> shown(Scalar("ten", 1)), shown(Scalar(None, 1)), shown(Items((), 1))
    ("'ten'", 'nothing', 'a list')
    """
    match node:
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool() as value):
            return str(value).lower()
        case Scalar(value=value):
            text = repr(value)
            return text if len(text) <= 60 else f"{text[:57]}…"
        case Items():
            return "a list"
        case Table():
            return "a mapping"
