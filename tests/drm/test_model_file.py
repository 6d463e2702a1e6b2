"""Models in files: what is written comes back, and nothing else is accepted."""

from __future__ import annotations

import json
import pickle
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drmbench import LinearDRMClassifier, __version__
from drmbench.drm.model_file import load_model, save_model
from drmbench.errors import InputError


def fitted(labels: Any = (0, 1, 2)) -> tuple[Any, LinearDRMClassifier]:
    rng = np.random.default_rng(0)
    y = np.arange(30) % len(labels)
    X = rng.normal(size=(30, 3)) + 2 * np.eye(3)[y]
    return X, LinearDRMClassifier(alpha=0.5, beta=0.1).fit(X, np.asarray(labels)[y])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    _, model = fitted()
    path = tmp_path / "a.model"
    save_model(path, model, feature_names=("x", "y", "z"), scale=np.array([1, 2, 4.0]))
    return path


@pytest.mark.parametrize(
    "labels",
    [
        (0, 1, 2),
        (-1.0, 0.0, 2.0),
        ("no", "maybe", "größer, 日本"),
        np.array(["no", "maybe", "yes"], dtype=object),
        (False, True),
    ],
)
def test_a_model_predicts_as_before(tmp_path: Path, labels: Any) -> None:
    X, model = fitted(labels)
    save_model(tmp_path / "a.model", model)
    stored = load_model(tmp_path / "a.model")
    assert np.array_equal(stored.predict(X), model.predict(X))
    assert np.array_equal(
        stored.classifier.dissimilarities(X), model.dissimilarities(X)
    )
    assert stored.classifier.get_params() == model.get_params()
    assert (model.alpha, model.beta, model.class_weight) == (0.5, 0.1, None)
    assert stored.n_features == 3
    assert (stored.scale, stored.feature_names, stored.target) == (None, None, None)


def test_names_and_scale_come_back_and_are_used(tmp_path: Path) -> None:
    X, model = fitted()
    scale = np.array([1.0, 2.0, 4.0])
    save_model(
        tmp_path / "a.model",
        model,
        feature_names=["x", "y", "z"],
        class_names=["zero", "one", "two"],
        scale=scale,
        target="kind",
    )
    stored = load_model(tmp_path / "a.model")
    expected = np.array(["zero", "one", "two"])[model.predict(X)]
    assert np.array_equal(stored.predict(X * scale), expected)
    assert stored.feature_names == ("x", "y", "z")
    assert stored.target == "kind"


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_weights_come_back_and_a_stream_goes_on(
    tmp_path: Path, class_weight: Any
) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 4 % 3
    weights = rng.exponential(size=40)
    whole = LinearDRMClassifier(class_weight=class_weight).fit(X, y, weights)
    first = LinearDRMClassifier(class_weight=class_weight)
    first.fit(X[:25], y[:25], weights[:25])
    save_model(tmp_path / "a.model", first)
    loaded = load_model(tmp_path / "a.model").classifier
    assert np.array_equal(loaded.class_mass_, first.class_mass_)
    assert np.array_equal(loaded.class_weight_, first.class_weight_)
    assert np.array_equal(loaded.dissimilarities(X), first.dissimilarities(X))
    loaded.partial_fit(X[25:], y[25:], sample_weight=weights[25:])
    assert np.allclose(loaded.dissimilarities(X), whole.dissimilarities(X), rtol=1e-10)


def test_a_file_of_version_1_is_read(tmp_path: Path) -> None:
    """What drmbench 0.1.0 wrote: counts, and no masses or class weights."""
    X, model = fitted()
    about = {"format": "drmbench linear DRM", "version": 1, "drmbench": "0.1.0"}
    about |= {"alpha": 0.5, "beta": 0.1, "feature_names": None, "class_names": None}
    np.savez(
        tmp_path / "old.npz",
        allow_pickle=False,
        about=np.array(json.dumps({**about, "target": None})),
        classes=model.classes_,
        sums=model.sums_,
        counts=model.class_count_,
    )
    old = load_model(tmp_path / "old.npz").classifier
    assert np.array_equal(old.dissimilarities(X), model.dissimilarities(X))
    assert np.array_equal(old.class_mass_, [10.0, 10.0, 10.0])


def test_a_loaded_model_can_be_fitted_on(path: Path) -> None:
    X, model = fitted()
    y = np.arange(30) % 3
    more = load_model(path).classifier.partial_fit(X, y)
    assert np.array_equal(more.class_count_, [20, 20, 20])
    assert np.allclose(more.sums_, 2 * model.sums_)


def test_the_file_holds_arrays_and_json_only(path: Path) -> None:
    with np.load(path, allow_pickle=False) as archive:
        about = json.loads(str(archive["about"]))
        assert set(archive.files) == {
            *("about", "classes", "sums", "counts", "masses", "scale")
        }
    assert about["version"] == 2
    assert about["drmbench"] == __version__


