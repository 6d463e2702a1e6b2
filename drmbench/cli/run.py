"""``drmbench run``: experiments from YAML files to stored results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import RUNS, config_files, job_count, require_addresses
from drmbench.cli.output import LEFT, RIGHT, examples, print_table, show
from drmbench.errors import InputError, shortened

if TYPE_CHECKING:
    from drmbench.config import Experiment
    from drmbench.running.plan import PlannedDataset
    from drmbench.running.runner import Run, RunOutcome

app = typer.Typer()

#: Reasons that are listed at the end of a run.
MOST_REASONS = 20


@app.command(
    "run",
    epilog=examples(
        "drmbench run quick",
        "drmbench run configs/gene.yaml --dry-run",
        "drmbench run configs/imbalanced.yaml --dataset glass2 --method 'drm-*'",
        "drmbench run configs/uci.yaml configs/face.yaml --jobs 4 --timeout 10m",
        "drmbench run configs/keel100.yaml --scheduler tcp://10.0.0.1:8786",
    ),
)
def run_command(
    configs: Annotated[
        list[Path],
        Argument(
            metavar="CONFIG...",
            help="Experiment files (YAML), or names of packaged ones such as gene.",
        ),
    ],
    dataset: Annotated[
        list[str] | None,
        Option("--dataset", "-d", help="Only these data sets; shell patterns."),
    ] = None,
    method: Annotated[
        list[str] | None,
        Option("--method", "-m", help="Only these methods; shell patterns."),
    ] = None,
    jobs: Annotated[
        int | None,
        Option("--jobs", "-j", min=1, help="Cells side by side; at most all cores."),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the plan; run and fetch nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Run cells that failed again.")
    ] = False,
    force: Annotated[
        list[str] | None, Option(help="Run cells of these methods again; patterns.")
    ] = None,
    timeout: Annotated[
        str | None, Option(help="Time limit of a cell, such as 90s or 10m.")
    ] = None,
    memory: Annotated[
        str | None, Option(help="For all cells together, such as 8G.")
    ] = None,
    out: Annotated[Path, Option(help="Folder of the results.")] = RUNS,
    allow_missing: Annotated[
        bool, Option("--allow-missing", help="Exit 0 although data sets are missing.")
    ] = False,
    substitutes: Annotated[
        bool, Option("--substitutes", help="Let real relatives stand in, marked.")
    ] = False,
    strict: Annotated[
        bool,
        Option(
            "--strict",
            help="Refuse missing and substituted data sets; run cells of other code"
            " again.",
        ),
    ] = False,
    no_progress: Annotated[
        bool, Option("--no-progress", help="Say only what goes wrong.")
    ] = False,
    scheduler: Annotated[
        str, Option(help="Run on dask: tcp://HOST:PORT, or local for a cluster.")
    ] = "",
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="A line for every cell.")
    ] = False,
) -> None:
    """Run experiments; what is already there is not run again.

    A file that is here is used before a packaged config of the same name. Estimates of
    the time come from cells that were run here and from the committed results, scaled
    to this machine.

    Exit codes: 0 all well; 1 some cells failed, or the run could not go on, as on a
    full disk; 2 wrong input; 3 data missing; 130 interrupted. Whatever ends a run,
    finished cells are kept, and the same command goes on.
    """
    require_addresses()
    from drmbench.config import load_experiments
    from drmbench.running.runner import Run, RunOptions

    options = RunOptions(
        out=out,
        datasets=tuple(dataset or ()),
        methods=tuple(method or ()),
        jobs=jobs if jobs and scheduler else job_count(jobs),
        memory=_bytes(memory),
        timeout=_seconds(timeout),
        retry_failed=retry_failed,
        force=tuple(force or ()),
        strict=strict,
        scheduler=scheduler,
        bar=not no_progress,
        verbose=verbose,
    )
    experiments = load_experiments(config_files(configs))
    if substitutes or strict:
        changed = {"substitutes": not strict}
        experiments = [one.model_copy(update=changed) for one in experiments]
    if dry_run:
        _print_plan(Run(experiments, options, dry=True))
        return
    _announce_fetching(experiments, options.datasets)
    run = Run(experiments, options)
    run.refuse_if_strict()
    failed = sum(len(experiment.failed) for experiment in run.experiments)
    kept = f"{run.cached} cells are there already"
    if failed:
        kept += f", {failed} without a result (--retry-failed runs them again)"
    if run.adopted:
        kept += f"; {run.adopted} came from other experiments"
    time = f", {_time(run)}" if run.new else ""
    _say(f"{kept}; {len(run.new)} to run with {_jobs(run)}{time}.")
    _explain_data(run)
    _explain_code(run)
    outcome = run.start()
    for experiment in run.experiments:
        chosen = experiment.datasets, experiment.methods
        print_results(experiment.store.folder, *chosen)
    _finish(run, outcome, allow_missing=allow_missing)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    from drmbench.config import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise InputError(f"--timeout {shortened(text, 80)}: {error}") from error


def _bytes(text: str | None) -> int:
    if text is None:
        return 0
    from drmbench.config import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise InputError(f"--memory {shortened(text, 80)}: {error}") from error


def _print_plan(run: Run) -> None:
    """Print what a run would do, one row per data set, and the totals."""
    from drmbench.running.progress import duration

    blocked, rows = 0, []
    for experiment in run.experiments:
        plan = experiment.plan
        for planned in plan.datasets:
            name = planned.ref.name
            new = [task for task in experiment.new if task.dataset.name == name]
            wanted = sum(task.dataset.name == name for task in experiment.cells)
            if not (wanted or planned.missing):
                continue
            each = len(experiment.methods) * len(plan.experiment.scaling)
            lost = each * planned.splits if planned.missing else 0
            blocked += lost
            state = "blocked" if planned.missing else ""
            state = "to be fetched" if planned.unfetched else state
            state = f"† {planned.substitute}" if planned.substitute else state
            forecast = run.estimator.forecast(new, run.options.jobs) if new else None
            time = duration(forecast.processor) if forecast else ""
            counts = (wanted - len(new), len(new), lost)
            rows.append([plan.experiment.name, name, *map(str, counts), time, state])
    sides = [LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT, LEFT]
    names = ["experiment", "data set", "cached", "new", "blocked", "estimated", ""]
    print_table(list(zip(names, sides, strict=True)), rows)
    time = f"with {_jobs(run)} {_time(run)}" if run.new else "nothing to run"
    typer.echo(
        f"{run.cached} cells cached, {len(run.new)} new, {blocked} blocked by missing"
        f" data; {time}."
    )
    datasets = [d for e in run.experiments for d in e.plan.datasets if d.unfetched]
    for line in _to_fetch(datasets):
        typer.echo(line)
    _explain_data(run)
    _explain_code(run)


def _jobs(run: Run) -> str:
    jobs = run.options.jobs
    return f"{jobs} jobs" if jobs > 1 else "1 job"


def _time(run: Run) -> str:
    """Say how long a run takes, and how well that is known."""
    from drmbench.running.progress import duration

    forecast = run.estimator.forecast(run.new, run.options.jobs)
    if forecast is None:
        return "time unknown"
    said = f"about {duration(forecast.wall)}"
    said += f" ({duration(forecast.processor)} of processor time)"
    if forecast.rough:
        said += f"; rough, since no time of the methods of {forecast.rough} is known"
    return said


def _announce_fetching(
    experiments: Sequence[Experiment], patterns: Sequence[str]
) -> None:
    """Say which data a run fetches before it plans, since that may take a while."""
    from drmbench.running.plan import matcher, to_be_fetched

    names = [ref.name for experiment in experiments for ref in experiment.datasets]
    wanted = matcher(patterns, list(dict.fromkeys(names)), "data set")
    for line in _to_fetch([d for e in experiments for d in to_be_fetched(e, wanted)]):
        _say(line)


def _to_fetch(datasets: Sequence[PlannedDataset]) -> Iterator[str]:
    """Say which data is fetched first, from where, and how large it is."""
    places: dict[str, list[PlannedDataset]] = {}
    for dataset in datasets:
        places.setdefault(str(dataset.facts["where"]), []).append(dataset)
    for where, members in places.items():
        files = {file.name: file.size for one in members for file in one.files}
        sizes = [size for size in files.values() if size is not None]
        total = f"{sum(sizes) / 1e6:.1f} MB"
        if len(sizes) < len(files):
            total = f"at least {total}" if sizes else "size not known"
        names = ", ".join(dict.fromkeys(one.ref.name for one in members))
        count = f"{len(files)} files" if len(files) > 1 else "1 file"
        yield f"to be fetched first: {count}, {total}, from {where}: {names}"


def _explain_data(run: Run) -> None:
    for planned in run.missing():
        reason = planned.missing.replace("\n", "\n    ")
        _say(f"missing: {planned.ref.name}: {reason}")
        _say(f"    get it with: {planned.facts['get']}")
    for planned in run.substituted():
        stands_in = f"† {planned.substitute} stands in for {planned.ref.name}"
        _say(f"warning: {stands_in}: {planned.facts['note']}")


def _explain_code(run: Run) -> None:
    """Name what computed the cells that are kept, where it was not this code."""
    from drmbench.running.provenance import maker_here, maker_words

    if makers := run.foreign():
        here, *others = maker_words([maker_here(), *makers])
        _say(
            f"warning: cells that are there were computed by {'; '.join(others)}. This"
            f" is {here}. --strict runs them again."
        )


def print_results(
    folder: Path, datasets: Sequence[str] = (), methods: Sequence[str] = ()
) -> None:
    """Print the tables of a classification experiment; no name means all of it."""
    from drmbench.report.facts import overviews
    from drmbench.running.results import read_results

    for heading, table, remarks in overviews(read_results(folder), datasets, methods):
        typer.echo(f"\n{heading}")
        if table is not None:
            typer.echo("")
            show(table)
            typer.echo("")
        for remark in remarks:
            typer.echo(remark)


def _finish(run: Run, outcome: RunOutcome, *, allow_missing: bool) -> None:
    """Say how it went and which cells failed; leave with the exit code for that."""
    from drmbench.running.progress import duration

    for experiment in run.experiments:
        typer.echo(f"\nresults: {experiment.store.folder}")
    _say(f"{outcome.done} cells run in {duration(outcome.seconds)}.")
    failed = [r for e in run.experiments for r in e.failed] + outcome.failed
    # Splits that failed for one reason share a line.
    splits: dict[tuple[str, str], list[str]] = {}
    for record in failed:
        place = f"{record['dataset']}, {record['method']}, {record['mode']}"
        cell = f"{record['status']}: {place}, split"
        splits.setdefault((cell, record["reason"]), []).append(str(record["split"]))
    for (cell, reason), numbers in list(splits.items())[:MOST_REASONS]:
        _say(f"{cell} {', '.join(numbers)}: {reason}")
    if len(splits) > MOST_REASONS:
        _say(f"… and {len(splits) - MOST_REASONS} more; the rows have all reasons")
    if run.substituted():
        names = ", ".join(f"{d.ref.name}†" for d in run.substituted())
        _say(f"warning: not the paper's data: {names}")
    if outcome.interrupted:
        _say(f"interrupted; {outcome.left} cells left; the same command goes on.")
        raise typer.Exit(130)
    if outcome.cut:
        _say(f"{outcome.cut} cells were ended from outside; the same command goes on.")
        raise typer.Exit(1)
    if any(record["status"] != "skipped" for record in failed):
        raise typer.Exit(1)
    if run.missing() and not allow_missing:
        names = ", ".join(d.ref.name for d in run.missing())
        _say(f"missing data: {names} (--allow-missing accepts that)")
        raise typer.Exit(3)
