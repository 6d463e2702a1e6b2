"""``drmbench run``: experiments from YAML files to stored results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

from drmbench.cli.inputs import RUNS, config_files, job_count, require_addresses
from drmbench.cli.listing import Field, Word, print_listing, show
from drmbench.cli.output import examples, print_json, size_words
from drmbench.cli.terminal import Style, remark, tell
from drmbench.errors import InputError, shortened

if TYPE_CHECKING:
    from drmbench.config import Experiment
    from drmbench.running.plan import PlannedDataset
    from drmbench.running.results import Results
    from drmbench.running.runner import Run, RunOutcome

app = typer.Typer()

#: Reasons that are listed at the end of a run.
MOST_REASONS = 20
_PLAN = (
    *(Field("experiment", least=8, hide=2), Field("data set", least=16)),
    *(Field("cached", "right"), Field("new", "right"), Field("blocked", "right")),
    *(Field("estimated", "right", hide=1), Field("state", least=13)),
)


@app.command(
    "run",
    epilog=examples(
        "drmbench run quick",
        "drmbench run configs/gene.yaml --dry-run",
        "drmbench run gene uci --dry-run --json",
        "drmbench run configs/imbalanced.yaml --dataset glass2 --method 'drm-*'",
        "drmbench run configs/uci.yaml configs/face.yaml --jobs 4 --timeout 10m",
        "drmbench run configs/keel100.yaml --scheduler tcp://10.0.0.1:8786",
    ),
)
def run_command(
    configs: Annotated[
        list[Path],
        Argument(
            metavar="CONFIG",
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
    as_json: Annotated[
        bool, Option("--json", help="With --dry-run: the plan as JSON, nothing else.")
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
    if as_json and not dry_run:
        raise InputError(
            "--json prints a plan: say --dry-run too; `drmbench results --json` prints"
            " results"
        )
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
        plan = Run(experiments, options, dry=True)
        if as_json:
            print_json(_plan_record(plan))
        else:
            _print_plan(plan)
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
    remark(f"{kept}; {len(run.new)} to run with {_jobs(run)}{time}.")
    _explain_data(run)
    _explain_code(run)
    outcome = run.start()
    for experiment in run.experiments:
        chosen = experiment.datasets, experiment.methods
        print_results(experiment.store.folder, *chosen)
    _finish(run, outcome, allow_missing=allow_missing)


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


class _PlannedSet(NamedTuple):
    """What a run would do with one data set of an experiment."""

    experiment: str
    dataset: str
    cached: int
    new: int
    blocked: int
    processor_seconds: float | None
    state: str
    substitute: str


def _planned_sets(run: Run) -> Iterator[_PlannedSet]:
    """Give what a run would do, one record per data set that it is about."""
    for experiment in run.experiments:
        plan = experiment.plan
        for planned in plan.datasets:
            name = planned.ref.name
            new = [task for task in experiment.new if task.dataset.name == name]
            wanted = sum(task.dataset.name == name for task in experiment.cells)
            if not (wanted or planned.missing):
                continue
            each = len(experiment.methods) * len(plan.experiment.scaling)
            state = "blocked" if planned.missing else ""
            state = "to be fetched" if planned.unfetched else state
            state = "substituted" if planned.substitute else state
            forecast = run.estimator.forecast(new, run.options.jobs) if new else None
            yield _PlannedSet(
                plan.experiment.name,
                name,
                cached=wanted - len(new),
                new=len(new),
                blocked=each * planned.splits if planned.missing else 0,
                processor_seconds=forecast.processor if forecast else None,
                state=state,
                substitute=planned.substitute or "",
            )


def _print_plan(run: Run) -> None:
    """Print what a run would do, one line per data set, and the totals."""
    planned = list(_planned_sets(run))
    print_listing(_PLAN, map(_plan_row, planned))
    time = f"with {_jobs(run)} {_time(run)}" if run.new else "nothing to run"
    tell(
        f"\n{run.cached} cells cached, {len(run.new)} new,"
        f" {sum(one.blocked for one in planned)} blocked by missing data; {time}."
    )
    for line in _to_fetch(_unfetched(run)):
        tell(line)
    _explain_data(run)
    _explain_code(run)


def _plan_row(one: _PlannedSet) -> tuple[str | Word, ...]:
    from drmbench.running.progress import duration

    counts = (str(n) if n else "" for n in (one.cached, one.new, one.blocked))
    seconds, state = one.processor_seconds, one.state
    style: Style = "bad" if one.blocked else "fair"
    return (
        *(one.experiment, one.dataset, *counts),
        "" if seconds is None else duration(seconds),
        Word(f"† {one.substitute}" if one.substitute else state, style),
    )


def _plan_record(run: Run) -> dict[str, Any]:
    """Return what a run would do, for programs."""
    forecast = run.estimator.forecast(run.new, run.options.jobs)
    return {
        "cached": run.cached,
        "new": len(run.new),
        "jobs": run.options.jobs,
        "seconds": forecast.wall if forecast else None,
        "processor_seconds": forecast.processor if forecast else None,
        "datasets": [one._asdict() for one in _planned_sets(run)],
        "to_fetch": [
            {
                "dataset": one.ref.name,
                "from": one.facts["where"],
                "files": [
                    {"name": file.name, "bytes": file.size} for file in one.files
                ],
            }
            for one in _unfetched(run)
        ],
        "missing": [
            {"dataset": one.ref.name, "why": one.missing, "get": one.facts["get"]}
            for one in run.missing()
        ],
    }


def _unfetched(run: Run) -> list[PlannedDataset]:
    return [d for e in run.experiments for d in e.plan.datasets if d.unfetched]


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
        remark(line)


def _to_fetch(datasets: Sequence[PlannedDataset]) -> Iterator[str]:
    """Say which data is fetched first, from where, and how large it is."""
    places: dict[str, list[PlannedDataset]] = {}
    for dataset in datasets:
        places.setdefault(str(dataset.facts["where"]), []).append(dataset)
    for where, members in places.items():
        files = {file.name: file.size for one in members for file in one.files}
        sizes = [size for size in files.values() if size is not None]
        total = size_words(sum(sizes))
        if len(sizes) < len(files):
            total = f"at least {total}" if sizes else "size not known"
        names = ", ".join(dict.fromkeys(one.ref.name for one in members))
        count = f"{len(files)} files" if len(files) > 1 else "1 file"
        yield f"to be fetched first: {count}, {total}, from {where}: {names}"


def _explain_data(run: Run) -> None:
    for planned in run.missing():
        reason = planned.missing.replace("\n", "\n    ")
        remark(f"missing: {planned.ref.name}: {reason}", "fair")
        remark(f"    get it with: {planned.facts['get']}")
    for planned in run.substituted():
        stands_in = f"† {planned.substitute} stands in for {planned.ref.name}"
        remark(f"warning: {stands_in}: {planned.facts['note']}", "fair")


def _explain_code(run: Run) -> None:
    """Name what computed the cells that are kept, where it was not this code."""
    from drmbench.running.provenance import maker_here, maker_words

    if makers := run.foreign():
        here, *others = maker_words([maker_here(), *makers])
        remark(
            f"warning: cells that are there were computed by {'; '.join(others)}. This"
            f" is {here}. --strict runs them again.",
            "fair",
        )


def print_results(
    folder: Path, datasets: Sequence[str] = (), methods: Sequence[str] = ()
) -> None:
    """Print the tables of a classification experiment; no name means all of it."""
    from drmbench.report.facts import overviews
    from drmbench.running.results import read_results

    results = read_results(folder)
    shown, unrun = _begun(results, datasets)
    for heading, table, remarks in overviews(results, shown, methods):
        tell(f"\n{heading}", "heading")
        if table is not None:
            tell("")
            show(table)
            tell("")
        for text in remarks:
            tell(text)
        if unrun:
            tell(f"Not run yet: {', '.join(unrun)}.")


def _begun(results: Results, datasets: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the data sets that have rows or cannot have any, and the others."""
    begun = set(results.rows["dataset"])
    names = list(datasets or results.datasets)
    known = [x for x in names if x in begun or results.datasets[x].get("missing")]
    return known or names, [name for name in names if known and name not in known]


