"""``drmbench compare``: all sensible methods on a person's own table, no YAML."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import RUNS, job_count, require_addresses, writing
from drmbench.cli.listing import show
from drmbench.cli.output import examples
from drmbench.cli.reading import (
    DecimalMark,
    Drop,
    Encoding,
    NoHeader,
    Nominal,
    Numeric,
    Sep,
    Sheet,
    reading_options,
    show_reading,
)
from drmbench.cli.terminal import remark, tell
from drmbench.errors import DrmbenchError, InputError, quoted

if TYPE_CHECKING:
    from drmbench.running.compare import Item
    from drmbench.running.runner import Run, RunOptions

app = typer.Typer()


@app.command(
    "compare",
    epilog=examples(
        "drmbench compare mine.csv --target label",
        "drmbench compare mine.csv --target label --metric gmean --folds 10",
        "drmbench compare mine.arff --methods drm-rbf,svm-rbf,rf",
        "drmbench compare mine.csv --methods drm-rbf,lightgbm:LGBMClassifier",
        "drmbench compare mine.csv --target label --budget 2m",
    ),
)
def compare_command(
    data: Annotated[
        Path, Argument(help="A csv, Excel, parquet, JSON lines, npz, ARFF … file.")
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
    repeats: Annotated[int, Option(min=1, help="How often the folds are drawn.")] = 3,
    budget: Annotated[
        str | None,
        Option(
            help="Time to spend, such as 2m: repeats are cut, then slow methods, to fit"
        ),
    ] = None,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="Seed of the folds.")] = 0,
    jobs: Annotated[
        int | None, Option("--jobs", "-j", min=1, help="Cells side by side.")
    ] = None,
    out: Annotated[Path, Option(help="Folder of the results.")] = RUNS,
    config: Annotated[
        Path | None, Option(help="Where to write the equivalent config.")
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Overwrite a config that says something else.")
    ] = False,
    no_progress: Annotated[
        bool, Option("--no-progress", help="Say only what goes wrong.")
    ] = False,
    drop: Drop = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: DecimalMark = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
) -> None:
    """Compare methods on your own data under an honest protocol.

    Outer stratified folds, drawn several times; scaling and parameters are selected
    inside each training part, in the same way for every method. Ends with a ranking, a
    verdict that says how sure it is, and the config to build on.
    """
    require_addresses()
    from drmbench.config import parse_duration, parse_experiment
    from drmbench.data.user import load_user_file
    from drmbench.methods.registry import get_method
    from drmbench.metrics import get_metric
    from drmbench.running.budget import fitting
    from drmbench.running.compare import (
        comparison_config,
        comparison_name,
        label_of,
        sensible_methods,
    )
    from drmbench.running.runner import RunOptions

    started = time.monotonic()
    get_metric(metric, scalar=True)
    seconds = None if budget is None else parse_duration(budget)
    reading = reading_options(
        drop, nominal, numeric, sep, encoding, decimal, no_header, sheet
    )
    dataset = load_user_file(data, target=target, **vars(reading))
    show_reading(dataset)
    chosen: Sequence[Item] = (
        methods.split(",") if methods else sensible_methods(dataset)
    )
    for name in chosen:
        if isinstance(name, str) and ":" not in name:
            get_method(name)
    smallest = min(dataset.class_counts.values())
    if smallest < folds:
        raise InputError(_too_few(data, dataset.class_counts, folds))
    text_of = partial(
        comparison_config,
        *(dataset, data.resolve(), target),
        metric=metric,
        folds=folds,
        seed=seed,
        reading=reading,
    )
    path = config or Path(f"{comparison_name(dataset)}.yaml")
    options = RunOptions(out=out, jobs=job_count(jobs), bar=not no_progress)
    text, cuts = text_of(methods=chosen, repeats=repeats), ""
    if seconds is not None:
        cut = fitting(parse_experiment(text, source=path), options, seconds)
        chosen = [method for method in chosen if label_of(method) not in cut.dropped]
        text, cuts = text_of(methods=chosen, repeats=cut.repeats), cut.describe()
    _write(path, text, force)
    deadline = None if seconds is None else started + seconds
    folder, left = _run(path, options, deadline, cuts)
    _conclude(folder, path, left, cuts)


def _write(path: Path, text: str, force: bool) -> None:
    """Write the config, unless that would undo what a person wrote there.

    Its first line has a digest of the others: where it still fits, nobody edited them.
    """
    if path.is_file() and not force:
        first, _, rest = path.read_text("utf-8", errors="replace").partition("\n")
        if first != _first_line(rest):
            raise InputError(
                f"{path}: somebody edited this config, or wrote it otherwise; say"
                " --force to overwrite it, or --config with another file to keep it"
            )
    with writing(path) as temporary:
        temporary.write_text(f"{_first_line(text)}\n{text}", encoding="utf-8")


def _first_line(text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"# drmbench compare wrote this ({digest}) and keeps it once it is edited."


def _run(
    path: Path, options: RunOptions, deadline: float | None, cuts: str
) -> tuple[Path, int]:
    """Run a comparison, cheap methods first; return its folder and the cells left."""
    from drmbench.config import load_experiments
    from drmbench.report.ranking import ranking_table
    from drmbench.running.budget import first_methods
    from drmbench.running.results import read_results
    from drmbench.running.runner import Run

    experiments = load_experiments([path])
    run = Run(experiments, options)
    folder = run.experiments[0].store.folder
    if options.bar:
        remark(_plan_words(run))
    if cuts:
        remark(cuts)
    first = tuple(first_methods(run))
    for methods in filter(None, (first, options.methods or ("*",))):
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        staged = replace(options, methods=methods, stop_after=left)
        outcome = Run(experiments, staged).start()
        if outcome.interrupted:
            remark(f"interrupted; {outcome.left} cells left; the same command goes on.")
            raise typer.Exit(130)
        if outcome.cut:
            cut = f"{outcome.cut} cells were ended from outside"
            raise DrmbenchError(f"{cut}; the same command goes on.")
        if methods == first:
            tell("the quick ones first:")
            show(ranking_table(read_results(folder), interim=True))
            tell("")
    return folder, outcome.left


def _plan_words(run: Run) -> str:
    """Say what is going to be done, and how long it will take."""
    from drmbench.report.protocol_words import split_words
    from drmbench.running.progress import duration

    (planned,) = run.experiments
    forecast = run.estimator.forecast(run.new, run.options.jobs)
    time = f"about {duration(forecast.wall)}" if forecast else "time unknown"
    return (
        f"{len(planned.methods)} methods, {split_words(planned.plan.experiment.split)}:"
        f" {len(run.new)} cells to run, {time}"
    )


def _conclude(folder: Path, path: Path, left: int, cuts: str) -> None:
    """Show the ranking and the verdict, and what they leave out."""
    from drmbench.report.ranking import ranking_table
    from drmbench.report.verdict import verdict
    from drmbench.running.results import read_results

    results = read_results(folder)
    show(ranking_table(results))
    tell(f"\n{verdict(results)}")
    if cuts:
        tell(f"\n{cuts}")
    if left:
        tell(f"\nThe time was up with {left} cells left; the same command goes on.")
    tell(f"\nresults: {folder}\nconfig:  {path}")


def _too_few(data: Path, counts: Mapping[str, int], folds: int) -> str:
    """Say why there cannot be so many folds, and what can be done about it."""
    name, smallest = min(counts.items(), key=lambda item: item[1])
    if smallest == 1:
        return (
            f"{data}: the class {quoted(name)} has a single row, which cannot both"
            " train and"
            " test; leave it out or merge it with another class"
        )
    return (
        f"{data}: the smallest class, {quoted(name)}, has {smallest} rows, fewer than"
        f" {folds} folds; use --folds {smallest} or merge classes"
    )
