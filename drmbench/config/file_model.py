"""Every key of an experiment file, and the JSON schema of these files for editors.

Files are checked against :class:`ExperimentFile`; what it comes to is an
:class:`~drmbench.config.model.Experiment`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag
from pydantic.json_schema import GenerateJsonSchema

from drmbench.config.model import Described, Section, SplitSpec
from drmbench.config.values import (
    ClassPath,
    Dataset,
    Group,
    Label,
    Listed,
    MethodName,
    Metric,
    Only,
    Parameter,
    Prose,
    Repeats,
    Says,
    ScalarMetric,
    Share,
    TwoOrMore,
)
from drmbench.data.number_text import Decimal
from drmbench.data.reading import Reading
from drmbench.protocol.protocol import (
    Preparation,
    ScalingMode,
    SelectionKind,
    SelectionPlan,
    Tie,
)


class GroupItem(Section):
    """A group of data sets in a file."""

    group: Group
    """All data sets of a group of the catalogue."""
    except_: Annotated[tuple[Dataset, ...], Listed(at_least=0, or_one=True)] = Field(
        default=(), alias="except"
    )
    """Data sets of the group that are left out."""


class FileItem(Section):
    """A user's own file of data."""

    path: Label
    """Your own file (csv, tsv, jsonl, xlsx, parquet, npz, arff, libsvm, mat), relative
    to this one."""
    target: Label | None = None
    """Its column, attribute or array with the classes."""
    name: Label | None = None
    """Its name in results; by default the file's."""
    drop: Annotated[tuple[Label, ...], Listed(at_least=0, or_one=True)] = ()
    """Columns to leave out."""
    nominal: Annotated[tuple[Label, ...], Listed(at_least=0, or_one=True)] = ()
    """Columns whose values are categories, though they are numbers."""
    numeric: Annotated[tuple[Label, ...], Listed(at_least=0, or_one=True)] = ()
    """Columns to keep as numbers, though they look like identifiers or are dates."""
    sep: Label | None = None
    """What separates columns: a character, tab or space."""
    encoding: Label | None = None
    """Encoding of the text, such as latin-1."""
    decimal: Decimal | None = None
    """What stands before the fraction of a number: a point or a comma."""
    header: Annotated[bool | None, Says("true or false")] = None
    """Whether the first row holds the names of the columns."""
    sheet: Label | None = None
    """Sheet of an Excel file; by default the first."""

    def reading(self) -> Reading:
        """Return how the file is to be read."""
        said = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(Reading)
        }
        return Reading(**said)


class NamedItem(Section):
    """A data set of the catalogue with something said of it."""

    name: Dataset
    """A data set of the catalogue."""
    as_: Label | None = Field(default=None, alias="as")
    """What results call it; by default its name."""
    parameters: dict[str, Parameter] = {}
    """Parameters of generated data, such as n, p and classes."""


class MethodItem(Section):
    """A method of the registry with something said of it."""

    name: MethodName
    """A method of the registry."""
    as_: Label | None = Field(default=None, alias="as")
    """What results call it; by default its name."""
    grid: dict[str, Annotated[list[Parameter], Listed()]] = {}
    """Values to search instead of the method's own, by parameter."""
    params: dict[str, Parameter] = {}
    """Parameters to fix."""


class EstimatorItem(Section):
    """A classifier of any package, by its class."""

    estimator: ClassPath
    """A scikit-learn classifier as module:Class, installed or in a module beside this
    file. Reading the file imports it."""
    as_: Label | None = Field(default=None, alias="as")
    """What results call it; by default its class in small letters, without
    classifier."""
    steps: Annotated[tuple[Label, ...], Listed(at_least=0, or_one=True)] = ()
    """Preprocessing, fitted to the training part of every fit: standard, robust,
    minmax, maxabs, normalizer, power, quantile, pca, or classes as module:Class."""
    grid: dict[str, Annotated[list[Parameter], Listed()]] = {}
    """Values to search, by parameter, outermost loop first; a step's parameter is
    step__parameter."""
    params: dict[str, Parameter] = {}
    """Parameters to fix."""


#: The mappings that items of a list can be; errors have these tags in their place.
ITEMS: dict[str, type[Section]] = {
    "<group>": GroupItem,
    "<path>": FileItem,
    "<name>": NamedItem,
    "<method>": MethodItem,
    "<estimator>": EstimatorItem,
}
LONE = "<lone>"


def _told_by(name: Any, *tags: str) -> Discriminator:
    """Tell what an item is, if not a name, by the first of some keys that it has."""
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
        custom_error_context={
            "keys": " or ".join(keys.values()),
            "name": name.__metadata__[0].what,
        },
    )


