from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
import yaml

from drmbench.data import paths
from drmbench.data.catalogue import Catalogue, DatasetEntry, load_catalogue
from drmbench.data.fetch import damage
from drmbench.data.readers import reader_names
from drmbench.errors import CheckFailedError, InputError

# The paper's Table 2 (with the corrections of leukemia and nakayama) and Table 4:
# samples, features, classes, training and test sizes.
TABLE_2 = {
    "gcm": (189, 16036, 14, 150, 39),
    "lung": (181, 12533, 2, 137, 44),
    "sun": (180, 54613, 4, 137, 43),
    "prostate": (136, 12600, 2, 103, 33),
    "ramaswamy": (198, 16063, 14, 154, 44),
    "leukemia": (72, 7129, 2, 64, 8),
    "nci": (60, 9712, 9, 47, 13),
    "nakayama": (105, 22283, 10, 84, 21),
    "eyaleb": (2414, 1024, 38, 1814, 600),
    "ar": (1300, 1024, 50, 1050, 250),
    "pix": (100, 10000, 10, 80, 20),
    "jaffe": (213, 676, 10, 172, 41),
    "yale": (165, 1024, 15, 135, 30),
    "optdigits": (1797, 64, 10, 1352, 445),
    "pendigits": (10992, 16, 10, 1575, 9417),
    "semeion": (1593, 256, 10, 1279, 314),
    "iris": (150, 4, 3, 114, 36),
    "wine": (178, 13, 3, 135, 43),
    "tic-tac-toe": (958, 9, 2, 719, 239),
    "poker": (1025010, 10, 10, 25010, 1000000),
    "ijcnn1": (141691, 22, 2, 49990, 91701),
    "sensit-acoustic": (98528, 50, 3, 78823, 19705),
    "sensit-seismic": (98528, 50, 3, 78823, 19705),
    "shuttle": (58000, 9, 7, 43500, 14500),
}
# Table 7: features, samples, imbalance ratio (glass4 corrected, it is printed 3.98).
TABLE_7 = {
    "haberman": (3, 306, 2.78),
    "yeast-2_vs_4": (8, 514, 9.08),
    "ecoli1": (7, 336, 3.36),
    "yeast-0-5-6-7-9_vs_4": (8, 528, 9.35),
    "glass4": (9, 214, 15.46),
    "glass2": (9, 214, 11.59),
    "new-thyroid2": (5, 215, 5.14),
    "cleveland-0_vs_4": (13, 173, 12.31),
    "ecoli2": (7, 336, 5.46),
    "yeast-1_vs_7": (7, 459, 14.30),
    "glass6": (9, 214, 6.38),
    "ecoli4": (7, 336, 15.80),
    "yeast3": (8, 1484, 8.10),
    "page-blocks-1-3_vs_4": (10, 472, 15.86),
    "ecoli3": (7, 336, 8.60),
}
OTHER_SIZE = {"gcm", "poker"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def test_every_entry_is_valid(catalogue: Catalogue) -> None:
    assert catalogue.problems() == []


def test_groups_are_complete(catalogue: Catalogue) -> None:
    sizes = {group: len(catalogue.group(group)) for group in catalogue.groups}
    assert sizes == {
        "gene": 8,
        "face": 5,
        "uci": 6,
        "large": 5,
        "keel": 15,
        "compcancer": 35,
        "keel-imbalanced": 100,
        "keel-standard": 26,
        "extra": 6,
        "synthetic": 1,
    }
    extra = {entry.name for entry in catalogue.group("extra")}
    assert extra == {"nci60", "khan", "orl", "letter", "magic", "poker-full"}


def test_the_papers_sets_are_exactly_these(catalogue: Catalogue) -> None:
    used = {entry.name for entry in catalogue if entry.paper}
    assert used == set(TABLE_2) | set(TABLE_7)
    assert len(used) == 39


@pytest.mark.parametrize("name", TABLE_2)
def test_sizes_are_those_of_the_paper(catalogue: Catalogue, name: str) -> None:
    entry = catalogue.entry(name)
    n, p, classes, train, test = TABLE_2[name]
    assert entry.paper is not None
    assert (entry.classes, entry.paper.train, entry.paper.test) == (
        classes,
        train,
        test,
    )
    if name in OTHER_SIZE:
        assert entry.matches_paper is False
    else:
        assert (entry.n, entry.p) == (n, p)


@pytest.mark.parametrize("name", TABLE_7)
def test_imbalance_is_that_of_the_paper(catalogue: Catalogue, name: str) -> None:
    entry = catalogue.entry(name)
    assert (entry.p, entry.n) == TABLE_7[name][:2]
    assert entry.imbalance_ratio == pytest.approx(TABLE_7[name][2], abs=0.0051)
    assert list(entry.class_counts or {}) == ["negative", "positive"]
    assert entry.paper is not None
    assert entry.paper.split == "folds"


def test_what_differs_from_the_paper_says_why(catalogue: Catalogue) -> None:
    differing = {e.name: e.difference for e in catalogue if e.matches_paper is False}
    assert set(differing) == {"gcm", "nakayama", "ar", "poker"}
    assert "105" in differing["nakayama"]
    assert "reconstruction" in differing["ar"]
    assert "100,000" in differing["poker"]


def test_names_in_the_paper_are_told_apart(catalogue: Catalogue) -> None:
    spellings = [name for e in catalogue if e.paper for name in e.paper.names]
    assert len(spellings) == len(set(spellings))
    assert {"Optical pen", "Opticalpen", "yeast-0579vs4", "IJCNN1"} <= set(spellings)


def test_only_known_files_lack_a_checksum(catalogue: Catalogue) -> None:
    open_files = {
        entry.name
        for entry in catalogue
        for source in entry.sources
        for artifact in source.artifacts
        if artifact.checksum is None
    }
    assert open_files == {"gcm", "sensit-acoustic", "sensit-seismic"}


def test_every_file_is_pinned_or_marked(catalogue: Catalogue) -> None:
    files = {
        artifact.name: artifact
        for entry in catalogue
        for source in entry.sources
        for artifact in source.artifacts
    }
    weak = {name: file.pin for name, file in files.items() if file.pin != "sha256"}
    assert len(files) == 116
    assert weak == {
        "gcm/GCM_Training.res": "git-sha1",
        "gcm/GCM_Training.cls": "first use",
        "gcm/GCM_Test.res": "git-sha1",
        "gcm/GCM_Test.cls": "first use",
        "sun.RData": "git-sha1",
        "14cancer/14cancer.xtrain": "git-sha1",
        "14cancer/14cancer.xtest": "git-sha1",
        "14cancer/14cancer.ytest": "git-sha1",
        "sensit/acoustic.bz2": "first use",
        "sensit/acoustic.t.bz2": "first use",
        "sensit/seismic.bz2": "first use",
        "sensit/seismic.t.bz2": "first use",
    }
    readme = paths.catalogue_file("README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in weak)


def test_a_set_is_as_weakly_pinned_as_its_weakest_file(catalogue: Catalogue) -> None:
    pins = {entry.name: entry.pin for entry in catalogue}
    assert {name for name, pin in pins.items() if pin is None} == {
        "optdigits",
        "iris",
        "wine",
        "synthetic",
    }
    assert pins["gcm"] == pins["sensit-seismic"] == "first use"
    assert pins["sun"] == pins["ramaswamy"] == "git-sha1"
    assert pins["haberman"] == "sha256"


@pytest.mark.mirror
def test_the_mirror_has_the_files_of_the_catalogue(catalogue: Catalogue) -> None:
    mirror = Path(os.environ["DRMBENCH_MIRROR"])
    checked = 0
    for entry in catalogue:
        for source in entry.sources:
            for artifact in source.artifacts:
                path = mirror / artifact.name
                if path.is_file():
                    assert damage(path, artifact) is None
                    checked += 1
    assert checked > 80


def test_label_files_have_the_classes_of_the_other_form() -> None:
    """14cancer.ytrain is GCM_Training.cls, counted from 1: what its SHA-256 is of."""
    sizes = [8, 8, 8, 8, 16, 8, 8, 8, 24, 8, 8, 8, 8, 16]
    labels = [str(k) for k, size in enumerate(sizes, start=1) for _ in range(size)]
    content = f" {' '.join(labels)}\n".encode()
    blob = b"blob %d\0" % len(content) + content
    assert hashlib.sha1(blob).hexdigest() == "17a2c180f76bea79aae23d2f33507f93275bf936"
    (file,) = (
        artifact
        for artifact in load_catalogue().entry("ramaswamy").sources[0].artifacts
        if artifact.name.endswith("ytrain")
    )
    assert file.checksum == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert file.size == len(content)


def test_counts_are_missing_only_where_no_file_was_seen(catalogue: Catalogue) -> None:
    unknown = {entry.name for entry in catalogue if entry.class_counts is None}
    public_only = {"sun", "ramaswamy", "sensit-acoustic", "sensit-seismic"}
    assert unknown == public_only | {"synthetic"}


def test_every_reader_exists(catalogue: Catalogue) -> None:
    named = {source.reader for entry in catalogue for source in entry.sources}
    assert named - {""} <= set(reader_names())


def test_every_citation_is_used() -> None:
    document = yaml.safe_load(paths.catalogue_file("registry.yaml").read_text("utf-8"))
    used = {
        key
        for entry in document["datasets"].values()
        for key in entry.get("citation", [])
    }
    assert used == set(document["citations"])


def test_everything_but_synthetic_has_citation_and_licence(
    catalogue: Catalogue,
) -> None:
    for entry in catalogue:
        assert entry.licence, entry.name
        assert entry.citation or entry.name == "synthetic", entry.name


def test_substitutes_are_real_sets_of_wheels(catalogue: Catalogue) -> None:
    relatives = {e.name: e.substitute.dataset for e in catalogue if e.substitute}
    assert relatives == {
        "leukemia": "golub-1999-v1",
        "lung": "gordon-2002",
        "prostate": "singh-2002",
        "gcm": "ramaswamy-2001",
        "nci": "nci60",
    }


def test_unknown_names_get_a_hint(catalogue: Catalogue) -> None:
    with pytest.raises(InputError, match="Did you mean 'haberman'"):
        catalogue.entry("habermann")
    with pytest.raises(InputError, match=r"Did you mean 'keel'.*Groups: gene"):
        catalogue.group("kel")


def test_installed_copies_lie_in_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paths, "checkout_root", lambda: None)
    found = paths.catalogue_file("registry.yaml")
    assert found.parts[-4:] == ("drmbench", "data", "catalogue", "registry.yaml")


MINIMAL = """\
groups: {small: test sets}
wheels:
  tiny:
    version: "1.0.0"
    file: tiny.whl
    sha256: {digits}
    bytes: 10
citations: {ours: us}
datasets:
  first:
    title: First
    groups: [small]
    n: 3
    p: 2
    classes: 2
    class_counts: {a: 1, b: 2}
    citation: [ours]
    licence: none
    sources:
      - wheel: tiny
        members: [data.csv]
        reader: delimited
""".replace("{digits}", "a" * 64)


def build(tmp_path: Path, old: str = "", new: str = "") -> Catalogue:
    assert old in MINIMAL
    path = tmp_path / "registry.yaml"
    path.write_text(MINIMAL.replace(old, new) if old else MINIMAL, encoding="utf-8")
    return Catalogue(path)


def test_a_minimal_catalogue_is_valid(tmp_path: Path) -> None:
    catalogue = build(tmp_path)
    assert catalogue.problems() == []
    entry: DatasetEntry = catalogue.entry("first")
    assert entry.sources[0].artifacts[0].requirement == "tiny==1.0.0"
    assert entry.sources[0].label == "wheel tiny 1.0.0"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    n: 3", "    n: 4", "class_counts has 2 classes and 3 samples"),
        ("    n: 3", "    n: many", "'n' must be int"),
        ("    n: 3\n", "", "lacks 'n'"),
        ("licence: none", "license: none", "lacks 'licence'"),
        ("classes: 2", "classes: 2\n    fold: true", "'fold'. Did you mean 'folds'"),
        ("[small]", "[smal]", "unknown group 'smal'. Did you mean 'small'"),
        ("[ours]", "[your]", "no citation 'your'. Did you mean 'ours'"),
        ("[ours]", "[ours]\n    origin: odd", "there is no origin 'odd'"),
        ("[ours]", "[ours]\n    in_paper: 1", "'in_paper' must be bool, not 1"),
        ("wheel: tiny", "wheel: tony", "no wheel 'tony'. Did you mean 'tiny'"),
        ("        reader: delimited\n", "", "must name its 'reader'"),
        ("        members: [data.csv]\n", "", "must name the 'members'"),
        ("a" * 64, "a" * 63, "is not a sha256 checksum"),
        (
            "reader: delimited",
            "reader: delimited\n        rows: odd",
            "'rows' is 'odd'",
        ),
        ("{a: 1, b: 2}", "{a: 0, b: 3}", "the count of class 'a' is 0"),
        ("{a: 1, b: 2}", "{a: x, b: 3}", "the count of class 'a' is 'x'"),
        ("classes: 2", "classes: 2\n    fold:", "'fold'. Did you mean 'folds'"),
        ("    bytes: 10\n", "", "the wheel tiny lacks 'bytes'"),
        ("    bytes: 10", "    bytes: 1.5", "'bytes' must be int, not 1.5"),
        ("    title: First\n", "    title:\n", "lacks 'title'"),
        ("[data.csv]", "data.csv", "'members' must be list, not 'data.csv'"),
        ("classes: 2", "classes: 2\n    given_split: 3", "'given_split' is 3 of 3"),
        (
            "classes: 2",
            "classes: 2\n    matches_paper: true",
            "'paper' and 'matches_paper' belong together",
        ),
        (
            "classes: 2",
            "classes: 2\n    matches_paper: false\n"
            "    paper: {names: [x], split: random}",
            "'difference' does not say why",
        ),
        (
            "classes: 2",
            "classes: 2\n    matches_paper: true\n"
            "    paper: {names: [x], split: random, train: 1, test: 1}",
            "the paper's sizes give 2, but 'n' is 3",
        ),
        (
            "classes: 2",
            "classes: 2\n    matches_paper: true\n    paper: {names: [x], split: odd}",
            "'split' is 'odd'",
        ),
        (
            "wheel: tiny",
            "wheel: tiny\n        package: scikit-learn",
            "exactly one of 'files', 'wheel' and 'package'",
        ),
        (
            "classes: 2",
            "classes: 2\n    substitute: {dataset: second, note: x}",
            "its substitute 'second' is not in the catalogue",
        ),
        (
            "classes: 2",
            "classes: 2\n    parameters: {n: 1}",
            "either 'sources' or 'parameters'",
        ),
    ],
)
def test_mistakes_are_told_with_their_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (problem,) = build(tmp_path, old, new).problems()
    assert message in problem
    line = 9 if old.startswith("    bytes") and not new else 10
    assert problem.startswith(f"{tmp_path / 'registry.yaml'}:{line}: first: ")


@pytest.mark.parametrize(
    ("origins", "message"),
    [
        ("{ours: {title: Ours}}", "the origin ours lacks 'basis'"),
        ("{our: {title: Ours, basis: x}}", "'ours'. Did you mean 'our'"),
        ("{ours: {title: Ours, basis: x, who: us}}", "the origin ours has an unknown"),
    ],
)
def test_mistakes_in_origins_are_told(
    tmp_path: Path, origins: str, message: str
) -> None:
    new = f"origins: {origins}\ndatasets:\n  first:\n    origin: ours"
    (problem,) = build(tmp_path, "datasets:\n  first:", new).problems()
    assert message in problem


def test_broken_yaml_is_told(tmp_path: Path) -> None:
    with pytest.raises(CheckFailedError, match=r"not valid YAML(.|\n)*line 10"):
        build(tmp_path, "  first:", "  first: [")
