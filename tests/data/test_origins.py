"""Origins of the catalogue's sets, against their descriptions and their rows."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml
from support import wheel_paths

from drmbench.config import load_experiments
from drmbench.data import in_paper, load, origin_of
from drmbench.data.catalogue import load_catalogue
from drmbench.data.paths import catalogue_file

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
#: Of the paper's Table 8.
TABLE_8 = {
    "haberman",
    "ecoli1",
    "glass4",
    "new-thyroid2",
    "ecoli2",
    "glass6",
    "ecoli3",
    "yeast-2_vs_4",
    "yeast3",
    "yeast-0-5-6-7-9_vs_4",
    "glass2",
    "cleveland-0_vs_4",
    "yeast-1_vs_7",
    "ecoli4",
    "page-blocks-1-3_vs_4",
}
#: CompCancer's filtered tables of what the paper used unfiltered.
FILTERED = {
    "golub-1999-v1": "leukemia",
    "gordon-2002": "lung",
    "singh-2002": "prostate",
    "ramaswamy-2001": "gcm",
}
#: KEEL's own words for a data set, where its description is in a wheel.
KEEL_NAMES = {
    "Abalone": "abalone",
    "Car Evaluation": "car",
    "Cleveland": "cleveland",
    "Dermatology": "dermatology",
    "Ecoli": "ecoli",
    "Solar Flare": "flare",
    "Glass": "glass",
    "KDD Cup": "kddcup",
    "Chess - King-Rook vs. King": "kr-vs-k",
    "LED Display Domain": "led7digit",
    "Lymphography": "lymphography",
    "Page Blocks": "page-blocks",
    "Poker Hand": "poker",
    "Shuttle": "shuttle",
    "Statlog - Shuttle": "shuttle",
    "Vowel": "vowel",
    "Red Wine Quality": "wine-quality",
    "White Wine Quality": "wine-quality",
    "Yeast": "yeast",
    "Zoo": "zoo",
}
#: Sets without a description that have the rows of a set that has one, or of another.
SAME_ROWS = {
    "ecoli1": "ecoli4",
    "ecoli2": "ecoli4",
    "ecoli3": "ecoli4",
    "ecoli-0_vs_1": "ecoli4",
    "glass0": "glass5",
    "glass1": "glass5",
    "glass6": "glass5",
    "glass-0-1-2-3_vs_4-5-6": "glass5",
    "yeast1": "yeast4",
    "yeast3": "yeast4",
    "iris0": "iris",
    "new-thyroid1": "new-thyroid2",
    "new-thyroid2": "new-thyroid1",
    "page-blocks0": "page-blocks-1-3_vs_4",
    "vehicle0": "vehicle3",
    "vehicle1": "vehicle3",
    "vehicle2": "vehicle3",
    "vehicle3": "vehicle0",
}
#: Sets of the standard collection whose classes make imbalanced problems as well.
STANDARD_AND_IMBALANCED = {
    "led7digit": "led7digit-0-2-4-5-6-7-8-9_vs_1",
    "segment": "segment0",
    "vehicle": "vehicle0",
    "vowel": "vowel0",
}
#: Sets without a description and without relatives.
ALONE = {"haberman", "pima", "segment0", "wisconsin"}


def names(group: str) -> list[str]:
    return [entry.name for entry in load_catalogue().group(group)]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_every_set_of_a_config_has_an_origin(config: Path) -> None:
    text = catalogue_file("registry.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    for experiment in load_experiments([config]):
        for ref in experiment.datasets:
            origin = document["datasets"][ref.catalogue_name]["origin"]
            assert origin in document["origins"]
            assert origin_of(ref.catalogue_name) == origin


def test_every_origin_is_used_and_says_what_it_rests_on() -> None:
    text = catalogue_file("registry.yaml").read_text(encoding="utf-8")
    used = {entry.origin for entry in load_catalogue()}
    assert None not in used
    assert {origin.name for origin in used if origin} == set(
        yaml.safe_load(text)["origins"]
    )
    assert all(origin and origin.title and origin.basis for origin in used)


@pytest.mark.parametrize(
    ("group", "sets", "origins"),
    [
        ("keel-imbalanced", 100, 25),
        ("keel-standard", 26, 26),
        ("compcancer", 35, 25),
        ("keel", 15, 7),
        ("gene", 8, 7),
        ("face", 5, 5),
        ("uci", 6, 6),
        ("large", 5, 4),
    ],
)
def test_origins_of_a_collection(group: str, sets: int, origins: int) -> None:
    found = Counter(map(origin_of, names(group)))
    assert (found.total(), len(found)) == (sets, origins)


def test_keel_sets_by_origin() -> None:
    found = Counter(map(origin_of, names("keel-imbalanced")))
    assert found.most_common(5) == [
        ("ecoli", 19),
        ("yeast", 14),
        ("glass", 13),
        ("abalone", 7),
        ("wine-quality", 7),
    ]


def test_gene_sets_of_one_origin_cite_one_publication() -> None:
    text = catalogue_file("registry.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)["datasets"]
    genes = [*names("compcancer"), *names("gene"), "khan", "nci60"]
    for name in genes:
        assert origin_of(name) == document[name]["citation"][0]


def test_what_the_paper_used_is_marked() -> None:
    assert [name for name in names("keel-imbalanced") if in_paper(name)] == [
        name for name in names("keel-imbalanced") if name in TABLE_8
    ]
    assert len(TABLE_8) == 15
    assert {name for name in names("compcancer") if in_paper(name)} == set(FILTERED)
    for group in ("gene", "face", "uci", "large", "keel"):
        assert all(map(in_paper, names(group)))
    assert [name for name in names("extra") if in_paper(name)] == ["poker-full"]


def test_what_is_marked_has_its_origin_with_a_set_of_the_paper() -> None:
    used = {origin_of(entry.name) for entry in load_catalogue() if entry.paper}
    marked = {origin_of(entry.name) for entry in load_catalogue() if entry.in_paper}
    assert marked == used
    for name, full in FILTERED.items():
        assert origin_of(name) == origin_of(full)


@pytest.mark.wheels
def test_keel_describes_its_sets_as_the_catalogue_does() -> None:
    (wheel,) = (path for name, path in wheel_paths().items() if "common" in name)
    assert wheel is not None
    described = {}
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            name = Path(member).parent.name
            if member.endswith("names.txt") and name in names("keel-imbalanced"):
                text = " ".join(archive.read(member).decode("latin-1").split())
                found = re.search(r"mbalanced version of the (.+?) data set", text)
                assert found is not None
                described[name] = KEEL_NAMES[found[1]]
    assert {name: origin_of(name) for name in described} == described
    rest = set(names("keel-imbalanced")) - set(described)
    assert rest == set(SAME_ROWS) | ALONE


@pytest.mark.wheels
def test_sets_share_rows_within_their_origin_only() -> None:
    rows = {}
    # monk-2 is every combination of six small codes, those of cars and boards too.
    standard = [name for name in names("keel-standard") if name != "monk-2"]
    for name in [*names("keel-imbalanced"), *standard, "iris"]:
        X = np.round(load(name).X, 10) + 0.0
        rows[name] = {(X.shape[1], row.tobytes()) for row in X}

    def share(one: str, other: str) -> float:
        common = len(rows[one] & rows[other])
        return common / min(len(rows[one]), len(rows[other]))

    for one, other in combinations(rows, 2):
        if origin_of(one) != origin_of(other):
            # Codes of categories coincide: six small numbers of a car, six of a board.
            assert share(one, other) < 0.05, (one, other)
    assert share("heart", "cleveland-0_vs_4") > 0.4  # Statlog's are some of its rows
    for name, relative in [*SAME_ROWS.items(), *STANDARD_AND_IMBALANCED.items()]:
        assert origin_of(name) == origin_of(relative)
        assert share(name, relative) > 0.95, (name, relative)
