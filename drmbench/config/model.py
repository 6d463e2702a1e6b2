"""What an experiment is: run, sent to workers, stored in manifests and read back.

:mod:`drmbench.config.file_model` says what the files that describe one may hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from drmbench.config.values import (
    Count,
    Listed,
    Metric,
    Number,
    Only,
    Positive,
    Prose,
    Repeats,
    Says,
    Share,
    Text,
    Timeout,
    TwoOrMore,
)
from drmbench.data.reading import Reading
from drmbench.errors import CheckFailedError
from drmbench.methods.base import Method
from drmbench.methods.foreign import EstimatorSpec, Recipe
from drmbench.methods.registry import get_method, with_overrides
from drmbench.protocol.protocol import (
    Preparation,
    Protocol,
    ScalingMode,
    SelectionPlan,
    Tie,
)
from drmbench.protocol.splits import SplitKind, SplitPlan

Kind = Literal["classification", "timing", "convergence"]

# ------------------------------------------------------- what files and runs share

#: The null of a file, where a model would take None for unsaid.
_NULL = object()


class Section(BaseModel):
    """A mapping of an experiment file, or a stored one, whose keys are all known.

    A file is validated with a context and stored values without. Stored values that are
    defaults count as not said: a default need not be what a file may say.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True
    )
    #: Keys that may be null in a file.
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
            nulls = [key for key in data if data[key] is None]
            return {**data, **{key: _NULL for key in nulls if key not in cls.nullable}}
        fields = cls.model_fields.items()
        unsaid = {key for key, field in fields if data.get(key) == field.default}
        return {key: value for key, value in data.items() if key not in unsaid}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        described = handler.resolve_ref_schema(handler(schema))
        described.pop("description", None)
        conditions = []
        for name, field in cls.model_fields.items():
            for only in (one for one in field.metadata if isinstance(one, Only)):
                # A mapping of another kind, said or by default, must not have the key.
                kind = {"not": {"enum": list(only.kinds)}}
                other: dict[str, Any] = {"properties": {"kind": kind}}
                default = cls.model_fields["kind"].default
                if default is None or default in only.kinds:
                    other["required"] = ["kind"]
                refused = {"properties": {name: False}}
                conditions.append({"if": other, "then": refused})
        if conditions:
            described["allOf"] = conditions
        return described


class SplitSpec(Section):
    """How data sets are split, before the paper's sizes are looked up."""

    kind: SplitKind = "random"
    """random: stratified parts; given: the data set's own split; folds: its own folds;
    kfold: stratified k-fold."""
    train: Annotated[
        Literal["paper"] | Count | Share,
        Field(union_mode="left_to_right"),
        Says("paper, a number of rows, or a share above 0 and below 1"),
        Only("random"),
    ] = "paper"
    """Training size: a number of rows, a share, or paper for the paper's sizes."""
    test: Annotated[Count | None, Only("random")] = None
    """Number of test rows; by default all that do not train. train: paper has its
    own."""
    max_train: Annotated[Count | None, Only("random")] = None
    """Train on at most so many rows, where train is a share."""
    k: Annotated[TwoOrMore, Only("kfold")] = 5
    """Number of folds."""
    repeats: Annotated[Repeats, Only("random", "kfold")] = 5
    """How often splits are drawn again; by default 5 times, with kfold once."""

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
    """What the timing and convergence experiments measure."""

    alpha: Annotated[float, Number(ge=0)] = 1e-3
    """Weight of the within-class scatter."""
    betas: Annotated[tuple[Positive, ...], Listed(or_one=True)] = (1e4,)
    """Ridge penalties; timing has one."""
    sizes: Annotated[tuple[TwoOrMore, ...], Listed(at_least=0, or_one=True)] = ()
    """Training sizes of timing; the whole training part is always added."""
    examples: Count = 100
    """Test examples, each solved by itself."""
    iterations: Count = 50
    """Iterations of each solve: exactly so many in timing, at most so many in
    convergence."""
    tol: Positive = 1e-5
    """Stopping tolerance of convergence."""


class Described(Section):
    """The keys that a file and the experiment it describes have in common."""

    nullable: ClassVar[frozenset[str]] = frozenset({"timeout"})

    name: Annotated[
        str,
        Text(
            "^[a-z0-9][a-z0-9-]{0,63}$", "small letters, digits and hyphens, at most 64"
        ),
    ]
    """Short name; also the folder of the results."""
    title: Prose = ""
    """One line for people."""
    reproduces: Annotated[
        str,
        Text(
            "^(table|figure)[0-9]+$",
            "a table or figure of the paper, such as table3 or figure1",
        ),
    ] = ""
    """The paper's table or figure, such as table3."""
    kind: Kind = "classification"
    """What a cell does: classify, time single solves, or trace them."""
    datasets: tuple[Any, ...]
    methods: tuple[Any, ...]
    metrics: Annotated[
        tuple[Metric, ...], Listed(or_one=True), Only("classification")
    ] = ("accuracy", "gmean", "balanced_accuracy")
    """What is measured; tables show the first, which must be one number."""
    measure: Annotated[Measurement, Only("timing", "convergence")] = Measurement()
    """What timing and convergence measure."""
    seed: Annotated[int, Number(ge=0, le=2**32 - 1, whole=True)] = 0
    """Seed of splits and methods."""
    timeout: Timeout = None
    """Time limit of a cell; none by default."""
    substitutes: Annotated[bool, Field(strict=True), Says("true or false")] = False
    """Whether a real relative, marked, may stand in for a data set that cannot be
    obtained."""
    deviations: Annotated[tuple[Prose, ...], Listed(at_least=0, or_one=True)] = ()
    """What differs from the paper, shown under the table."""


