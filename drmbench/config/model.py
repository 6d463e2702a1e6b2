"""Experiments: every key of their files, and what an experiment is once resolved.

The models here are the one description of experiments. Files are checked against
:class:`ExperimentFile`, its JSON schema is for editors, and :class:`Experiment` is what
is run, sent to workers, stored in manifests and read back.
"""

from __future__ import annotations

import dataclasses
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, SkipJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from drmbench.data.registry import load_catalogue
from drmbench.errors import InputError
from drmbench.methods.base import Method
from drmbench.methods.registry import get_method, list_methods, with_overrides
from drmbench.metrics import METRICS
from drmbench.protocol.protocol import Protocol, ScalingMode
from drmbench.protocol.selection import PAPER_SUBSET, SelectionPlan
from drmbench.protocol.splits import SplitKind, SplitPlan

Kind = Literal["classification", "timing", "convergence"]
SelectionKind = Literal["loo", "kfold", "random"]
Tie = Literal["preferred", "first"]

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
_DURATIONS = "90s, 10m or 1h30m"
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
        raise InputError(f"{text!r} is not a time; write it as {_DURATIONS}")
    parts = re.findall(r"([0-9.]+)([hms]?)", text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not math.isfinite(seconds):
        raise InputError(f"{text!r} is too long a time")
    return seconds


# ------------------------------------------------------------------- kinds of values


@dataclass(frozen=True)
class Says:
    """Words for what a value must be; `sort` is text, number or other."""

    what: str
    sort: Literal["text", "number", "other"] = "other"

    def describe(self) -> str:
        """Say what is valid."""
        return self.what

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.custom_error_schema(
            handler(source),
            custom_error_type=f"must_be_{self.sort}",
            custom_error_message=self.what,
        )


@dataclass(frozen=True)
class NameOf:
    """One of the names of a registry, which is only asked when it must be.

    Attributes
    ----------
    what : str
        What a name stands for.
    values : callable
        Returns the names.
    see : str
        Command that lists the names, if they are too many for a message.
    quick : sequence of str
        Names that are valid without asking `values`.
    """

    what: str
    values: Callable[[], Sequence[str]]
    see: str = ""
    quick: Sequence[str] = ()

    def describe(self) -> str:
        """Say what is valid."""
        if self.see:
            return f"the name of a {self.what} (see `{self.see}`)"
        return f"a {self.what} ({', '.join(self.values())})"

    def _check(self, value: Any) -> str:
        if isinstance(value, str) and (value in self.quick or value in self.values()):
            return value
        names = {"names": list(self.values())}
        raise PydanticCustomError("must_be_name", self.describe(), names)  # type: ignore[arg-type]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {"name of": self.what}  # json_schema puts a reference there


@dataclass(frozen=True)
class Listed:
    """A list of values that differ; with `or_one` one may stand without a list.

    Where `told` is false, values that are there twice are told elsewhere.
    """

    or_one: bool = False
    told: bool = True

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema = handler(source)
        if self.told:
            schema = core_schema.no_info_after_validator_function(_distinct, schema)
        if self.or_one:
            schema = core_schema.no_info_before_validator_function(_as_list, schema)
        return schema

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        array = {**handler(schema), "uniqueItems": True}
        return {"anyOf": [array["items"], array]} if self.or_one else array


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float) else value


def _distinct(values: Sequence[Any]) -> Sequence[Any]:
    keys = [(isinstance(value, bool), repr(value)) for value in values]
    for place, value in enumerate(values):
        if isinstance(value, int | float):  # 1 and 1.0 are the same
            keys[place] = (isinstance(value, bool), repr(float(value)))
    twice = [n for n, key in enumerate(keys) if key in keys[:n]]
    if twice:
        raise PydanticCustomError("twice", "has an item twice", {"items": twice})
    return values


