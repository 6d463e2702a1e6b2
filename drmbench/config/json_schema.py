"""Turns the schema of experiment files into a JSON schema, for editors and programs."""

from __future__ import annotations

from typing import Any

from drmbench.config.schema import EXPERIMENT
from drmbench.config.shapes import (
    Choice,
    Either,
    Field,
    Flag,
    ListOf,
    MapOf,
    Nothing,
    Number,
    Parameter,
    Record,
    Shape,
    Text,
    Variants,
)

Json = dict[str, Any]

_BOUNDS = {
    "minimum": "low",
    "maximum": "high",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
}
_PLAIN = ["string", "number", "boolean", "null"]


def json_schema() -> Json:
    """Return the JSON schema (draft 2020-12) of experiment files.

    It is made from what the validator checks. What a schema cannot say, such as that a
    data set has rows enough for a split, only the validator checks.

    Examples
    --------
    >>> json_schema()["required"]
    ['name', 'datasets', 'methods']
    """
    definitions: Json = {}
    root = _record(EXPERIMENT, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "drmbench experiment",
        **root,
        "$defs": definitions,
    }


def _schema(shape: Shape, definitions: Json) -> Json:
    match shape:
        case Text(pattern=pattern):
            return {"type": "string", "pattern": pattern}
        case Choice():
            return _choice(shape, definitions)
        case Number():
            return _number(shape)
        case Flag():
            return {"type": "boolean"}
        case Nothing():
            return {"type": "null"}
        case Parameter():
            return {
                "type": [*_PLAIN, "array"],
                "items": {"type": _PLAIN},
            }
        case Record():
            return _record(shape, definitions)
        case ListOf():
            return _list(shape, definitions)
        case MapOf(value=value):
            return {
                "type": "object",
                "additionalProperties": _schema(value, definitions),
            }
        case Either(shapes=shapes):
            return {"anyOf": [_schema(one, definitions) for one in shapes]}
        case Variants(name=name, records=records):
            shapes = (name, *(record for _, record in records))
            return {"anyOf": [_schema(one, definitions) for one in shapes]}


def _choice(shape: Choice, definitions: Json) -> Json:
    values = {"enum": list(shape.values())}
    if not shape.what:
        return values
    key = shape.what.replace(" ", "-")
    definitions[key] = values
    return {"$ref": f"#/$defs/{key}"}


def _number(shape: Number) -> Json:
    bounds = {key: getattr(shape, name) for key, name in _BOUNDS.items()}
    return {
        "type": "integer" if shape.whole else "number",
        **{key: bound for key, bound in bounds.items() if bound is not None},
    }


def _list(shape: ListOf, definitions: Json) -> Json:
    item = _schema(shape.item, definitions)
    array: Json = {"type": "array", "items": item, "uniqueItems": True}
    if shape.at_least:
        array["minItems"] = shape.at_least
    return {"anyOf": [item, array]} if shape.or_one else array


def _record(shape: Record, definitions: Json) -> Json:
    record: Json = {
        "type": "object",
        "properties": {
            field.name: _property(field, definitions) for field in shape.fields
        },
        "required": [field.name for field in shape.fields if field.required],
        "additionalProperties": False,
    }
    conditions = [
        _only_for_kinds(field, shape.default_kind)
        for field in shape.fields
        if field.kinds
    ]
    return {**record, "allOf": conditions} if conditions else record


def _property(field: Field, definitions: Json) -> Json:
    schema = {**_schema(field.shape, definitions), "description": field.doc}
    if field.default is not None:
        schema["default"] = field.default
    return schema


def _only_for_kinds(field: Field, default_kind: str) -> Json:
    """Refuse a key in a mapping whose kind, said or by default, does not have it."""
    other = {"properties": {"kind": {"not": {"enum": list(field.kinds)}}}}
    if not default_kind or default_kind in field.kinds:
        other["required"] = ["kind"]  # type: ignore[assignment]
    return {"if": other, "then": {"properties": {field.name: False}}}
