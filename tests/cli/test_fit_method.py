"""``drmbench fit --method`` and ``--from``, and ``predict`` with what they write."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_packages import TOY, clean_imports
from sklearn.svm import SVC
from support import Run

from drmbench.data.user import load_user_file
from drmbench.methods.registry import get_method
from drmbench.metrics import gmean_score
from drmbench.protocol.preparation import TablePreparation
from drmbench.protocol.table_model_file import load_table_model

CITIES = ("bonn", "köln", "ulm")
NAMES = ("width", "city", "height", "kind")


def rows(count: int, seed: int) -> list[list[Any]]:
    """Rows whose class shows in the width and the city; one class is rare."""
    rng = np.random.default_rng(seed)
    made: list[list[Any]] = []
    for number in range(count):
        kind = "rare" if number % 12 == 0 else ("no", "yes")[number % 2]
        shift = {"no": 0.0, "yes": 3.0, "rare": -4.0}[kind]
        city = CITIES[int(rng.integers(3))] if kind != "rare" else "ulm"
        width, height = rng.normal(size=2).round(3).tolist()
        made.append([width + shift, city, height, kind])
    return made


def write(path: Path, names: Any, lines: Any) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *lines])
    return path


@pytest.fixture(autouse=True)
def as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    with clean_imports(tmp_path):
        yield


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "mine.csv", NAMES, rows(96, 0))


def saved(run: Run, table: Path, method: str) -> Path:
    path = table.with_suffix(".model")
    options = ("--target", "kind", "--method", method, "--save", str(path))
    fitted = run("fit", str(table), *options)
    assert fitted.code == 0, fitted.err
    return path


def answers(text: str) -> tuple[list[str], list[list[str]]]:
    heading, *lines = csv.reader(text.splitlines())
    return heading, lines


def test_from_a_comparison_to_predictions_in_another_process(
    run: Run, table: Path, tmp_path: Path
) -> None:
    methods = ("--methods", "rf,svm-linear,nb", "--folds", "3", "--no-progress")
    compared = run("compare", str(table), "--target", "kind", *methods)
    assert compared.code == 0, compared.err
    best = compared.out.partition("Best: ")[2].split()[0]
    (folder,) = (tmp_path / "results" / "runs").glob("compare-mine-*")
    model = tmp_path / "mine.model"
    fitted = run("fit", str(table), "--from", str(folder), "--save", str(model))
    assert fitted.code == 0, fitted.err
    assert "not the table that was compared" not in fitted.err
    assert f"\n{best}: " in fitted.out
    truth = rows(60, 1)
    new = write(tmp_path / "new.csv", NAMES[:3], [row[:3] for row in truth])
    command = [sys.executable, "-m", "drmbench", "predict", model, new, "--proba"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    heading, lines = answers(ended.stdout)
    assert heading == [
        "prediction",
        *(f"probability {c}" for c in ("no", "rare", "yes")),
    ]
    right = np.mean([line[0] == row[3] for line, row in zip(lines, truth, strict=True)])
    assert right > 0.85
    assert ended.stderr == ""
    # The same settings without the folder: the same model.
    again = saved(run, table, best)
    first, second = (load_table_model(p).model.provenance for p in (model, again))
    for key in ("data", "method", "protocol", "selection"):
        assert first[key] == second[key]


def test_the_named_method_of_a_comparison_is_taken_with_its_grid(
    run: Run, table: Path, tmp_path: Path
) -> None:
    config = tmp_path / "trial.yaml"
    config.write_text(
        "name: trial\ndatasets: [{path: mine.csv, target: kind}]\n"
        "methods: [nb, {name: svm-rbf, as: narrow, grid: {C: [7, 8], sigma: [0.3]}}]\n"
        "protocol: {split: {kind: kfold, k: 2, repeats: 1}, scaling: maxabs,"
        " selection: {kind: kfold, k: 3, metric: accuracy}}\nseed: 4\n"
    )
    assert run("run", str(config)).code == 0
    folder, path = Path("results/runs/trial"), tmp_path / "m"
    options = ("--from", str(folder), "--save", str(path))
    result = run("fit", str(table), *options, "--method", "narrow")
    assert result.code == 0, result.err
    found = load_table_model(path).model.provenance
    assert found["method"]["grid"] == {"C": [7, 8], "sigma": [0.3]}
    assert found["selection"]["scaling"] == "maxabs"
    assert found["protocol"]["seed"] == 4
    longer = write(tmp_path / "longer.csv", NAMES, rows(120, 2))
    other = run("fit", str(longer), "--from", str(folder), "--method", "nb")
    assert other.code == 0, other.err
    assert "not the table that was compared" in other.err


def test_the_model_is_the_selected_estimator_fitted_to_all_rows(
    run: Run, table: Path
) -> None:
    model = load_table_model(saved(run, table, "logistic")).model
    data = load_user_file(table, target="kind")
    facts = model.provenance
    estimator = get_method("logistic").build(facts["method"]["params"], 0)
    prepared = TablePreparation([1], scaling=facts["selection"]["scaling"])
    X = prepared.fit_transform(data.X)
    expected = estimator.fit(X, data.y).predict_proba(X)
    assert np.allclose(model.values(data.X, "probabilities"), expected, atol=1e-4)
    assert facts["data"]["fingerprint"] == data.fingerprint
    assert facts["data"]["rows"] == 96
    assert set(facts["versions"]) >= {"scikit-learn", "drmbench", "python"}


def test_an_estimator_of_another_package_keeps_its_scores(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = saved(run, table, "sklearn.svm:SVC")
    data = load_user_file(table, target="kind")
    model = load_table_model(path).model
    scaling = model.provenance["selection"]["scaling"]
    X = TablePreparation([1], scaling=scaling).fit_transform(data.X)
    oracle = SVC().fit(X, data.y)
    assert np.allclose(model.values(data.X, "scores"), oracle.decision_function(X))
    result = run("predict", str(path), str(table), "--scores", "--proba")
    heading, lines = answers(result.out)
    assert [word.split()[0] for word in heading] == (
        ["prediction"] + ["score"] * 3 + ["probability"] * 3
    )
    shown = np.array([line[1:4] for line in lines], dtype=float)
    assert np.allclose(shown, oracle.decision_function(X))
    names = np.array(data.class_names)[oracle.predict(X)]
    assert [line[0] for line in lines] == names.tolist()


def test_columns_are_found_by_name_and_others_ignored_with_a_word(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = saved(run, table, "rf")
    plain = run("predict", str(path), str(table))
    assert plain.err == ""  # the class itself is expected to be there
    lines = [[9, row[2], row[3], row[0], row[1]] for row in rows(96, 0)]
    names = ("extra", "height", "kind", "width", "city")
    other = write(tmp_path / "other.csv", names, lines)
    moved = run("predict", str(path), str(other))
    assert moved.out == plain.out
    assert moved.err.strip() == "ignored, for the model has none: 'extra'"


def test_levels_never_seen_are_named(run: Run, table: Path, tmp_path: Path) -> None:
    path = saved(run, table, "rf")
    lines = [[0.1, "rome", 0.2], [0.1, "ulm", 0.2], [3.0, "oslo", 0.0]]
    result = run("predict", str(path), str(write(tmp_path / "n.csv", NAMES[:3], lines)))
    assert result.code == 0, result.err
    assert "column 'city': not seen when the model was fitted: 'oslo', 'rome'" in (
        result.err
    )
    assert len(answers(result.out)[1]) == 3


def test_a_single_level_has_the_code_of_the_training_rows(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = saved(run, table, "c45-plain")
    lines = [row[:3] for row in rows(96, 0) if row[1] == "ulm"]
    only = write(tmp_path / "ulm.csv", NAMES[:3], lines)
    whole = answers(run("predict", str(path), str(table)).out)[1]
    expected = [a for a, row in zip(whole, rows(96, 0), strict=True) if row[1] == "ulm"]
    assert answers(run("predict", str(path), str(only)).out)[1] == expected


def test_true_classes_score_the_predictions(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path, out = saved(run, table, "nb"), tmp_path / "out.csv"
    options = ("--target", "kind", "--out", str(out))
    result = run("predict", str(path), str(table), *options)
    truth = [row[3] for row in rows(96, 0)]
    predicted = [line[0] for line in answers(out.read_text("utf-8"))[1]]
    right = np.mean(np.array(truth) == np.array(predicted))
    assert f"accuracy {right:.4f}" in result.out
    assert f"G-mean {gmean_score(truth, predicted):.4f}" in result.out
    again = run("fit", str(table), "-t", "kind", "--method", "nb", "--score")
    assert f"on the training rows: accuracy {right:.4f}" in again.out


def test_a_class_of_ones_own_is_built_only_when_it_is_trusted(
    run: Run, table: Path, tmp_path: Path
) -> None:
    (tmp_path / "toys.py").write_text(TOY)
    path = tmp_path / "toy.model"
    options = ("--method", "toys:Toy", "--save", str(path))
    fitted = run("fit", str(table), "--target", "kind", *options)
    assert fitted.code == 0, fitted.err
    assert f"drmbench predict {path} DATA --trust toys:Toy" in fitted.out
    command = [sys.executable, "-m", "drmbench", "predict", str(path), str(table)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "add --trust toys:Toy" in refused.stderr
    assert refused.stdout == ""
    command += ["--trust", "toys:Toy"]
    trusted = subprocess.run(command, capture_output=True, text=True, check=False)
    assert trusted.returncode == 0, trusted.stderr
    assert len(answers(trusted.stdout)[1]) == 96
    proba = subprocess.run(
        [*command, "--proba"], capture_output=True, text=True, check=False
    )
    assert proba.returncode == 2
    assert "there are no probabilities: Toy gives no probabilities" in proba.stderr


@pytest.mark.parametrize(
    ("names", "line", "options", "expected"),
    [
        (("width", "town", "height"), (1, "ulm", 2), [], "needs the column 'city'"),
        (("city",), ("ulm",), [], "needs the columns 'width', 'height'"),
        (NAMES[:3], ("x", "ulm", 2), [], "line 2, column 'width': expected a number"),
        (NAMES[:3], (1, "ulm", 2), ["-t", "kind"], "no column is named 'kind'"),
        (NAMES[:3], (1, "ulm", 2), ["--trust", "no_such:X"], "no_such"),
    ],
)
def test_what_is_wrong_with_new_rows_is_named(
    run: Run,
    table: Path,
    tmp_path: Path,
    names: Any,
    line: Any,
    options: Any,
    expected: str,
) -> None:
    path = saved(run, table, "nb")
    new = write(tmp_path / "new.csv", names, [line])
    result = run("predict", str(path), str(new), *options)
    assert result.code == 2
    assert expected in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--method", "svn-rbf"], "svm-rbf"),
        (["--method", "nb", "--alpha", "1"], "--alpha is of the linear DRM"),
        (["--method", "nb", "--no-scale"], "--no-scale is of the linear DRM"),
        (["--method", "nb", "--metric", "auk"], "auk"),
        (["--metric", "gmean"], "go with --method only"),
        (["--from", "nowhere"], "nowhere: no such folder"),
        (["--from", ".", "--seed", "1"], "leave --metric, --seed out"),
        (["--method", "nb", "--save", "."], "a directory"),
    ],
)
def test_what_is_wrong_with_a_fit_is_named(
    run: Run, table: Path, options: list[str], expected: str
) -> None:
    result = run("fit", str(table), "--target", "kind", *options)
    assert result.code == 2
    assert expected in result.err
    assert "Traceback" not in result.err


def test_the_linear_model_of_chunks_has_classes_only(run: Run, tmp_path: Path) -> None:
    lines = [[row[0], row[2], row[3]] for row in rows(96, 0)]
    numbers = write(tmp_path / "numbers.csv", ("a", "b", "kind"), lines)
    path = tmp_path / "linear.model"
    assert run("fit", str(numbers), "-t", "kind", "--save", str(path)).code == 0
    assert run("predict", str(path), str(numbers)).code == 0
    result = run("predict", str(path), str(numbers), "--proba")
    assert result.code == 2
    assert "predicts classes only" in result.err


def test_numbers_without_names_are_taken_in_order(run: Run, tmp_path: Path) -> None:
    made = rows(96, 0)
    X = np.array([[row[0], row[2]] for row in made])
    y = np.array([("no", "rare", "yes").index(row[3]) for row in made])
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    np.save(tmp_path / "new.npy", X)
    path = tmp_path / "m"
    fitted = run("fit", "mine.npz", "--method", "nb", "--save", str(path), "--metric")
    assert fitted.code == 2
    fitted = run("fit", "mine.npz", "--method", "nb", "--save", str(path))
    assert fitted.code == 0, fitted.err
    result = run("predict", str(path), "new.npy")
    assert result.code == 0, result.err
    model = load_table_model(path).model
    assert [line[0] for line in answers(result.out)[1]] == model.predict(X).tolist()
    np.save(tmp_path / "wide.npy", np.zeros((2, 3)))
    assert "3 features, but the model has 2" in run("predict", "m", "wide.npy").err


def test_what_a_model_holds_can_be_read_without_drmbench(run: Run, table: Path) -> None:
    with zipfile.ZipFile(saved(run, table, "nb")) as archive:
        about = json.loads(archive.read("about.json"))
    assert about["features"] == [
        ["width", None],
        ["city", list(CITIES)],
        ["height", None],
    ]
    assert about["class_names"] == ["no", "rare", "yes"]


def test_a_table_with_text_gaps_an_identifier_and_a_rare_class(
    run: Run, tmp_path: Path
) -> None:
    made = rows(240, 3)
    rng = np.random.default_rng(4)
    for row in made:
        for column in (0, 1, 2):
            if rng.random() < 0.05:
                row[column] = ""
    names = ("patient_id", *NAMES)
    numbered = [[1000 + 7 * i, *row] for i, row in enumerate(made)]
    mine = write(tmp_path / "mine.csv", names, numbered)
    methods = ("--methods", "rf,svm-linear,nb", "--folds", "3", "--no-progress")
    compared = run("compare", str(mine), "--target", "kind", *methods)
    assert compared.code == 0, compared.err
    best = compared.out.partition("Best: ")[2].split()[0]
    model = tmp_path / "mine.model"
    options = ("--target", "kind", "--method", best, "--save", str(model))
    fitted = run("fit", str(mine), *options)
    assert fitted.code == 0, fitted.err
    truth = rows(120, 5)
    lines = [[row[2], row[0], row[1]] for row in truth]
    lines[0][2], lines[1][1], lines[2][2] = "rome", "", ""
    new = write(tmp_path / "new.csv", ("height", "width", "city"), lines)
    command = [sys.executable, "-m", "drmbench", "predict", model, new, "--proba"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    _, answered = answers(ended.stdout)
    right = np.mean([a[0] == row[3] for a, row in zip(answered, truth, strict=True)])
    assert right > 0.85
    assert "'rome'" in ended.stderr
    assert load_table_model(model).model.dropped == ("patient_id",)


def test_missing_values_are_refused_where_nothing_fills_them_in(
    run: Run, table: Path, tmp_path: Path
) -> None:
    config = tmp_path / "trial.yaml"
    config.write_text(
        "name: trial\ndatasets: [{path: mine.csv, target: kind}]\nmethods: [nb]\n"
        "protocol: {split: {kind: kfold, k: 2, repeats: 1}, scaling: none}\n"
    )
    assert run("run", str(config)).code == 0
    path = tmp_path / "m"
    folder = "results/runs/trial"
    assert run("fit", "mine.csv", "--from", folder, "--save", str(path)).code == 0
    write(tmp_path / "new.csv", NAMES[:3], [[1.0, "ulm", 2.0], [1.0, "NA", 2.0]])
    result = run("predict", str(path), "new.csv")
    assert result.code == 2
    assert "new.csv, line 3, column 'city': the value is missing" in result.err


def test_other_ways_to_write_a_table_give_the_same_predictions(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = saved(run, table, "rf")
    plain = run("predict", str(path), str(table))
    other = tmp_path / "german.csv"
    lines = [";".join(NAMES[:3])]
    for width, city, height, _ in rows(96, 0):
        lines.append(";".join([str(width), city, str(height)]).replace(".", ","))
    other.write_text("\n".join(lines), encoding="latin-1")
    moved = run("predict", str(path), str(other))
    assert moved.out == plain.out, moved.err