@dataclass(frozen=True)
class Only:
    """A key of a file that only some kinds of its mapping have."""

    kinds: tuple[str, ...]

    def problem(self, kind: str | None) -> str:
        """Say why a mapping of this kind cannot have it, or nothing."""
        if kind is None or kind in self.kinds:
            return ""
        return f"only kind {' or '.join(self.kinds)} has it; the kind here is {kind}"

    def _check(self, value: Any, info: ValidationInfo) -> Any:
        reason = self.problem((info.data or {}).get("kind")) if info.context else ""
        if reason:
            raise PydanticCustomError("other_kind", reason)  # type: ignore[arg-type]
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.with_info_after_validator_function(
            self._check, handler(source)
        )


def _clean(text: str) -> str:
    """Refuse control characters and halves of characters."""
    odd = ("Cc", "Cs")
    if any(unicodedata.category(c) in odd for c in text if c not in "\n\t"):
        raise ValueError("odd characters")
    return text.strip()


def _one_line(text: str) -> str:
    if "\n" in text:
        raise ValueError("several lines")
    return _clean(text)


def whole_as_int(value: Any) -> Any:
    """Return a whole number that is written as ``3e3`` as an int."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _seconds(value: Any) -> Any:
    return parse_duration(value) if isinstance(value, str) else value


def _usable(value: Any) -> Any:
    """Refuse what no parameter can be: mappings, lists of lists, NaN."""
    for part in value if isinstance(value, list | tuple) else [value]:
        if isinstance(part, str):
            _clean(part)
        elif isinstance(part, float) and not math.isfinite(part):
            raise ValueError("not finite")
        elif part is not None and not isinstance(part, int | float):
            raise ValueError("not plain")
    return value


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
Metric = Annotated[str, NameOf("metric", lambda: tuple(METRICS))]
SCALAR_METRICS = tuple(name for name, metric in METRICS.items() if metric.scalar)
ScalarMetric = Annotated[str, NameOf("one-number metric", lambda: SCALAR_METRICS)]
Label = Annotated[
    str,
    Field(strict=True, pattern=r"^\S(.*\S)?$"),
    AfterValidator(_one_line),
    Says("one line of text without spaces around it", "text"),
]
Prose = Annotated[
    str,
    Field(strict=True, pattern=r"\S"),
    AfterValidator(_clean),
    Says("text", "text"),
]
Count = Annotated[
    int,
    Field(strict=True, ge=1),
    BeforeValidator(whole_as_int),
    Says("a whole number of at least 1", "number"),
]
TwoOrMore = Annotated[
    int,
    Field(strict=True, ge=2),
    BeforeValidator(whole_as_int),
    Says("a whole number of at least 2", "number"),
]
Repeats = Annotated[
    int,
    Field(strict=True, ge=1, le=MAX_REPEATS),
    BeforeValidator(whole_as_int),
    Says(f"a whole number of at least 1 and at most {MAX_REPEATS}", "number"),
]
Share = Annotated[
    float,
    Field(strict=True, gt=0, lt=1, allow_inf_nan=False),
    Says("a number above 0 and below 1", "number"),
]
# A whole number stays an int: what is hashed and stored is what the file says.
Positive = Annotated[
    Annotated[int, Field(strict=True, gt=0)]
    | Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)],
    Says("a number above 0", "number"),
]
NotNegative = Annotated[
    Annotated[int, Field(strict=True, ge=0)]
    | Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)],
    Says("a number of at least 0", "number"),
]
Parameter = Annotated[
    Any,
    AfterValidator(_usable),
    WithJsonSchema({"type": [*_PLAIN, "array"], "items": {"type": _PLAIN}}),
    Says("a number, text, true, false, null or a list of such"),
]

# ------------------------------------------------------- what files and runs share


class _Nothing:
    """Stands for the null of a file, where a model would take None for unsaid."""


class Section(BaseModel):
    """A mapping of an experiment file, or a stored one, whose keys are all known.

    A file is validated with a context and stored values without. Stored values that are
    defaults count as not said: a default need not be what a file may say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, regex_engine="python-re")
    nullable: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def keys(cls) -> list[str]:
        """Return the keys as files write them."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    def said(self) -> dict[str, Any]:
        """Return the values of the keys that a file has."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    @model_validator(mode="before")
    @classmethod
    def _tell_null_from_unsaid(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict):
            return data
        if info.context:
            return {
                key: _Nothing() if value is None and key not in cls.nullable else value
                for key, value in data.items()
            }
        fields = cls.model_fields
        return {
            key: value
            for key, value in data.items()
            if key not in fields or value != fields[key].default
        }

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        described = handler.resolve_ref_schema(handler(schema))
        described.pop("description", None)
        conditions = [
            _only_for_kinds(name, one.kinds, cls.model_fields["kind"].default)
            for name, field in cls.model_fields.items()
            for one in field.metadata
            if isinstance(one, Only)
        ]
        if conditions:
            described["allOf"] = conditions
        return described


