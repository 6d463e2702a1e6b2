"""``drmbench keel-cells``: the paper's G-mean cells, ours beside the published ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from drmbench.cli.inputs import job_count
from drmbench.cli.output import LEFT, RIGHT, examples, print_table
from drmbench.errors import DataUnavailableError, InputError

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry
    from drmbench.methods.base import Method
    from drmbench.paper import PublishedCell
    from drmbench.running.results import Results

app = typer.Typer()

_EITHER = "exact with either scaling"
_LINE = "{:<22}{:<22}{:>17}{:>17}  {:<10}{:<14}{:>9}"


@app.command(
    epilog=examples(
        "drmbench keel-cells --method nb --method knn-euclidean --method knn-cosine",
        "drmbench keel-cells --dataset glass6 --method drm-poly",
        "drmbench keel-cells --jobs 4 --out results/runs",
    )
)
def keel_cells(
    dataset: Annotated[
        list[str] | None,
        Option("--dataset", "-d", help="One of the 15 KEEL sets; repeatable."),
    ] = None,
    method: Annotated[
        list[str] | None, Option("--method", "-m", help="A method; repeatable.")
    ] = None,
    jobs: Annotated[
        int, Option("--jobs", "-j", min=1, help="Cells computed at once.")
    ] = 1,
    out: Annotated[
        Path | None, Option(help="Folder that keeps the results, to go on later.")
    ] = None,
) -> None:
    """Compute the paper's G-mean cells by its own protocol, beside its figures.

    The protocol is optimistic: it scales the test folds by their own maxima, and takes
    the better of scaled and unscaled data on the test folds. A cell is "exact" if the
    mean is the same to four digits and the deviation to one unit of the fourth; a
    remark says where the scaling that is not the better one gives the published figure
    exactly. By default all 15 sets and all methods of the table; the kernel methods
    take hours.
    """
    from drmbench.methods.registry import builtin_names, get_method
    from drmbench.paper import Agreement, find_cell, published_cells
    from drmbench.words import OPTIMISTIC

    tables = ("table8_gmean", "table9_gmean_sampling")
    published = [cell for table in tables for cell in published_cells(table)]
    columns = {cell.method for cell in published if "+" not in cell.method}
    builtin = map(get_method, builtin_names())
    methods = [known for known in builtin if known.column in columns]
    if method:
        methods = [get_method(name) for name in dict.fromkeys(method)]
    entries = _chosen_sets(dataset)
    with TemporaryDirectory() as folder:
        results = _run(entries, methods, job_count(jobs), out or Path(folder))
    heading = ("data set", "method", "paper", "ours", "scaling", "agreement", "seconds")
    typer.echo(_LINE.format(*heading))
    counts = {method.name: Counter[str]() for method in methods}
    for chosen in methods:
        for entry in entries:
            names = entry.paper.names if entry.paper else ()
            theirs = find_cell(published, names, chosen.column)
            line, classes = _compared(results, entry.name, chosen.name, theirs)
            counts[chosen.name].update(classes)
            typer.echo(line)
    kinds = [*map(str, Agreement), _EITHER]
    typer.echo()
    print_table(
        [("method", LEFT), *((kind, RIGHT) for kind in kinds)],
        [[name, *(str(found[k]) for k in kinds)] for name, found in counts.items()],
    )
    typer.echo(f"All of ours are {OPTIMISTIC}.")
    if results.rows["status"].isin(["failed", "timeout"]).any():
        raise typer.Exit(1)


def _chosen_sets(names: list[str] | None) -> list[DatasetEntry]:
    from drmbench.data.catalogue import load_catalogue

    catalogue = load_catalogue()
    with_folds = catalogue.group("keel")
    for entry in catalogue.entries(names or []):
        if entry not in with_folds:
            valid = ", ".join(known.name for known in with_folds)
            raise InputError(
                f"{entry.name} is not one of the paper's KEEL sets: {valid}"
            )
    return catalogue.entries(names) if names else with_folds


def _run(
    entries: Iterable[DatasetEntry], methods: Iterable[Method], jobs: int, out: Path
) -> Results:
    """Run the paper's own protocol on KEEL's folds, without any deviation."""
    from drmbench.config.model import DatasetRef, Experiment, MethodRef, SplitSpec
    from drmbench.protocol.selection import SelectionPlan
    from drmbench.running.results import read_results
    from drmbench.running.runner import Run, RunOptions

    experiment = Experiment(
        name="keel-cells",
        title="The paper's G-means on KEEL's folds, by its own protocol",
        datasets=tuple(DatasetRef(name=entry.name) for entry in entries),
        methods=tuple(MethodRef(name=m.name, label=m.name) for m in methods),
        split=SplitSpec(kind="folds"),
        selection=SelectionPlan(kind="loo", metric="gmean"),
        scaling=("paper",),
        # Those of configs/imbalanced.yaml, so that equal cells are taken from there.
        metrics=("gmean", "accuracy", "balanced_accuracy"),
    )

    run = Run([experiment], RunOptions(out=out, jobs=jobs, retry_failed=True))
    for planned in run.missing():
        raise DataUnavailableError(planned.missing)
    if run.start().interrupted:
        raise typer.Exit(130)
    return read_results(out / experiment.name)


def _compared(
    results: Results, dataset: str, method: str, theirs: PublishedCell | None
) -> tuple[str, list[str]]:
    """Return a cell's line, and what it counts as."""
    from drmbench.metrics import get_metric, mean_and_spread
    from drmbench.paper import Agreement
    from drmbench.running.compare import seconds_of

    ours = results.summary(dataset, method)
    rows: dict[str, list[dict[str, Any]]] = {
        scaling: list(results.split_rows(dataset, method, "paper", scaling))
        for scaling in ("none", "separate")
    }
    kind, exact = Agreement.UNPUBLISHED, None
    if theirs is not None:
        worst = get_metric("gmean").worst
        figures = {
            scaling: mean_and_spread(
                row["gmean"] if row["status"] == "ok" else worst for row in found
            )
            for scaling, found in rows.items()
        }
        kind = theirs.agreement(ours.mean, ours.spread)
        exact = theirs.exact_scaling(figures)
    paper = _figure(theirs.mean, theirs.spread) if theirs else "-"
    seconds = f"{seconds_of(results, dataset, method):.1f}"
    figure = _figure(ours.mean, ours.spread)
    line = _LINE.format(dataset, method, paper, figure, ours.scaling, kind, seconds)
    failed = [row for row in rows[ours.scaling] if row["status"] != "ok"]
    if failed:
        line += f"  ({len(failed)} folds failed: {failed[0]['reason']})"
    if exact is not None and exact != ours.scaling:
        line += f"  (with scaling {exact} exactly as published)"
    return line, [str(kind), *([_EITHER] if exact else [])]


def _figure(mean: float | None, spread: float | None) -> str:
    if mean is None or spread is None or math.isnan(mean):
        return "-"
    return f"{mean:.4f} ± {spread:.4f}"
