"""``drmbench fit --method``, and ``predict`` with such a model."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drmbench.cli.output import class_words
from drmbench.cli.terminal import remark, tell
from drmbench.errors import InputError, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from drmbench.data.new_rows import NewRows
    from drmbench.data.reading import Reading
    from drmbench.protocol.table_model import TableModel
    from drmbench.running.final_fit import FitPlan, FittedPlan

#: Names that lines list, at most.
_SHOWN = 10


def fit_method(
    data: Path,
    target: str | None,
    *,
    method: str | None,
    compared: Path | None,
    metric: str | None,
    seed: int | None,
    save: Path | None,
    reading: Reading,
) -> TableModel:
    """Fit a method to a table as a comparison would, say so, and write the model."""
    from drmbench.protocol.table_model_file import save_table_model
    from drmbench.running.final_fit import fit_plan

    plan = _plan(data, target, method, compared, metric, seed, reading)
    fitted = fit_plan(plan)
    _tell(plan, fitted)
    if save is not None:
        foreign = save_table_model(save, fitted.model)
        tell(f"model written to {save}")
        if foreign:
            options = " ".join(f"--trust {':'.join(x.rsplit('.', 1))}" for x in foreign)
            tell(f"to use it: drmbench predict {save} DATA {options}")
    return fitted.model


def _plan(
    data: Path,
    target: str | None,
    method: str | None,
    compared: Path | None,
    metric: str | None,
    seed: int | None,
    reading: Reading,
) -> FitPlan:
    from drmbench.metrics import get_metric
    from drmbench.running.final_fit import plan_like_comparison, plan_of_results
    from drmbench.running.results import read_results

    if compared is not None:
        if metric is not None or seed is not None:
            raise InputError(
                "--from brings metric and seed: leave --metric, --seed out"
            )
        if not compared.is_dir():
            raise InputError(
                f"{compared}: no such folder; `drmbench compare` says where its results"
                " are"
            )
        return plan_of_results(read_results(compared), data, target, method, reading)
    assert method is not None
    metric = metric or "gmean"
    get_metric(metric, scalar=True)
    return plan_like_comparison(
        *(data, target, method), metric=metric, seed=seed or 0, reading=reading
    )


def _tell(plan: FitPlan, fitted: FittedPlan) -> None:
    """Say what was fitted to what, with which parameters, and how they were chosen."""
    dataset, trained = fitted.dataset, fitted.trained
    size = f"{dataset.n_samples} rows, {dataset.n_features} features"
    tell(f"{dataset.name}: {size}, {class_words(dataset.class_counts)}")
    if plan.compared and plan.compared != dataset.fingerprint:
        line = "this is not the table that was compared; its settings are used as they"
        remark(f"{line} are")
    params = ", ".join(f"{k} {v}" for k, v in trained.selection.params.items())
    tell(f"{plan.method.label}: {params or 'no parameters'}; scaling {trained.scaling}")
    facts = fitted.model.provenance["selection"]
    if facts["score"] is not None:
        tell(f"selected by {facts['how']}: {facts['score']:.4f}")
    for note in trained.notes:
        remark(f"note: {note}")
    seconds = trained.seconds_select + trained.seconds_fit
    tell(f"fitted in {seconds:.2f} s")


def load_for_prediction(path: Path, trust: Sequence[str]) -> TableModel:
    """Read a model; classes to trust are imported, also from the working directory."""
    from drmbench.methods.imports import class_path, load_class
    from drmbench.protocol.table_model_file import load_table_model

    paths = [class_path(name) for name in trust]
    for name in paths:
        load_class(name, Path.cwd())
    trusted = [name.replace(":", ".") for name in paths]
    loaded = load_table_model(path, trust=trusted)
    for text in loaded.remarks:
        line = f"{path.name}: {text}. It predicts made-up rows as it did then."
        remark(line)
    return loaded.model


def read_rows(
    model: TableModel, data: Path, target: str | None, reading: Reading
) -> NewRows:
    """Read the rows of a file, and say what in it the model does not know."""
    from drmbench.data.new_rows import read_new_rows

    ignore = {*model.dropped, *([model.target] if model.target else [])}
    rows = read_new_rows(
        data, model.features, target=target, ignore=ignore, reading=reading
    )
    if rows.ignored:
        named = ", ".join(map(quoted, rows.ignored[:_SHOWN]))
        more = ", …" if len(rows.ignored) > _SHOWN else ""
        remark(f"ignored, for the model has none: {named}{more}")
    for column, levels in rows.unknown.items():
        named = ", ".join(map(quoted, levels[:_SHOWN]))
        more = ", …" if len(levels) > _SHOWN else ""
        where = f"column {quoted(column)}"
        line = f"{where}: not seen when the model was fitted: {named}{more}"
        remark(line)
    if model.preparation is None:
        _refuse_missing(data.name, rows, model)
    return rows


def _refuse_missing(file: str, rows: NewRows, model: TableModel) -> None:
    """Refuse missing values where nothing fills them in; name the first."""
    import numpy as np

    places = np.argwhere(np.isnan(rows.X))
    if len(places):
        row, column = places[0].tolist()
        name = model.features[column].name
        title = quoted(name) if name else str(column + 1)
        raise InputError(
            f"{file}, {rows.place(row)}, column {title}: the value is missing; the"
            " model was fitted without a preparation that fills it in"
        )


def prediction_table(
    model: TableModel, rows: NewRows, *, proba: bool, scores: bool
) -> tuple[NDArray[np.str_], list[str], Iterator[Sequence[Any]]]:
    """Return the predicted labels, the heading and the lines of the answer."""
    try:
        predicted = model.predict(rows.X)
        heading, columns = ["prediction"], [predicted.tolist()]
        for wanted, needs, word in (
            (scores, "scores", "score"),
            (proba, "probabilities", "probability"),
        ):
            if wanted:
                values = model.values(rows.X, needs)  # type: ignore[arg-type]
                heading += [f"{word} {name}" for name in model.class_names]
                columns += values.T.tolist()
    except InputError:
        raise
    # What a method raises at rows, or a made-up file makes of it.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise InputError(f"the model cannot predict these rows ({reason})") from error
    return predicted, heading, zip(*columns, strict=True)


def write_lines(
    stream: Any, heading: Sequence[str], lines: Iterable[Sequence[Any]]
) -> None:
    """Write a heading and lines as csv."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(lines)