def _only_for_kinds(key: str, kinds: Sequence[str], default: str | None) -> Any:
    """Refuse a key in a mapping whose kind, said or by default, does not have it."""
    other: dict[str, Any] = {"properties": {"kind": {"not": {"enum": list(kinds)}}}}
    if default is None or default in kinds:
        other["required"] = ["kind"]
    return {"if": other, "then": {"properties": {key: False}}}


class SplitSpec(Section):
    """How data sets are split, before the paper's sizes are looked up.

    Attributes
    ----------
    kind : {"random", "given", "folds", "kfold"}
        As in :class:`~drmbench.protocol.splits.SplitPlan`.
    train : int or float or "paper"
        Rows or share that train in a random split; ``paper`` takes the paper's sizes
        from the catalogue.
    test : int or None
        Test rows; None is the rest.
    max_train : int or None
        Train on at most so many rows, where ``train`` is a share.
    k, repeats : int
        As in :class:`~drmbench.protocol.splits.SplitPlan`.
    """

    kind: SplitKind = Field(
        "random",
        description="random: stratified parts; given: the data set's own split; folds:"
        " its own folds; kfold: stratified k-fold.",
    )
    train: Annotated[
        Annotated[Literal["paper"] | Count | Share, Field(union_mode="left_to_right")],
        Says("paper, a number of rows, or a share above 0 and below 1"),
        Only(("random",)),
    ] = Field(
        "paper",
        description="Training size: a number of rows, a share, or paper for the paper's"
        " sizes.",
    )
    test: Annotated[Count | SkipJsonSchema[None], Only(("random",))] = Field(
        None,
        description="Number of test rows; by default all that do not train. train:"
        " paper has its own.",
    )
    max_train: Annotated[Count | SkipJsonSchema[None], Only(("random",))] = Field(
        None, description="Train on at most so many rows, where train is a share."
    )
    k: Annotated[TwoOrMore, Only(("kfold",))] = Field(5, description="Number of folds.")
    repeats: Annotated[Repeats, Only(("random", "kfold"))] = Field(
        5,
        description="How often splits are drawn again; by default 5 times, with kfold"
        " once.",
    )

    def train_rows(self, n: int) -> int:
        """Return how many of n rows train in a random split; not for ``paper``."""
        assert self.train != "paper"
        rows = round(self.train * n) if self.train < 1 else int(self.train)
        return min(rows, self.max_train or rows)

    def plan(self, train: int | float | None, test: int | None) -> SplitPlan:
        """Return the plan with the training and test size that a data set has."""
        return SplitPlan(self.kind, train, test, self.k, self.repeats)

    def describe(self) -> str:
        """Say in words how data sets are split.

        Examples
        --------
        >>> SplitSpec(train=0.8).describe(), SplitSpec(kind="folds").describe()
        ('5 random splits (train: 0.8)', 'their own folds')
        """
        test = f", test: {self.test}" if self.test else ""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return {
            "random": f"{self.repeats} random splits (train: {self.train}{test})",
            "given": "their own split",
            "folds": "their own folds",
            "kfold": f"{self.k}-fold{times}",
        }[self.kind]


