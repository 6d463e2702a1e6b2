"""Which rule gives the paper's G-mean cells on KEEL's folds, digit by digit.

Usage: python tools/keel_rules.py --method c45-dhs --figure shares
       python tools/keel_rules.py --method svm-rbf --reading libsvm --dataset glass4
       python tools/keel_rules.py --method drm-poly --reading penalty
       python tools/keel_rules.py --all --save results/reference/imbalanced/rules.csv

For each cell every candidate of the method's grid is fitted on the five training parts,
unscaled and with each part scaled by itself. The table shows what the protocol's rule
gives (leave-one-out by G-mean, the first best) and which rules give the published mean
and deviation: other ways to select, and any one setting used on all five folds.

Readings (:mod:`keel_readings`) are other ways to understand the paper: ``libsvm`` and
``gamma`` of the SVM's and the kernel's parameters, ``variance`` of the rbf width,
``penalty`` of β as the weight of ‖w‖² instead of ½‖w‖², ``kept-sizes`` of leave-one-out
(the classes keep the size they have with the left-out sample), two of them together, as
in ``penalty-kept-sizes``, and ``inverse``, with which no system is refused.

Figures are what is computed from the predictions on a test fold: ``gmean``, or
``shares``, which is what MATLAB makes of the paper's formula where the predictions are
a row and the true labels a column. ``sum(predicted == 1 & true == 1)`` is then a row,
``TP/(TP + FN)`` a least squares fit, and the result no G-mean but the root of the share
of samples predicted positive times the share predicted negative, whatever the true
labels.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from keel_readings import read_method
from numpy.typing import NDArray

from drmbench.data import load
from drmbench.data.catalogue import load_catalogue
from drmbench.data.dataset import Dataset
from drmbench.errors import DrmbenchError, InputError
from drmbench.files import replacing
from drmbench.methods.base import NO_PREDICTION, Labels, Method
from drmbench.metrics import TIE_TOLERANCE, gmean_score, mean_and_spread
from drmbench.paper import (
    Agreement,
    PublishedCell,
    find_cell,
    published_cells,
)
from drmbench.protocol.protocol import paper_protocol
from drmbench.protocol.scaling import Scaling, scale_test, scale_train
from drmbench.protocol.splits import given_folds

Values = NDArray[np.float64]

#: The scalings of the paper's protocol, and what the table calls them.
SCALINGS: dict[Scaling, str] = {"none": "unscaled", "separate": "scaled"}


def predicted_shares(true: Labels, predicted: Labels) -> float:
    """Return the root of the product of the shares of two predicted classes.

    Examples
    --------
    >>> predicted_shares(np.array([0, 0, 0, 1]), np.array([1, 0, 0, 0]))
    0.433...
    """
    return math.sqrt(math.prod(float(np.mean(predicted == label)) for label in (0, 1)))


FIGURES: dict[str, Callable[[Labels, Labels], float]] = {
    "gmean": gmean_score,
    "shares": predicted_shares,
}


@dataclass(frozen=True, eq=False)
class Scores:
    """What every candidate scored under one scaling; an array has a row for each fold.

    Attributes
    ----------
    test : ndarray of shape (n_folds, n_candidates)
        The figure on the test fold; 0 where the candidate could not be fitted.
    gmean, accuracy : ndarray of shape (n_folds, n_candidates)
        Leave-one-out on the training part; NaN where it could not be done.
    """

    test: Values
    gmean: Values
    accuracy: Values


def score_candidates(
    dataset: Dataset, method: Method, scaling: Scaling, figure: str
) -> Scores:
    """Fit and score every candidate on every fold."""
    rows = [
        _score_fold(dataset, method, scaling, FIGURES[figure], split.train, split.test)
        for split in given_folds(dataset)
    ]
    return Scores(*(np.array(part) for part in zip(*rows, strict=True)))


def _score_fold(
    dataset: Dataset,
    method: Method,
    scaling: Scaling,
    figure: Callable[[Labels, Labels], float],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> tuple[list[float], list[float], list[float]]:
    train = train[paper_protocol("gmean").training_order(dataset.y[train])]
    X, y = scale_train(scaling, dataset.X[train]), dataset.y[train]
    X_test = scale_test(scaling, dataset.X[train], dataset.X[test])
    candidates = method.candidates()
    if method.predict_grid is None or method.predict_left_out is None:
        raise InputError(f"{method.name} has no shortcut for leave-one-out")
    new = method.predict_grid(X, y, X_test, candidates, seed=0).labels
    left_out = method.predict_left_out(X, y, candidates, seed=0).labels
    failed = (left_out == NO_PREDICTION).all(axis=1)
    gmeans = [gmean_score(y, labels) for labels in left_out]
    accuracies = [float(np.mean(y == labels)) for labels in left_out]
    return (
        [_figure_or_zero(figure, dataset.y[test], labels) for labels in new],
        np.where(failed, np.nan, gmeans).tolist(),
        np.where(failed, np.nan, accuracies).tolist(),
    )


def _figure_or_zero(
    figure: Callable[[Labels, Labels], float], true: Labels, predicted: Labels
) -> float:
    return 0.0 if (predicted == NO_PREDICTION).all() else figure(true, predicted)


def _selected(test: Values, scores: Values, place: int) -> list[float]:
    """Return each fold's figure of its first (0) or last (-1) best candidate."""
    chosen = []
    for figures, row in zip(test, scores, strict=True):
        if np.isnan(row).all():
            chosen.append(0.0)
            continue
        best = np.flatnonzero(row >= np.nanmax(row) - TIE_TOLERANCE)
        chosen.append(float(figures[best[place]]))
    return chosen


