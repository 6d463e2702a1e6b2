"""Reads YAML text into a tree that keeps lines, and refuses what YAML should not hold.

Plain scalars are read as YAML 1.2 reads them: ``1e-3`` is a number, ``010`` is ten and
``no`` is a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.composer import ComposerError

from drmbench.config.problems import Problems
from drmbench.config.tree import Entry, Items, Node, Scalar, Table

#: No experiment needs more values; aliases of aliases can stand for billions.
MAX_VALUES = 20_000
#: The schema has six levels.
MAX_DEPTH = 50

_PREFIX = "tag:yaml.org,2002:"
_DIGITS = list("-+0123456789")
_PLAIN = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", _DIGITS),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        [*_DIGITS, "."],
    ),
    "merge": (r"<<", ["<"]),
}
_BASES = {"0o": 8, "0x": 16}


class _Loader(yaml.SafeLoader):
    """Composes nodes with the plain scalars of YAML 1.2, and notes every tag."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  # as its base has it

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.tags: list[tuple[int, str]] = []
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if self._depth > MAX_DEPTH:
            raise ComposerError(None, None, "nested too deeply", event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if getattr(event, "tag", None) is not None:
            self.tags.append((event.start_mark.line + 1, event.tag))
            self._forget_tag(node)
        return node

    def _forget_tag(self, node: yaml.Node | None) -> None:
        """Read a tagged value as if it had no tag."""
        if isinstance(node, yaml.ScalarNode):
            implicit = (node.style is None, True)
            resolved = self.resolve(yaml.ScalarNode, node.value, implicit)  # type: ignore[no-untyped-call]
            node.tag = resolved


for _name, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(
        _PREFIX + _name, re.compile(rf"^(?:{_pattern})$"), _first
    )


def read_tree(text: str, problems: Problems) -> Node | None:
    """Read YAML text; what is wrong with it is added to `problems`.

    Parameters
    ----------
    text : str
        The whole file.
    problems : Problems
        Where syntax errors, tags, duplicate keys and endless aliases are noted.

    Returns
    -------
    Node or None
        The tree, without what could not be read; None if there is nothing.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        for line, tag in loader.tags:
            problems.add(line, f"YAML tags are not allowed: remove {_short(tag)!r}")
        if root is not None:
            return _Reader(problems).read(root)
        problems.add(1, "the file is empty; it needs name, datasets and methods")
    except yaml.YAMLError as error:
        problems.add(*_syntax_problem(error, text))
    return None


def _syntax_problem(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return line, f"the character {chr(int(error.character))!a} is not allowed"
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    words = [getattr(error, "context", None), getattr(error, "problem", None)]
    reason = ", ".join(word for word in words if word)
    return (mark.line + 1 if mark else 1), f"not valid YAML: {reason or error}"


def _short(tag: str) -> str:
    return tag.replace(_PREFIX, "!!")


class _Reader:
    """Turns composed nodes into the tree; a node under several aliases only once."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._done: dict[int, Node | None] = {}
        self._sizes: dict[int, int] = {}

    def read(self, root: yaml.Node) -> Node | None:
        node = self._convert(root)
        size = self._sizes[id(root)]
        if size <= MAX_VALUES:
            return node
        self._problems.add(
            _line(root),
            f"the file stands for more than {MAX_VALUES:,} values, through aliases of"
            " aliases; an experiment has a few hundred at most",
        )
        return None

    def _convert(self, node: yaml.Node) -> Node | None:
        key = id(node)
        if key not in self._sizes:
            self._sizes[key] = 0  # not finished: an alias that leads here is endless
            self._done[key] = self._convert_new(node)
            self._sizes[key] = 1 + sum(map(self._size, _parts(node)))
        elif not self._sizes[key]:
            self._problems.add(_line(node), "an alias here contains itself")
            return None
        return self._done[key]

    def _size(self, node: yaml.Node) -> int:
        return self._sizes.get(id(node), 1)  # the key << is not converted

    def _convert_new(self, node: yaml.Node) -> Node | None:
        if isinstance(node, yaml.ScalarNode):
            return Scalar(_scalar_value(node), _line(node))
        if isinstance(node, yaml.SequenceNode):
            items = [self._convert(item) for item in node.value]
            return Items(tuple(filter(None, items)), _line(node))
        return self._table(node)

    def _table(self, node: yaml.Node) -> Table:
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key_node, value_node in node.value:
            value = self._convert(value_node)
            if key_node.tag == f"{_PREFIX}merge":
                merged = {**self._merge(value, _line(key_node)), **merged}
                continue
            key = self._key(key_node, own)
            if key is not None and value is not None:
                own[key] = Entry(_line(key_node), value)
        return Table({**merged, **own}, _line(node))

    def _key(self, node: yaml.Node, known: dict[str, Entry]) -> str | None:
        """Return the text of a key, or None, with a problem, if it cannot be one."""
        converted = self._convert(node)
        if not isinstance(converted, Scalar) or not isinstance(converted.value, str):
            self._problems.add(_line(node), "the key of a mapping must be a text")
            return None
        if converted.value in known:
            first = known[converted.value].key_line
            self._problems.add(
                _line(node),
                f"the key {converted.value!r} is there twice, first in line {first}",
            )
            return None
        return converted.value

    def _merge(self, value: Node | None, line: int) -> dict[str, Entry]:
        """Return what ``<<`` brings in: of several mappings the first wins."""
        sources = value.items if isinstance(value, Items) else (value,)
        found: dict[str, Entry] = {}
        for source in sources:
            if not isinstance(source, Table):
                self._problems.add(line, "<< merges a mapping or a list of mappings")
                return {}
            found = {**source.entries, **found}
        return found


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _scalar_value(node: yaml.ScalarNode) -> str | int | float | bool | None:
    text = str(node.value)
    try:
        match node.tag.removeprefix(_PREFIX):
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text, _BASES.get(text[:2], 10))
            case "float":
                return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:  # more digits than Python reads
        return text
    return text
