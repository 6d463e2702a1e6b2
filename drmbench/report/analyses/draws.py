"""How stable an order is: mean ranks and figures on each draw of the folds."""

from __future__ import annotations

import pandas as pd

from drmbench.metrics import get_metric, mean_and_spread
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.statistics import complete_part, mean_ranks
from drmbench.report.table import Cell, Table, figure_cell, left, right
from drmbench.running.results import Results
from drmbench.words import MODES, metric_words

#: Ranks over fewer data sets than these say nothing.
_FEWEST = 3


def draws(results: Results, mode: ScalingMode, metric: str) -> pd.DataFrame:
    """Return one row per method and draw, the best over all draws first.

    ``draw`` is 1 for the first, and 0 for all together; ``mean_rank`` and ``mean`` are
    over the data sets on which every method is complete, whose number is ``datasets``.
    """
    plan = results.experiment.split
    columns = ["method", "draw", "mean_rank", "mean", "datasets"]
    values = {
        (name, label): cell.values
        for name, entry in results.datasets.items()
        if int(entry["splits"]) == plan.k * plan.repeats
        for label in results.methods
        if (cell := results.summary(name, label, mode=mode, metric=metric)).complete
    }
    parts: dict[int, pd.DataFrame] = {}
    for draw in range(plan.repeats + 1):
        last = plan.k * draw if draw else None
        frame = pd.DataFrame(
            index=list(results.datasets), columns=list(results.methods), dtype=float
        )
        for (name, label), found in values.items():
            chosen = found[plan.k * (draw - 1) if draw else 0 : last]
            frame.loc[name, label] = mean_and_spread(chosen)[0]
        parts[draw] = complete_part(frame).means
    if len(parts[0]) < _FEWEST:
        return pd.DataFrame(columns=columns)
    sign = get_metric(metric).sign
    ranks = {draw: mean_ranks(sign * part) for draw, part in parts.items()}
    order = ranks[0].sort_values(kind="stable").index
    records = [
        (str(label), draw, ranks[draw][label], part[label].mean(), len(part))
        for label in order
        for draw, part in parts.items()
    ]
    return pd.DataFrame(records, columns=columns)


def draws_table(results: Results, mode: ScalingMode, metric: str) -> Table | None:
    """Return mean ranks and means of each draw of the folds and over all.

    There is none where folds were drawn once, or where ranks would be over too few data
    sets.
    """
    plan = results.experiment.split
    if plan.kind != "kfold" or plan.repeats < 2 or len(results.methods) < 2:
        return None
    frame = draws(results, mode, metric)
    if frame.empty:
        return None
    wide = {
        name: frame.pivot(index="method", columns="draw", values=name)
        for name in ("mean_rank", "mean")
    }
    words, numbers = metric_words(metric), range(1, plan.repeats + 1)
    methods = list(dict.fromkeys(frame["method"]))
    alike = wide["mean_rank"][list(numbers)].corr(method="spearman").to_numpy()
    least = float(alike.min())
    return Table(
        experiment=results.name,
        kind="draws",
        metric=metric,
        mode=mode,
        title=f"{results.experiment.title or results.name}: how stable the order is,"
        f" {words}, {MODES[mode].title}",
        columns=(
            *left("method"),
            *right("mean rank", *(f"rank, draw {number}" for number in numbers)),
            *right(f"mean {words}", *(f"mean, draw {number}" for number in numbers)),
        ),
        rows=tuple(
            (
                Cell(method),
                *(figure_cell(x, digits=2) for x in wide["mean_rank"].loc[method]),
                *(figure_cell(x, digits=4) for x in wide["mean"].loc[method]),
            )
            for method in methods
        ),
        notes=(
            f"{plan.k} folds, drawn {plan.repeats} times; over the"
            f" {frame['datasets'].max()} of {len(results.datasets)} data sets on which"
            " every method is complete. The first of the ranks and of the means is over"
            " all draws.",
            "Spearman's correlation of the mean ranks of two draws is"
            f" {least:.2f} or more.",
            f"Selection of parameters: {results.selection(mode)}.",
        ),
        frame=frame,
    )
