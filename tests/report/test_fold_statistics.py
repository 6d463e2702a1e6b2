"""The corrected resampled t-test and its Bayesian reading, against definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from drmbench.report.fold_statistics import resampled_difference
from drmbench.report.statistics import holm

FIGURES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=30)


@given(FIGURES, st.floats(0.05, 0.5))
def test_is_the_published_formula(pairs, share):
    """t = mean / sqrt((1/n + n_test/n_train) s²), n - 1 degrees of freedom."""
    first, second = (np.array(values) for values in zip(*pairs, strict=True))
    difference = first - second
    if difference.std() < 1e-6:
        return
    found = resampled_difference(first, second, share)
    n, ratio = len(difference), share / (1 - share)
    t = difference.mean() / math.sqrt((1 / n + ratio) * difference.var(ddof=1))
    assert found.t == pytest.approx(t, rel=1e-6, abs=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), n - 1), rel=1e-5)


def test_without_shared_rows_it_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 12))
    found = resampled_difference(first, second, 0.0)
    plain = stats.ttest_rel(first, second)
    assert (found.t, found.p) == pytest.approx((plain.statistic, plain.pvalue))


@given(FIGURES)
def test_probabilities_are_areas_of_the_posterior(pairs):
    first, second = zip(*pairs, strict=True)
    found = resampled_difference(first, second, 0.2)
    turned = resampled_difference(second, first, 0.2)
    parts = found.better(), found.equivalent(), turned.better()
    assert sum(parts) == pytest.approx(1, abs=1e-9)
    if found.scale > 0.01:
        density = stats.t(found.df, found.mean, found.scale).pdf
        assert found.equivalent() == pytest.approx(
            integrate.quad(density, -0.01, 0.01)[0], abs=1e-7
        )


def test_differences_that_do_not_vary_are_certain():
    same = resampled_difference([0.7, 0.9, 0.8], [0.7, 0.9, 0.8], 0.2)
    assert (same.t, same.p, same.equivalent()) == (0.0, 1.0, 1.0)
    ahead = resampled_difference([0.9, 0.8, 0.7], [0.7, 0.6, 0.5], 0.2)
    assert ahead.better() == 1.0
    assert ahead.p == 0.0
    with pytest.raises(ValueError, match="1 splits"):
        resampled_difference([0.9], [0.8], 0.2)


def simulated(rng, methods, rows, folds=5, repeats=3):
    """Figures of equally good methods on folds that share their rows."""
    shared, own = rng.normal(size=rows), rng.normal(size=(methods, rows))
    figures = []
    for _ in range(repeats):
        fold = rng.permutation(rows) % folds
        each = 0.7 * shared + 0.6 * own + 0.39 * rng.normal(size=(methods, rows))
        right = each < 1.0
        figures += [right[:, fold == number].mean(axis=1) for number in range(folds)]
    return np.array(figures).T


def test_the_best_of_equal_methods_is_seldom_called_better():
    """The plain paired t-test says so nearly always; corrected it is rare."""
    rng = np.random.default_rng(0)
    wrong = naive = 0
    for _ in range(100):
        figures = simulated(rng, methods=9, rows=100)
        best, *others = figures[np.argsort(-figures.mean(axis=1))]
        found = [resampled_difference(best, other, 0.2) for other in others]
        wrong += min(holm([1 - one.better() for one in found])) <= 0.05
        naive += min(stats.ttest_rel(best, other).pvalue for other in others) <= 0.05
    assert wrong <= 5
    assert naive >= 80