class Measurement(Section):
    """What the timing and convergence experiments measure.

    Attributes
    ----------
    alpha : float
        The weight α of the within-class scatter.
    betas : tuple of float
        Ridge penalties β; timing uses the first alone.
    sizes : tuple of int
        Training sizes of timing; a size above what a data set has is left out, and
        the whole training part is always added. Empty for convergence.
    examples : int
        Test examples, each solved by itself.
    iterations : int
        Iterations of each solve: exactly so many in timing, at most so many in
        convergence.
    tol : float
        Stopping tolerance of convergence.
    """

    alpha: NotNegative = Field(1e-3, description="Weight of the within-class scatter.")
    betas: Annotated[tuple[Positive, ...], Field(min_length=1), Listed(or_one=True)] = (
        Field((1e4,), description="Ridge penalties; timing has one.")
    )
    sizes: Annotated[tuple[TwoOrMore, ...], Listed(or_one=True)] = Field(
        (),
        description="Training sizes of timing; the whole training part is always"
        " added.",
    )
    examples: Count = Field(100, description="Test examples, each solved by itself.")
    iterations: Count = Field(
        50,
        description="Iterations of each solve: exactly so many in timing, at most so"
        " many in convergence.",
    )
    tol: Positive = Field(1e-5, description="Stopping tolerance of convergence.")


class _Described(Section):
    """The keys that a file and the experiment it describes have in common."""

    nullable: ClassVar[frozenset[str]] = frozenset({"timeout"})

    name: Annotated[
        str,
        Field(strict=True, pattern="^[a-z0-9][a-z0-9-]{0,63}$"),
        AfterValidator(_one_line),
        Says("small letters, digits and hyphens, at most 64", "text"),
    ] = Field(description="Short name; also the folder of the results.")
    title: Prose = Field("", description="One line for people.")
    reproduces: Annotated[
        str,
        Field(strict=True, pattern="^(table|figure)[0-9]+$"),
        AfterValidator(_one_line),
        Says("a table or figure of the paper, such as table3 or figure1", "text"),
    ] = Field("", description="The paper's table or figure, such as table3.")
    kind: Kind = Field(
        "classification",
        description="What a cell does: classify, time single solves, or trace them.",
    )
    datasets: tuple[Any, ...]
    methods: tuple[Any, ...]
    metrics: Annotated[
        tuple[Metric, ...],
        Field(min_length=1),
        Listed(or_one=True),
        Only(("classification",)),
    ] = Field(
        ("accuracy", "gmean", "balanced_accuracy"),
        description="What is measured; tables show the first, which must be one"
        " number.",
    )
    measure: Annotated[Measurement, Only(("timing", "convergence"))] = Field(
        Measurement(), description="What timing and convergence measure."
    )
    seed: Annotated[
        int,
        Field(strict=True, ge=0, le=2**32 - 1),
        BeforeValidator(whole_as_int),
        Says(f"a whole number of at least 0 and at most {2**32 - 1}", "number"),
    ] = Field(0, description="Seed of splits and methods.")
    timeout: Annotated[
        Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None,
        BeforeValidator(_seconds),
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
            f"a time above zero such as {_DURATIONS}, a number of seconds, or null for"
            " no limit"
        ),
    ] = Field(None, description="Time limit of a cell; none by default.")
    substitutes: Annotated[bool, Field(strict=True), Says("true or false")] = Field(
        False,
        description="Whether a real relative, marked, may stand in for a data set that"
        " cannot be obtained.",
    )
    deviations: Annotated[tuple[Prose, ...], Listed(or_one=True)] = Field(
        (), description="What differs from the paper, shown under the table."
    )


# ------------------------------------------------------------ the keys of a file


class GroupItem(Section):
    """A group of data sets in a file."""

    group: Group = Field(description="All data sets of a group of the catalogue.")
    except_: Annotated[tuple[Dataset, ...], Listed(or_one=True)] = Field(
        (), alias="except", description="Data sets of the group that are left out."
    )


class FileItem(Section):
    """A user's own file of data."""

    path: Label = Field(
        description="Your own file (csv, tsv, npz, arff, libsvm, mat), relative to this"
        " one."
    )
    target: Label = Field(
        None, description="Its column, attribute or array with the classes."
    )
    name: Label = Field(None, description="Its name in results; by default the file's.")


class NamedItem(Section):
    """A data set of the catalogue with something said of it."""

    name: Dataset = Field(description="A data set of the catalogue.")
    as_: Label = Field(
        None, alias="as", description="What results call it; by default its name."
    )
    parameters: dict[str, Parameter] = Field(
        {}, description="Parameters of generated data, such as n, p and classes."
    )


