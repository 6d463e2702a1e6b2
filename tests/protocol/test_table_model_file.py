"""Models in files: every method comes back as it was, and nothing else comes back."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from skops.io import get_untrusted_types

from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.new_rows import Feature
from drmbench.errors import InputError
from drmbench.methods.base import class_scores
from drmbench.methods.registry import builtin_names, get_method
from drmbench.methods.registry import with_overrides as overridden
from drmbench.protocol import safe_objects, table_model_file
from drmbench.protocol.protocol import Protocol, SelectionPlan
from drmbench.protocol.safe_objects import (
    TRUSTED,
    dump_object,
    foreign_types,
    load_object,
)
from drmbench.protocol.table_model import TableModel, fit_table_model
from drmbench.protocol.table_model_file import (
    is_table_model,
    load_table_model,
    save_table_model,
    versions_here,
)

FEATURES = [Feature("a"), Feature("b"), Feature("city", ("bonn", "köln", "ulm"))]
#: Types that no method of the registry has on complete numbers.
ELSEWHERE = {"drmbench.protocol.preparation.TablePreparation"}


def problem() -> Dataset:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + 2.0 * np.eye(3)[y]
    X[:, 2] = rng.integers(3, size=90)
    names = ("no", "rare", "yes")
    return Dataset("mine", X, y, names, Provenance("file"), ("a", "b", "city"), (2,))


def protocol(scaling: Any = "honest") -> Protocol:
    return Protocol(SelectionPlan("kfold", "gmean", k=3), scaling, seed=5)


def fitted(name: str, **params: Any) -> TableModel:
    method = overridden(get_method(name), params=params)
    provenance = {"versions": versions_here()}
    model, _ = fit_table_model(
        *(problem(), method, protocol(), FEATURES), target="kind", provenance=provenance
    )
    return model


#: Large ensembles are of the same types when they are small.
SMALL = {"n_estimators": 5, "max_iter": 5}


def estimator_of(name: str) -> Any:
    method = get_method(name)
    candidates = method.candidates()
    params = dict(candidates[len(candidates) // 2])
    large = method.family not in ("svm", "logistic")
    params |= {k: v for k, v in SMALL.items() if k in params and large}
    data = problem()
    return method.build(params, 3).fit(data.X, data.y)


@cache
def types_of(name: str) -> frozenset[str]:
    """Write and read an estimator, compare, and return what it took trust for."""
    model, X = estimator_of(name), problem().X
    data = dump_object(model)
    again = load_object(data)
    assert np.array_equal(model.predict(X), again.predict(X))
    if hasattr(model, "decision_function") or hasattr(model, "predict_proba"):
        before, after = (class_scores(m, X, "scores") for m in (model, again))
        assert np.array_equal(before, after)
    return frozenset(get_untrusted_types(data=data))


@pytest.mark.parametrize("name", builtin_names())
def test_every_method_comes_back_as_it_was(name: str) -> None:
    assert types_of(name) <= set(TRUSTED)


def test_no_more_types_are_trusted_than_methods_need() -> None:
    needed = set().union(*map(types_of, builtin_names()))
    calibrated = fitted("knn-euclidean").calibrated or fitted("svm-rbf").calibrated
    needed |= set(get_untrusted_types(data=dump_object(calibrated)))
    drmbenchs = {name for name in TRUSTED if name.startswith("drmbench.")}
    assert drmbenchs - needed == ELSEWHERE & drmbenchs
    for name in set(TRUSTED) - needed - ELSEWHERE:
        assert name.startswith("sklearn."), name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.model"


def test_a_model_comes_back_with_all_it_needs(path: Path) -> None:
    model, X = fitted("svm-rbf"), problem().X
    assert save_table_model(path, model) == ()
    assert is_table_model(path)
    loaded = load_table_model(path)
    again = loaded.model
    assert loaded.remarks == ()
    assert again.features == tuple(FEATURES)
    assert again.class_names == ("no", "rare", "yes")
    assert again.target == "kind"
    assert again.predict(X).tolist() == model.predict(X).tolist()
    for needs in ("scores", "probabilities"):
        before, after = (m.values(X, needs) for m in (model, again))  # type: ignore[arg-type]
        assert np.array_equal(before, after)
    assert np.allclose(again.values(X, "probabilities").sum(axis=1), 1.0)


def test_rows_are_predicted_as_the_training_scales_say(path: Path) -> None:
    data = problem()
    method = overridden(get_method("knn-euclidean"), params={"n_neighbors": 3})
    model, trained = fit_table_model(data, method, protocol("maxabs"), FEATURES)
    estimator = method.build(trained.selection.params, 0)
    largest = np.abs(data.X).max(axis=0)
    estimator.fit(data.X / largest, data.y)
    new = np.random.default_rng(1).normal(size=(5000, 3))  # several batches
    expected = np.array(data.class_names)[estimator.predict(new / largest)]
    assert model.predict(new).tolist() == expected.tolist()


def test_no_model_scales_new_rows_by_themselves() -> None:
    with pytest.raises(InputError, match="which a model cannot do"):
        fit_table_model(problem(), get_method("nb"), protocol("paper"), FEATURES)


# ------------------------------------------------------------------- hostile files


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.write_text, (self.target, "executed")


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Change the members of a model file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def with_schema(objects: bytes, change: Callable[[Any], Any]) -> bytes:
    """Change the tree of types of an archive of skops."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(objects)) as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                content = json.dumps(change(json.loads(content))).encode()
            new.writestr(name, content)
    return out.getvalue()


