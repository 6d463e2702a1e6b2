"""``drmbench fit`` and ``predict``: the linear DRM in chunks, or any method at once."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import writing
from drmbench.cli.output import class_words, examples
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
)
from drmbench.cli.terminal import remark, tell
from drmbench.errors import InputError, quoted

if TYPE_CHECKING:
    from drmbench.data.reading import Reading
    from drmbench.protocol.file_fit import FileFacts, RecallTally

app = typer.Typer()

Data = Annotated[Path, Argument(metavar="DATA", help="A csv, tsv, LIBSVM or npy file.")]
ChunkSize = Annotated[
    int | None,
    Option(min=1, help="Rows read at a time. By default about 500,000 cells."),
]

#: Classes that are listed with their counts, and unknown classes that are named.
_SHOWN_CLASSES = 10


@app.command(
    epilog=examples(
        "drmbench fit flights.csv --target late --save flights.model",
        "drmbench fit flights.csv.gz --target late --select --score"
        " --save flights.model",
        "drmbench fit big.libsvm --alpha 0.1 --beta 10 --chunksize 5000",
        "drmbench fit matrix.npy --target last --no-scale",
        "drmbench fit mine.csv --target label --method rf --save mine.model",
        "drmbench fit mine.csv --from results/runs/compare-mine --save mine.model",
    )
)
def fit(
    data: Data,
    target: Annotated[
        str | None,
        Option(
            *("--target", "-t"),
            metavar="COL",
            help="Column that holds the class: its name (csv, tsv), or its number from"
            " 0 or 'last' (npy). LIBSVM files need none.",
        ),
    ] = None,
    chunksize: ChunkSize = None,
    alpha: Annotated[
        float | None,
        Option(help="Weight of the within-class scatter, >= 0. By default 1."),
    ] = None,
    beta: Annotated[float | None, Option(help="Ridge, > 0. By default 1.")] = None,
    scale: Annotated[
        bool,
        Option(
            "--scale/--no-scale",
            help="Divide each feature by its largest absolute value in DATA.",
        ),
    ] = True,
    select: Annotated[
        bool,
        Option(
            "--select",
            help="Choose alpha and beta out of 0.001 … 1000 by exact leave-one-out, on"
            " 5000 rows drawn at random if DATA has more.",
        ),
    ] = False,
    score: Annotated[
        bool,
        Option("--score", help="Also predict DATA itself, in one more pass over it."),
    ] = False,
    save: Annotated[
        Path | None, Option(metavar="MODEL", help="Write the model to a file.")
    ] = None,
    method: Annotated[
        str | None,
        Option(
            help="Fit this method instead, a name or module:Class, selected as"
            " `drmbench compare` does."
        ),
    ] = None,
    compared: Annotated[
        Path | None,
        Option(
            "--from",
            metavar="FOLDER",
            help="Take the best method of a finished comparison, or --method of it,"
            " with its settings.",
        ),
    ] = None,
    metric: Annotated[
        str | None, Option(help="What --method is selected by. By default gmean.")
    ] = None,
    seed: Annotated[
        int | None, Option(min=0, max=2**32 - 1, help="Seed of --method.")
    ] = None,
    drop: Drop = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: DecimalMark = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
) -> None:
    """Fit the exact linear DRM to a file of any length, in chunks.

    The features must be numbers. A model is a features × features matrix a class, so
    features may be some thousands, rows any number. DATA is read twice: for the
    classes and scales, and for the model.

    With --method or --from any method is fitted to a table in memory, which may have
    columns of text. Its grid, selection and scaling are those of a comparison.
    """
    _refuse_overwriting(save, data)
    reading = reading_options(
        drop, nominal, numeric, sep, encoding, decimal, no_header, sheet
    )
    if method is not None or compared is not None:
        own = {
            "--chunksize": chunksize,
            "--alpha": alpha,
            "--beta": beta,
            "--no-scale": not scale,
            "--select": select,
        }
        for option in [name for name, said in own.items() if said]:
            raise InputError(
                f"{option} is of the linear DRM that is fitted in chunks;"
                " leave it out with --method and --from"
            )
        _fit_method(data, target, method, compared, metric, seed, score, save, reading)
        return
    if metric is not None or seed is not None or reading.said():
        raise InputError(
            "--metric, --seed and what is said about reading go with --method only"
        )
    from drmbench.data.user import open_labelled, rows_per_chunk
    from drmbench.drm.model_file import save_model
    from drmbench.drm.system import check_weights
    from drmbench.protocol.file_fit import (
        SELECTION_ROWS,
        RecallTally,
        fit_file,
        predictions,
        scan,
    )

    if select and (alpha is not None or beta is not None):
        raise InputError("--select chooses alpha and beta: leave --alpha, --beta out")
    alpha, beta = 1.0 if alpha is None else alpha, 1.0 if beta is None else beta
    try:
        check_weights(alpha, beta)
    except ValueError as error:
        raise InputError(str(error)) from error
    start = time.perf_counter()
    file = open_labelled(data, target=target)
    rows = rows_per_chunk(file, chunksize)
    facts = scan(file, rows, draw=SELECTION_ROWS if select else 0)
    size = f"{facts.n_samples} rows, {file.n_features} features"
    tell(f"{file.path.name}: {size}, {class_words(facts.class_counts)}")
    if select:
        alpha, beta = _selected(facts, scale)
    classes, divisors = list(facts.class_counts), facts.scale if scale else None
    model = fit_file(file, rows, classes, alpha=alpha, beta=beta, scale=divisors)
    scaling = "divided by their largest absolute value" if scale else "as they are"
    tell(f"alpha {alpha:g}, beta {beta:g}, features {scaling}")
    tell(f"fitted in {time.perf_counter() - start:.2f} s")
    if score:
        tally = RecallTally()
        for _ in predictions(model, file, rows, tally):
            pass
        tell(f"on the training rows: {_scores_text(tally.scores())}")
    if save is not None:
        save_model(
            save,
            model.classifier,
            feature_names=model.feature_names,
            class_names=model.class_names,
            scale=model.scale,
            target=target,
        )
        tell(f"model written to {save}")


def _fit_method(
    data: Path,
    target: str | None,
    method: str | None,
    compared: Path | None,
    metric: str | None,
    seed: int | None,
    score: bool,
    save: Path | None,
    reading: Reading,
) -> None:
    """Fit any method to a table in memory."""
    from drmbench.cli.table_model import fit_method, prediction_table, read_rows
    from drmbench.protocol.file_fit import RecallTally

    model = fit_method(
        *(data, target),
        method=method,
        compared=compared,
        metric=metric,
        seed=seed,
        save=save,
        reading=reading,
    )
    if score:
        rows = read_rows(model, data, model.target, _of_file(reading))
        predicted, *_ = prediction_table(model, rows, proba=False, scores=False)
        tally = RecallTally()
        assert rows.labels is not None
        tally.add(rows.labels, predicted)
        tell(f"on the training rows: {_scores_text(tally.scores())}")


def _of_file(reading: Reading) -> Reading:
    """Return what is said about a file, without what is said of its columns."""
    from dataclasses import replace

    return replace(reading, drop=(), nominal=(), numeric=())


def _refuse_overwriting(output: Path | None, *inputs: Path) -> None:
    """Refuse to write where the command reads, or over a directory."""
    if output is None:
        return
    if output.is_dir():
        raise InputError(f"{output}: a directory; give the name of a file to write")
    for path in inputs:
        if path.exists() and output.exists() and output.samefile(path):
            raise InputError(f"{output}: this file is read; write to another one")


def _selected(facts: FileFacts, scale: bool) -> tuple[float, float]:
    """Choose alpha and beta on the drawn rows, and say how well they do there."""
    from drmbench.protocol.file_fit import choose_weights

    choice = choose_weights(facts.sample, facts.scale if scale else None)
    drawn = "all rows"
    if choice.rows < facts.n_samples:
        drawn = f"{choice.rows} rows drawn at random out of {facts.n_samples}"
    tell(f"selected by exact leave-one-out on {drawn}: accuracy {choice.accuracy:.4f}")
    return choice.alpha, choice.beta


def _scores_text(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in scores.items())


@app.command(
    epilog=examples(
        "drmbench predict flights.model new.csv",
        "drmbench predict flights.model new.csv --out late.csv",
        "drmbench predict flights.model test.csv --target late --out late.csv",
        "drmbench predict mine.model new.csv --proba --scores --out answer.csv",
    )
)
def predict(
    model: Annotated[
        Path, Argument(metavar="MODEL", help="What `drmbench fit … --save` wrote.")
    ],
    data: Data,
    target: Annotated[
        str | None,
        Option(
            *("--target", "-t"),
            metavar="COL",
            help="Column that holds the true class, to score the predictions: its name"
            " (csv, tsv), its number from 0 or 'last' (npy), 'first' (LIBSVM).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write there instead of to the screen."),
    ] = None,
    chunksize: ChunkSize = None,
    proba: Annotated[
        bool, Option("--proba", help="Also write the probability of each class.")
    ] = False,
    scores: Annotated[
        bool, Option("--scores", help="Also write the score of each class.")
    ] = False,
    trust: Annotated[
        list[str] | None,
        Option(
            metavar="MODULE:CLASS",
            help="Also build objects of this class; its module is imported.",
        ),
    ] = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: DecimalMark = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
) -> None:
    """Predict the class of each row of a file.

    Columns of csv and tsv files may stand in any order; they are found by the names
    the model was fitted with. Nothing in a model file is executed.
    """
    from drmbench.data.chunks import FeatureRequest
    from drmbench.data.user import open_chunked, rows_per_chunk
    from drmbench.drm.model_file import load_model
    from drmbench.protocol.file_fit import RecallTally, predictions
    from drmbench.protocol.table_model_file import is_table_model

    _refuse_overwriting(out, model, data)
    reading = reading_options(
        None, None, None, sep, encoding, decimal, no_header, sheet
    )
    if is_table_model(model):
        _predict_table(model, data, target, out, proba, scores, trust or [], reading)
        return
    stored = load_model(model)
    if reading.said():
        raise InputError("what is said about reading is for models of --method only")
    if proba or scores:
        raise InputError(
            "a model of `drmbench fit` without --method predicts classes only; leave"
            " --proba and --scores out"
        )
    request = FeatureRequest(stored.feature_names, stored.n_features, stored.target)
    file = open_chunked(data, target=target, request=request)
    tally = RecallTally() if target is not None else None
    with _destination(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        heading = ["prediction"]
        rows = rows_per_chunk(file, chunksize)
        for predicted in predictions(stored, file, rows, tally):
            if heading:  # only now: a file that cannot be read leaves no output
                writer.writerow(heading)
                heading = []
            writer.writerows([label] for label in predicted.tolist())
    if tally is not None:
        classes = map(str, stored.classifier.classes_.tolist())
        _tell_scores(tally, stored.class_names or tuple(classes), out)


def _predict_table(
    model: Path,
    data: Path,
    target: str | None,
    out: Path | None,
    proba: bool,
    scores: bool,
    trust: list[str],
    reading: Reading,
) -> None:
    """Predict with a model of any method, which is in a file of its own format."""
    from drmbench.cli.table_model import (
        load_for_prediction,
        prediction_table,
        read_rows,
        write_lines,
    )
    from drmbench.protocol.file_fit import RecallTally

    stored = load_for_prediction(model, trust)
    rows = read_rows(stored, data, target, reading)
    predicted, heading, lines = prediction_table(
        stored, rows, proba=proba, scores=scores
    )
    with _destination(out) as stream:
        write_lines(stream, heading, lines)
    if rows.labels is not None:
        tally = RecallTally()
        tally.add(rows.labels, predicted)
        _tell_scores(tally, stored.class_names, out)


def _tell_scores(tally: RecallTally, classes: Sequence[str], out: Path | None) -> None:
    """Say how good predictions are, and which classes could not be right."""
    unknown = tally.unknown(classes)
    if unknown:
        named = ", ".join(map(quoted, unknown[:_SHOWN_CLASSES]))
        text = f"classes the model does not know, counted as wrong: {named}"
        remark(text)
    # Not into predictions on the screen.
    say = remark if out is None else tell
    say(_scores_text(tally.scores()))


@contextmanager
def _destination(out: Path | None) -> Iterator[IO[str]]:
    """Give the file to write, or the screen; a file appears when it is complete."""
    if out is None:
        yield sys.stdout
        return
    with (
        writing(out) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        yield stream
