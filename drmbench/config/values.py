"""The kinds of values that experiment files hold: how each is checked and worded."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, TypeAdapter, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from drmbench.data.catalogue import load_catalogue
from drmbench.errors import InputError
from drmbench.methods.registry import list_methods
from drmbench.metrics import METRICS

#: Random splits and k-fold partitions of one data set; more is taken for a mistake.
MAX_REPEATS = 1000
#: The methods whose single solves the kinds timing and convergence measure.
SOLVERS = ("drm-gd", "drm-ppa", "drm-apg")
#: Methods that are known to exist without asking the registry, which imports
#: scikit-learn and so takes longer than all the rest of checking a file. A method that
#: is not listed is only slower to check.
QUICK_METHODS = (
    *("svm-rbf", "svm-poly", "svm-linear", "svm-balanced", "l1-svm", "l2-svm"),
    *("knn-euclidean", "knn-cosine", "rf", "c45", "c45-plain", "c45-dhs", "nb", "slda"),
    *("drm-rbf", "drm-poly", "drm-linear", "krr-rbf", "krr-poly", "drm-exact"),
    *SOLVERS,
    *(
        f"{sampler}-{classifier}"
        for sampler in ("smote", "borderline-smote", "safe-level-smote")
        for classifier in (
            *("svm", "svm-poly", "knn", "knn-cosine", "rf", "drm", "drm-poly"),
        )
    ),
)

#: Hours, minutes and seconds in this order, none required but one above zero.
_DURATION = (
    r"^(?=.*[1-9])([0-9]+(\.[0-9]+)?h)?([0-9]+(\.[0-9]+)?m)?([0-9]+(\.[0-9]+)?s?)?$"
)
DURATIONS = "90s, 10m or 1h30m"
DURATION_SCHEMA: list[Any] = [
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "string", "pattern": _DURATION},
    {"type": "null"},
]
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}


def parse_duration(text: str) -> float:
    """Return the seconds that a text stands for.

    Parameters
    ----------
    text : str
        Hours, minutes and seconds, such as ``10m`` or ``1h30m``; a number alone is
        seconds.

    Raises
    ------
    InputError
        If it is not a time above zero.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration("2.5s")
    (600.0, 5400.0, 2.5)
    """
    if not re.search(_DURATION, text):
        raise InputError(f"{text!r} is not a time; write it as {DURATIONS}")
    parts = re.findall(r"([0-9.]+)([hms]?)", text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not math.isfinite(seconds):
        raise InputError(f"{text!r} is too long a time")
    return seconds


@dataclass(frozen=True)
class Says:
    """Words for what a value must be, in place of the model's own errors."""

    what: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _worded("other", self.what, handler(source))


def _worded(sort: str, what: str, schema: Any) -> Any:
    return core_schema.custom_error_schema(
        schema, custom_error_type=f"must_be_{sort}", custom_error_message=what
    )


@dataclass(frozen=True)
class Text:
    """A text that a pattern is found in, without control characters."""

    pattern: str = r"\S"
    what: str = "text"
    one_line: bool = True

    def describe(self) -> str:
        """Say what is valid."""
        return self.what

    def _clean(self, text: str) -> str:
        odd = any(unicodedata.category(c) in _ODD for c in text if c not in "\n\t")
        if odd or (self.one_line and "\n" in text):
            raise ValueError("odd characters")
        return text.strip()

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        text = core_schema.str_schema(
            strict=True, pattern=self.pattern, regex_engine="python-re"
        )
        clean = core_schema.no_info_after_validator_function(self._clean, text)
        return _worded("text", self.what, clean)


