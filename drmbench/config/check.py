"""Checks a tree against the shapes of the schema, and finds all problems at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drmbench.config.fit import fit, misfit
from drmbench.config.problems import Problems
from drmbench.config.shapes import (
    Either,
    Field,
    ListOf,
    MapOf,
    Record,
    Shape,
    Variants,
)
from drmbench.config.tree import Entry, Items, Node, Scalar, Table, shown
from drmbench.errors import did_you_mean

_TOP = "the experiment"


def check_tree(node: Node, shape: Record, problems: Problems) -> Table:
    """Return the valid part of a file's tree; what is not valid becomes a problem.

    Parameters
    ----------
    node : Node
        The whole file.
    shape : Record
        What it should be.
    problems : Problems
        Where problems are noted.

    Returns
    -------
    Table
        A copy in which everything fits `shape`: invalid values and unknown keys are
        gone, a lone item is a list where a list is meant, and whole numbers are ints.
    """
    checked = _Checker(problems, shape).record(node, shape, "")
    return checked or Table(line=node.line)


def kind_problem(field: Field, kind: str) -> str | None:
    """Say why a key has no place in a mapping of this kind, or None if it has."""
    if not field.kinds or kind in field.kinds:
        return None
    return f"only kind {' or '.join(field.kinds)} has it; the kind here is {kind}"


class _Checker:
    """Walks tree and shapes together; `where` is the dotted path of a value."""

    def __init__(self, problems: Problems, root: Record) -> None:
        self._problems = problems
        self._root = root

    def check(self, node: Node, shape: Shape, where: str) -> Node | None:
        """Return the valid part of a value, or None if there is none."""
        match shape:
            case Record():
                return self.record(node, shape, where)
            case ListOf():
                return self._list(node, shape, where)
            case MapOf():
                return self._map(node, shape, where)
            case Variants():
                return self._variant(node, shape, where)
            case Either():
                return self._either(node, shape, where)
        fitted = fit(node, shape)
        if fitted is None:
            self._refuse(node, shape, where)
        return fitted

    def record(self, node: Node, shape: Record, where: str) -> Table | None:
        if not isinstance(node, Table):
            self._refuse(node, shape, where or _TOP)
            return None
        fields = {field.name: field for field in shape.fields}
        found: dict[str, Entry] = {}
        for key, (line, value) in node.entries.items():
            if key not in fields:
                self._unknown(key, line, fields, where)
                continue
            checked = self.check(value, fields[key].shape, _join(where, key))
            if checked is not None:
                found[key] = Entry(line, checked)
        for field in shape.fields:
            if field.required and field.name not in node:
                self._problems.add(
                    node.line, f"{where or _TOP} needs the key {field.name!r}"
                )
        lost = frozenset(key for key in node.entries if key not in found)
        return self._without_misplaced(Table(found, node.line, lost), shape, where)

    def _without_misplaced(self, table: Table, shape: Record, where: str) -> Table:
        """Remove keys that a mapping of its kind does not have."""
        default = None if "kind" in table.lost else shape.default_kind
        kind = table.value("kind", default)
        kept = dict(table.entries)
        for field in shape.fields if kind else ():
            reason = kind_problem(field, kind)
            if reason and field.name in kept:
                line = kept.pop(field.name).key_line
                self._problems.add(line, f"{_join(where, field.name)}: {reason}")
        return Table(kept, table.line, table.lost)

    def _unknown(
        self, key: str, line: int, fields: Mapping[str, Field], where: str
    ) -> None:
        place = f" in {where}" if where else ""
        homes = sorted(set(_homes(key, self._root, "")))
        hint = did_you_mean(key, fields)
        if homes:
            hint = f" It belongs {' or '.join(homes)}."
        self._problems.add(
            line, f"unknown key {key!r}{place}.{hint} Valid: {', '.join(fields)}"
        )

    def _list(self, node: Node, shape: ListOf, where: str) -> Items | None:
        if not isinstance(node, Items):
            if shape.or_one and isinstance(node, Scalar):
                checked = self.check(node, shape.item, where)
                return Items((checked,), node.line) if checked else None
            self._refuse(node, shape, where)
            return None
        if len(node.items) < shape.at_least:
            self._problems.add(node.line, f"{where} must not be empty")
            return None
        valid = self._unrepeated(node, shape, where)
        return valid if valid.items or not node.items else None

    def _unrepeated(self, node: Items, shape: ListOf, where: str) -> Items:
        """Return the valid items; the same plain value twice is a problem."""
        found: list[Node] = []
        seen: set[tuple[bool, object]] = set()
        for number, item in enumerate(node.items, start=1):
            checked = self.check(item, shape.item, _item(where, number))
            # A name that stands twice in datasets or methods is told where the names
            # are resolved, where labels and groups are known.
            if isinstance(checked, Scalar) and not isinstance(shape.item, Variants):
                identity = (isinstance(checked.value, bool), checked.value)
                if identity in seen:
                    self._problems.add(item.line, f"{where} has {shown(checked)} twice")
                    continue
                seen.add(identity)
            if checked is not None:
                found.append(checked)
        return Items(tuple(found), node.line, len(found) == len(node.items))

    def _map(self, node: Node, shape: MapOf, where: str) -> Table | None:
        if not isinstance(node, Table):
            self._refuse(node, shape, where)
            return None
        checked = {
            key: Entry(line, fitted)
            for key, (line, value) in node.entries.items()
            if (fitted := self.check(value, shape.value, _join(where, key)))
        }
        return Table(checked, node.line)

    def _variant(self, node: Node, shape: Variants, where: str) -> Node | None:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return self.check(node, shape.name, where)
        if not isinstance(node, Table):
            self._refuse(node, shape, where)
            return None
        for key, record in shape.records:
            if key in node:
                return self.record(node, record, where)
        keys = [key for key, _ in shape.records]
        hints = (did_you_mean(key, keys) for key in node.entries)
        self._problems.add(
            node.line,
            f"{where} needs the key {' or '.join(map(repr, keys))}."
            f"{next(filter(None, hints), '')}",
        )
        return None

    def _either(self, node: Node, shape: Either, where: str) -> Node | None:
        for one in shape.shapes:
            fitted = fit(node, one)
            if fitted is not None:
                return fitted
        self._refuse(node, shape, where)
        return None

    def _refuse(self, node: Node, shape: Shape, where: str) -> None:
        self._problems.add(node.line, f"{where} {misfit(node, shape)}")


def _join(where: str, key: str) -> str:
    """Return the name of a key in messages: ``protocol.split.k``."""
    if not where:
        return key
    item = where.startswith("item ") and ":" not in where
    return f"{where}: {key}" if item else f"{where}.{key}"


def _item(where: str, number: int) -> str:
    """Return the name of an item in messages: ``item 2 of metrics``."""
    if where.startswith("item "):
        return f"{where}, item {number}"
    return f"item {number} of {where}"


def _homes(key: str, shape: Record, where: str) -> Iterator[str]:
    """Yield the places where a key would be valid."""
    for field in shape.fields:
        if field.name == key:
            yield f"in {where}" if where else "at the top level"
        if isinstance(field.shape, Record):
            yield from _homes(key, field.shape, _join(where, field.name))
