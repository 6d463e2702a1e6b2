"""Words for what tables, figures and pages name: scaling modes and metrics."""

from __future__ import annotations

from dataclasses import dataclass

from drmbench.metrics import get_metric

#: Shown wherever figures of the mode ``paper`` are.
OPTIMISTIC = (
    "optimistic: the test part was scaled by its own maxima, and the better of scaled"
    " and unscaled data was chosen on the test part"
)

#: Shown where figures of tables are that were prepared.
TABLE_PREPARED = (
    "Nominal columns became zeros and ones, and missing values were filled in, as the"
    " rows that trained tell"
)


@dataclass(frozen=True)
class ModeWords:
    """How a scaling mode is called and explained."""

    title: str  #: what titles of tables end with
    note: str  #: sentence below a table of scores
    description: str  #: what was done, in the description of an experiment
    caption: str  #: what was done, within the caption of a figure


_BY_TRAINING_MAXIMA = (
    "features divided by their largest absolute value in the training part"
)

#: The words for each scaling mode.
MODES: dict[str, ModeWords] = {
    "honest": ModeWords(
        title="honest mode",
        note="Scaling was selected with the parameters, on the training part alone.",
        description="honest: selection chooses, on the training part alone, between"
        " unscaled features and features divided by their largest absolute value there",
        caption="scaling chosen on the training part (honest mode)",
    ),
    "paper": ModeWords(
        title="paper mode (optimistic)",
        note=f"Figures of ours are {OPTIMISTIC}.",
        description=f"as in the paper ({OPTIMISTIC})",
        caption=f"scaling as in the paper (paper mode; {OPTIMISTIC})",
    ),
    "none": ModeWords(
        title="unscaled data",
        note="Features were not scaled.",
        description="features as they are",
        caption="no scaling",
    ),
    "maxabs": ModeWords(
        title="max-abs scaling",
        note="Features were divided by their largest absolute value in the training"
        " part.",
        description=_BY_TRAINING_MAXIMA,
        caption=_BY_TRAINING_MAXIMA,
    ),
}


def metric_words(metric: str) -> str:
    """Return what a metric is called within a title.

    Examples
    --------
    >>> metric_words("gmean"), metric_words("balanced_accuracy")
    ('G-mean', 'balanced accuracy')
    """
    label = get_metric(metric).label.partition(" (")[0]
    return label if not label[1].islower() else label[0].lower() + label[1:]


def paper_place(reproduces: str) -> tuple[int, int]:
    """Return where something of the paper stands: tables, then figures, then others.

    Examples
    --------
    >>> paper_place("table3"), paper_place("figure2"), paper_place("")
    ((0, 3), (1, 2), (2, 0))
    """
    for rank, kind in enumerate(("table", "figure")):
        number = reproduces.removeprefix(kind)
        if number != reproduces and number.isdecimal():
            return rank, int(number)
    return 2, 0
