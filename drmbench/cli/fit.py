"""``drmbench fit``: the exact linear DRM on a file of any length."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drmbench.cli.output import examples
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.data.chunks import ChunkedFile
    from drmbench.drm.model_file import StoredModel
    from drmbench.protocol.file_fit import FileFacts

EPILOGUE = examples(
    "drmbench fit flights.csv --target late --save flights.model",
    "drmbench fit flights.csv.gz --target late --select --score --save flights.model",
    "drmbench fit big.libsvm --alpha 0.1 --beta 10 --chunksize 5000",
    "drmbench fit matrix.npy --target last --no-scale",
)

_SHOWN_CLASSES = 10


def fit_command(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A csv, tsv, LIBSVM or npy file.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COL",
            help="Column that holds the class: its name (csv, tsv), or its number from"
            " 0 or 'last' (npy). LIBSVM files need none.",
        ),
    ] = None,
    chunksize: Annotated[
        int | None,
        typer.Option(
            min=1, help="Rows read at a time. By default about 500,000 cells."
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Weight of the within-class scatter, >= 0. By default 1."),
    ] = None,
    beta: Annotated[
        float | None, typer.Option(help="Ridge, > 0. By default 1.")
    ] = None,
    scale: Annotated[
        bool,
        typer.Option(
            "--scale/--no-scale",
            help="Divide each feature by its largest absolute value in DATA.",
        ),
    ] = True,
    select: Annotated[
        bool,
        typer.Option(
            "--select",
            help="Choose alpha and beta out of 0.001 … 1000 by exact leave-one-out, on"
            " 5000 rows drawn at random if DATA has more.",
        ),
    ] = False,
    score: Annotated[
        bool,
        typer.Option(
            "--score", help="Also predict DATA itself, in one more pass over it."
        ),
    ] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Write the model to a file.")
    ] = None,
) -> None:
    """Fit the exact linear DRM to a file, in chunks: any length fits in memory.

    The features must be numbers. A model is a features × features matrix a class, so
    features may be some thousands, rows any number. DATA is read twice: for the
    classes and scales, and for the model.
    """
    from drmbench.data.user import open_labelled, rows_per_chunk
    from drmbench.drm.model_file import save_model
    from drmbench.protocol.file_fit import SELECTION_ROWS, fit_file, scan

    weights = _checked_weights(alpha, beta, select)
    refuse_overwriting(save, data)
    start = time.perf_counter()
    file = open_labelled(data, target=target)
    rows = rows_per_chunk(file, chunksize)
    facts = scan(file, rows, draw=SELECTION_ROWS if select else 0)
    counts = [f"{name} {count}" for name, count in facts.class_counts.items()]
    more = ", …" if len(counts) > _SHOWN_CLASSES else ""
    typer.echo(
        f"{file.path.name}: {facts.n_samples} rows, {file.n_features} features,"
        f" {len(counts)} classes ({', '.join(counts[:_SHOWN_CLASSES])}{more})"
    )
    divisors = facts.scale if scale else None
    if select:
        weights = _selected(facts, scale)
    model = fit_file(
        file,
        rows,
        list(facts.class_counts),
        alpha=weights[0],
        beta=weights[1],
        scale=divisors,
    )
    scaling = "divided by their largest absolute value" if scale else "as they are"
    typer.echo(f"alpha {weights[0]:g}, beta {weights[1]:g}, features {scaling}")
    typer.echo(f"fitted in {time.perf_counter() - start:.2f} s")
    if score:
        _print_training_scores(model, file, rows)
    if save is not None:
        save_model(
            save,
            model.classifier,
            feature_names=model.feature_names,
            class_names=model.class_names,
            scale=model.scale,
            target=target,
        )
        typer.echo(f"model written to {save}")


def refuse_overwriting(output: Path | None, *inputs: Path) -> None:
    """Refuse to write where the command reads, or over a directory."""
    if output is None:
        return
    if output.is_dir():
        raise InputError(f"{output}: a directory; give the name of a file to write")
    for path in inputs:
        if path.exists() and output.exists() and output.samefile(path):
            raise InputError(f"{output}: this file is read; write to another one")


def _checked_weights(
    alpha: float | None, beta: float | None, select: bool
) -> tuple[float, float]:
    from drmbench.drm.system import check_weights

    if select and (alpha is not None or beta is not None):
        raise InputError("--select chooses alpha and beta: leave --alpha, --beta out")
    weights = (1.0 if alpha is None else alpha, 1.0 if beta is None else beta)
    try:
        check_weights(*weights)
    except ValueError as error:
        raise InputError(str(error)) from error
    return weights


def _selected(facts: FileFacts, scale: bool) -> tuple[float, float]:
    from drmbench.protocol.file_fit import choose_weights

    choice = choose_weights(facts.sample, facts.scale if scale else None)
    drawn = "all rows"
    if choice.rows < facts.n_samples:
        drawn = f"{choice.rows} rows drawn at random out of {facts.n_samples}"
    typer.echo(
        f"selected by exact leave-one-out on {drawn}: accuracy {choice.accuracy:.4f}"
    )
    return choice.alpha, choice.beta


def _print_training_scores(model: StoredModel, file: ChunkedFile, rows: int) -> None:
    from drmbench.protocol.file_fit import RecallTally, predictions

    tally = RecallTally()
    for _ in predictions(model, file, rows, tally):
        pass
    typer.echo(f"on the training rows: {scores_text(tally.scores())}")


def scores_text(scores: dict[str, float]) -> str:
    """Return scores as one line.

    Examples
    --------
    >>> scores_text({"accuracy": 0.75, "G-mean": 0.5})
    'accuracy 0.7500, G-mean 0.5000'
    """
    return ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
