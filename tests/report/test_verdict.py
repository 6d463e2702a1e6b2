"""What is said of a comparison: no more than its splits tell."""

import numpy as np
import pytest

from drmbench.config.model import MethodRef
from drmbench.report.verdict import judge, verdict
from drmbench.running.compare import judged
from drmbench.running.results import Summary

NOISE = np.random.default_rng(0).normal(size=(4, 15))


class Constructed:
    """Results of one data set, as they would be read from a folder."""

    modes = ("honest",)

    def __init__(self, figures, *, folds=5, splits=15, metric="gmean", names=None):
        self.figures, self.expected, self.metric = figures, splits, metric
        test, train = 300 // folds, 300 - 300 // folds
        self.datasets = {"d": {"n_test": test, "n_train": train, "splits": splits}}
        split = type("Split", (), {"k": folds})
        names = {label: label for label in figures} | (names or {})
        methods = [MethodRef(name=name, label=label) for label, name in names.items()]
        self.experiment = type("Experiment", (), {"split": split, "methods": methods})

    def summaries(self):
        for method, values in self.figures.items():
            values = tuple(map(float, values))
            mean = float(np.mean(values)) if values else float("nan")
            count = len(values), self.expected
            reason = "" if values else "not run"
            yield Summary("d", method, mean, 0.0, *count, values=values, reason=reason)

    def split_rows(self, dataset, method, mode, scaling):
        return [{"split": number} for number in range(len(self.figures[method]))]


def test_two_folds_are_no_ground_for_a_claim():
    text = verdict(Constructed({"a": [0.9, 0.9], "b": [0.1, 0.1]}, folds=2, splits=2))
    assert text.startswith("Best: a (gmean 0.900). 2 splits are too few")
    assert "better than b" not in text


def test_names_the_best_the_equivalent_the_unclear_and_the_worse():
    base = 0.8 + 0.02 * NOISE[0]
    figures = {
        "worse": base - 0.2 + 0.02 * NOISE[1],
        "twin": base - 0.001 + 0.001 * NOISE[2],
        "best": base,
        "near": base - 0.02 + 0.05 * NOISE[3],
    }
    found = judge(Constructed(figures))
    assert {one.method: one.relation for one in found.standings} == {
        "twin": "equivalent",
        "near": "unclear",
        "worse": "worse",
    }
    text = verdict(Constructed(figures))
    assert "Practically equivalent (within 0.01): twin; there is nothing" in text
    assert "Not told apart from it by these 15 splits: near." in text
    assert "better than worse (probability over 0.99)." in text
    assert "clearly" not in text
    assert "DRM" not in text


def test_lower_is_better_where_the_metric_says_so():
    high = 0.6 + 0.02 * NOISE[0]
    results = Constructed({"high": high, "low": high - 0.4}, metric="brier")
    assert judge(results).ranked[0].method == "low"
    assert judge(results).of("worse")[0].method == "high"


def test_a_run_that_ended_early_is_judged_on_what_all_have():
    """Methods without the folds of one repeat are not ranked."""
    figures = {
        "a": 0.9 - 0.01 * np.arange(15),
        "b": [0.8] * 7,
        "c": [1.0] * 3,
        "d": [],
    }
    results = Constructed(figures)
    ranked = judged(results)
    assert [(cell.method, cell.done) for cell in ranked] == [("a", 7), ("b", 7)]
    assert ranked[0].mean == pytest.approx(0.87)


def test_no_figure_no_verdict():
    assert "No method came to a result" in verdict(Constructed({"a": []}))


def test_the_best_drm_is_placed():
    base = 0.8 + 0.02 * NOISE[0]
    text = verdict(Constructed({"svm": base, "drm-rbf": base - 0.1}))
    assert "The best DRM, drm-rbf, is number 2 of 2, 0.100 behind." in text


def test_a_drm_is_known_by_its_method_not_by_its_label():
    base = 0.8 + 0.02 * NOISE[0]
    figures = {"best": base, "not a drm": base - 0.1, "ours": base - 0.2}
    text = verdict(Constructed(figures, names={"not a drm": "nb", "ours": "drm"}))
    assert "The best DRM, ours, is number 3 of 3" in text
