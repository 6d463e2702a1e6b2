"""The kinds of values that experiment files hold: how each is checked and worded."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError, core_schema

from drmbench.data.catalogue import load_catalogue
from drmbench.data.paths import parse_bytes
from drmbench.errors import InputError, quoted
from drmbench.methods.registry import is_method, method_names
from drmbench.metrics import METRICS

#: Random splits and k-fold partitions of one data set; more is taken for a mistake.
MAX_REPEATS = 1000
#: The methods whose single solves the kinds timing and convergence measure.
SOLVERS = ("drm-gd", "drm-ppa", "drm-apg")
SCALAR_METRICS = tuple(name for name, metric in METRICS.items() if metric.scalar)

#: Hours, minutes and seconds in this order, none required but one above zero.
_DURATION = (
    r"^(?=.*[1-9])([0-9]+(\.[0-9]+)?h)?([0-9]+(\.[0-9]+)?m)?([0-9]+(\.[0-9]+)?s?)?$"
)
_DURATIONS = "90s, 10m or 1h30m"
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}


def parse_duration(text: str) -> float:
    """Return the seconds that hours, minutes and seconds such as ``1h30m`` stand for.

    A number alone is seconds. `InputError` is raised if it is not a time above zero.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration("2.5s")
    (600.0, 5400.0, 2.5)
    """
    if not re.search(_DURATION, text):
        raise InputError(f"{quoted(text)} is not a time; write it as {_DURATIONS}")
    parts = re.findall(r"([0-9.]+)([hms]?)", text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not math.isfinite(seconds):
        raise InputError(f"{quoted(text)} is too long a time")
    return seconds


def parse_size(text: str) -> int:
    """Return the bytes that a size such as ``512M`` or ``8G`` stands for.

    `InputError` is raised if it is not one that a worker process could live with.

    Examples
    --------
    >>> parse_size("8G") == 8 * 2**30, parse_size("1.5 GiB") == 3 * 2**29
    (True, True)
    """
    size = parse_bytes(text)
    if size < 2**28:
        raise InputError("a size of 256M or more, such as 8G")
    return size


class Says:
    """Words for what a value must be, in place of the model's own errors."""

    sort = "other"

    def __init__(self, what: str) -> None:
        self.what = what

    def schema(self, source: Any, handler: Any) -> Any:
        """Return what is checked."""
        return handler(source)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.custom_error_schema(
            self.schema(source, handler),
            custom_error_type=f"must_be_{self.sort}",
            custom_error_message=self.what,
        )


class Text(Says):
    """A text that a pattern is found in, without control characters."""

    sort = "text"

    def __init__(
        self, pattern: str = r"\S", what: str = "text", *, one_line: bool = True
    ) -> None:
        super().__init__(what)
        self._pattern, self._one_line = pattern, one_line

    def schema(self, source: Any, handler: Any) -> Any:
        """Return what is checked."""
        text = core_schema.str_schema(
            strict=True, pattern=self._pattern, regex_engine="python-re"
        )
        return core_schema.no_info_after_validator_function(
            lambda text: _printable(text, one_line=self._one_line).strip(), text
        )


def _printable(text: str, *, one_line: bool = False) -> str:
    odd = any(unicodedata.category(c) in ("Cc", "Cs") for c in text if c not in "\n\t")
    if odd or (one_line and "\n" in text):
        raise ValueError("odd characters")
    return text


class Number(Says):
    """A finite number within bounds, which are named as pydantic names them.

    A whole number stays an int: what is hashed and stored is what the file says.

    Examples
    --------
    >>> Number(ge=2, whole=True).what, Number(gt=0, lt=1).what
    ('a whole number of at least 2', 'a number above 0 and below 1')
    """

    sort = "number"

    def __init__(self, *, whole: bool = False, **bounds: float) -> None:
        words = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
        limits = [f"{words[key]} {bound}" for key, bound in bounds.items()]
        kind = "a whole number" if whole else "a number"
        super().__init__(f"{kind} {' and '.join(limits)}".strip())
        self._whole, self._bounds = whole, bounds

    def schema(self, source: Any, handler: Any) -> Any:
        """Return what is checked; ``3e3`` is a whole number."""
        bounds: Any = self._bounds
        whole = core_schema.int_schema(strict=True, **bounds)
        if self._whole:
            return core_schema.no_info_before_validator_function(
                lambda n: int(n) if isinstance(n, float) and n.is_integer() else n,
                whole,
            )
        other = core_schema.float_schema(strict=True, allow_inf_nan=False, **bounds)
        return core_schema.union_schema([whole, other])