DatasetItem = Annotated[
    Annotated[Dataset, Tag(LONE)]
    | Annotated[GroupItem, Tag("<group>")]
    | Annotated[FileItem, Tag("<path>")]
    | Annotated[NamedItem, Tag("<name>")],
    _told_by(Dataset, "<group>", "<path>", "<name>"),
]
AnyMethod = Annotated[
    Annotated[MethodName, Tag(LONE)]
    | Annotated[EstimatorItem, Tag("<estimator>")]
    | Annotated[MethodItem, Tag("<method>")],
    _told_by(MethodName, "<estimator>", "<method>"),
]


class PlanSection(Section):
    """A plan of selection; what it does not say is as in the experiment's."""

    kind: SelectionKind | None = None
    """loo: leave-one-out; kfold: stratified k-fold; random: random splits of a random
    subset; each within the training part."""
    metric: ScalarMetric | None = None
    """What selects; by default the first of the experiment's metrics."""
    k: Annotated[TwoOrMore | None, Only("kfold")] = None
    """Number of folds, by default 10; fewer where there are fewer rows."""
    repeats: Annotated[Repeats | None, Only("kfold", "random")] = None
    """Number of k-fold partitions, or of random splits; by default 1."""
    subset: TwoOrMore | None = None
    """Select on so many training rows, drawn stratified, where there are more; by
    default on all, with random on 3,000."""
    subset_least: Repeats | None = None
    """The subset has so many rows of each class, or all that there are; by default as
    many as its share gives."""
    train_share: Annotated[Share | None, Only("random")] = None
    """Share of the subset that trains in each random split, by default 0.8."""
    note: Prose | None = None
    """Footnote on why parameters are selected so."""


class ModesSection(Section):
    """Plans of all methods in some scaling modes."""

    honest: PlanSection | None = None
    """The plan of all methods in mode honest."""
    paper: PlanSection | None = None
    """The plan of all methods in mode paper."""
    none: PlanSection | None = None
    """The plan of all methods in mode none."""
    maxabs: PlanSection | None = None
    """The plan of all methods in mode maxabs."""


class SelectionSection(PlanSection):
    """How parameters are selected."""

    kind: SelectionKind | None = SelectionPlan.kind
    """loo: leave-one-out; kfold: stratified k-fold; random: random splits of a random
    subset; each within the training part."""
    tie: Tie | None = None
    """Which of equal scores is selected, for all methods: the one the method prefers
    (the more regularised) or the first in grid order; by default first in the scaling
    mode paper, preferred in the others."""
    methods: dict[str, PlanSection] = {}
    """Another plan for some methods, by label; each key that is not there is as in the
    experiment's plan."""
    modes: ModesSection = ModesSection()
    """Another plan in some scaling modes, for all methods alike; each key that is not
    there is as in the experiment's plan."""


class ProtocolSection(Section):
    """Splits, selection and scaling."""

    split: SplitSpec | None = None
    """How data sets are split. By default as in the paper, if that is the same for all
    of them (random with train: paper, given or folds); otherwise kfold with k: 5,
    once."""
    selection: SelectionSection = SelectionSection()
    """How parameters are selected."""
    scaling: Annotated[tuple[ScalingMode, ...], Listed(or_one=True)] = ("honest",)
    """Scaling modes, each of which is run. honest: none or max-abs, selected with the
    parameters; paper: the paper's, better of two on the test part; none; maxabs. By
    default honest; timing and convergence use maxabs."""
    preparation: Preparation = "codes"
    """codes: columns as they are, text as codes. table: within each training part
    nominal columns become zeros and ones, missing values are filled in, and honest
    scaling is none, standard, robust or max-abs."""


#: What is there twice is only known when items are resolved.
_SOME = Field(min_length=1, json_schema_extra={"uniqueItems": True})


class ExperimentFile(Described):
    """All that an experiment file may hold."""

    datasets: Annotated[tuple[DatasetItem, ...], _SOME]
    """Data sets: names of the catalogue, groups, your own files, or generated data with
    parameters."""
    methods: Annotated[tuple[AnyMethod, ...], _SOME]
    """Methods: names, mappings that change the grid or fix parameters, or classifiers
    of any package."""
    protocol: ProtocolSection = ProtocolSection()
    """Splits, selection and scaling."""


class _SchemaOfFiles(GenerateJsonSchema):
    """Writes no titles, and no null or default that stands for nothing said."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

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
        schema["$defs"][one.thing.replace(" ", "-")] = {"enum": list(one.values())}
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
