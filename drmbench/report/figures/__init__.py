"""Figures from stored results: which there are, and the way to draw and write them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from drmbench.errors import InputError
from drmbench.report.figures import (
    ablation,
    convergence,
    modes,
    published,
    ranks,
    timing,
    tradeoff,
)
from drmbench.report.figures.classified import is_classification
from drmbench.report.figures.drawing import Drawing, NothingToDrawError
from drmbench.report.figures.render import drawn_with, to_svg, write_drawings
from drmbench.report.figures.style import fix_layout, house_style
from drmbench.run.results import Results, load_results

__all__ = ["Drawing", "draw_all", "drawn_with", "to_svg", "write_figures"]

logger = logging.getLogger(__name__)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Recipe:
    """A kind of figure: of which experiments, and how it is drawn.

    Attributes
    ----------
    applies : callable
        Tells whether an experiment has such a figure.
    draw : callable
        Draws it, given the experiment and all experiments by name.
    """

    applies: Callable[[Results], bool]
    draw: Callable[[Results, Mapping[str, Results]], Drawing]


def _alone(draw: Callable[[Results], Drawing]) -> Callable[..., Drawing]:
    """Return a drawing function that needs no other experiment."""
    return lambda found, _others: draw(found)


RECIPES = (
    Recipe(timing.is_timing, _alone(timing.draw_time)),
    Recipe(convergence.is_convergence, _alone(convergence.draw_objective)),
    Recipe(convergence.is_convergence, _alone(convergence.draw_beta)),
    Recipe(ablation.has_selected, _alone(ablation.draw_selected)),
    *(
        Recipe(
            partial(ablation.has_fixed, kernel=kernel),
            _alone(partial(ablation.draw_fixed, kernel=kernel)),
        )
        for kernel in ablation.KERNELS
    ),
    Recipe(is_classification, ranks.draw_ranks),
    Recipe(published.has_published, _alone(published.draw_published)),
    Recipe(is_classification, _alone(tradeoff.draw_tradeoff)),
    Recipe(modes.has_both_modes, _alone(modes.draw_modes)),
)


def draw_all(
    results: Mapping[str, Results], *, say: Say = logger.warning
) -> Iterator[Drawing]:
    """Draw every figure that results have rows for, experiment by experiment.

    Parameters
    ----------
    results : mapping of str to Results
        Stored results by experiment.
    say : callable
        Gets a message for each figure that has no usable rows.
    """
    for found in results.values():
        for recipe in RECIPES:
            if not recipe.applies(found):
                continue
            try:
                with house_style():
                    drawing = recipe.draw(found, results)
                    fix_layout(drawing.figure)
            except NothingToDrawError as error:
                say(f"no figure: {error}")
            else:
                yield drawing


def write_figures(
    results_folder: Path,
    names: Sequence[str],
    out: Path,
    *,
    say: Say = logger.warning,
) -> list[Path]:
    """Draw stored results into ``out/figures``, as SVG, PDF and PNG, with an index.

    Parameters
    ----------
    results_folder : Path
        Folder with one folder an experiment, such as ``results/reference``.
    names : sequence of str
        Experiments to draw; none means all.
    out : Path
        Folder whose folder ``figures`` is written.
    say : callable
        Gets a message for each figure that has no usable rows.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If there are no such results, or a file cannot be written.
    """
    results = load_results(results_folder, names)
    if not results:
        raise InputError(
            f"{results_folder} has no results to draw. `drmbench run CONFIG --out"
            f" {results_folder}` would make some, or name another folder with"
            " --results."
        )
    drawings = draw_all(results, say=say)
    return write_drawings(drawings, out / "figures", keep_others=bool(names))
