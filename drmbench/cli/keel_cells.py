"""``drmbench keel-cells``: the paper's G-mean cells, ours beside the published ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from drmbench.cli.inputs import job_count
from drmbench.cli.listing import Field, Word, print_listing
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import tell
from drmbench.errors import DataUnavailableError, InputError

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry
    from drmbench.methods.base import Method
    from drmbench.paper import PublishedCell
    from drmbench.running.results import Results

app = typer.Typer()

_EITHER = "exact with either scaling"
_FIELDS = (
    *(Field("data set", least=14), Field("method", least=10)),
    *(Field("paper", "right"), Field("ours", "right")),
    *(Field("scaling", hide=2), Field("agreement"), Field("seconds", "right", hide=3)),
    Field("remark", least=12, hide=1),
)


@app.command(
    epilog=examples(
        "drmbench keel-cells --method nb --method knn-euclidean --method knn-cosine",
        "drmbench keel-cells --dataset glass6 --method drm-poly",
        "drmbench keel-cells --jobs 4 --out results/runs",
        "drmbench keel-cells --method nb --json",
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
    as_json: AsJson = False,
) -> None:
    """Compute the paper's G-mean cells by its own protocol.

    The protocol is optimistic: it scales the test folds by their own maxima, and takes
    the better of scaled and unscaled data on the test folds. A cell is "exact" if the
    mean is the same to four digits and the deviation to one unit of the fourth; a
    remark says where the scaling that is not the better one gives the published figure
    exactly. By default all 15 sets and all methods of the table; the kernel methods
    take hours.
    """
    from drmbench.methods.registry import builtin_names, get_method
    from drmbench.paper import find_cell, published_cells
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
    cells = []
    for chosen in methods:
        for entry in entries:
            names = entry.paper.names if entry.paper else ()
            theirs = find_cell(published, names, chosen.column)
            cells.append(_compared(results, entry.name, chosen.name, theirs))
    if as_json:
        print_json([vars(cell) for cell in cells])
    else:
        print_listing(_FIELDS, map(_row, cells))
        tell("")
        _tell_counts([method.name for method in methods], cells)
        tell(f"All of ours are {OPTIMISTIC}.")
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


@dataclass(frozen=True)
class _KeelCell:
    """A cell of the paper's table beside ours."""

    dataset: str
    method: str
    #: figures with their deviations, the paper's and ours; None where there is none
    paper: float | None
    paper_spread: float | None
    ours: float | None
    ours_spread: float | None
    scaling: str  #: the better one, which ours are of
    agreement: str
    exact_scaling: str | None  #: the scaling that gives the published figure exactly
    seconds: float
    failed_folds: int
    reason: str  #: why the first of them failed


def _compared(
    results: Results, dataset: str, method: str, theirs: PublishedCell | None
) -> _KeelCell:
    """Return a cell of ours beside the published one."""
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
    failed = [row for row in rows[ours.scaling] if row["status"] != "ok"]
    return _KeelCell(
        dataset,
        method,
        paper=theirs.mean if theirs else None,
        paper_spread=theirs.spread if theirs else None,
        ours=ours.mean,
        ours_spread=ours.spread,
        scaling=ours.scaling,
        agreement=str(kind),
        exact_scaling=exact,
        seconds=seconds_of(results, dataset, method),
        failed_folds=len(failed),
        reason=failed[0]["reason"] if failed else "",
    )


def _row(cell: _KeelCell) -> tuple[str | Word, ...]:
    from drmbench.paper import Agreement

    said = []
    if cell.failed_folds:
        said.append(f"{cell.failed_folds} folds failed: {cell.reason}")
    if cell.exact_scaling is not None and cell.exact_scaling != cell.scaling:
        said.append(f"with scaling {cell.exact_scaling} exactly as published")
    exact = cell.agreement == Agreement.EXACT
    return (
        *(cell.dataset, cell.method),
        _figure(cell.paper, cell.paper_spread),
        _figure(cell.ours, cell.ours_spread),
        cell.scaling,
        Word(cell.agreement, "good" if exact else ""),
        f"{cell.seconds:.1f}",
        "; ".join(said),
    )


def _tell_counts(methods: Sequence[str], cells: Sequence[_KeelCell]) -> None:
    """Print how many cells of each method agree how well."""
    from drmbench.paper import Agreement

    counts = {name: Counter[str]() for name in methods}
    for cell in cells:
        counts[cell.method][cell.agreement] += 1
        counts[cell.method][_EITHER] += cell.exact_scaling is not None
    kinds = [*map(str, Agreement), _EITHER]
    print_listing(
        [Field("method", least=10), *(Field(kind, "right") for kind in kinds)],
        [
            [name, *(str(found[kind] or "") for kind in kinds)]
            for name, found in counts.items()
        ],
    )


def _figure(mean: float | None, spread: float | None) -> str:
    if mean is None or spread is None or math.isnan(mean):
        return "-"
    return f"{mean:.4f} ± {spread:.4f}"
