"""The pivot from stored results to scores: which method a column shows."""

from __future__ import annotations

import math

import pytest
from result_files import make_results

from drmbench.report.scores import better_of, plain_first, scores_of, table_sources
from drmbench.running.results import Summary, load_results


def summary(method: str, mean: float, done: int = 5) -> Summary:
    return Summary("iris", method, mean, 0.1, done, 5)


@pytest.mark.parametrize(
    ("found", "better"),
    [
        ([summary("a", 0.6), summary("b", 0.7)], "b"),
        ([summary("a", 0.7), summary("b", 0.7)], "a"),
        ([summary("a", math.nan), summary("b", 0.1)], "b"),
        ([summary("a", math.nan), summary("b", math.nan)], "a"),
        ([summary("a", 0.9), summary("b", 0.1, done=4), summary("c", 0.2, 3)], "c"),
    ],
)
def test_the_better_of_two_waits_until_both_are_complete(found, better):
    assert better_of(found, "accuracy").method == better


def test_the_papers_column_shows_the_method_and_not_its_variants(tmp_path):
    """Also where a variant has a shorter label, or comes first."""
    methods = [{"label": "wide", "name": "drm-rbf"}, "drm-rbf", "nb"]
    make_results(tmp_path, "mine", methods=methods, reproduces="table8")
    results = load_results(tmp_path)
    assert plain_first(results["mine"].methods) == ["drm-rbf", "nb", "wide"]
    (source,) = table_sources(results)
    columns = {column.heading: column for column in source.columns()}
    assert columns["DRM(R)"].labels == ("drm-rbf",)
    assert columns["wide"].added
    assert not columns["DRM(R)"].added


def test_the_frame_has_one_row_per_cell_and_is_what_the_scores_are(tmp_path):
    values = {("iris", "nb"): [0.5, 0.6], ("wine", "nb"): 0.75}
    make_results(tmp_path, "mine", values=values)
    (source,) = table_sources(load_results(tmp_path))
    scores = scores_of(source, "honest", "accuracy")
    assert len(scores.frame) == len(scores.rows) * len(scores.columns)
    assert scores.scores().loc["wine", "nb"] == 0.75
    assert math.isnan(scores.scores().loc["iris", "nb"])  # two of five splits
