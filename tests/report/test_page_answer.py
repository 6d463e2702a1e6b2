"""The first screen: what it says follows from the figures, whatever they are."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from drmbench.report.page_answer import (
    Card,
    answer,
    card_of,
    duel,
    standings,
)
from drmbench.report.regimes import get_regime
from drmbench.report.score_pool import ScorePool

FAMILIES = {
    "drm": "drm",
    "drm-balanced": "drm-balanced",
    "drm-threshold": "drm",
    "drm-exact": "drm-large",
    "drm-nystroem": "drm-balanced",
    "svm": "svm",
    "ridge": "ridge",
}


def pool(regime="wide", sets=12, origins=None, **means):
    """Return figures of methods that differ by these, with a little noise."""
    noise = np.random.default_rng(1)
    base = noise.uniform(0.6, 0.8, sets)
    names = [f"{regime}{number}" for number in range(sets)]
    scores = pd.DataFrame(
        {
            name.replace("_", "-"): base + value + noise.normal(0, 0.002, sets)
            for name, value in means.items()
        },
        index=names,
    )
    wanted = get_regime(regime)
    return ScorePool(
        wanted,
        wanted.metric,
        "honest",
        scores,
        scores * 0 + 1,
        {name: FAMILIES[name] for name in scores},
        dict(zip(names, origins or names, strict=True)),
        ("study",),
        ("study",),
    )


@pytest.mark.parametrize(
    ("means", "verdict", "advice"),
    [
        ({"drm": 0.1, "svm": 0.0, "ridge": 0.0}, "ahead", "Use drm; no simpler method"),
        ({"drm": 0.0, "svm": 0.1, "ridge": 0.0}, "behind", "Use svm instead."),
        ({"drm": 0.0, "svm": 0.0, "ridge": -0.1}, "as good", "Use drm; no simpler"),
        (
            {"drm": 0.0, "svm": 0.004, "ridge": -0.1},
            "as good",
            "drm can be used, and so",
        ),
        ({"drm": 0.0, "svm": -0.1, "ridge": 0.0}, "as good", "Use ridge instead: simp"),
    ],
)
def test_the_verdict_is_what_the_figures_say(means, verdict, advice):
    found = pool(**means)
    card = card_of(found.regime, found)
    assert card.verdict == verdict
    assert card.advice.startswith(advice)
    assert answer([card]).startswith(
        "The DRM does not hold up" if verdict == "behind" else "The DRM holds up: "
    )


def test_class_weights_are_advised_where_they_are_not_behind():
    found = pool(drm=0.0, drm_balanced=0.1, svm=0.1)
    card = card_of(found.regime, found)
    assert card.advice == "Use svm or drm-balanced instead."
    assert "With class weights, drm-balanced is number" in card.mended_words
    assert "where svm or drm-balanced should be used" in answer([card])


def test_every_way_to_mend_the_method_that_is_not_behind_is_advised():
    better, worse = {"drm_balanced": 0.1}, {"drm_balanced": -0.1}
    found = [pool(drm=0.0, drm_threshold=0.1, svm=0.1, **x) for x in (better, worse)]
    both, one = (card_of(x.regime, x) for x in found)
    assert both.advice == "Use svm, drm-balanced or drm-threshold instead."
    assert one.advice == "Use svm or drm-threshold instead."
    assert [x.first for x in one.mended] == ["drm-balanced", "drm-threshold"]
    first, second = one.mended_words.split(". ", 1)
    assert first.startswith("With class weights, drm-balanced is number 4: ")
    assert first.endswith("against svm, behind")
    assert second.startswith("With a tuned threshold, drm-threshold is number ")
    assert {"drm-balanced", "drm-threshold"} < {x.second for x in one.dots}


def test_a_kernel_of_low_rank_is_advised_where_it_mends_the_linear_method():
    found = pool("large", drm_exact=0.0, drm_nystroem=0.1, svm=0.1)
    card = card_of(found.regime, found)
    assert (card.entry, card.advice) == (
        "drm-exact",
        "Use svm or drm-nystroem instead.",
    )
    words = "With class weights and a kernel of low rank, drm-nystroem is number "
    assert card.mended_words.startswith(words)


def test_nothing_is_claimed_of_few_origins_or_of_nothing():
    few = pool(sets=8, origins=list("aabbccdd"), drm=0.0, svm=0.1)
    none = pool("large", sets=0, drm=0.0, svm=0.0)
    cards = [card_of(few.regime, few), card_of(none.regime, none)]
    assert [card.verdict for card in cards] == ["too few data sets", "not run"]
    assert cards[0].origins == 4
    assert answer(cards) == (
        "Whether the DRM holds up is not known: too few data sets to tell on data with"
        " p ≫ n; nothing was run on data with large n."
    )


def test_a_mixed_answer_names_each_kind_of_data():
    good, bad = pool(drm=0.1, svm=0.0), pool("rare", drm=0.0, svm=0.1)
    said = answer([card_of(one.regime, one) for one in (good, bad)])
    assert said == (
        "The DRM holds up in part: it is better than every other method on data with"
        " p ≫ n (number 1 of 2); it is behind on data with a rare class (number 2 of"
        " 2), where svm should be used."
    )
    large = pool("large", drm=0.0, svm=0.1)
    said = answer([card_of(one.regime, one) for one in (bad, large)])
    assert said == (
        "The DRM does not hold up: it is behind on data with a rare class (number 2 of"
        " 2), where svm should be used, and on data with large n (number 2 of 2), where"
        " svm should be used."
    )


def test_a_duel_is_over_origins():
    found = pool(sets=6, origins=list("aaaabc"), drm=0.02, svm=0.0)
    differences = (found.scores["drm"] - found.scores["svm"]).groupby(list("aaaabc"))
    one = duel(found, "drm", "svm")
    assert one.difference == pytest.approx(differences.mean().mean())
    assert one.low <= one.difference <= one.high
    assert one.standing == "undecided"  # three origins


def test_one_leaderboard_ranks_what_is_complete_everywhere():
    wide = pool(drm=0.1, svm=0.05, ridge=0.0)
    rare = pool("rare", sets=5, drm=0.0, svm=0.1)
    found = standings([wide, rare])
    assert [regime.name for regime in found.together] == ["wide", "rare"]
    assert (found.sets, found.origins) == (17, 17)
    first, *others = found.lines
    assert (first.method, first.entry) == ("drm", True)
    ranks = pd.concat([wide.scores[["drm", "svm"]], rare.scores]).rank(
        axis=1, ascending=False
    )
    assert first.overall.mean == pytest.approx(ranks["drm"].mean())
    ridge = next(line for line in others if line.method == "ridge")
    assert ridge.overall is None
    assert ridge.regimes["wide"].of == 3


def test_regimes_that_share_no_drm_are_not_ranked_together():
    wide, other = pool(drm=0.1, svm=0.0), pool("images", drm_balanced=0.1, svm=0.0)
    found = standings([wide, other])
    assert found.together == []
    assert {line.method for line in found.lines} == {"drm", "drm-balanced", "svm"}


def test_dot_plots_have_room_for_every_end():
    found = pool(drm=0.1, svm=0.0)
    card = card_of(found.regime, found)
    assert card.dots_limit == max(abs(card.best.low), abs(card.best.high))
    assert Card(found.regime, "not run").dots_limit == 1.0
    assert not math.isnan(card.dots_limit)
