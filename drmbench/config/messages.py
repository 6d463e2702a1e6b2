"""What is wrong with experiment files: all of it, by line, in plain sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_origin

from drmbench.config.file_model import ITEMS, ExperimentFile
from drmbench.config.model import Section
from drmbench.errors import InputError, did_you_mean, quoted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from drmbench.config.yaml_lines import YamlNode

Loc = tuple[int | str, ...]

#: What mappings without known keys hold, by the key that they stand under.
_MAPPINGS = {
    "grid": "lists of values to search",
    "params": "parameters",
    "parameters": "parameters",
    "methods": "plans by the label of a method",
}


class Problems:
    """What is wrong with one file, `source`, and what would be valid.

    Without `lines`, those of a text that nobody wrote, no message names one.
    """

    def __init__(self, source: Path, *, lines: bool = True) -> None:
        self.source, self.lines = source, lines
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, message: str) -> None:
        """Note a problem; line 0 stands for a file that could not be read at all."""
        self._found.append((line, message))

    @contextmanager
    def noted(self, line: int) -> Iterator[None]:
        """Note an `InputError` as a problem, and go on."""
        try:
            yield
        except InputError as error:
            self.add(line, str(error))

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> list[str]:
        """Return the problems by line, each once: an alias repeats what it stands for.

        Examples
        --------
        >>> problems = Problems(Path("a.yaml"))
        >>> for line in (7, 2, 7):
        ...     problems.add(line, "is wrong")
        >>> problems.in_order()
        ['a.yaml:2: is wrong', 'a.yaml:7: is wrong']
        """
        found = sorted(dict.fromkeys(self._found), key=lambda one: one[0])
        return [
            f"{self.source}{f':{line}' if line and self.lines else ''}: {text}"
            for line, text in found
        ]


def raise_all(problems: Sequence[str]) -> None:
    """Raise one `InputError` that lists all problems, if there are any."""
    if len(problems) > 1:
        problems = [f"{len(problems)} problems in experiment files:", *problems]
    if problems:
        raise InputError("\n".join(problems))


@dataclass(frozen=True)
class Place:
    """Where in a file an error of the model is."""

    node: YamlNode  #: The value; the mapping, where a key is missing
    where: str  #: What messages call it: ``item 2 of datasets: path``
    section: type[Section]  #: The model of the innermost mapping around it
    path: Loc  #: What leads to it, without the tags that the model puts in


def place_of(loc: Loc, root: YamlNode) -> Place:
    """Find the value that an error is about."""
    node, where = root, ""
    path: Loc = ()
    section: type[Section] = ExperimentFile
    for part in loc:
        there = node.value
        if isinstance(part, int):
            if isinstance(there, list):  # else one item stands without a list
                node, path = there[part], (*path, part)
                nth = f"item {part + 1}"
                inner = where.startswith("item ")
                where = f"{where}, {nth}" if inner else f"{nth} of {where}"
        elif isinstance(there, dict) and part in there:
            node, path = there[part], (*path, part)
            where = _join(where, part)
            section = _section_under(section, part)
        elif part in ITEMS:
            section = ITEMS[part]
    return Place(node, where, section, path)


def _section_under(section: type[Section], key: str) -> type[Section]:
    """Return the model of the mappings under a key, or the one around them."""
    field = section.model_fields.get(key)
    kinds = (field.annotation, *get_args(field.annotation)) if field else ()
    return next(
        (k for k in kinds if isinstance(k, type) and issubclass(k, Section)), section
    )


def _join(where: str, key: str) -> str:
    """Return the name of a key in messages: ``protocol.split.k``."""
    if not where:
        return key
    item = where.startswith("item ") and ":" not in where
    return f"{where}: {key}" if item else f"{where}.{key}"


def unusable(error: ErrorDetails, place: Place) -> Iterator[Loc]:
    """Give the paths of what an error makes unusable."""
    if error["type"] == "twice":
        yield from ((*place.path, number) for number in error["ctx"]["items"])
    elif place.section in ITEMS.values() and place.path[2:] == (
        place.section.keys()[0],
    ):
        yield place.path[:2]  # an item is nothing without the key that tells what it is
    elif place.path or error["type"] != "missing":
        yield place.path


def explain(error: ErrorDetails, place: Place) -> Iterator[tuple[int, str]]:
    """Give the lines and sentences that an error of the model stands for."""
    node, where = place.node, place.where or "the experiment"
    match error["type"]:
        case "missing":
            yield node.line, f"{where} needs the key {quoted(error['loc'][-1])}"
        case "extra_forbidden":
            key, keys = str(place.path[-1]), place.section.keys()
            homes = " or ".join(sorted(set(_homes(key, ExperimentFile, ""))))
            hint = f" It belongs {homes}." if homes else did_you_mean(key, keys)
            around = place.where.removesuffix(key).rstrip(".: ")
            there = f"{quoted(key)} in {around}" if around else quoted(key)
            valid = ", ".join(keys)
            yield node.key_line, f"unknown key {there}.{hint} Valid: {valid}"
        case "other_kind":
            yield node.key_line, f"{where}: {error['msg']}"
        case "too_short":
            yield node.line, f"{where} must not be empty"
        case "twice":
            for item in (node.value[number] for number in error["ctx"]["items"]):
                yield item.line, f"{where} has {item.shown()} twice"
        case "no_telling_key" if isinstance(node.value, dict):
            keys = error["ctx"]["keys"].split(" or ")
            hints = filter(None, (did_you_mean(key, keys) for key in node.value))
            needed = " or ".join(map(repr, keys))
            yield node.line, f"{where} needs the key {needed}.{next(hints, '')}"
        case _:
            valid, hint = _valid(place, error)
            yield node.line, f"{where} must be {valid}, not {node.shown()}{hint}"


def _valid(place: Place, error: ErrorDetails) -> tuple[str, str]:
    """Say what a value must be, and what may have been meant."""
    key = str(place.path[-1]) if place.path else ""
    value, said, names = place.node.value, error["msg"], []
    match error["type"]:
        case "must_be_other":
            return said, ""
        case "must_be_number":
            return said, number_hint(place.node)
        case "must_be_text":
            pass
        case "must_be_name":
            names = error["ctx"]["names"]
        case "literal_error":
            names = re.findall("'([^']*)'", error["ctx"]["expected"])
            said = f"one of {', '.join(names)}"
        case "model_type":
            return f"a mapping with the keys {', '.join(place.section.keys())}", ""
        case "dict_type":
            return f"a mapping of {_MAPPINGS[key]}", ""
        case "tuple_type" | "list_type":
            return f"{_one_of_list(key, place.section)}a list", ""
        case "no_telling_key":
            name, keys = error["ctx"]["name"], error["ctx"]["keys"]
            return f"{name}, or a mapping with the key {keys}", ""
        case _:  # half a character
            return "valid text", ""
    if isinstance(value, int | float):
        return said, "; in quotes it would be text"
    near = did_you_mean(value, names) if isinstance(value, str) else ""
    return said, f".{near}" if near else ""


def number_hint(node: YamlNode) -> str:
    """Say that a text would be a number without its quotes, if it would."""
    try:
        number = isinstance(node.value, str) and math.isfinite(float(node.value))
    except ValueError:
        number = False
    return "; without quotes it would be a number" if number else ""


def _one_of_list(key: str, section: type[Section]) -> str:
    """Say what may stand without a list under a key, if anything may."""
    fields = {f.alias or name: f for name, f in section.model_fields.items()}
    metadata = fields[key].metadata if key in fields else []
    if not any(getattr(one, "or_one", False) for one in metadata):
        return ""
    item = get_args(fields[key].annotation)[0]
    said = [one.what for one in getattr(item, "__metadata__", ())]
    return f"{said[0] if said else 'one of ' + ', '.join(get_args(item))}, or "


def _homes(key: str, section: type[Section], where: str) -> Iterator[str]:
    """Give the places where a key would be valid."""
    for name, field in section.model_fields.items():
        if name == key:
            yield f"in {where}" if where else "at the top level"
        inner = _section_under(section, name)
        if inner is not section and get_origin(field.annotation) is not dict:
            yield from _homes(key, inner, _join(where, name))
