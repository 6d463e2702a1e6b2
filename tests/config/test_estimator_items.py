"""Classifiers of any package in a file: what they become, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sklearn
from own_packages import TOY, clean_imports
from support import REPOSITORY

from drmbench.config import (
    Experiment,
    MethodRef,
    experiment_identity,
    load_experiments,
    parse_experiment,
)
from drmbench.errors import CheckFailedError, InputError
from drmbench.methods.foreign import EstimatorSpec
from drmbench.methods.imports import checksum

EXAMPLE = REPOSITORY / "examples" / "own_methods.yaml"
SKLEARN = {"scikit-learn": sklearn.__version__}


@pytest.fixture(autouse=True)
def as_before(tmp_path: Path) -> Iterator[None]:
    with clean_imports(tmp_path):
        yield


def method(item: str, folder: Path = Path()) -> MethodRef:
    text = f"{{name: mine, datasets: [iris], methods: [{item}]}}"
    (ref,) = parse_experiment(text, source=folder / "mine.yaml").methods
    return ref


def test_every_key_arrives() -> None:
    ref = method(
        "{estimator: sklearn.svm.SVC, as: mine, steps: [standard,"
        " 'sklearn.decomposition:PCA'], params: {gamma: 0.5, pca__whiten: true},"
        " grid: {C: [1, 10]}}"
    )
    steps = (
        ("standard", "sklearn.preprocessing:StandardScaler"),
        ("pca", "sklearn.decomposition:PCA"),
    )
    assert ref == MethodRef(
        name="sklearn.svm:SVC",
        label="mine",
        grid={"C": [1, 10]},
        params={"gamma": 0.5, "pca__whiten": True},
        estimator=EstimatorSpec("sklearn.svm:SVC", steps),
        versions=SKLEARN,
    )
    assert ref.method().title == "mine"
    assert ref.method().name == "sklearn.svm:SVC"


@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        ("sklearn.svm:SVC", "svc"),
        ("sklearn.ensemble.RandomForestClassifier", "randomforest"),
        ("sklearn.linear_model:LogisticRegression", "logisticregression"),
    ],
)
def test_labels_are_classes_in_small_letters(estimator: str, label: str) -> None:
    assert method(f"{{estimator: '{estimator}'}}").label == label
    # One step may stand without a list, as other lists of one may.
    ref = method(f"{{estimator: '{estimator}', steps: standard}}")
    assert ref.estimator is not None
    assert len(ref.estimator.steps) == 1


def test_a_module_beside_the_file_is_found_and_known_by_its_source(
    tmp_path: Path,
) -> None:
    (tmp_path / "toys.py").write_text(TOY)
    ref = method("{estimator: 'toys:Toy', params: {power: 1}}", tmp_path)
    assert ref.estimator == EstimatorSpec("toys:Toy", (), tmp_path)
    assert ref.versions == {"toys.py": checksum(tmp_path / "toys.py")}


def test_a_method_of_another_version_than_planned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "toys.py").write_text(TOY)
    ref = method("{estimator: 'toys:Toy'}", tmp_path)
    stored = ref.model_dump_json()
    assert MethodRef.model_validate_json(stored).method().defaults == {}
    (tmp_path / "toys.py").write_text(f"{TOY}\n# changed\n")
    with pytest.raises(CheckFailedError, match=r"toy was planned with toys.py sha256:"):
        MethodRef.model_validate_json(stored).method()


def test_what_is_stored_is_read_back_without_importing(tmp_path: Path) -> None:
    (tmp_path / "toys.py").write_text(TOY)
    text = "{name: mine, datasets: [iris], methods: [{estimator: 'toys:Toy'}]}"
    experiment = parse_experiment(text, source=tmp_path / "mine.yaml")
    stored = experiment.model_dump_json()
    (tmp_path / "toys.py").unlink()
    again = Experiment.model_validate_json(stored)
    assert again == experiment
    assert again.model_dump_json() == stored
    with pytest.raises(InputError, match="there is no module 'toys'"):
        again.methods[0].method()


def test_identity_has_the_classes_but_neither_version_nor_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "toys.py").write_text(TOY)
    text = "{name: mine, datasets: [iris], methods: [{estimator: 'toys:Toy'}, nb]}"
    experiment = parse_experiment(text, source=tmp_path / "mine.yaml")
    methods = experiment_identity(experiment)["methods"]
    assert methods["toy"]["estimator"] == {"estimator": "toys:Toy", "steps": []}
    assert "versions" not in methods["toy"]
    assert methods["nb"].keys() == {"name", "grid", "params"}


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = """name: mine
datasets: [iris]
methods:
  - {estimator: "sklearn.svm:SVX", as: a}
  - estimator: sklearn.svm:SVC
    steps: [standart, "sklearn.svm:LinearSVC"]
    params:
      CC: 1
      standart__x: 1
    grid:
      C: [1, -1]
      gamma: []
  - {estimator: "sklearn.linear_model:Lasso", as: b}
  - svm-rfb
"""
    with pytest.raises(InputError) as caught:
        parse_experiment(text, source=tmp_path / "mine.yaml")
    lines = [line.split(":", 3) for line in str(caught.value).splitlines()[1:]]
    assert [int(parts[1]) for parts in lines] == [4, 6, 6, 8, 11, 12, 13, 14]


def test_the_example_has_methods_of_both_kinds() -> None:
    (experiment,) = load_experiments([EXAMPLE])
    own = [ref.label for ref in experiment.methods if ref.estimator]
    assert own == ["boosting", "scaled-logistic", "pca-knn"]
