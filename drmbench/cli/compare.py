"""``drmbench compare``: all sensible methods on a person's own table, no YAML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import RUNS, job_count, require_addresses, writing
from drmbench.cli.output import examples, show
from drmbench.errors import DrmbenchError, InputError

app = typer.Typer()


@app.command(
    "compare",
    epilog=examples(
        "drmbench compare mine.csv --target label",
        "drmbench compare mine.csv --target label --metric gmean --folds 10",
        "drmbench compare mine.arff --methods drm-rbf,svm-rbf,rf",
        "drmbench compare mine.csv --methods drm-rbf,lightgbm:LGBMClassifier",
    ),
)
def compare_command(
    data: Annotated[
        Path, Argument(help="A csv, tsv, npz, ARFF, LIBSVM or MATLAB file.")
    ],
    target: Annotated[str | None, Option(help="Column with the classes.")] = None,
    methods: Annotated[
        str | None,
        Option(
            help="Names, or classes as module:Class, separated by commas; default:"
            " sensible"
        ),
    ] = None,
    metric: Annotated[
        str, Option(help="gmean, accuracy or balanced_accuracy.")
    ] = "gmean",
    folds: Annotated[int, Option(min=2, help="Outer stratified folds.")] = 5,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="Seed of the folds.")] = 0,
    jobs: Annotated[
        int | None, Option("--jobs", "-j", min=1, help="Cells side by side.")
    ] = None,
    out: Annotated[Path, Option(help="Folder of the results.")] = RUNS,
    config: Annotated[
        Path | None, Option(help="Where to write the equivalent config.")
    ] = None,
    no_progress: Annotated[
        bool, Option("--no-progress", help="Say only what goes wrong.")
    ] = False,
) -> None:
    """Compare methods on your own data under an honest protocol.

    Outer stratified folds; scaling and parameters are selected inside each training
    part. Ends with a ranking, a verdict, and the config to build on.
    """
    require_addresses()
    from drmbench.config import load_experiments
    from drmbench.data.user import load_user_file
    from drmbench.methods.registry import get_method
    from drmbench.metrics import get_metric
    from drmbench.report.ranking import ranking_table
    from drmbench.running.compare import (
        comparison_config,
        sensible_methods,
        slug,
        verdict,
    )
    from drmbench.running.results import read_results
    from drmbench.running.runner import Run, RunOptions

    get_metric(metric, scalar=True)
    dataset = load_user_file(data, target=target)
    names = methods.split(",") if methods else list(sensible_methods(dataset))
    for name in names:
        if ":" not in name:
            get_method(name)
    smallest = min(dataset.class_counts.values())
    if smallest < folds:
        raise InputError(_too_few(data, dataset.class_counts, folds))
    path = config or Path(f"compare-{slug(dataset.name)}.yaml")
    source = data.resolve()
    text = comparison_config(
        dataset, source, target, methods=names, metric=metric, folds=folds, seed=seed
    )
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    options = RunOptions(out=out, jobs=job_count(jobs), bar=not no_progress)
    run = Run(load_experiments([path]), options)
    outcome = run.start()
    if outcome.interrupted:
        left = f"interrupted; {outcome.left} cells left; the same command goes on."
        typer.echo(left, err=True)
        raise typer.Exit(130)
    if outcome.left:
        left = f"{outcome.left} cells were ended from outside"
        raise DrmbenchError(f"{left}; the same command goes on.")
    folder = run.experiments[0].store.folder
    results = read_results(folder)
    show(ranking_table(results))
    typer.echo(f"\n{verdict(results)}\n\nresults: {folder}\nconfig:  {path}")


def _too_few(data: Path, counts: Mapping[str, int], folds: int) -> str:
    """Say why there cannot be so many folds, and what can be done about it."""
    name, smallest = min(counts.items(), key=lambda item: item[1])
    if smallest == 1:
        return (
            f"{data}: the class {name!r} has a single row, which cannot both train and"
            " test; leave it out or merge it with another class"
        )
    return (
        f"{data}: the smallest class, {name!r}, has {smallest} rows, fewer than"
        f" {folds} folds; use --folds {smallest} or merge classes"
    )