def test_a_pickle_is_never_read(path: Path, tmp_path: Path) -> None:
    save_table_model(path, fitted("nb"))
    mark = tmp_path / "mark"
    bomb = pickle.dumps(Bomb(mark))
    array = io.BytesIO()
    np.save(array, np.array([Bomb(mark)], dtype=object), allow_pickle=True)

    def as_objects(members: dict[str, bytes]) -> None:
        members["objects.skops"] = bomb

    def as_about(members: dict[str, bytes]) -> None:
        members["about.json"] = bomb

    def as_arrays(members: dict[str, bytes]) -> None:
        out = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(members["objects.skops"])) as old,
            zipfile.ZipFile(out, "w") as new,
        ):
            for name in old.namelist():
                arrays = name.endswith(".npy")
                new.writestr(name, array.getvalue() if arrays else old.read(name))
        members["objects.skops"] = out.getvalue()

    whole = path.read_bytes()
    for change in (as_objects, as_about, as_arrays):
        path.write_bytes(whole)
        rewritten(path, change)
        with pytest.raises(InputError, match="a damaged model file"):
            load_table_model(path)
    pickle.loads(bomb)
    assert mark.read_text() == "executed", "the bomb would have worked"
    mark.unlink()
    path.write_bytes(whole)
    rewritten(path, as_arrays)
    with pytest.raises(InputError):
        load_table_model(path)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("module", "name", "loader"),
    [
        ("posix", "system", "FunctionNode"),
        ("builtins", "eval", "TypeNode"),
        ("subprocess", "Popen", "ObjectNode"),
        ("subprocess", "Popen", "ConstructorFromReduceNode"),
    ],
)
def test_what_is_not_trusted_is_named_and_not_built(
    path: Path, module: str, name: str, loader: str
) -> None:
    save_table_model(path, fitted("nb"))

    def change(members: dict[str, bytes]) -> None:
        node = {"__class__": name, "__module__": module, "__loader__": loader}
        words = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
        argument = {**words, "content": '"true"', "is_json": True}
        node["content"] = {  # type: ignore[assignment]
            **{"__class__": "tuple", "__module__": "builtins"},
            **{"__loader__": "TupleNode", "content": [argument]},
        }

        def swap(schema: Any) -> Any:
            schema["content"]["calibrated"] = node
            return schema

        members["objects.skops"] = with_schema(members["objects.skops"], swap)

    rewritten(path, change)
    with pytest.raises(InputError, match=f"{module}:{name}.*--trust"):
        load_table_model(path)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
    ],
)
@pytest.mark.parametrize("index", [10**6, 0])
def test_trees_that_point_outside_themselves_are_refused(
    model: Any, index: int
) -> None:
    data = problem()
    model.fit(data.X, data.y)
    load_object(dump_object(model))
    if isinstance(model, RandomForestClassifier):
        tree = model.estimators_[1].tree_
        state = tree.__getstate__()
        state["nodes"]["left_child"][0] = index
        tree.__setstate__(state)
    else:
        model._predictors[1][0].nodes["left"][0] = index
    with pytest.raises(ValueError, match="not sound"):
        load_object(dump_object(model))


@pytest.mark.parametrize("cap", ["MOST_MEMBERS", "MOST_BYTES"])
def test_archives_beyond_the_caps_are_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, cap: str
) -> None:
    save_table_model(path, fitted("nb"))
    load_table_model(path)
    monkeypatch.setattr(safe_objects, cap, 5)
    with pytest.raises(InputError, match="a damaged model file"):
        load_table_model(path)


def header_only(shape: tuple[int, ...]) -> bytes:
    """Return an array's file that has no element."""
    text = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def sparse_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", header_only((10**9, 10**9)))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("1.npy", header_only((2**14, 2**15))),
        ("1.npy", header_only((10**9, 10**9))),
        ("1.npz", sparse_bomb()),
        ("schema.json", b"[" + b" " * 2**22 + b"]"),
    ],
)
def test_members_are_checked_before_they_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    monkeypatch.setattr(safe_objects, "MOST_TEXT", 2**21)
    save_table_model(path, fitted("nb"))
    load_table_model(path)

    def change(members: dict[str, bytes]) -> None:
        out = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(members["objects.skops"])) as old,
            zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for member in old.namelist():
                if member != name:
                    new.writestr(member, old.read(member))
            new.writestr(name, content)
        members["objects.skops"] = out.getvalue()

    rewritten(path, change)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="a damaged model file"):
            load_table_model(path)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_sparse_matrices_are_still_read() -> None:
    matrix = csr_matrix(np.eye(3))
    data = dump_object({"kept": matrix, "n": 2**128})
    found = load_object(data, trust=foreign_types(data))
    assert (found["kept"] != matrix).nnz == 0
    assert found["n"] == 2**128


