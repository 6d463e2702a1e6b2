"""What is wrong with experiment files: all of it, by line, in plain sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_origin

from drmbench.config.model import ITEMS, ExperimentFile, Section
from drmbench.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from drmbench.config.yaml_lines import YamlNode

Loc = tuple[int | str, ...]

_TOP = "the experiment"
#: What mappings without known keys hold, by the key that they stand under.
_MAPPINGS = {
    "grid": "lists of values to search",
    "params": "parameters",
    "parameters": "parameters",
    "methods": "plans by the label of a method",
}


@dataclass(frozen=True)
class FileProblem:
    """One thing that is wrong.

    Attributes
    ----------
    source : Path
        The file, as the user named it.
    line : int or None
        Its line, from 1; None where the file could not be read at all.
    message : str
        What is wrong and what would be valid.
    """

    source: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else str(self.source)
        return f"{place}: {self.message}"


class Problems:
    """The problems of one file.

    Parameters
    ----------
    source : Path
        The file, as messages name it.
    """

    def __init__(self, source: Path) -> None:
        self.source = source
        self._found: list[FileProblem] = []

    def add(self, line: int | None, message: str) -> None:
        """Note a problem."""
        self._found.append(FileProblem(self.source, line, message))

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> list[FileProblem]:
        """Return the problems by line, each once: an alias repeats what it stands for.

        Examples
        --------
        >>> problems = Problems(Path("a.yaml"))
        >>> for line in (7, 2, 7):
        ...     problems.add(line, "is wrong")
        >>> [str(problem) for problem in problems.in_order()]
        ['a.yaml:2: is wrong', 'a.yaml:7: is wrong']
        """
        return sorted(dict.fromkeys(self._found), key=lambda found: found.line or 0)


def raise_all(problems: Iterable[FileProblem]) -> None:
    """Raise one `InputError` that lists all problems, if there are any."""
    lines = [str(problem) for problem in problems]
    if len(lines) > 1:
        lines.insert(0, f"{len(lines)} problems in experiment files:")
    if lines:
        raise InputError("\n".join(lines))


@dataclass(frozen=True)
class Place:
    """Where in a file an error of the model is.

    Attributes
    ----------
    node : YamlNode
        The value; the mapping, where a key is missing.
    where : str
        What messages call it: ``item 2 of datasets: path``.
    section : type
        The model of the innermost mapping around it.
    path : tuple
        What leads to it, without the tags that the model puts in.
    """

    node: YamlNode
    where: str
    section: type[Section]
    path: Loc


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
                where = _item(where, part + 1)
        elif isinstance(there, dict) and part in there:
            node, path = there[part], (*path, part)
            where = _join(where, part)
            section = _section_under(section, part)
        elif part in ITEMS:
            section = ITEMS[part]
    return Place(node, where, section, path)


def real_errors(error: ValidationError, root: YamlNode) -> list[ErrorDetails]:
    """Return the errors, but not that a list is empty whose items are all invalid."""
    return [
        one
        for one in error.errors(include_url=False, include_input=False)
        if one["type"] != "too_short" or not place_of(one["loc"], root).node.value
    ]


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


def _item(where: str, number: int) -> str:
    """Return the name of an item in messages: ``item 2 of metrics``."""
    if where.startswith("item "):
        return f"{where}, item {number}"
    return f"item {number} of {where}"


Sentence = Callable[[Place, "ErrorDetails"], Iterator[tuple[int, str]]]


def explain(error: ErrorDetails, root: YamlNode) -> Iterator[tuple[int, str]]:
    """Give the lines and sentences that an error of the model stands for."""
    place = place_of(error["loc"], root)
    yield from _SENTENCES.get(error["type"], _must_be)(place, error)


def _refused(place: Place, valid: str, hint: str = "") -> Iterator[tuple[int, str]]:
    where = place.where or _TOP
    yield place.node.line, f"{where} must be {valid}, not {place.node.shown()}{hint}"


def _must_be(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    return _refused(place, error["msg"])


def _must_be_text(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    number = isinstance(place.node.value, int | float)
    hint = "; in quotes it would be text" if number else ""
    return _refused(place, error["msg"], hint)


def _must_be_number(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    return _refused(place, error["msg"], number_hint(place.node))


def number_hint(node: YamlNode) -> str:
    """Say that a text would be a number without its quotes, if it would."""
    try:
        number = isinstance(node.value, str) and math.isfinite(float(node.value))
    except ValueError:
        number = False
    return "; without quotes it would be a number" if number else ""


def _must_be_name(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    return _one_of(place, error["msg"], error["ctx"]["names"])


def _literal(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    names = re.findall("'([^']*)'", error["ctx"]["expected"])
    return _one_of(place, f"one of {', '.join(names)}", names)


def _one_of(
    place: Place, valid: str, names: Iterable[str]
) -> Iterator[tuple[int, str]]:
    value, hint = place.node.value, ""
    if isinstance(value, str):
        near = did_you_mean(value, names)
        hint = f".{near}" if near else ""
    elif isinstance(value, int | float):
        hint = "; in quotes it would be text"
    return _refused(place, valid, hint)


def _mapping(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    return _refused(place, f"a mapping with the keys {', '.join(place.section.keys())}")


def _free_mapping(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    return _refused(place, f"a mapping of {_MAPPINGS[str(place.path[-1])]}")


def _list(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    fields = place.section.model_fields
    named = {field.alias or name: field for name, field in fields.items()}
    field = named.get(str(place.path[-1]))
    if field is None or not any(getattr(one, "or_one", 0) for one in field.metadata):
        return _refused(place, "a list")
    item = get_args(field.annotation)[0]
    said = [one.describe() for one in getattr(item, "__metadata__", ())[-1:]]
    one = said[0] if said else f"one of {', '.join(get_args(item))}"
    return _refused(place, f"{one}, or a list")


def _empty(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    yield place.node.line, f"{place.where} must not be empty"


def _missing(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    key = error["loc"][-1]
    yield place.node.line, f"{place.where or _TOP} needs the key {key!r}"


def _unknown(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    key = str(error["loc"][-1])
    around = place.where.removesuffix(key).rstrip(".: ")
    keys = place.section.keys()
    homes = sorted(set(_homes(key, ExperimentFile, "")))
    hint = f" It belongs {' or '.join(homes)}." if homes else did_you_mean(key, keys)
    yield (
        place.node.key_line,
        f"unknown key {key!r}{f' in {around}' if around else ''}.{hint} Valid:"
        f" {', '.join(keys)}",
    )


def _homes(key: str, section: type[Section], where: str) -> Iterator[str]:
    """Give the places where a key would be valid."""
    for name, field in section.model_fields.items():
        if name == key:
            yield f"in {where}" if where else "at the top level"
        inner = _section_under(section, name)
        if inner is not section and get_origin(field.annotation) is not dict:
            yield from _homes(key, inner, _join(where, name))


def _other_kind(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    yield place.node.key_line, f"{place.where}: {error['msg']}"


def _twice(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    for number in error["ctx"]["items"]:
        item = place.node.value[number]
        yield item.line, f"{place.where} has {item.shown()} twice"


def _no_telling_key(place: Place, error: ErrorDetails) -> Iterator[tuple[int, str]]:
    keys = error["ctx"]["keys"].split(" or ")
    if not isinstance(place.node.value, dict):
        named = {"datasets": "a data set (see `drmbench data list`)"}
        what = named.get(str(place.path[0]), "a method (see `drmbench methods`)")
        or_keys = f"a mapping with the key {' or '.join(keys)}"
        yield from _refused(place, f"the name of {what}, or {or_keys}")
        return
    hints = (did_you_mean(key, keys) for key in place.node.value)
    yield (
        place.node.line,
        f"{place.where} needs the key {' or '.join(map(repr, keys))}."
        f"{next(filter(None, hints), '')}",
    )


#: The sentence of each type of error that the model gives.
_SENTENCES: dict[str, Sentence] = {
    "must_be_text": _must_be_text,
    "must_be_number": _must_be_number,
    "must_be_name": _must_be_name,
    "literal_error": _literal,
    "model_type": _mapping,
    "dict_type": _free_mapping,
    "tuple_type": _list,
    "list_type": _list,
    "too_short": _empty,
    "missing": _missing,
    "extra_forbidden": _unknown,
    "other_kind": _other_kind,
    "twice": _twice,
    "no_telling_key": _no_telling_key,
}
