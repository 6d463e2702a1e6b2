"""Leaderboards as tables: all methods of a regime, and the DRM against each of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drmbench.report.fold_statistics import ROPE
from drmbench.report.leaderboard import board, comparisons
from drmbench.report.protocol_words import times
from drmbench.report.score_pool import ScorePool, regime_pools
from drmbench.report.signed_rank import LEAST_DIFFERENCES
from drmbench.report.statistics import ALPHA, friedman
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Column,
    Table,
    count_cell,
    figure_cell,
    left,
    probability,
    right,
    signed_cell,
)
from drmbench.running.results import Results
from drmbench.words import MODES, metric_words

#: Ranks over fewer data sets than these say nothing.
_FEWEST = 3

_Record = Mapping[Any, Any]


def leaderboard_tables(
    results: Iterable[Results], origins: Mapping[str, str] | None = None
) -> Iterator[Table]:
    """Give the leaderboard of each regime in honest mode, and its comparisons.

    A regime with fewer than three data sets or two complete methods has no table. The
    origins are those of the catalogue unless others are given.
    """
    for pool in regime_pools(results, origins):
        if len(pool.scores) >= _FEWEST and len(pool.complete) > 1:
            yield leaderboard_table(pool)
            if pool.entry:
                yield comparisons_table(pool)


def _about(pool: ScorePool) -> dict[str, Any]:
    name = f"leaderboard_{pool.regime.name}"
    return {"experiment": name, "metric": pool.metric, "mode": pool.mode}


def _title(pool: ScorePool, what: str) -> str:
    regime = pool.regime.title
    metric, mode = metric_words(pool.metric), MODES[pool.mode].title
    if regime[1:2].isalpha():  # p of "p ≫ n" is a symbol, not a word
        regime = f"{regime[0].upper()}{regime[1:]}"
    return f"{regime}: {what} by {metric}, {mode}"


def leaderboard_table(pool: ScorePool) -> Table:
    """Return all methods, best mean rank first; those that miss data sets last."""
    frame = board(pool)
    metric = metric_words(pool.metric)
    return Table(
        **_about(pool),
        kind="",
        title=_title(pool, "all methods"),
        columns=(
            *(Column("", "right"), *left("method", "DRM"), *right("data sets")),
            *right(
                "mean rank", "rank 95 %", f"mean {metric}", f"{metric} 95 %", "wins"
            ),
            Column("select and fit", "right", "s"),
        ),
        rows=tuple(_board_row(*pair) for pair in enumerate(frame.to_dict("records"))),
        heads=2,
        notes=tuple(_board_notes(pool)),
        frame=frame,
    )


def _board_row(place: int, record: _Record) -> tuple[Cell, ...]:
    drm = "entry" if record["entry"] else "variant" if record["drm"] else ""
    of = f"{record['datasets']} of {record['of']}"
    heads = (Cell(record["method"]), Cell(drm), Cell(of, record["datasets"]))
    if math.isnan(record["mean_rank"]):
        return (Cell(""), *heads, *[Cell(NO_FIGURE)] * 6)
    return (
        count_cell(place + 1),
        *heads,
        *_mean_cells(record, "mean_rank", 2),
        *_mean_cells(record, "mean_score", 4),
        figure_cell(record["wins"], digits=1),
        figure_cell(record["seconds"]),
    )


def _mean_cells(record: _Record, name: str, digits: int) -> tuple[Cell, Cell]:
    """Return a mean and its interval."""
    ends = [record[f"{name}_{end}"] for end in ("low", "high")]
    text = " to ".join(f"{end:.{digits}f}" for end in ends)
    interval = Cell(NO_FIGURE if any(map(math.isnan, ends)) else text)
    return figure_cell(record[name], digits=digits), interval


def _board_notes(pool: ScorePool) -> Iterator[str]:
    number, origins = len(pool.scores), len(set(pool.origin_list))
    source = f"from {times(origins, 'origin')}"
    if origins == number:
        source = "each taken for an origin of its own"
    yield (
        f"{times(number, 'data set')} ({pool.regime.rule}), {source};"
        f" experiments: {', '.join(pool.sources)}."
        " Methods are compared on the same splits of a data set and are selected alike;"
        " grids are those of the experiment."
    )
    yield (
        "Ranks are among the methods that are complete on all of them; the others stand"
        " below with the number of data sets they have, because means over other data"
        " sets cannot be compared. Methods that are equally good share a win. Intervals"
        " are of the bootstrap over origins, each drawn with all its data sets; the"
        " time is the median over data sets of selection and fit on one split."
    )
    for what, gains in (("data sets", pool.gains), ("origins", pool.origin_gains)):
        test = friedman(gains)
        if not math.isnan(test.f_p):
            yield (
                f"Friedman's test over {what} (Iman and Davenport), {test.k} methods,"
                f" n = {test.n}: F({test.k - 1}, {(test.k - 1) * (test.n - 1)}) ="
                f" {test.f:.2f}, p = {probability(test.f_p)}."
            )
    if pool.entry:
        yield (
            f"The entry of the DRM is {pool.entry}, the first complete one of a list"
            " that is the same for all regimes; variants are other methods of its"
            " family."
        )


def comparisons_table(pool: ScorePool) -> Table:
    """Return the DRM's entry against each complete method."""
    frame = comparisons(pool)
    return Table(
        **_about(pool),
        kind="comparisons",
        title=_title(pool, f"{pool.entry} against each method"),
        columns=(
            *left("against"),
            *right("over data sets", "p (Holm)", "over origins", "p of origins (Holm)"),
            *right("mean difference"),
            *right("P(ahead)", "P(equivalent)", "P(behind)"),
            *left(f"{pool.entry} is"),
        ),
        rows=tuple(map(_comparison_row, frame.to_dict("records"))),
        notes=(
            "Wins–ties–losses over data sets, and over means per origin, with"
            " Wilcoxon's two-sided test; Holm's correction is over all methods of the"
            " table. The difference is over means per origin, too.",
            f"Ahead and behind are by more than {ROPE:g}, equivalent is within it: the"
            " probabilities of the Bayesian signed-rank test (Benavoli et al. 2014,"
            " 2017) on the means per origin. What they say is said where one is"
            f" {1 - ALPHA:g} or more, from {LEAST_DIFFERENCES} origins on; otherwise it"
            " is undecided, which is not the same as equivalent.",
        ),
        frame=frame,
    )


def _comparison_row(record: _Record) -> tuple[Cell, ...]:
    cells = [Cell(record["method"])]
    for prefix in ("", "origin_"):
        counts = (record[f"{prefix}{field}"] for field in ("wins", "ties", "losses"))
        p = record[f"{prefix}p_holm"]
        cells += [Cell("–".join(map(str, counts))), Cell(probability(p), p)]
    cells.append(signed_cell(record["difference"], 4))
    for name in ("ahead", "equivalent", "behind"):
        cells.append(figure_cell(record[name], digits=3))
    return (*cells, Cell(record["standing"]))
