"""Which rule gives the paper's G-mean cells on KEEL's folds, digit by digit.

Usage: python tools/keel_rules.py --method c45-dhs --figure shares
       python tools/keel_rules.py --method svm-rbf --reading libsvm --dataset glass4

For each cell every candidate of the method's grid is fitted on the five training parts,
unscaled and with each part scaled by itself. The table shows what the protocol's rule
gives (leave-one-out by G-mean, the first best) and which rules give the published mean
and deviation: other ways to select, and any one setting used on all five folds.

Readings are other ways to understand the paper's parameters. Figures are what is
computed from the predictions on a test fold: ``gmean``, or ``shares``, which is what
MATLAB makes of the paper's formula where the predictions are a row and the true labels
a column. ``sum(predicted == 1 & true == 1)`` is then a row, ``TP/(TP + FN)`` a least
squares fit, and the result no G-mean but the root of the share of samples predicted
positive times the share predicted negative, whatever the true labels.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.data import load
from drmbench.data.dataset import Dataset
from drmbench.data.registry import load_catalogue
from drmbench.drm.kernels import Kernel, Products
from drmbench.errors import DrmbenchError, InputError
from drmbench.methods.base import (
    NO_PREDICTION,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    Params,
)
from drmbench.methods.gram_svm import GramSVC, left_out_labels
from drmbench.methods.grids import GridAnswer
from drmbench.methods.registry import get_method, with_overrides
from drmbench.protocol.metrics import gmean_score, mean_and_spread
from drmbench.protocol.protocol import paper_protocol
from drmbench.protocol.published import (
    Agreement,
    PublishedCell,
    find_cell,
    published_cells,
)
from drmbench.protocol.scaling import Scaling, scale_test, scale_train
from drmbench.protocol.selection import TIE_TOLERANCE
from drmbench.protocol.splits import given_folds

Values = NDArray[np.float64]

#: The scalings of the paper's protocol, and what the table calls them.
SCALINGS: dict[Scaling, str] = {"none": "unscaled", "separate": "scaled"}
#: The paper's decades, and those without 10, which the published SVM cells fit.
DECADES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
DECADES_WITHOUT_TEN = tuple(value for value in DECADES if value != 10.0)


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


def _with_gammas(name: str, gammas: Sequence[float], params: Params) -> Method:
    """Read the values as γ in exp(-γ‖x - y‖²), which is a variance of 1/(2γ)."""
    widths = [1 / (2 * gamma) for gamma in gammas]
    return with_overrides(
        get_method(name),
        grid={"sigma": widths},
        params={**params, "width": "variance"},
    )


def _default_polynomial(X: Matrix, degree: float) -> tuple[Matrix, Kernel]:
    """Return samples and kernel of (x·y/p)^degree, LIBSVM's default polynomial."""
    return X / math.sqrt(X.shape[1]), Kernel("poly", degree=degree, coef0=0.0)


def _libsvm_polynomial() -> Method:
    """Return an SVM with every parameter but the degree as LIBSVM has it."""

    def predict_grid(
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X_test))
        for number, params in enumerate(candidates):
            rows, kernel = _default_polynomial(X_train, params["degree"])
            new = X_test / math.sqrt(X_test.shape[1])
            machine = GramSVC(params["C"], params["max_iter"])
            machine.fit(Products(rows).gram(kernel), y_train)
            answer.labels[number] = machine.predict(Products(new, rows).gram(kernel))
        return answer.finished()

    def predict_left_out(
        X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X))
        for number, params in enumerate(candidates):
            rows, kernel = _default_polynomial(X, params["degree"])
            K = Products(rows).gram(kernel)
            labels = left_out_labels(K, y, params["C"], params["max_iter"])
            answer.labels[number] = labels
        return answer.finished()

    method = with_overrides(get_method("svm-poly"), params={"C": 1.0})
    return dataclasses.replace(
        method, predict_grid=predict_grid, predict_left_out=predict_left_out
    )