def altered(path: Path, **changes: Any) -> Path:
    """Return a copy with other arrays (None removes one) or entries of the JSON."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(str(arrays["about"]))
    for key, value in changes.items():
        if key in arrays:
            arrays[key] = value
        else:
            about[key] = value
    if "about" not in changes:
        arrays["about"] = np.array(json.dumps(about))
    kept = {name: value for name, value in arrays.items() if value is not None}
    other = path.with_name("b.model")
    with other.open("wb") as stream:
        np.savez(stream, **kept)
    return other


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"format": "other"}, "not a model file of drmbench"),
        ({"about": np.array("[1]")}, "not a model file of drmbench"),
        ({"about": np.array("{")}, "not a readable model file"),
        ({"about": None}, "not a readable model file"),
        ({"version": 3}, "reads up to version 2: update it"),
        ({"version": "1"}, "a model file of version '1'"),
        ({"classes": np.array([0, {}, "x"], dtype=object)}, "not a readable model"),
        ({"classes": np.array([2, 1, 0])}, "do not fit together"),
        ({"classes": np.array([0, 1])}, "do not fit together"),
        ({"sums": np.ones((3, 3, 2))}, "do not fit together"),
        ({"sums": np.full((3, 3, 3), np.nan)}, "do not fit together"),
        ({"sums": np.float64(1)}, "damaged model file"),
        ({"sums": None}, "damaged model file ('sums')"),
        ({"counts": np.array([1, 2, -3])}, "do not fit together"),
        ({"counts": np.array([0, 0, 0])}, "do not fit together"),
        ({"masses": None}, "damaged model file ('masses')"),
        ({"masses": np.ones(2)}, "do not fit together"),
        ({"masses": np.array([10, 10, 10])}, "do not fit together"),
        ({"masses": np.array([1.0, np.inf, 1.0])}, "do not fit together"),
        ({"masses": np.array([1.0, -1.0, 1.0])}, "do not fit together"),
        ({"masses": np.array([1.0, 0.0, 1.0])}, "do not fit together"),
        ({"class_weight": [1.0, 2.0]}, "class_weight is not one number per class"),
        ({"class_weight": "heavy"}, "class_weight is not one number per class"),
        ({"class_weight": [1.0, 2.0, -1.0]}, "class weight of 2 must be a finite"),
        ({"class_weight": [1.0, 2.0, "x"]}, "class weight of 2 must be a finite"),
        ({"scale": np.array([1.0, 0.0, 1.0])}, "do not fit together"),
        ({"scale": np.ones(2)}, "do not fit together"),
        ({"alpha": -1.0}, "alpha must be a finite number >= 0"),
        ({"alpha": float("nan")}, "alpha must be a finite number >= 0"),
        ({"alpha": 10**400}, "a damaged model file (int too large"),
        ({"alpha": True}, "alpha must be a number"),
        ({"alpha": [1.0]}, "alpha must be a number"),
        ({"alpha": None}, "alpha must be a number"),
        ({"beta": "1"}, "beta must be a number"),
        ({"beta": 0}, "beta must be a finite number > 0"),
        ({"beta": float("inf")}, "beta must be a finite number > 0"),
        ({"beta": 10**400}, "a damaged model file (int too large"),
        ({"intercept_scaling": 10**400}, "a damaged model file (int too large"),
        ({"intercept_scaling": "1"}, "intercept_scaling must be a number"),
        ({"class_weight": [1.0, 2.0, 10**400]}, "a damaged model file (int too large"),
        ({"version": True}, "a model file of version True"),
        ({"feature_names": ["x", "x", "z"]}, "feature_names are not 3 different"),
        ({"class_names": [1, 2, 3]}, "class_names are not 3 different"),
    ],
)
def test_files_that_are_no_models_are_refused(
    path: Path, changes: dict[str, Any], expected: str
) -> None:
    assert expected in refusal(altered(path, **changes))


def claimed(shape: tuple[int, ...]) -> bytes:
    """Return an array's file with a header and no element."""
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    text = repr(header).encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [claimed((2**14, 2**15)), claimed((10**9, 10**9)), bytes(2**27)],
    ids=["4 GB", "10^18 elements", "a bomb"],
)
def test_what_a_file_claims_takes_no_memory(path: Path, content: bytes) -> None:
    other = path.with_name("b.model")
    with (
        zipfile.ZipFile(path) as old,
        zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, content if name == "sums.npy" else old.read(name))
    assert other.stat().st_size < 2**20
    tracemalloc.start()
    try:
        assert "not a readable model file" in refusal(other)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_other_files_are_refused(path: Path, tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none.model")
    assert "no such file" in refusal(tmp_path)
    other = tmp_path / "c.model"
    for content in (b"", b"a,b\n1,2\n", pickle.dumps({"a": 1}), b"\x93NUMPY\x01"):
        other.write_bytes(content)
        assert "not a readable model file" in refusal(other)
    with other.open("wb") as stream:
        np.save(stream, np.ones(3))
    assert "not a readable model file" in refusal(other)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("about.npy", "text")
    assert "not a readable model file" in refusal(other)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.floats(0, 1), st.integers(0, 255), st.booleans())
def test_a_damaged_file_is_refused_or_whole(
    path: Path, place: float, byte: int, cut: bool
) -> None:
    content = bytearray(path.read_bytes())
    position = int(place * (len(content) - 1))
    if cut:
        del content[position:]
    else:
        content[position] = byte
    other = path.with_name("damaged.model")
    other.write_bytes(content)
    try:
        model = load_model(other)
    except InputError:
        return
    X, expected = fitted()
    assert np.array_equal(model.predict(X * [1, 2, 4]), expected.predict(X))


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    _, model = fitted()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        save_model(tmp_path / "file" / "a.model", model)
    model.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(InputError, match="use numbers or text"):
        save_model(tmp_path / "a.model", model)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
