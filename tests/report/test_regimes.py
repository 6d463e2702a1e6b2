"""Each data set belongs to one regime, by a rule over its facts."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drmbench.data.catalogue import load_catalogue
from drmbench.errors import InputError
from drmbench.metrics import get_metric
from drmbench.report.regimes import REGIMES, DatasetFacts, get_regime, regime_of

CATALOGUE = load_catalogue()
REGIME = {entry.name: regime_of(DatasetFacts.of(entry)).name for entry in CATALOGUE}


def test_every_catalogued_set_has_a_regime_and_the_counts_are_these():
    assert Counter(REGIME.values()) == {
        "rare": 100,
        "wide": 44,
        "images": 9,
        "large": 8,
        "low": 31,
    }


def test_the_collections_of_the_catalogue_are_where_one_looks_for_them():
    where = {
        group: {REGIME[entry.name] for entry in CATALOGUE.group(group)}
        for group in CATALOGUE.groups
    }
    assert where == {
        "gene": {"wide"},
        "face": {"images"},
        "uci": {"images", "low"},
        "large": {"large"},
        "keel": {"rare"},
        "compcancer": {"wide", "low"},  # chen-2002 has 85 features of 179 samples
        "keel-imbalanced": {"rare"},
        "keel-standard": {"low"},
        "extra": {"wide", "images", "large"},
        "synthetic": {"low"},
    }


def test_the_small_regimes_set_by_set():
    sets = {name: {s for s in REGIME if REGIME[s] == name} for name in REGIME.values()}
    standard = {entry.name for entry in CATALOGUE.group("keel-standard")}
    classics = {"iris", "wine", "tic-tac-toe", "chen-2002"}
    assert sets["low"] == standard | classics | {"synthetic"}
    digits = {"optdigits", "pendigits", "semeion"}
    assert sets["images"] == digits | {"orl", "eyaleb", "ar", "pix", "jaffe", "yale"}
    assert sets["large"] == {
        *("poker", "ijcnn1", "sensit-acoustic", "sensit-seismic", "shuttle"),
        *("letter", "magic", "poker-full"),
    }


@pytest.mark.parametrize(
    ("facts", "regime"),
    [
        # Each bound from both sides.
        (DatasetFacts("a", 10_000, 5, 2), "low"),
        (DatasetFacts("a", 10_001, 5, 2), "large"),
        (DatasetFacts("a", 100, 100, 2), "low"),
        (DatasetFacts("a", 100, 101, 2), "wide"),
        (DatasetFacts("a", 100, 5, 2, 2.99), "low"),
        (DatasetFacts("a", 100, 5, 2, 3.0), "rare"),
        # What comes first: images, then size, then width, then a rare class.
        (DatasetFacts("orl", 20_000, 30_000, 2, 9.0), "images"),
        (DatasetFacts("a", 20_000, 30_000, 2, 9.0), "large"),
        (DatasetFacts("a", 100, 300, 2, 9.0, ("keel-imbalanced",)), "wide"),
        (DatasetFacts("a", 100, 5, 2, 1.9, ("keel-imbalanced",)), "rare"),
    ],
)
def test_the_rule(facts, regime):
    assert regime_of(facts).name == regime


@given(
    st.integers(2, 200_000),
    st.integers(1, 60_000),
    st.floats(1, 1e5) | st.just(math.nan),
)
def test_no_data_set_is_without_a_regime(n, p, ratio):
    assert regime_of(DatasetFacts("mine", n, p, 2, ratio)) in REGIMES


def test_a_run_is_judged_by_what_was_run():
    known = {"n": 214, "p": 9, "classes": 2, "class_counts": {"a": 138, "b": 76}}
    assert regime_of(DatasetFacts.of_run("glass1", known)).name == "rare"
    # Somebody's own table of the same name is not KEEL's.
    own = {**known, "n": 200}
    assert DatasetFacts.of_run("glass1", own).collections == ()
    assert regime_of(DatasetFacts.of_run("glass1", own)).name == "low"
    assert math.isnan(DatasetFacts.of_run("mine", {**own, "class_counts": None}).ratio)


def test_regimes_are_found_by_name():
    assert [get_regime(regime.name) for regime in REGIMES] == list(REGIMES)
    for regime in REGIMES:
        assert get_metric(regime.metric, scalar=True)
    with pytest.raises(InputError, match="Did you mean 'images'"):
        get_regime("image")