#: Other ways to read the paper's parameters, by method and name.
READINGS: Mapping[tuple[str, str], Callable[[], Method]] = {
    ("svm-rbf", "libsvm"): lambda: _with_gammas(
        "svm-rbf", DECADES_WITHOUT_TEN, {"C": 1.0}
    ),
    ("svm-rbf", "gamma"): lambda: _with_gammas("svm-rbf", DECADES, {"C": 1.0}),
    ("svm-poly", "libsvm"): _libsvm_polynomial,
    ("drm-rbf", "gamma"): lambda: _with_gammas("drm-rbf", DECADES, {}),
    ("drm-rbf", "variance"): lambda: with_overrides(
        get_method("drm-rbf"), params={"width": "variance"}
    ),
}


def read_method(name: str, reading: str) -> Method:
    """Return a method as registered, or under another reading of its parameters."""
    if reading == "registered":
        return paper_protocol("gmean").method_as_used(get_method(name))
    if (name, reading) not in READINGS:
        known = [f"{method} {other}" for method, other in READINGS]
        raise InputError(
            f"{name} has no reading {reading!r}; there are: {', '.join(known)}"
        )
    return READINGS[name, reading]()


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


def single_settings(
    scores: Scores, method: Method, cell: PublishedCell
) -> Iterator[str]:
    """Name the candidates that give the cell when used on all folds."""
    for number, params in enumerate(method.candidates()):
        if _is_exact(cell, scores.test[:, number].tolist()):
            shown = (f"{name}={_shown(params[name])}" for name in method.grid)
            yield " ".join(shown)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_exact(cell: PublishedCell, values: Sequence[float]) -> bool:
    return cell.agreement(*mean_and_spread(values)) is Agreement.EXACT


def _text(values: Sequence[float]) -> str:
    return "{:.4f} ± {:.4f}".format(*mean_and_spread(values))


def table_row(
    dataset: Dataset, method: Method, cell: PublishedCell, figure: str
) -> tuple[list[str], bool]:
    """Return a row of the table, and whether any rule gives the published cell."""
    shown, matches = [], []
    for scaling, heading in SCALINGS.items():
        scores = score_candidates(dataset, method, scaling, figure)
        rules = selection_rules(scores)
        shown.append(_text(rules["LOO G-mean, first"]))
        exact = [rule for rule, values in rules.items() if _is_exact(cell, values)]
        settings = list(single_settings(scores, method, cell))
        if settings:
            more = f" and {len(settings) - 1} more" if len(settings) > 1 else ""
            exact.append(f"always {settings[-1]}{more}")
        if exact:
            matches.append(f"{heading}: {'; '.join(exact)}")
    published = "–" if cell.mean is None else f"{cell.mean:.4f} ± {cell.spread:.4f}"
    row = [dataset.name, published, *shown, " / ".join(matches) or "–"]
    return row, bool(matches)


def print_tables(
    names: Sequence[str], datasets: Sequence[str], options: argparse.Namespace
) -> None:
    """Print a Markdown table for each method, as its rows are computed."""
    cells = published_cells("table8_gmean")
    entries = [
        entry
        for entry in load_catalogue().group("keel")
        if not datasets or entry.name in datasets
    ]
    for name in names:
        method = read_method(name, options.reading)
        column = method.column or options.column
        print(f"\n### {name}, reading: {options.reading}, figure: {options.figure}\n")
        print("| data set | published | unscaled | scaled | exactly as published |")
        print("|---|---|---|---|---|")
        found, published = 0, 0
        for entry in entries:
            cell = find_cell(cells, entry.paper.names if entry.paper else (), column)
            data = load(entry.name)
            if cell is None or data.n_samples > options.max_rows:
                continue
            row, match = table_row(data, method, cell, options.figure)
            print(f"| {' | '.join(row)} |", flush=True)
            found += match
            published += cell.mean is not None
        print(f"\n{found} of {published} published cells are given by some rule.")


def main() -> int:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--method", action="append", required=True)
    parser.add_argument("--dataset", action="append", default=[])
    parser.add_argument("--reading", default="registered")
    parser.add_argument("--figure", choices=list(FIGURES), default="gmean")
    parser.add_argument("--column", default="C4.5", help="for a method without one")
    parser.add_argument("--max-rows", type=int, default=600)
    options = parser.parse_args()
    try:
        print_tables(options.method, options.dataset, options)
    except DrmbenchError as error:
        print(f"keel_rules: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
