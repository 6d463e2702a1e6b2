"""The kinds of values an experiment file can hold, as data.

:mod:`drmbench.config.schema` describes every key with these shapes;
:mod:`drmbench.config.check` checks a file against them and
:mod:`drmbench.config.json_schema` turns them into a JSON schema.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Text:
    """A text.

    Attributes
    ----------
    pattern : str
        Regular expression that is searched in it.
    says : str
        What the pattern means, for messages.
    one_line : bool
        Whether line breaks are refused.
    """

    pattern: str = r"\S"
    says: str = "text"
    one_line: bool = True

    def describe(self) -> str:
        """Say what is valid."""
        return self.says


@dataclass(frozen=True)
class Choice:
    """One of some names.

    Attributes
    ----------
    values : callable
        Returns the names; called when they are needed.
    what : str
        What a name stands for ("data set"); empty for a few fixed words.
    see : str
        Command that lists the names, if they are too many for a message.
    quick : tuple of str
        Names that are valid without asking `values`, where asking takes long.
    """

    values: Callable[[], Sequence[str]]
    what: str = ""
    see: str = ""
    quick: tuple[str, ...] = ()

    def describe(self) -> str:
        """Say what is valid."""
        if self.see:
            return f"the name of a {self.what} (see `{self.see}`)"
        names = ", ".join(self.values())
        return f"a {self.what} ({names})" if self.what else f"one of {names}"

    def allows(self, name: str) -> bool:
        """Tell whether a name is one of them."""
        return name in self.quick or name in self.values()


@dataclass(frozen=True)
class Number:
    """A finite number.

    Attributes
    ----------
    low, high : float or None
        Smallest and largest value allowed.
    above, below : float or None
        The same, but not allowed themselves.
    whole : bool
        Whether it must be a whole number.
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
            ("of at least", self.low),
            ("above", self.above),
            ("of at most" if self.low is None else "at most", self.high),
            ("below", self.below),
        )
        limits = [f"{word} {bound}" for word, bound in bounds if bound is not None]
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} {' and '.join(limits)}" if limits else kind

    def allows(self, value: float) -> bool:
        """Tell whether a number lies within the bounds."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def describe(self) -> str:
        """Say what is valid."""
        return "true or false"


@dataclass(frozen=True)
class Nothing:
    """The value null."""

    def describe(self) -> str:
        """Say what is valid."""
        return "null"


@dataclass(frozen=True)
class Parameter:
    """A method's or generator's parameter: it alone knows what is valid."""

    def describe(self) -> str:
        """Say what is valid."""
        return "a number, text, true, false, null or a list of such"


@dataclass(frozen=True)
class ListOf:
    """A list of values that differ.

    Attributes
    ----------
    item : Shape
        What every item is.
    at_least : int
        Smallest number of items.
    or_one : bool
        Whether one item may stand without a list around it.
    """

    item: Shape
    at_least: int = 1
    or_one: bool = False

    def describe(self) -> str:
        """Say what is valid."""
        return f"{self.item.describe()}, or a list" if self.or_one else "a list"


@dataclass(frozen=True)
class MapOf:
    """A mapping from names of the user's choice, or of the method's."""

    value: Shape
    what: str

    def describe(self) -> str:
        """Say what is valid."""
        return f"a mapping of {self.what}"


@dataclass(frozen=True)
class Either:
    """The first of some shapes that fits; `says` is what is valid in all."""

    shapes: tuple[Shape, ...]
    says: str

    def describe(self) -> str:
        """Say what is valid."""
        return self.says


@dataclass(frozen=True)
class Field:
    """One key of a mapping.

    Attributes
    ----------
    name : str
        The key.
    shape : Shape
        What its value is.
    doc : str
        What it means, for people.
    required : bool
        Whether it must be there.
    default : object
        What holds without it, if that is one plain value.
    kinds : tuple of str
        For which ``kind`` of the mapping it is; empty for all.
    """

    name: str
    shape: Shape
    doc: str
    required: bool = False
    default: Any = None
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """A mapping with known keys.

    Attributes
    ----------
    fields : tuple of Field
        Its keys.
    default_kind : str
        The ``kind`` it has where it says none; empty if it has none or is not known.
    """

    fields: tuple[Field, ...]
    default_kind: str = ""

    def describe(self) -> str:
        """Say what is valid."""
        return f"a mapping with the keys {', '.join(self.names())}"

    def names(self) -> list[str]:
        """Return the keys."""
        return [field.name for field in self.fields]


@dataclass(frozen=True)
class Variants:
    """A lone name, or a mapping whose kind shows in one key that it has.

    Attributes
    ----------
    name : Choice
        The lone name.
    records : tuple of (str, Record)
        The telling key of each kind of mapping; the first that is present decides.
    """

    name: Choice
    records: tuple[tuple[str, Record], ...]

    def describe(self) -> str:
        """Say what is valid."""
        keys = " or ".join(key for key, _ in self.records)
        return f"{self.name.describe()}, or a mapping with the key {keys}"


Shape: TypeAlias = (
    Text
    | Choice
    | Number
    | Flag
    | Nothing
    | Parameter
    | ListOf
    | MapOf
    | Either
    | Record
    | Variants
)
