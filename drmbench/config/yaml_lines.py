"""YAML text as a tree in which every value and key has its line.

Plain scalars are read as YAML 1.2 reads them: ``1e-3`` is a number, ``010`` is ten and
``no`` is a text. What an experiment file should not hold (tags, duplicate keys, aliases
that stand for billions of values) becomes a problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.composer import ComposerError

from drmbench.config.messages import Problems
from drmbench.errors import quoted

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


@dataclass
class YamlNode:
    """A value of a file."""

    value: Any  #: A scalar, a list of nodes, or a dict of nodes by key
    line: int  #: Where it begins
    key_line: int = 0  #: Where its key stands; 0 for what is not in a mapping

    def at(self, *path: str | int) -> YamlNode:
        """Return what a path leads to, or an empty node at the last line on the way."""
        node = self
        for part in path:
            there = node.value
            if isinstance(part, str) and part not in (there or ()):
                return YamlNode(None, node.line)
            node = there[part]
        return node

    def line_of(self, *path: str | int) -> int:
        """Return the line of the key that a path leads to, or of what it is not in."""
        return self.at(*path).key_line or self.at(*path[:-1]).line

    def plain(self) -> Any:
        """Return the value as plain Python, without lines.

        Examples
        --------
        >>> YamlNode({"k": YamlNode([YamlNode(5, 1), YamlNode("a", 2)], 1)}, 1).plain()
        {'k': [5, 'a']}
        """
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return self.value

    def shown(self) -> str:
        """Say in a message what the value is.

        Examples
        --------
        >>> YamlNode("ten", 1).shown(), YamlNode(None, 1).shown()
        ("'ten'", 'nothing')
        """
        match self.value:
            case None:
                return "nothing"
            case bool():
                return str(self.value).lower()
            case list():
                return "a list"
            case dict():
                return "a mapping"
        text = repr(self.value)
        return text if len(text) <= 60 else f"{text[:57]}…"


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
            if isinstance(node, yaml.ScalarNode):  # read it as if it had no tag
                implicit = (node.style is None, True)
                node.tag = self.resolve(yaml.ScalarNode, node.value, implicit)  # type: ignore[no-untyped-call]
        return node


for _name, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(
        _PREFIX + _name, re.compile(rf"^(?:{_pattern})$"), _first
    )


def read_yaml(text: str, problems: Problems) -> YamlNode | None:
    """Return the tree of YAML text, without what could not be read; None for nothing.

    What is wrong with it is added to `problems`. No node is in the tree twice: an alias
    is a copy of what it stands for.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        odd = chr(int(error.character))
        problems.add(line, f"the character {odd!a} is not allowed")
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(filter(None, (error.context, error.problem)))
        problems.add(mark.line + 1 if mark else 1, f"not valid YAML: {reason or error}")
        return None
    for line, tag in loader.tags:
        short = tag.replace(_PREFIX, "!!")
        problems.add(line, f"YAML tags are not allowed: remove {quoted(short)}")
    if root is None:
        problems.add(1, "the file is empty; it needs name, datasets and methods")
        return None
    sizes: dict[int, int] = {}
    if not _measure(root, sizes, problems):
        return None
    if sizes[id(root)] > MAX_VALUES:
        problems.add(
            _line(root),
            f"the file stands for more than {MAX_VALUES:,} values, through aliases of"
            " aliases; an experiment has a few hundred at most",
        )
        return None
    return _convert(root, problems)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _measure(node: yaml.Node, sizes: dict[int, int], problems: Problems) -> bool:
    """Count the values that each node stands for; False if one contains itself."""
    if id(node) in sizes:
        if not sizes[id(node)]:
            problems.add(_line(node), "an alias here contains itself")
        return bool(sizes[id(node)])
    sizes[id(node)] = 0  # not finished: an alias that leads here is endless
    parts = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        parts = [part for pair in node.value for part in pair]
    if not all(_measure(part, sizes, problems) for part in parts):
        return False
    sizes[id(node)] = 1 + sum(sizes[id(part)] for part in parts)
    return True


def _convert(node: yaml.Node, problems: Problems) -> YamlNode:
    if isinstance(node, yaml.ScalarNode):
        return YamlNode(_scalar_value(node), _line(node))
    if isinstance(node, yaml.SequenceNode):
        items = [_convert(item, problems) for item in node.value]
        return YamlNode(items, _line(node))
    own: dict[str, YamlNode] = {}
    merged: dict[str, YamlNode] = {}
    for key_node, value_node in node.value:
        value = _convert(value_node, problems)
        value.key_line = line = _line(key_node)
        if key_node.tag == f"{_PREFIX}merge":
            merged = {**_merge(value, problems), **merged}
            continue
        key = _convert(key_node, problems).value
        if not isinstance(key, str):
            problems.add(line, "the key of a mapping must be a text")
        elif key in own:
            first = own[key].key_line
            problems.add(
                line, f"the key {quoted(key)} is there twice, first in line {first}"
            )
        else:
            own[key] = value
    return YamlNode({**merged, **own}, _line(node))


def _merge(value: YamlNode, problems: Problems) -> dict[str, YamlNode]:
    """Return what ``<<`` brings in: of several mappings the first wins."""
    sources = value.value if isinstance(value.value, list) else [value]
    found: dict[str, YamlNode] = {}
    for source in sources:
        if not isinstance(source.value, dict):
            problems.add(value.key_line, "<< merges a mapping or a list of mappings")
            return {}
        found = {**source.value, **found}
    return found


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