def _finish(run: Run, outcome: RunOutcome, *, allow_missing: bool) -> None:
    """Say how it went and which cells failed; leave with the exit code for that."""
    from drmbench.running.progress import duration

    for experiment in run.experiments:
        tell(f"\nresults: {experiment.store.folder}")
    remark(f"{outcome.done} cells run in {duration(outcome.seconds)}.")
    failed = [r for e in run.experiments for r in e.failed] + outcome.failed
    # Splits that failed for one reason share a line.
    splits: dict[tuple[str, str], list[str]] = {}
    for record in failed:
        place = f"{record['dataset']}, {record['method']}, {record['mode']}"
        cell = f"{record['status']}: {place}, split"
        splits.setdefault((cell, record["reason"]), []).append(str(record["split"]))
    for (cell, reason), numbers in list(splits.items())[:MOST_REASONS]:
        remark(f"{cell} {', '.join(numbers)}: {reason}", "bad")
    if len(splits) > MOST_REASONS:
        remark(f"… and {len(splits) - MOST_REASONS} more; the rows have all reasons")
    if run.substituted():
        names = ", ".join(f"{d.ref.name}†" for d in run.substituted())
        remark(f"warning: not the paper's data: {names}", "fair")
    if outcome.interrupted:
        remark(f"interrupted; {outcome.left} cells left; the same command goes on.")
        raise typer.Exit(130)
    if outcome.cut:
        remark(
            f"{outcome.cut} cells were ended from outside; the same command goes on."
        )
        raise typer.Exit(1)
    if any(record["status"] != "skipped" for record in failed):
        raise typer.Exit(1)
    if run.missing() and not allow_missing:
        names = ", ".join(d.ref.name for d in run.missing())
        remark(f"missing data: {names} (--allow-missing accepts that)")
        raise typer.Exit(3)
