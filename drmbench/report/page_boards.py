"""Leaderboards as data: the figures that a browser ranks again when it filters.

A board is a pool of comparable figures (:class:`drmbench.report.score_pool.ScorePool`):
those of a regime on a page on the paper, those of one experiment elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.data import catalogue
from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.page_cells import short
from drmbench.report.regimes import REGIMES, DatasetFacts, Regime, regime_of
from drmbench.report.score_pool import ScorePool, pool_of
from drmbench.running.results import Results
from drmbench.words import MODES, metric_words

#: Decimals of scores, more than any two methods that differ have in common.
_DECIMALS = 6


def regime_boards(results: Mapping[str, Results]) -> list[ScorePool]:
    """Return the pools of all regimes, in every mode and metric, that have a ranking.

    The first of each regime is in honest mode by its own metric, if it is there.
    """
    classified = [r for r in results.values() if r.experiment.kind == "classification"]
    origins = catalogue.origins()
    modes = sorted({mode for r in classified for mode in r.modes}, key=_honest_first)
    metrics = dict.fromkeys(name for r in classified for name in _metrics(r))
    found = []
    for regime in REGIMES:
        own_first = sorted(metrics, key=lambda name, own=regime.metric: name != own)  # type: ignore[misc]
        for mode in modes:
            for metric in own_first:
                pool = pool_of(
                    classified, regime.name, metric=metric, mode=mode, origins=origins
                )
                if len(pool.scores) and len(pool.complete) > 1:
                    found.append(pool)
    return found


def own_boards(results: Mapping[str, Results]) -> list[ScorePool]:
    """Return the figures of each experiment in every mode and metric, its own first."""
    return [
        _own_board(found, metric, mode)
        for found in results.values()
        if found.experiment.kind == "classification"
        for mode in sorted(found.modes, key=_honest_first)
        for metric in _metrics(found)
    ]


def _metrics(found: Results) -> list[str]:
    """Return the metrics of an experiment that are one number per row."""
    names = (name for name in found.experiment.metrics if name in found.rows.columns)
    return [name for name in names if found.rows[name].dtype.kind in "fi"]


def _honest_first(mode: ScalingMode) -> tuple[bool, str]:
    return mode != "honest", mode


def _own_board(found: Results, metric: str, mode: ScalingMode) -> ScorePool:
    import pandas as pd

    datasets = [n for n, entry in found.datasets.items() if not entry.get("missing")]
    cells = {
        (name, label): found.summary(name, label, mode=mode, metric=metric)
        for name in datasets
        for label in found.methods
    }
    rows = found.rows[(found.rows["mode"] == mode) & (found.rows["status"] == "ok")]
    spent = (rows["seconds_select"] + rows["seconds_fit"]).groupby(
        [rows["dataset"], rows["method"]]
    )
    seconds = spent.mean().to_dict()

    def frame(value: Any) -> pd.DataFrame:
        lines = [[value(name, label) for label in found.methods] for name in datasets]
        return pd.DataFrame(lines, datasets, list(found.methods), dtype=float)

    return ScorePool(
        Regime(found.name, found.experiment.title or found.name, "", metric),
        metric,
        mode,
        frame(lambda n, m: cells[n, m].mean if cells[n, m].complete else math.nan),
        frame(lambda n, m: seconds.get((n, m), math.nan)),
        {label: str(one.get("family") or "") for label, one in found.methods.items()},
        {name: name for name in datasets},
        (found.name,),
        (found.name,),
    )


def boards_data(
    boards: Sequence[ScorePool], results: Mapping[str, Results]
) -> dict[str, Any]:
    """Return data sets, and every board with its scores and where they come from."""
    datasets = _datasets(results)
    names = list(datasets)
    titles = {
        label: str(entry.get("title") or "")
        for found in results.values()
        for label, entry in found.methods.items()
    }
    return {
        "datasets": list(datasets.values()),
        "titles": titles,
        "modes": {board.mode: MODES[board.mode].title for board in boards},
        "metrics": {
            board.metric: {
                "title": metric_words(board.metric),
                "sign": get_metric(board.metric).sign,
            }
            for board in boards
        },
        "boards": [_board(board, names, results) for board in boards],
    }


def _board(
    board: ScorePool, names: Sequence[str], results: Mapping[str, Results]
) -> dict[str, Any]:
    scores, seconds = (
        [[write(value) for value in line] for line in frame.to_numpy(dtype=float)]
        for frame, write in ((board.scores, _rounded), (board.seconds, short))
    )
    return {
        "group": board.regime.name,
        "title": board.regime.title,
        "own": board.regime.metric,
        "metric": board.metric,
        "mode": board.mode,
        "experiments": list(board.sources),
        "entry": board.entry,
        "drm": board.drm,
        "datasets": [names.index(name) for name in board.scores.index],
        "origins": board.origin_list,
        "methods": list(board.scores.columns),
        "scores": scores,
        "seconds": seconds,
    }


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, _DECIMALS)


def _datasets(results: Mapping[str, Results]) -> dict[str, dict[str, Any]]:
    """Return what is known of each data set, by the name of what was run."""
    known = catalogue.load_catalogue()
    found: dict[str, dict[str, Any]] = {}
    for experiment in results.values():
        for name, entry in experiment.datasets.items():
            real = str(entry.get("substitute") or name)
            if entry.get("missing"):
                continue
            facts = DatasetFacts.of_run(real, entry)
            one = found.setdefault(
                real,
                {
                    "name": real,
                    "title": str(entry.get("title") or ""),
                    "n": facts.n,
                    "p": facts.p,
                    "classes": facts.classes,
                    "ratio": None if math.isnan(facts.ratio) else round(facts.ratio, 2),
                    "regime": regime_of(facts).title,
                    "origin": catalogue.origin_of(real) if real in known.names else "",
                    "source": str(entry.get("source") or ""),
                    "experiments": [],
                },
            )
            one["experiments"].append(experiment.name)
    return found