def selection_rules(scores: Scores) -> dict[str, list[float]]:
    """Return the figures on the folds under each rule of selection."""
    best_on_test = int(scores.test.mean(axis=0).argmax())
    return {
        "LOO G-mean, first": _selected(scores.test, scores.gmean, 0),
        "LOO G-mean, last": _selected(scores.test, scores.gmean, -1),
        "LOO accuracy, first": _selected(scores.test, scores.accuracy, 0),
        "LOO accuracy, last": _selected(scores.test, scores.accuracy, -1),
        "best setting on test": scores.test[:, best_on_test].tolist(),
    }


def single_settings(scores: Scores, method: Method) -> Iterator[tuple[str, Values]]:
    """Give every candidate, named, with its figures when used on all folds."""
    for number, params in enumerate(method.candidates()):
        shown = (f"{name}={_shown(params[name])}" for name in method.grid)
        yield f"always {' '.join(shown)}", scores.test[:, number]


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Trial:
    """What one rule gives for one cell of the paper.

    Attributes
    ----------
    dataset, column : str
        The cell: data set by its name in the catalogue, column as the paper has it.
    method, reading, figure : str
        What was run, how it was read, and what was computed from its predictions.
    scaling, rule : str
        Of the features, and how parameters were selected.
    mean, sd : float
        Over the folds.
    """

    dataset: str
    column: str
    method: str
    reading: str
    figure: str
    scaling: str
    rule: str
    mean: float
    sd: float

    def gives(self, cell: PublishedCell) -> bool:
        """Tell whether it is the published cell to the last digit."""
        return cell.agreement(self.mean, self.sd) is Agreement.EXACT


@dataclass(frozen=True)
class Attempt:
    """A method, how it is read, and what is computed from its predictions."""

    name: str
    reading: str = "registered"
    figure: str = "gmean"
    column: str = ""

    def method(self) -> Method:
        """Return the method under this reading."""
        return read_method(self.name, self.reading)


#: What was tried for the columns that the protocol's rule does not give.
ATTEMPTS = (
    Attempt("svm-rbf", "libsvm"),
    Attempt("svm-rbf", "gamma"),
    Attempt("svm-poly", "libsvm"),
    Attempt("c45-dhs", figure="shares", column="C4.5"),
    Attempt("c45-dhs", column="C4.5"),
    Attempt("slda"),
    Attempt("slda", figure="shares"),
    Attempt("drm-rbf"),
    Attempt("drm-rbf", "variance"),
    Attempt("drm-rbf", "gamma"),
    Attempt("drm-rbf", "kept-sizes"),
    Attempt("drm-rbf", "variance-kept-sizes"),
    Attempt("drm-rbf", "penalty"),
    Attempt("drm-rbf", "penalty-kept-sizes"),
    Attempt("drm-rbf", "inverse"),
    Attempt("drm-poly"),
    Attempt("drm-poly", "kept-sizes"),
    Attempt("drm-poly", "penalty"),
    Attempt("drm-poly", "penalty-kept-sizes"),
    Attempt("drm-poly", "inverse"),
)


def trials(dataset: Dataset, attempt: Attempt, cell: PublishedCell) -> Iterator[Trial]:
    """Give what every rule makes of a cell; single settings only if they give it."""
    method = attempt.method()
    for scaling in SCALINGS:
        scores = score_candidates(dataset, method, scaling, attempt.figure)
        for rule, values in selection_rules(scores).items():
            yield _trial(dataset, attempt, cell, scaling, rule, values)
        for rule, values in single_settings(scores, method):
            trial = _trial(dataset, attempt, cell, scaling, rule, values.tolist())
            if trial.gives(cell):
                yield trial