@pytest.mark.parametrize("key", ["alpha", "beta"])
@pytest.mark.parametrize(
    "value", ["1" + "0" * 400, "NaN", "-1", '"x"', "null", "[1]", "1e400"]
)
def test_parameters_that_no_fit_has_are_refused(
    path: Path, key: str, value: str
) -> None:
    save_table_model(path, fitted("drm-rbf"))
    changed: list[str] = []

    def put(node: Any) -> Any:
        for name, inner in node.items() if isinstance(node, dict) else ():
            if name == key and isinstance(inner, dict):
                changed.append(inner.get("content"))
                inner["content"] = value
            put(inner)
        for inner in node if isinstance(node, list) else ():
            put(inner)
        return node

    def change(members: dict[str, bytes]) -> None:
        members["objects.skops"] = with_schema(members["objects.skops"], put)

    rewritten(path, change)
    assert changed
    with pytest.raises(InputError, match="a damaged model file"):
        load_table_model(path)


def test_a_target_that_is_no_name_is_refused(path: Path) -> None:
    save_table_model(path, fitted("nb"))

    def change(members: dict[str, bytes]) -> None:
        about = json.loads(members["about.json"])
        members["about.json"] = json.dumps({**about, "target": ["a"]}).encode()

    rewritten(path, change)
    with pytest.raises(InputError, match="a damaged model file"):
        load_table_model(path)


def test_a_model_that_cannot_give_scores_says_so() -> None:
    model = replace(fitted("nb"), estimator=NoScores())
    for error in (OverflowError("too large"), ValueError("no"), TypeError("odd")):
        model.estimator.error = error
        with pytest.raises(InputError, match=f"there are no probabilities: {error}"):
            model.values(np.zeros((2, 3)), "probabilities")


class NoScores:
    """Raises when it is asked for probabilities."""

    error: Exception

    def predict_proba(self, X: Any) -> Any:
        raise self.error


def test_a_file_that_is_too_large_is_not_even_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_table_model(path, fitted("nb"))
    monkeypatch.setattr(table_model_file, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="a damaged model file"):
        load_table_model(path)


@cache
def saved_bytes() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        save_table_model(path, fitted("nb"))
        return path.read_bytes()


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.floats(0, 1, exclude_max=True), st.integers(1, 255), st.booleans())
def test_damage_is_told_or_harmless(
    path: Path, where: float, change: int, cut: bool
) -> None:
    content = bytearray(saved_bytes())
    place = int(where * len(content))
    if cut:
        del content[place:]
    else:
        content[place] ^= change
    path.write_bytes(content)
    try:
        model = load_table_model(path).model
    except InputError as error:
        said = str(error)
    else:
        X, said = problem().X, str(path)
        assert model.predict(X).tolist() == fitted("nb").predict(X).tolist()
    assert said.startswith(str(path))
    assert "\n" not in said


def about_changed(path: Path, change: Callable[[Any], None]) -> None:
    def rewrite(members: dict[str, bytes]) -> None:
        about = json.loads(members["about.json"])
        change(about)
        members["about.json"] = json.dumps(about).encode()

    rewritten(path, rewrite)


def test_another_version_of_a_library_is_told(path: Path) -> None:
    save_table_model(path, fitted("nb"))

    def older(about: Any) -> None:
        about["provenance"]["versions"]["scikit-learn"] = "1.0"

    about_changed(path, older)
    (remark,) = load_table_model(path).remarks
    assert "it was fitted with scikit-learn 1.0 (here is " in remark


def test_a_model_that_predicts_otherwise_is_refused(path: Path) -> None:
    model = fitted("nb")
    save_table_model(path, model)
    moved = replace(model, answers=(model.answers + 1) % 3)
    objects = dump_object(
        {name: getattr(moved, name) for name in table_model_file._OBJECT_FIELDS}
    )
    rewritten(path, lambda members: members.update({"objects.skops": objects}))
    with pytest.raises(InputError, match=r"predicts otherwise.*damaged"):
        load_table_model(path)
    with pytest.raises(InputError, match="read back it predicts otherwise"):
        save_table_model(path, moved)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("version", 99, "a model file of version 99"),
        ("format", "something", "not a model file of drmbench"),
        ("features", [["a", None]], "a damaged model file"),
        ("class_names", ["no", "yes"], "a damaged model file"),
        ("provenance", {}, "a damaged model file"),
    ],
)
def test_what_a_file_says_of_itself_is_checked(
    path: Path, key: str, value: Any, words: str
) -> None:
    save_table_model(path, fitted("nb"))
    about_changed(path, lambda about: about.update({key: value}))
    with pytest.raises(InputError, match=words):
        load_table_model(path)


def test_other_files_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a,b\n")
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    for name in ("text", "arrays.npz", "none", "."):
        assert not is_table_model(tmp_path / name)
