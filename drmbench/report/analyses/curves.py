"""Learning curves: experiments that are equal but for how many rows train."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from drmbench.metrics import METRICS
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.table import Cell, Table, figure_cell, left, right, sentence
from drmbench.running.results import Results
from drmbench.words import MODES, metric_words

#: What may differ between the experiments of a curve besides the share that trains.
_NAMES = {"name", "title", "source", "deviations"}


def curve_groups(results: Iterable[Results]) -> list[tuple[Results, ...]]:
    """Return the experiments that make up learning curves, the smallest share first.

    They draw random splits and differ in nothing but the share of the rows that train.
    """
    groups: dict[str, dict[float, Results]] = {}
    for found in results:
        spec = found.experiment
        if spec.kind != "classification" or spec.reproduces:
            continue
        if spec.split.kind == "random" and isinstance(spec.split.train, float):
            any_share = spec.split.model_copy(update={"train": 0.5})
            same = spec.model_copy(update={"split": any_share})
            key = same.model_dump_json(exclude=_NAMES)
            groups.setdefault(key, {}).setdefault(spec.split.train, found)
    return [
        tuple(group[share] for share in sorted(group))
        for group in groups.values()
        if len(group) > 1
    ]


def learning_curve(
    group: Sequence[Results], mode: ScalingMode, metric: str
) -> pd.DataFrame:
    """Return one row per data set, method and share: rows that train, mean, deviation.

    Figures that are not complete are missing. ``splits`` are those that are done.
    """
    records = []
    sizes = {
        found.name: found.rows.groupby("dataset")["n_train"].mean() for found in group
    }
    for dataset in group[0].datasets:
        for method in group[0].methods:
            for found in group:
                cell = found.summary(dataset, method, mode=mode, metric=metric)
                whole = cell.complete
                records.append(
                    {
                        "experiment": found.name,
                        "dataset": dataset,
                        "method": method,
                        "share": found.experiment.split.train,
                        "n_train": sizes[found.name].get(dataset),
                        "mean": cell.mean if whole else None,
                        "sd": cell.spread if whole else None,
                        "splits": cell.done,
                        "failed": cell.failed,
                    }
                )
    return pd.DataFrame(records)


def curve_tables(group: Sequence[Results], metrics: Sequence[str]) -> Iterator[Table]:
    """Give a table of each one-number metric: a column per share of rows that train."""
    shares = [f"{100 * float(found.experiment.split.train):g} %" for found in group]
    first = group[0]
    for mode in sorted(first.modes, key=lambda mode: mode != "honest"):
        for metric in metrics:
            frame = learning_curve(group, mode, metric)
            rows = []
            for (dataset, method), part in frame.groupby(
                ["dataset", "method"], sort=False
            ):
                pairs = zip(part["mean"], part["sd"], strict=True)
                figures = (figure_cell(mean, sd, 4) for mean, sd in pairs)
                rows.append((Cell(str(dataset)), Cell(str(method)), *figures))
            yield Table(
                experiment=first.name,
                kind="curves",
                metric=metric,
                mode=mode,
                title=f"Learning curves: {metric_words(metric)}, {MODES[mode].title}",
                columns=(*left("data set", "method"), *right(*shares)),
                rows=tuple(rows),
                notes=tuple(_notes(group, mode)),
                frame=frame,
            )


def shared_metrics(group: Sequence[Results]) -> list[str]:
    """Return the one-number metrics that all experiments of a group have."""
    return [
        name
        for name in group[0].experiment.metrics
        if name in METRICS
        and METRICS[name].scalar
        and all(name in found.rows.columns for found in group)
    ]


def _notes(group: Sequence[Results], mode: ScalingMode) -> Iterator[str]:
    splits = max(int(entry["splits"]) for entry in group[0].datasets.values())
    names = ", ".join(found.name for found in group)
    yield (
        "A column is the share of the rows that train, the others test:"
        f" mean ± standard deviation over {splits} random splits. From {names}."
    )
    yield MODES[mode].note
    yield f"Selection of parameters: {group[0].selection(mode)}."
    texts = (text for found in group for text in found.experiment.deviations)
    yield from dict.fromkeys(map(sentence, texts))