@dataclass(frozen=True)
class NameOf:
    """One of the names of a registry, which is only asked when it must be."""

    thing: str  #: What a name stands for
    values: Callable[[], Sequence[str]]  #: Returns the names
    see: str = ""  #: Command that lists the names, if they are too many for a message
    #: Says whether a name is valid where that is known without asking for all of them
    has: Callable[[str], bool] | None = None

    @property
    def what(self) -> str:
        """What is valid, in words."""
        if self.see:
            return f"the name of a {self.thing} (see `{self.see}`)"
        return f"a {self.thing} ({', '.join(self.values())})"

    def _check(self, value: Any) -> str:
        has = self.has or (lambda name: name in self.values())
        if isinstance(value, str) and has(value):
            return value
        names = {"names": list(self.values())}
        raise PydanticCustomError("must_be_name", self.what, names)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {"name of": self.thing}  # json_schema puts a reference there


@dataclass(frozen=True)
class Listed:
    """A list of values that differ; with `or_one` one may stand without a list."""

    at_least: int = 1
    or_one: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema: Any = {**handler(source), "min_length": self.at_least}
        schema = core_schema.no_info_after_validator_function(_distinct, schema)
        if self.or_one:
            schema = core_schema.no_info_before_validator_function(
                lambda one: [one] if isinstance(one, str | int | float) else one, schema
            )
        return schema

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        array = {**handler(schema), "uniqueItems": True}
        return {"anyOf": [array["items"], array]} if self.or_one else array


def _distinct(values: Sequence[Any]) -> Sequence[Any]:
    seen: set[Any] = set()
    twice = []
    for number, value in enumerate(values):
        key = _key(value)
        if key in seen:
            twice.append(number)
        seen.add(key)
    if twice:
        raise PydanticCustomError("twice", "has an item twice", {"items": twice})
    return values


def _key(value: Any) -> Any:
    """Return what tells values apart: 1 is 1.0, but not true."""
    if isinstance(value, list):
        return tuple(map(_key, value))
    return isinstance(value, bool), value


class Only:
    """A key of a file that only some kinds of its mapping have."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    def problem(self, kind: str | None) -> str:
        """Say why a mapping of this kind cannot have it, or nothing."""
        if kind is None or kind in self.kinds:
            return ""
        return f"only kind {' or '.join(self.kinds)} has it; the kind here is {kind}"

    def _check(self, value: Any, info: ValidationInfo) -> Any:
        reason = self.problem((info.data or {}).get("kind")) if info.context else ""
        if reason:
            raise PydanticCustomError("other_kind", reason)
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.with_info_after_validator_function(
            self._check, handler(source)
        )


Dataset = Annotated[
    str, NameOf("data set", lambda: load_catalogue().names, "drmbench data list")
]
Group = Annotated[str, NameOf("group", lambda: tuple(load_catalogue().groups))]
MethodName = Annotated[
    str, NameOf("method", method_names, "drmbench methods", is_method)
]
ClassPath = Annotated[
    str,
    Text(
        "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*[:.][A-Za-z_][A-Za-z0-9_]*$",
        "a class as module:Class, such as sklearn.svm:SVC",
    ),
]
Metric = Annotated[str, NameOf("metric", lambda: tuple(METRICS))]
ScalarMetric = Annotated[str, NameOf("one-number metric", lambda: SCALAR_METRICS)]
Label = Annotated[
    str, Text(r"^\S(.*\S)?$", "one line of text without spaces around it")
]
Prose = Annotated[str, Text(one_line=False)]
Count = Annotated[int, Number(ge=1, whole=True)]
TwoOrMore = Annotated[int, Number(ge=2, whole=True)]
Repeats = Annotated[int, Number(ge=1, le=MAX_REPEATS, whole=True)]
Share = Annotated[float, Number(gt=0, lt=1)]
Positive = Annotated[float, Number(gt=0)]
_Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Whole = Annotated[int, Field(strict=True, gt=-(10**308), lt=10**308)]  # a float, too
_Printable = Annotated[StrictStr, AfterValidator(_printable)]
_Plain = StrictBool | _Whole | _Finite | _Printable
_PLAIN = ["string", "number", "boolean", "null"]
Parameter = Annotated[
    _Plain | list[_Plain | None] | None,
    WithJsonSchema({"type": [*_PLAIN, "array"], "items": {"type": _PLAIN}}),
    Says("a number, text, true, false, null or a list of such"),
]
Timeout = Annotated[
    Annotated[_Finite, Field(gt=0)] | None,
    BeforeValidator(lambda t: parse_duration(t) if isinstance(t, str) else t),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": _DURATION},
                {"type": "null"},
            ]
        }
    ),
    Says(
        f"a time above zero such as {_DURATIONS}, a number of seconds, or null for no"
        " limit"
    ),
]
