"""Does the size of the search decide? The same methods with other candidates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.complete import complete_means
from drmbench.report.statistics import complete_part, mean_ranks
from drmbench.report.table import (
    Cell,
    Table,
    count_cell,
    figure_cell,
    left,
    right,
    signed_cell,
)
from drmbench.running.results import Results
from drmbench.words import MODES, metric_words

#: What two experiments share that differ in their candidates alone.
_PROTOCOL = {
    *("kind", "split", "selection", "selection_overrides", "selection_modes"),
    *("tie", "scaling", "preparation", "seed"),
}
#: What columns of this experiment and of the other end with.
_KEYS = ("", "_other")


def candidates(results: Results, label: str) -> int:
    """Return how many settings of a method selection chooses from."""
    grid = results.methods[label].get("grid") or {}
    return math.prod(len(values) for values in grid.values())


def other_searches(results: Results, every: Iterable[Results]) -> Iterator[Results]:
    """Give the experiments that have the same methods with other candidates.

    They have all data sets and methods of this one, and more, under the same protocol.
    """
    own = results.experiment.model_dump_json(include=_PROTOCOL)
    for other in every:
        if other is results or other.experiment.reproduces:
            continue
        if other.experiment.model_dump_json(include=_PROTOCOL) != own:
            continue
        if not (
            results.datasets.keys() <= other.datasets.keys()
            and results.methods.keys() <= other.methods.keys()
        ):
            continue
        more = len(other.datasets) + len(other.methods)
        if more > len(results.datasets) + len(results.methods) and any(
            entry.get("grid") != other.methods[label].get("grid")
            for label, entry in results.methods.items()
        ):
            yield other


def searches(
    results: Results, other: Results, mode: ScalingMode, metric: str
) -> pd.DataFrame:
    """Return one row per method, the best here first: candidates, rank and mean.

    ``_other`` is of the other experiment, on the same data sets: those on which every
    method is complete in both.
    """
    experiments = dict(zip(_KEYS, (results, other), strict=True))
    parts = {
        key: complete_part(
            complete_means(
                *(one, mode, metric),
                datasets=results.datasets,
                methods=results.methods,
            )
        ).means
        for key, one in experiments.items()
    }
    sets = parts[""].index.intersection(parts["_other"].index)
    labels = [x for x in parts[""].columns if x in parts["_other"].columns]
    frame = pd.DataFrame({"method": labels}, index=labels)
    for key, one in experiments.items():
        means = parts[key].loc[sets, labels]
        frame[f"candidates{key}"] = [candidates(one, label) for label in labels]
        frame[f"mean_rank{key}"] = mean_ranks(get_metric(metric).sign * means)
        frame[f"mean{key}"] = means.mean()
    frame["datasets"] = len(sets)
    return frame.sort_values("mean_rank", kind="stable").reset_index(drop=True)


def searches_table(
    results: Results, other: Results, mode: ScalingMode, metric: str
) -> Table:
    """Return candidates, mean ranks and means, here and in the other experiment."""
    frame, words = searches(results, other, mode, metric), metric_words(metric)
    rows = [
        (
            Cell(str(record["method"])),
            *(count_cell(int(record[f"candidates{key}"])) for key in _KEYS),
            *(figure_cell(record[f"mean_rank{key}"], digits=2) for key in _KEYS),
            *(figure_cell(record[f"mean{key}"], digits=4) for key in _KEYS),
            signed_cell(record["mean"] - record["mean_other"], 4),
        )
        for record in frame.to_dict("records")
    ]
    there = f"in {other.name}"
    sets = int(frame["datasets"].max()) if len(frame) else 0
    return Table(
        experiment=results.name,
        kind="searches",
        metric=metric,
        mode=mode,
        title=f"{results.experiment.title or results.name}: beside {other.name},"
        f" {words}, {MODES[mode].title}",
        columns=(
            *left("method"),
            *right("candidates", f"candidates {there}", "mean rank"),
            *right(f"mean rank {there}", f"mean {words}", f"mean {words} {there}"),
            *right("difference"),
        ),
        rows=tuple(rows),
        notes=(
            f"Ranks are among these {len(frame)} methods, over the {sets} of"
            f" {len(results.datasets)} data sets on which every one is complete in both"
            " experiments. Splits, seed and selection are the same; what selection"
            " chooses from is not.",
        ),
        frame=frame,
    )
