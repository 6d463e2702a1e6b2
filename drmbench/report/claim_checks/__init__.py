"""Checks of the paper's claims, by theme; a claim names one and gives parameters."""

from __future__ import annotations

from collections.abc import Callable

from drmbench.report.claim_checks import comparisons, gaps, printed, ranking, solvers
from drmbench.report.claim_checks.outcome import Outcome

#: Every check by its name; the first argument is the evidence, the rest parameters.
CHECKS: dict[str, Callable[..., Outcome]] = {
    check.__name__: check
    for check in (
        ranking.best_count,
        ranking.top_two,
        ranking.wins_of_groups,
        ranking.second_best,
        gaps.gains,
        gaps.exceeds,
        gaps.figure_and_deficit,
        gaps.competitive,
        gaps.far_behind,
        gaps.above,
        gaps.close_columns,
        comparisons.outperforms,
        comparisons.above_rival,
        comparisons.sampling_helps,
        comparisons.agrees_with_table,
        comparisons.cost_on_a_par,
        solvers.time_order,
        solvers.iteration_order,
        solvers.dearer_iteration,
        solvers.linear_time,
        solvers.falls_with_beta,
        solvers.iterations_within,
        solvers.seconds_within,
        printed.bold_marks,
        printed.same_column,
        printed.row_count,
        printed.catalogue_facts,
        printed.granularity,
    )
}