class MethodItem(Section):
    """A method of the registry with something said of it."""

    name: MethodName = Field(description="A method of the registry.")
    as_: Label = Field(
        None, alias="as", description="What results call it; by default its name."
    )
    grid: dict[str, Annotated[list[Parameter], Field(min_length=1), Listed()]] = Field(
        {},
        description="Values to search instead of the method's own, by parameter.",
    )
    params: dict[str, Parameter] = Field({}, description="Parameters to fix.")


#: The mappings that items of a list can be; errors have these tags in their place.
ITEMS: dict[str, type[Section]] = {
    "<group>": GroupItem,
    "<path>": FileItem,
    "<name>": NamedItem,
    "<method>": MethodItem,
}
LONE = "<lone>"


def _told_by(*tags: str) -> Discriminator:
    """Tell what an item is by the first of some keys that it has."""
    keys = {tag: ITEMS[tag].keys()[0] for tag in tags}

    def tag_of(item: Any) -> str | None:
        if isinstance(item, str):
            return LONE
        there = item if isinstance(item, dict) else {}
        return next((tag for tag, key in keys.items() if key in there), None)

    return Discriminator(
        tag_of,
        custom_error_type="no_telling_key",
        custom_error_message="is none of what it can be",
        custom_error_context={"keys": list(keys.values())},
    )


DatasetItem = Annotated[
    Annotated[Dataset, Tag(LONE)]
    | Annotated[GroupItem, Tag("<group>")]
    | Annotated[FileItem, Tag("<path>")]
    | Annotated[NamedItem, Tag("<name>")],
    _told_by("<group>", "<path>", "<name>"),
]
AnyMethod = Annotated[
    Annotated[MethodName, Tag(LONE)] | Annotated[MethodItem, Tag("<method>")],
    _told_by("<method>"),
]


class PlanSection(Section):
    """A plan of selection; what it does not say is as in the experiment's."""

    kind: SelectionKind = Field(
        None,
        description="loo: leave-one-out; kfold: stratified k-fold; random: random"
        " splits of a random subset; each within the training part.",
    )
    metric: ScalarMetric = Field(
        None,
        description="What selects; by default the first of the experiment's metrics.",
    )
    k: Annotated[TwoOrMore, Only(("kfold",))] = Field(
        None,
        description=f"Number of folds, by default {SelectionPlan.k}; fewer where there"
        " are fewer rows.",
    )
    repeats: Annotated[Repeats, Only(("kfold", "random"))] = Field(
        None,
        description="Number of k-fold partitions, or of random splits; by default"
        f" {SelectionPlan.repeats}.",
    )
    subset: TwoOrMore = Field(
        None,
        description="Select on so many training rows, drawn stratified, where there are"
        f" more; by default on all, with random on {PAPER_SUBSET:,}.",
    )
    train_share: Annotated[Share, Only(("random",))] = Field(
        None,
        description="Share of the subset that trains in each random split, by default"
        f" {SelectionPlan.train_share}.",
    )
    note: Prose = Field(None, description="Footnote on why parameters are selected so.")


class ModesSection(Section):
    """Plans of all methods in some scaling modes."""

    honest: PlanSection = Field(None, description="The plan in the mode honest.")
    paper: PlanSection = Field(None, description="The plan in the mode paper.")
    none: PlanSection = Field(None, description="The plan in the mode none.")
    maxabs: PlanSection = Field(None, description="The plan in the mode maxabs.")


class SelectionSection(PlanSection):
    """How parameters are selected."""

    kind: SelectionKind = Field(
        SelectionPlan.kind, description=PlanSection.model_fields["kind"].description
    )
    tie: Tie = Field(
        None,
        description="Which of equal scores is selected, for all methods: the one the"
        " method prefers (the more regularised) or the first in grid order; by default"
        " first in the scaling mode paper, preferred in the others.",
    )
    methods: dict[str, PlanSection] = Field(
        {},
        description="Another plan for some methods, by label; each key that is not"
        " there is as in the experiment's plan.",
    )
    modes: ModesSection = Field(
        ModesSection(),
        description="Another plan in some scaling modes, for all methods alike; each"
        " key that is not there is as in the experiment's plan.",
    )


