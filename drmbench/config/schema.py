"""Every key of an experiment file: what it holds, what it means, its default."""

from __future__ import annotations

from drmbench.config import durations
from drmbench.config.model import Experiment, Kind, Measurement
from drmbench.config.protocol_schema import PROTOCOL
from drmbench.config.shapes import (
    Either,
    Field,
    Flag,
    ListOf,
    MapOf,
    Nothing,
    Number,
    Parameter,
    Record,
    Text,
    Variants,
)
from drmbench.config.values import (
    COUNT,
    DATASET,
    GROUP,
    LABEL,
    METHOD,
    METRIC,
    PROSE,
    one_of,
)

GROUP_SETS = Record(
    (
        Field("group", GROUP, "All data sets of a group of the catalogue.", True),
        Field(
            "except",
            ListOf(DATASET, at_least=0, or_one=True),
            "Data sets of the group that are left out.",
        ),
    )
)
FILE_SET = Record(
    (
        Field(
            "path",
            LABEL,
            "Your own file (csv, tsv, npz, arff, libsvm, mat), relative to this one.",
            True,
        ),
        Field("target", LABEL, "Its column, attribute or array with the classes."),
        Field("name", LABEL, "Its name in results; by default the file's."),
    )
)
NAMED_SET = Record(
    (
        Field("name", DATASET, "A data set of the catalogue.", True),
        Field("as", LABEL, "What results call it; by default its name."),
        Field(
            "parameters",
            MapOf(Parameter(), "parameters"),
            "Parameters of generated data, such as n, p and classes.",
        ),
    )
)
ONE_METHOD = Record(
    (
        Field("name", METHOD, "A method of the registry.", True),
        Field("as", LABEL, "What results call it; by default its name."),
        Field(
            "grid",
            MapOf(ListOf(Parameter()), "lists of values to search"),
            "Values to search instead of the method's own, by parameter.",
        ),
        Field("params", MapOf(Parameter(), "parameters"), "Parameters to fix."),
    )
)

MEASURE = Record(
    (
        Field(
            "alpha",
            Number(low=0),
            "Weight of the within-class scatter.",
            default=Measurement.alpha,
        ),
        Field(
            "betas",
            ListOf(Number(above=0), or_one=True),
            "Ridge penalties; timing has one.",
            default=list(Measurement.betas),
        ),
        Field(
            "sizes",
            ListOf(Number(low=2, whole=True), at_least=0, or_one=True),
            "Training sizes of timing; the whole training part is always added.",
            default=list(Measurement.sizes),
        ),
        Field(
            "examples",
            COUNT,
            "Test examples, each solved by itself.",
            default=Measurement.examples,
        ),
        Field(
            "iterations",
            COUNT,
            "Iterations of each solve: exactly so many in timing, at most so many in"
            " convergence.",
            default=Measurement.iterations,
        ),
        Field(
            "tol",
            Number(above=0),
            "Stopping tolerance of convergence.",
            default=Measurement.tol,
        ),
    )
)

EXPERIMENT = Record(
    (
        Field(
            "name",
            Text(
                r"^[a-z0-9][a-z0-9-]{0,63}$",
                "small letters, digits and hyphens, at most 64",
            ),
            "Short name; also the folder of the results.",
            required=True,
        ),
        Field("title", PROSE, "One line for people."),
        Field(
            "reproduces",
            Text(
                "^(table|figure)[0-9]+$",
                "a table or figure of the paper, such as table3 or figure1",
            ),
            "The paper's table or figure, such as table3.",
        ),
        Field(
            "kind",
            one_of(Kind),
            "What a cell does: classify, time single solves, or trace them.",
            default=Experiment.kind,
        ),
        Field(
            "datasets",
            ListOf(
                Variants(
                    DATASET,
                    (("group", GROUP_SETS), ("path", FILE_SET), ("name", NAMED_SET)),
                )
            ),
            "Data sets: names of the catalogue, groups, your own files, or generated"
            " data with parameters.",
            required=True,
        ),
        Field(
            "methods",
            ListOf(Variants(METHOD, (("name", ONE_METHOD),))),
            "Methods: names, or mappings that change the grid or fix parameters.",
            required=True,
        ),
        Field("protocol", PROTOCOL, "Splits, selection and scaling."),
        Field(
            "metrics",
            ListOf(METRIC, or_one=True),
            "What is measured; tables show the first, which must be one number.",
            default=list(Experiment.metrics),
            kinds=("classification",),
        ),
        Field(
            "measure",
            MEASURE,
            "What timing and convergence measure.",
            kinds=("timing", "convergence"),
        ),
        Field(
            "seed",
            Number(low=0, high=2**32 - 1, whole=True),
            "Seed of splits and methods.",
            default=Experiment.seed,
        ),
        Field(
            "timeout",
            Either(
                (Number(above=0), Text(durations.PATTERN), Nothing()),
                f"a time above zero such as {durations.EXAMPLES}, a number of seconds,"
                " or null for no limit",
            ),
            "Time limit of a cell; none by default.",
        ),
        Field(
            "substitutes",
            Flag(),
            "Whether a real relative, marked, may stand in for a data set that cannot"
            " be had.",
            default=Experiment.substitutes,
        ),
        Field(
            "deviations",
            ListOf(PROSE, at_least=0, or_one=True),
            "What differs from the paper, shown under the table.",
            default=[],
        ),
    ),
    default_kind=Experiment.kind,
)
