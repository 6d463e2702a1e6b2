"""``drmbench keel-cells``: the paper's G-mean cells, ours beside the published ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from drmbench.cli.output import LEFT, RIGHT, examples, print_table
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry
    from drmbench.methods.base import Method
    from drmbench.paper import PublishedCell
    from drmbench.protocol.reproduction import ReproducedCell

EPILOGUE = examples(
    "drmbench keel-cells --method nb --method knn-euclidean --method knn-cosine",
    "drmbench keel-cells --dataset glass6 --method drm-poly",
    "drmbench keel-cells --jobs 4",
)

_LINE = "{:<22}{:<22}{:>17}{:>17}  {:<10}{:<14}{:>9}"


def keel_cells(
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", "-d", help="One of the 15 KEEL sets; repeatable."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="A method; repeatable."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Cells computed at once.")
    ] = 1,
) -> None:
    """Compute the paper's G-mean cells by its own protocol, beside its figures.

    The protocol is optimistic: it scales the test folds by their own maxima, and takes
    the better of scaled and unscaled data on the test folds. A cell is "exact" if the
    mean is the same to four digits and the deviation to one unit of the fourth; a
    remark says where the scaling that is not the better one gives the published figure
    exactly. By default all 15 sets and all methods of the table; the kernel methods
    take hours.
    """
    from drmbench.paper import published_cells
    from drmbench.protocol.protocol import OPTIMISTIC

    published = [
        cell
        for table in ("table8_gmean", "table9_gmean_sampling")
        for cell in published_cells(table)
    ]
    entries, methods = _chosen_sets(dataset), _chosen_methods(method, published)
    heading = ("data set", "method", "paper", "ours", "scaling", "agreement", "seconds")
    typer.echo(_LINE.format(*heading))
    pairs = []
    for ours, theirs in _computed(entries, methods, published, jobs):
        pairs.append((ours, theirs))
        typer.echo(_as_line(ours, theirs))
    _print_counts(pairs)
    typer.echo(f"All of ours are {OPTIMISTIC}.")


def _chosen_sets(names: list[str] | None) -> list[DatasetEntry]:
    from drmbench.data.catalogue import load_catalogue

    catalogue = load_catalogue()
    with_folds = catalogue.group("keel")
    if not names:
        return with_folds
    for entry in catalogue.entries(names):
        if entry not in with_folds:
            valid = ", ".join(known.name for known in with_folds)
            raise InputError(
                f"{entry.name} is not one of the paper's KEEL sets: {valid}"
            )
    return catalogue.entries(names)


def _chosen_methods(
    names: list[str] | None, published: Iterable[PublishedCell]
) -> list[Method]:
    from drmbench.methods.registry import get_method, list_methods

    if names:
        return [get_method(name) for name in dict.fromkeys(names)]
    columns = {cell.method for cell in published if "+" not in cell.method}
    return [method for method in list_methods() if method.column in columns]


def _computed(
    entries: list[DatasetEntry],
    methods: list[Method],
    published: list[PublishedCell],
    jobs: int,
) -> Iterator[tuple[ReproducedCell, PublishedCell | None]]:
    from joblib import Parallel, delayed

    from drmbench.paper import find_cell

    wanted = [(entry, method) for method in methods for entry in entries]
    run = Parallel(n_jobs=jobs, return_as="generator")
    cells = run(delayed(_compute)(entry.name, method.name) for entry, method in wanted)
    for (entry, method), ours in zip(wanted, cells, strict=True):
        names = entry.paper.names if entry.paper else ()
        yield ours, find_cell(published, names, method.column)


def _compute(dataset: str, method: str) -> ReproducedCell:
    from threadpoolctl import threadpool_limits

    from drmbench.data import load
    from drmbench.methods.registry import get_method
    from drmbench.protocol.reproduction import reproduce_cell

    with threadpool_limits(1):
        return reproduce_cell(load(dataset), get_method(method))


def _figure(mean: float | None, spread: float | None) -> str:
    if mean is None or spread is None or math.isnan(mean):
        return "-"
    return f"{mean:.4f} ± {spread:.4f}"


def _as_line(ours: ReproducedCell, theirs: PublishedCell | None) -> str:
    published = _figure(theirs.mean, theirs.spread) if theirs else "-"
    line = _LINE.format(
        ours.dataset,
        ours.method,
        published,
        _figure(ours.mean, ours.spread),
        ours.scaling,
        ours.agreement(theirs),
        f"{ours.seconds:.1f}",
    )
    return line + _remarks(ours, theirs)


def _remarks(ours: ReproducedCell, theirs: PublishedCell | None) -> str:
    remarks = f"  ({ours.failed} folds failed: {ours.reason})" if ours.failed else ""
    exact = ours.exact_with(theirs)
    if exact is not None and exact != ours.scaling:
        remarks += f"  (with scaling {exact} exactly as published)"
    return remarks


def _print_counts(
    pairs: list[tuple[ReproducedCell, PublishedCell | None]],
) -> None:
    from drmbench.paper import Agreement
    from drmbench.protocol.reproduction import count_agreements

    columns = [("method", LEFT), *((str(kind), RIGHT) for kind in Agreement)]
    columns.append(("exact with either scaling", RIGHT))
    either = Counter(ours.method for ours, theirs in pairs if ours.exact_with(theirs))
    typer.echo()
    print_table(
        columns,
        [
            [method, *(str(counts[kind]) for kind in Agreement), str(either[method])]
            for method, counts in count_agreements(pairs).items()
        ],
    )