class ProtocolSection(Section):
    """Splits, selection and scaling."""

    split: SplitSpec = Field(
        None,
        description="How data sets are split. By default as in the paper, if that is"
        " the same for all of them (random with train: paper, given or folds);"
        " otherwise kfold with k: 5, once.",
    )
    selection: SelectionSection = Field(
        SelectionSection(), description="How parameters are selected."
    )
    scaling: Annotated[
        tuple[ScalingMode, ...], Field(min_length=1), Listed(or_one=True)
    ] = Field(
        ("honest",),
        description="Scaling modes, each of which is run. honest: none or max-abs,"
        " selected with the parameters; paper: the paper's, better of two on the test"
        " part; none; maxabs. By default honest; timing and convergence use maxabs.",
    )


class ExperimentFile(_Described):
    """All that an experiment file may hold."""

    datasets: Annotated[
        tuple[DatasetItem, ...], Field(min_length=1), Listed(told=False)
    ] = Field(
        description="Data sets: names of the catalogue, groups, your own files, or"
        " generated data with parameters."
    )
    methods: Annotated[
        tuple[AnyMethod, ...], Field(min_length=1), Listed(told=False)
    ] = Field(
        description="Methods: names, or mappings that change the grid or fix"
        " parameters."
    )
    protocol: ProtocolSection = Field(
        ProtocolSection(), description="Splits, selection and scaling."
    )


class _SchemaOfFiles(GenerateJsonSchema):
    """Writes no titles, and no default that stands for nothing said."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> dict[str, Any]:
        described = super().default_schema(schema)
        if described.get("default") in (None, {}, ""):
            described.pop("default", None)
        return described


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of experiment files.

    It is made from what the validator checks. What a schema cannot say, such as that a
    data set has rows enough for a split, only the validator checks.

    Examples
    --------
    >>> json_schema()["required"]
    ['name', 'datasets', 'methods']
    """
    schema = ExperimentFile.model_json_schema(schema_generator=_SchemaOfFiles)
    names = (Dataset, Group, MethodName, Metric, ScalarMetric)
    for one in (name.__metadata__[0] for name in names):  # type: ignore[attr-defined]
        schema["$defs"][one.what.replace(" ", "-")] = {"enum": list(one.values())}
    for part in _mappings_in(schema):
        if "name of" in part:
            part["$ref"] = f"#/$defs/{part.pop('name of').replace(' ', '-')}"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**head, **schema, "title": "drmbench experiment"}