def _trial(
    dataset: Dataset,
    attempt: Attempt,
    cell: PublishedCell,
    scaling: str,
    rule: str,
    values: Sequence[float],
) -> Trial:
    return Trial(
        dataset.name,
        cell.method,
        attempt.name,
        attempt.reading,
        attempt.figure,
        scaling,
        rule,
        *mean_and_spread(values),
    )


def table_row(cell: PublishedCell, found: Sequence[Trial]) -> list[str]:
    """Return a row of the table: the published cell, ours, and what gives it."""
    shown, matches = [], []
    for scaling, heading in SCALINGS.items():
        own = [trial for trial in found if trial.scaling == scaling]
        shown.append(_text(own[0].mean, own[0].sd))
        exact = [t.rule for t in own if t.gives(cell)]
        always = [rule for rule in exact if rule.startswith("always")]
        rules = [rule for rule in exact if rule not in always] + always[-1:]
        if rules:
            more = f" and {len(always) - 1} more" if len(always) > 1 else ""
            matches.append(f"{heading}: {'; '.join(rules)}{more}")
    published = "–" if cell.mean is None else _text(cell.mean, cell.spread or 0.0)
    return [found[0].dataset, published, *shown, " / ".join(matches) or "–"]


def _text(mean: float, sd: float) -> str:
    return f"{mean:.4f} ± {sd:.4f}"


def print_table(attempt: Attempt, options: argparse.Namespace) -> None:
    """Print a Markdown table of an attempt, and save each row once it is computed."""
    cells = _cells(attempt, options)
    print(
        f"\n### {attempt.name}, reading: {attempt.reading}, figure: {attempt.figure}\n"
    )
    print("| data set | published | unscaled | scaled | exactly as published |")
    print("|---|---|---|---|---|")
    given = 0
    for name, cell in cells.items():
        found = list(trials(load(name), attempt, cell))
        print(f"| {' | '.join(table_row(cell, found))} |", flush=True)
        given += any(trial.gives(cell) for trial in found)
        if options.save:
            save(options.save, found)
    published = sum(cell.mean is not None for cell in cells.values())
    print(f"\n{given} of {published} published cells are given by some rule.")


def _cells(attempt: Attempt, options: argparse.Namespace) -> dict[str, PublishedCell]:
    """Return an attempt's cells by data set, without the sets that are too large."""
    cells = published_cells("table8_gmean")
    column = attempt.method().column or attempt.column
    wanted: dict[str, PublishedCell] = {}
    rows: dict[str, int] = {}
    for entry in load_catalogue().group("keel"):
        cell = find_cell(cells, entry.paper.names if entry.paper else (), column)
        if cell is not None:
            wanted[entry.name], rows[entry.name] = cell, entry.n
    if not wanted:
        raise InputError(f"{column or attempt.name!r} is no column of Table 8")
    names = options.dataset or [n for n in wanted if rows[n] <= options.max_rows]
    if unknown := [name for name in names if name not in wanted]:
        raise InputError(
            f"Table 8 has no data set {unknown[0]!r}; it has {', '.join(wanted)}"
        )
    return {name: wanted[name] for name in names}


def save(path: Path, found: Sequence[Trial]) -> None:
    """Write trials to a file; those of other attempts and data sets in it stay."""
    columns = [field.name for field in dataclasses.fields(Trial)]
    identity = ("dataset", "method", "reading", "figure")
    new = [dataclasses.asdict(trial) for trial in found]
    replaced = {tuple(row[name] for name in identity) for row in new}
    kept: list[dict[str, Any]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as stream:
            kept = [
                row
                for row in csv.DictReader(stream)
                if tuple(row[name] for name in identity) not in replaced
            ]
    with replacing(path) as temporary, temporary.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *new])


def main() -> int:
    """Parse the command line, print the tables and save what they show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--method", action="append", default=[])
    what.add_argument("--all", action="store_true", help="all that was tried")
    parser.add_argument("--dataset", action="append", default=[])
    parser.add_argument("--reading", default="registered")
    parser.add_argument("--figure", choices=list(FIGURES), default="gmean")
    parser.add_argument("--column", default="C4.5", help="for a method without one")
    parser.add_argument(
        "--max-rows", type=int, default=600, help="of data sets that are not named"
    )
    parser.add_argument("--save", type=Path, help="CSV file of all figures")
    options = parser.parse_args()
    attempts = (
        ATTEMPTS
        if options.all
        else [
            Attempt(name, options.reading, options.figure, options.column)
            for name in options.method
        ]
    )
    try:
        for attempt in attempts:
            print_table(attempt, options)
    except DrmbenchError as error:
        print(f"keel_rules: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
