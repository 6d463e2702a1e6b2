"""When to use the DRM: analyses against a second computation, titles by the rows."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from figure_results import change_rows, draw, line, make_study, rows_of, texts
from result_files import make_results

from drmbench.report.analyses.curves import curve_groups, learning_curve
from drmbench.report.analyses.sensitivity import fixed_pairs, sensitivity
from drmbench.report.analyses.when import (
    TRAITS,
    Trait,
    gains,
    lift,
    median_interval,
    trend,
)
from drmbench.report.figures import write_figures
from drmbench.report.figures.when import sensitivity_title, spread_along
from drmbench.report.leaderboard import board
from drmbench.report.score_pool import regime_pools
from drmbench.running.results import load_results

RATIO = TRAITS[0]
WEAK = {"drm": 0.7, "drm-balanced": 0.7, "svm-rbf": 0.8, "rf": 0.6}


def scored(number: int, method: str, *, added: float = 0.0) -> float:
    """Give figures that rise with the number; weights add something on uneven ones."""
    uneven = number >= 10
    extra = added if uneven and method == "drm-balanced" else 0.0
    return round(WEAK[method] + 0.002 * number + extra, 6)


def test_a_gain_is_over_the_best_other_method_of_the_regime(tmp_path: Path) -> None:
    make_study(tmp_path, "mine", lambda n, m: scored(n, m, added=0.15))
    found = gains(list(load_results(tmp_path).values()))
    rows = rows_of(tmp_path, "mine")
    means = rows.groupby(["dataset", "method"])["balanced_accuracy"].mean().unstack()
    for row in found.to_dict("records"):
        assert row["rival"] == "svm-rbf"
        expected = means.loc[row["dataset"], row["method"]]
        expected -= means.loc[row["dataset"], "svm-rbf"]
        assert row["gain"] == pytest.approx(expected)
        number = int(row["dataset"][3:])
        assert row["ratio"] == (20 if number >= 10 else 2)
        assert (row["minority"], row["classes"]) == (10, 2)
        assert row["n_per_p"] == (42 if number >= 10 else 6)
    assert sorted(found["method"].unique()) == ["drm", "drm-balanced"]
    assert len(found) == 40
    added = lift(found, "drm-balanced", "drm").set_index("uneven")
    assert added["median"].to_dict() == pytest.approx({False: 0.0, True: 0.15})
    assert added["datasets"].to_dict() == {False: 10, True: 10}


def test_a_trend_has_the_medians_of_bins() -> None:
    random = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "x": random.uniform(0, 9, 60),
            "gain": random.normal(size=60),
            "origin": [f"o{number // 3}" for number in range(60)],
        }
    )
    rows.loc[0, "x"] = np.nan
    found = trend(rows, "gain", Trait("x", "x", (3, 8.9, 9)))
    bins = pd.cut(rows["x"], [0, 3, 8.9, 9], right=False)
    expected = rows.groupby(bins, observed=True)["gain"].agg(["median", "size"])
    expected = expected[expected["size"] >= 5]
    assert np.allclose(found["median"], expected["median"])
    assert found["datasets"].tolist() == expected["size"].tolist()
    assert (found["low"] <= found["median"]).all()
    assert (found["median"] <= found["high"]).all()


def test_intervals_of_medians_draw_whole_origins() -> None:
    """Against a loop over draws; with as many origins every draw has its chance."""
    values = np.array([0.3, -0.1, 0.2, 0.9, 0.4, 0.0, 0.7])
    origins = ["a", "a", "b", "c", "c", "d", "e"]
    low, high = median_interval(values, origins)
    groups = [values[np.array(origins) == name] for name in sorted(set(origins))]
    random = np.random.default_rng(1)
    drawn = [
        np.median(np.concatenate([groups[i] for i in random.integers(5, size=5)]))
        for _ in range(4000)
    ]
    assert (low, high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.06)
    assert all(map(np.isnan, median_interval(values, ["one"] * 7)))


@pytest.mark.parametrize(
    ("added", "title"),
    [
        (0.05, "Class weights lift the DRM where classes are uneven; no trait of"),
        (0.3, "where classes are uneven; a DRM is clearly ahead of the best other"),
        (0.0, "Class weights do not clearly lift the DRM on uneven classes; no trait"),
        (-0.1, "Class weights do not clearly lift the DRM on uneven classes; no trait"),
    ],
)
def test_the_title_of_gains_follows_the_rows(
    tmp_path: Path, added: float, title: str
) -> None:
    make_study(tmp_path, "mine", lambda n, m: scored(n, m, added=added))
    drawing = draw(tmp_path)["mine_when_gain"]
    assert title in drawing.title
    assert ("In 0 of " in drawing.caption) == (added != 0.3)
    found = gains(list(load_results(tmp_path).values()))
    panel = drawing.figure.axes[0]
    for method in ("drm", "drm-balanced"):
        (shown,) = (x for x in panel.get_lines() if f"{method} (" in x.get_label())
        expected = trend(found[found["method"] == method], "gain", RATIO)
        assert np.allclose(shown.get_ydata(), expected["median"])


def make_curves(folder: Path, few: float, many: float) -> None:
    """Write three shares on four data sets; the DRM leads by so much at both ends."""
    for share, better in ((0.1, few), (0.4, (few + many) / 2), (0.8, many)):
        scores = {
            "drm": 0.6 + share / 5 + better,
            "svm-rbf": 0.6 + share / 5,
            "rf": 0.5,
        }
        make_study(
            folder,
            f"no{round(100 * share)}",
            lambda _, method, scores=scores: round(scores[method], 6),
            methods=tuple(scores),
            ratios=(2, 2, 2, 2),
            split={"kind": "random", "train": share, "repeats": 5},
        )


@pytest.mark.parametrize(
    ("few", "many", "title"),
    [
        (
            0.1,
            -0.1,
            "Few training rows favour the DRM: a DRM leads on 4 of 4 data sets",
        ),
        (
            -0.1,
            0.1,
            "Many training rows favour the DRM: a DRM leads on 0 of 4 data sets",
        ),
        (0.1, 0.1, "The number of training rows neither favours nor harms the DRM"),
    ],
)
def test_learning_curves(tmp_path: Path, few: float, many: float, title: str) -> None:
    make_curves(tmp_path, few, many)
    make_study(  # of other methods: no part of the curves
        tmp_path,
        "other",
        lambda n, m: WEAK[m],
        ratios=(2, 2, 2, 2),
        split={"kind": "random", "train": 0.6, "repeats": 5},
    )
    for name, size in (("no10", 8), ("no40", 32), ("no80", 64)):
        for number in range(4):
            change_rows(tmp_path, name, "n_train", size, dataset=f"set{number:02d}")
    results = load_results(tmp_path)
    (group,) = curve_groups(results.values())
    assert [found.name for found in group] == ["no10", "no40", "no80"]
    curves = learning_curve(group, "honest", "balanced_accuracy")
    assert curves["n_train"].drop_duplicates().tolist() == [8, 32, 64]
    drawing = draw(tmp_path)["when_learning"]
    assert drawing.title.startswith(title)
    assert drawing.experiments == ("no10", "no40", "no80")
    supports = "This supports" if few > many else "This does not support"
    assert supports in drawing.caption
    expected = [
        rows_of(tmp_path, name, dataset="set00", method="drm")["balanced_accuracy"]
        for name in drawing.experiments
    ]
    shown = line(drawing.figure.axes[0], "drm")
    assert np.allclose(shown[:, 1], [values.mean() for values in expected])
    assert not {"no10_tradeoff", "no10_ranks"} & set(draw(tmp_path))


ALPHAS, FIXED_BETAS = (0.0, 0.1, 1.0), (0.01, 1.0)


def make_lattice(folder: Path, values: dict[tuple[float, float], float]) -> None:
    methods = [
        {
            "label": f"no. {number}",
            "name": "drm-rbf" if alpha else "krr-rbf",
            "family": "drm" if alpha else "krr",
            "grid": {
                **({"alpha": [alpha]} if alpha else {}),
                "beta": [beta],
                "sigma": [1, 10],
            },
        }
        for number, (alpha, beta) in enumerate(itertools.product(ALPHAS, FIXED_BETAS))
    ]
    pairs = dict(zip((m["label"] for m in methods), values.values(), strict=True))
    make_results(
        folder,
        "fixed",
        datasets=[f"set{number}" for number in range(10)],
        methods=methods,
        metrics=("gmean",),
        values=lambda dataset, label, *_: round(
            pairs[label] + int(dataset[3:]) / 50, 6
        ),
    )


def lattice(of: dict[float, float], beta: float) -> dict[tuple[float, float], float]:
    """Give a figure to each pair: that of α, and so much less at the larger β."""
    return {
        (a, b): of[a] - (beta if b == max(FIXED_BETAS) else 0)
        for a, b in itertools.product(ALPHAS, FIXED_BETAS)
    }


@pytest.mark.parametrize(
    ("values", "title"),
    [
        (lattice({0.0: 0.5, 0.1: 0.6, 1.0: 0.5}, 0.3), "β matters more than α (0.300"),
        (lattice({0.0: 0.5, 0.1: 0.6, 1.0: 0.5}, 0.3), "gains 0.100 over α = 0"),
        (lattice({0.0: 0.5, 0.1: 0.6, 1.0: 0.5}, 0.01), "α matters more than β (0.100"),
        (lattice({0.0: 0.6, 0.1: 0.5, 1.0: 0.5}, 0.3), "the best pair has α = 0"),
    ],
)
def test_alpha_and_beta_fixed(
    tmp_path: Path, values: dict[tuple[float, float], float], title: str
) -> None:
    make_lattice(tmp_path, values)
    (results,) = load_results(tmp_path).values()
    assert set(fixed_pairs(results).values()) == set(values)
    found = sensitivity(results, "honest", "gmean")
    rows = rows_of(tmp_path, "fixed").groupby("method")["gmean"].mean()
    for row in found.to_dict("records"):
        pair = row["alpha"], row["beta"]
        label = next(x for x, y in fixed_pairs(results).items() if y == pair)
        assert row["mean"] == pytest.approx(rows[label])
        assert row["behind"] == pytest.approx(rows.max() - rows[label])
        assert row["datasets"] == 10
    wide = found.pivot(index="alpha", columns="beta", values="mean")
    ranges = (wide.max(axis=1) - wide.min(axis=1)).mean()
    assert spread_along(found, "beta") == pytest.approx(ranges)
    drawings = draw(tmp_path)
    assert list(drawings) == ["fixed_alpha_beta"]  # nothing competes
    drawing = drawings["fixed_alpha_beta"]
    assert title in drawing.title
    assert drawing.title == sensitivity_title(found)
    mesh = drawing.figure.axes[0].collections[0]
    assert np.allclose(mesh.get_array().reshape(wide.shape), wide)
    assert {"0 (KRR)", "0.1", "1"} <= set(texts(drawing.figure))
    gains_something = "over α = 0" in drawing.title
    supports = "this supports" if gains_something else "this does not support"
    assert supports in drawing.caption


def test_figures_of_several_experiments_are_drawn_from_all(tmp_path: Path) -> None:
    """Regimes are panels, in the order of the leaderboards."""
    make_study(tmp_path, "even", scored, ratios=(2,) * 5)
    make_study(tmp_path, "uneven", lambda n, m: scored(n + 10, m), ratios=(20,) * 5)
    drawing = draw(tmp_path)["tradeoff"]
    titles = [panel.get_title() for panel in drawing.figure.axes]
    assert titles == ["rare class, 5 data sets", "low-dimensional, 5 data sets"]
    assert drawing.experiments == ("uneven", "even")
    assert drawing.title.startswith("On none of 2 kinds of data is a DRM on the front")
    change_rows(tmp_path, "even", "seconds_fit", 0.1, method="drm")
    title = draw(tmp_path)["tradeoff"].title
    assert title.endswith("on 1 of 2 kinds of data: low-dimensional")
    change_rows(tmp_path, "uneven", "seconds_fit", 0.1, method="drm")
    title = draw(tmp_path)["tradeoff"].title
    assert title == "A DRM is on the front of rank and run time on all 2 kinds of data"


def test_a_named_experiment_is_drawn_with_all_that_its_figures_show(
    tmp_path: Path,
) -> None:
    make_study(tmp_path, "even", scored, ratios=(2,) * 5)
    make_study(tmp_path, "uneven", lambda n, m: scored(n + 10, m), ratios=(20,) * 8)
    named = write_figures(tmp_path, ["even"], tmp_path)
    assert "uneven_ranks.svg" not in [path.name for path in named]
    alone = (tmp_path / "figures" / "tradeoff.svg").read_bytes()
    every = write_figures(tmp_path, [], tmp_path)
    assert "uneven_ranks.svg" in [path.name for path in every]
    assert (tmp_path / "figures" / "tradeoff.svg").read_bytes() == alone


def test_every_method_is_ranked_on_each_kind_of_data(tmp_path: Path) -> None:
    """Beside the paper's experiments one figure has what their own ranks would have."""
    make_study(tmp_path, "even", scored, ratios=(2,) * 8)
    make_study(tmp_path, "uneven", lambda n, m: scored(n + 10, m), ratios=(20,) * 8)
    own = draw(tmp_path)
    assert {"even_ranks", "uneven_ranks"} <= set(own)
    assert "standings" not in own
    paper = {"kind": "timing", "datasets": ["poker"], "methods": ["drm-gd"]}
    make_results(tmp_path, "paper", reproduces="figure1", **paper)
    drawings = draw(tmp_path)
    assert not {"even_ranks", "uneven_ranks"} & set(drawings)
    drawing = drawings["standings"]
    assert drawing.experiments == ("uneven", "even")
    assert drawing.title == (
        "By mean rank the DRM is 2nd of 4 (rare class), 2nd of 4 (low-dimensional)"
    )
    rare, low = drawing.figure.axes
    assert rare.get_title() == "rare class\n8 data sets"
    assert low.get_title() == "low-dimensional\n8 data sets"
    (found, *_) = regime_pools(load_results(tmp_path).values(), {})
    expected = board(found)
    assert [x.get_text() for x in rare.get_yticklabels()] == list(expected["method"])
    points = [item for item in rare.get_lines() if len(item.get_xdata()) == 1]
    assert [item.get_xdata()[0] for item in points] == list(expected["mean_rank"])
    assert [item.get_ydata()[0] for item in points] == [0, 1, 2, 3]