def _mappings_in(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    if isinstance(schema, dict | list):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from _mappings_in(part)


# ------------------------------------------------------------ a resolved experiment


class DatasetRef(Section):
    """A data set of the catalogue, or a user's own file.

    Attributes
    ----------
    name : str
        Name in the catalogue, or the name that result rows use for a file.
    path : Path or None
        The file, already resolved against the config's folder.
    target : str or None
        Column with the classes, for a file.
    parameters : mapping
        Parameters of generated data.
    source : str
        Name in the catalogue where it differs from ``name``: the config says ``as``.
    """

    name: str
    path: Path | None = None
    target: str | None = None
    parameters: Mapping[str, Any] = {}
    source: str = ""

    @property
    def catalogue_name(self) -> str:
        """The data set's name in the catalogue."""
        return self.source or self.name


class MethodRef(Section):
    """A method of the registry, perhaps with another grid, under a label.

    Attributes
    ----------
    name : str
        Name in the registry.
    label : str
        What result rows call it; the name unless the config says ``as``.
    grid, params : mapping
        Changes, as :func:`drmbench.methods.registry.with_overrides` takes them.
    """

    name: str
    label: str
    grid: Mapping[str, list[Any]] = {}
    params: Mapping[str, Any] = {}

    def method(self) -> Method:
        """Return the method, with the changes."""
        return self._method

    @cached_property
    def _method(self) -> Method:
        # Changes are checked against every candidate, once and not for every cell.
        method = get_method(self.name)
        if not (self.grid or self.params):
            return method
        return with_overrides(method, grid=self.grid, params=self.params)


class Experiment(_Described):
    """One experiment: data sets x methods x splits under a protocol.

    Attributes
    ----------
    name : str
        Short name; also the folder of its results.
    title : str
        One line for people.
    reproduces : str
        The paper's table or figure (``table3``, ``figure4``), or empty.
    kind : {"classification", "timing", "convergence"}
        What a cell does.
    datasets, methods : tuple
        What is crossed.
    metrics : tuple of str
        The first is the one that the table shows.
    measure : Measurement
        For timing and convergence.
    seed : int
        Seed of splits and methods.
    timeout : float or None
        Time limit of a cell in seconds.
    substitutes : bool
        Whether a real relative may stand in for a data set that cannot be obtained.
    deviations : tuple of str
        What differs from the paper, shown under the table.
    split : SplitSpec
        How data sets are split.
    selection : SelectionPlan
        How parameters are selected.
    selection_overrides : mapping of str to SelectionPlan
        Another plan for some methods, by label.
    selection_modes : mapping of str to SelectionPlan
        Another plan for all methods alike in some scaling modes, by mode.
    tie : {"preferred", "first"} or None
        Which of equal scores is selected; None is the paper's ``first`` in the scaling
        mode ``paper`` and ``preferred`` in the others.
    scaling : tuple of {"honest", "paper", "none", "maxabs"}
        Scaling modes; a cell is run in each.
    source : Path or None
        The file it was read from.
    """

    datasets: tuple[DatasetRef, ...]
    methods: tuple[MethodRef, ...]
    split: SplitSpec = SplitSpec()
    selection: SelectionPlan = SelectionPlan()
    selection_overrides: Mapping[str, SelectionPlan] = {}
    selection_modes: Mapping[ScalingMode, SelectionPlan] = {}
    tie: Tie | None = None
    scaling: Annotated[tuple[ScalingMode, ...], Field(min_length=1)] = ("honest",)
    source: Path | None = None

    def selection_for(self, ref: MethodRef, mode: ScalingMode) -> SelectionPlan:
        """Return how a method's parameters are selected in a scaling mode."""
        if mode in self.selection_modes or ref.label not in self.selection_overrides:
            return self.plan_of(mode)
        return self._with_tie(self.selection_overrides[ref.label], mode)

    def plan_of(self, mode: ScalingMode) -> SelectionPlan:
        """Return how parameters are selected in a mode, if not said for a method."""
        return self._with_tie(self.selection_modes.get(mode, self.selection), mode)

    def _with_tie(self, plan: SelectionPlan, mode: ScalingMode) -> SelectionPlan:
        tie = self.tie or ("first" if mode == "paper" else "preferred")
        return dataclasses.replace(plan, tie=tie)

    def protocol(self, ref: MethodRef, mode: ScalingMode) -> Protocol:
        """Return the rules under which a method's cells run in a scaling mode."""
        return Protocol(
            selection=self.selection_for(ref, mode),
            scaling=mode,
            metrics=self.metrics,
            seed=self.seed,
        )


#: Fields of an experiment that decide no number.
_PROSE = ("name", "title", "reproduces", "timeout", "deviations", "source")


def experiment_identity(experiment: Experiment) -> dict[str, Any]:
    """Return all that decides an experiment's numbers, and nothing that is prose.

    Parameters
    ----------
    experiment : Experiment
        Any experiment, from a file or from a manifest.

    Returns
    -------
    dict
        Nested plain values. ``datasets`` is by name, ``methods`` and
        ``selection_overrides`` by label, ``selection_modes`` by mode. Names, titles,
        notes, paths and time limits are not in it.
    """
    identity = experiment.model_dump(mode="json", exclude=set(_PROSE))
    plans = (*identity["selection_overrides"].values(), identity["selection"])
    for plan in (*plans, *identity["selection_modes"].values()):
        del plan["note"]
    identity["datasets"] = {
        ref.name: {
            "source": ref.catalogue_name,
            "target": ref.target,
            "parameters": dict(ref.parameters),
        }
        for ref in experiment.datasets
    }
    identity["methods"] = {ref.pop("label"): ref for ref in identity["methods"]}
    return identity