@dataclass(frozen=True)
class Number:
    """A finite number within bounds; `above` and `below` are not allowed themselves.

    A whole number stays an int: what is hashed and stored is what the file says.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    whole: bool = False

    def describe(self) -> str:
        """Say what is valid.

        Examples
        --------
        >>> Number(low=2, whole=True).describe(), Number(above=0, below=1).describe()
        ('a whole number of at least 2', 'a number above 0 and below 1')
        """
        bounds = (
            *(("of at least", self.low), ("above", self.above)),
            *(("at most", self.high), ("below", self.below)),
        )
        limits = [f"{word} {bound}" for word, bound in bounds if bound is not None]
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} {' and '.join(limits)}" if limits else kind

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        given = {"ge": self.low, "le": self.high, "gt": self.above, "lt": self.below}
        bounds: Any = {key: bound for key, bound in given.items() if bound is not None}
        schema: Any = core_schema.int_schema(strict=True, **bounds)
        if self.whole:
            schema = core_schema.no_info_before_validator_function(_whole, schema)
        else:
            other = core_schema.float_schema(strict=True, allow_inf_nan=False, **bounds)
            schema = core_schema.union_schema([schema, other])
        return _worded("number", self.describe(), schema)


def _whole(value: Any) -> Any:
    """Read ``3e3`` as an int."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class NameOf:
    """One of the names of a registry, which is only asked when it must be."""

    what: str  #: What a name stands for
    values: Callable[[], Sequence[str]]  #: Returns the names
    see: str = ""  #: Command that lists the names, if they are too many for a message
    quick: Sequence[str] = ()  #: Names that are valid without asking `values`

    def describe(self) -> str:
        """Say what is valid."""
        if self.see:
            return f"the name of a {self.what} (see `{self.see}`)"
        return f"a {self.what} ({', '.join(self.values())})"

    def _check(self, value: Any) -> str:
        if isinstance(value, str) and (value in self.quick or value in self.values()):
            return value
        names = {"names": list(self.values())}
        raise PydanticCustomError("must_be_name", self.describe(), names)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {"name of": self.what}  # json_schema puts a reference there


@dataclass(frozen=True)
class Listed:
    """A list of values that differ; with `or_one` one may stand without a list.

    Where `told` is false, values that are there twice are told elsewhere.
    """

    at_least: int = 1
    or_one: bool = False
    told: bool = True

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema: Any = {**handler(source), "min_length": self.at_least}
        if self.told:
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
    keys = [(isinstance(value, bool), repr(value)) for value in values]
    for place, value in enumerate(values):
        if isinstance(value, int | float):  # 1 and 1.0 are the same
            keys[place] = (isinstance(value, bool), repr(float(value)))
    twice = [n for n, key in enumerate(keys) if key in keys[:n]]
    if twice:
        raise PydanticCustomError("twice", "has an item twice", {"items": twice})
    return values


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


def seconds_of(value: Any) -> Any:
    """Read a text as a duration, and leave other values as they are."""
    return parse_duration(value) if isinstance(value, str) else value


def _usable(value: Any) -> Any:
    """Refuse what no parameter can be: mappings, lists of lists, NaN."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, float) and not math.isfinite(part):
            raise ValueError("not finite")
        if isinstance(part, str):
            _ANY_TEXT.validate_python(part)
        elif part is not None and not isinstance(part, int | float):
            raise ValueError("not plain")
    return value


_ODD = ("Cc", "Cs")
_ANY_TEXT: TypeAdapter[str] = TypeAdapter(Annotated[str, Text("", one_line=False)])
_PLAIN = ["string", "number", "boolean", "null"]
Dataset = Annotated[
    str, NameOf("data set", lambda: load_catalogue().names, "drmbench data list")
]
Group = Annotated[str, NameOf("group", lambda: tuple(load_catalogue().groups))]
MethodName = Annotated[
    str,
    NameOf(
        "method",
        lambda: tuple(method.name for method in list_methods()),
        "drmbench methods",
        QUICK_METHODS,
    ),
]
SCALAR_METRICS = tuple(name for name, metric in METRICS.items() if metric.scalar)
Metric = Annotated[str, NameOf("metric", lambda: tuple(METRICS))]
ScalarMetric = Annotated[str, NameOf("one-number metric", lambda: SCALAR_METRICS)]
Label = Annotated[
    str, Text(r"^\S(.*\S)?$", "one line of text without spaces around it")
]
Prose = Annotated[str, Text(one_line=False)]
Count = Annotated[int, Number(low=1, whole=True)]
TwoOrMore = Annotated[int, Number(low=2, whole=True)]
Repeats = Annotated[int, Number(low=1, high=MAX_REPEATS, whole=True)]
Share = Annotated[float, Number(above=0, below=1)]
Positive = Annotated[float, Number(above=0)]
Parameter = Annotated[
    Any,
    AfterValidator(_usable),
    WithJsonSchema({"type": [*_PLAIN, "array"], "items": {"type": _PLAIN}}),
    Says("a number, text, true, false, null or a list of such"),
]