# ------------------------------------------------------------ a resolved experiment


class DatasetRef(Section):
    """A data set of the catalogue, or a user's own file."""

    name: str
    """Name in the catalogue, or the name that result rows use for a file."""
    path: Path | None = None
    """The file, already resolved against the config's folder."""
    target: str | None = None
    """Column with the classes, for a file."""
    parameters: Mapping[str, Any] = {}
    """Parameters of generated data."""
    source: str = ""
    """Name in the catalogue where it differs from ``name``: the config says ``as``."""
    reading: Reading = Reading()
    """How a file is read, as far as the config says it."""

    @property
    def catalogue_name(self) -> str:
        """The data set's name in the catalogue."""
        return self.source or self.name

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        stored: dict[str, Any] = handler(self)
        stored["reading"] = self.reading.said()
        if not stored["reading"]:  # manifests without it stay as they are
            del stored["reading"]
        return stored


class MethodRef(Section):
    """A method of the registry, perhaps with another grid, or an estimator."""

    name: str
    """Name in the registry; the class of an estimator."""
    label: str
    """What result rows call it; the name unless the config says ``as``."""
    grid: Mapping[str, list[Any]] = {}
    """Changes, as :func:`drmbench.methods.registry.with_overrides` takes them; all that
    is searched, of an estimator."""
    params: Mapping[str, Any] = {}
    """The same for parameters that are fixed."""
    estimator: EstimatorSpec | None = None
    """The classes of a method that is not in the registry."""
    versions: Mapping[str, str] = {}
    """The packages that provide a method which is not drmbench's own, as the run was
    planned; of modules that are not installed a checksum."""

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        stored: dict[str, Any] = handler(self)
        for key in ("estimator", "versions"):  # manifests without them stay as they are
            if not stored[key]:
                del stored[key]
        return stored

    def method(self) -> Method:
        """Return the method, with the changes; it must be that of the plan."""
        return self._method

    @cached_property
    def _method(self) -> Method:
        # Changes are checked against every candidate, once and not for every cell.
        if self.estimator is not None:
            recipe = Recipe.load(self.estimator)
            method = recipe.method(self.name, self.label, self.grid, self.params)
        else:
            method = get_method(self.name)
        here = method.origin.get("versions", {})
        if self.versions and here != self.versions:
            planned, found = (
                ", ".join(" ".join(pair) for pair in versions.items())
                for versions in (self.versions, here)
            )
            raise CheckFailedError(
                f"{self.label} was planned with {planned}, and here is {found}"
            )
        if self.estimator is not None or not (self.grid or self.params):
            return method
        return with_overrides(method, grid=self.grid, params=self.params)


class Experiment(Described):
    """One experiment: data sets x methods x splits under a protocol."""

    datasets: tuple[DatasetRef, ...]
    """What is crossed with the methods."""
    methods: tuple[MethodRef, ...]
    """What is crossed with the data sets."""
    split: SplitSpec = SplitSpec()
    """How data sets are split."""
    selection: SelectionPlan = SelectionPlan()
    """How parameters are selected."""
    selection_overrides: Mapping[str, SelectionPlan] = {}
    """Another plan for some methods, by label."""
    selection_modes: Mapping[ScalingMode, SelectionPlan] = {}
    """Another plan for all methods alike in some scaling modes, by mode."""
    tie: Tie | None = None
    """Which of equal scores is selected; None is the paper's ``first`` in the scaling
    mode ``paper`` and ``preferred`` in the others."""
    scaling: Annotated[tuple[ScalingMode, ...], Listed()] = ("honest",)
    """Scaling modes; a cell is run in each."""
    preparation: Preparation = "codes"
    """How columns are prepared before methods get them."""
    source: Path | None = None
    """The file it was read from."""

    @model_serializer(mode="wrap")
    def _as_before_where_nothing_is_said(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        stored: dict[str, Any] = handler(self)
        if stored.get("preparation") == "codes":
            del stored["preparation"]
        groups = ("selection_overrides", "selection_modes")
        plans = [plan for group in groups for plan in stored.get(group, {}).values()]
        for plan in (*plans, stored.get("selection", {})):
            if not plan.get("subset_least"):
                plan.pop("subset_least", None)
        return stored

    def selection_for(self, ref: MethodRef | None, mode: ScalingMode) -> SelectionPlan:
        """Return how a method's parameters are selected in a scaling mode.

        Without a method: how those are of which the experiment says nothing.
        """
        label = ref.label if ref else ""
        plan = self.selection_overrides.get(label, self.selection)
        tie = self.tie or ("first" if mode == "paper" else "preferred")
        return dataclasses.replace(self.selection_modes.get(mode, plan), tie=tie)

    def protocol(self, ref: MethodRef, mode: ScalingMode) -> Protocol:
        """Return the rules under which a method's cells run in a scaling mode."""
        plan = self.selection_for(ref, mode)
        return Protocol(plan, mode, self.metrics, self.seed, self.preparation)


#: Fields of an experiment that decide no number.
_PROSE = ("name", "title", "reproduces", "timeout", "deviations", "source")


def experiment_identity(experiment: Experiment) -> dict[str, Any]:
    """Return all that decides an experiment's numbers, as nested plain values.

    ``datasets`` is by name, ``methods`` and ``selection_overrides`` by label,
    ``selection_modes`` by mode. Names, titles, notes, paths, versions and time limits
    are left out.
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
    for ref in identity["methods"].values():
        ref.pop("versions", None)
        ref.get("estimator", {}).pop("folder", None)
    return identity
