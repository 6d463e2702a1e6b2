"""``drmbench predict``: the classes of a file's rows, by a model that `fit` saved."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from drmbench.cli.fit import refuse_overwriting, scores_text
from drmbench.cli.output import examples
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.data.chunks import ChunkedFile
    from drmbench.drm.model_file import StoredModel
    from drmbench.protocol.file_fit import RecallTally

EPILOGUE = examples(
    "drmbench predict flights.model new.csv",
    "drmbench predict flights.model new.csv --out late.csv",
    "drmbench predict flights.model test.csv --target late --out late.csv",
)


def predict_command(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="What `drmbench fit … --save` wrote."),
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A csv, tsv, LIBSVM or npy file.")
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COL",
            help="Column that holds the true class, to score the predictions: its name"
            " (csv, tsv), its number from 0 or 'last' (npy), 'first' (LIBSVM).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write there instead of to the screen."),
    ] = None,
    chunksize: Annotated[
        int | None,
        typer.Option(
            min=1, help="Rows read at a time. By default about 500,000 cells."
        ),
    ] = None,
) -> None:
    """Predict the class of each row of a file: one a line, below the heading.

    Columns of csv and tsv files may stand in any order; they are found by the names
    the model was fitted with.
    """
    from drmbench.data.chunks import FeatureRequest
    from drmbench.data.user import open_chunked, rows_per_chunk
    from drmbench.drm.model_file import load_model
    from drmbench.protocol.file_fit import RecallTally

    refuse_overwriting(out, model, data)
    stored = load_model(model)
    request = FeatureRequest(stored.feature_names, stored.n_features, stored.target)
    file = open_chunked(data, target=target, request=request)
    tally = RecallTally() if target is not None else None
    with _destination(out) as stream:
        _write(stream, stored, file, rows_per_chunk(file, chunksize), tally)
    if tally is not None:
        _print_scores(tally, stored, apart=out is not None)


@contextmanager
def _destination(out: Path | None) -> Iterator[IO[str]]:
    from drmbench.files import replacing

    if out is None:
        yield sys.stdout
        return
    try:
        with (
            replacing(out) as temporary,
            temporary.open("w", encoding="utf-8", newline="") as stream,
        ):
            yield stream
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})") from error


def _write(
    stream: IO[str],
    model: StoredModel,
    file: ChunkedFile,
    rows: int,
    tally: RecallTally | None,
) -> None:
    from drmbench.protocol.file_fit import predictions

    writer = csv.writer(stream, lineterminator="\n")
    heading = False
    for predicted in predictions(model, file, rows, tally):
        if not heading:  # only now: a file that cannot be read leaves no output
            writer.writerow(["prediction"])
            heading = True
        writer.writerows([label] for label in predicted.tolist())


def _print_scores(tally: RecallTally, model: StoredModel, *, apart: bool) -> None:
    """Print scores, but not into predictions on the screen."""
    known = model.class_names or tuple(map(str, model.classifier.classes_.tolist()))
    unknown = tally.unknown(known)
    if unknown:
        typer.echo(
            f"classes the model does not know, counted as wrong:"
            f" {', '.join(map(repr, unknown[:10]))}",
            err=True,
        )
    typer.echo(scores_text(tally.scores()), err=not apart)
