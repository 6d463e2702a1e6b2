"""Complete figures of an experiment as data sets x methods."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.running.results import Results


def complete_means(
    results: Results,
    mode: ScalingMode,
    metric: str,
    *,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return the means over splits; missing where not all splits are done.

    Data sets and methods are those of the experiment unless others are given.
    """
    rows = list(results.datasets if datasets is None else datasets)
    columns = list(results.methods if methods is None else methods)
    means = {
        label: {
            name: cell.mean
            for name in rows
            if (cell := results.summary(name, label, mode=mode, metric=metric)).complete
        }
        for label in columns
    }
    return pd.DataFrame(means, index=rows, columns=columns, dtype=float)
