"""``drmbench fit`` and ``predict``: as in memory, in chunks, one message a mistake."""

from __future__ import annotations

import csv
import re
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_iris
from sklearn.preprocessing import MaxAbsScaler
from support import Run

from drmbench import DRMClassifierCV, LinearDRMClassifier
from drmbench.data.user import open_labelled
from drmbench.drm.model_file import load_model
from drmbench.metrics import balanced_accuracy_score, gmean_score
from drmbench.protocol.file_fit import FileFacts, fit_file, scan

NAMES = ("a", "b", "c", "d")
FLOWERS = np.array(["setosa", "versi, color", "virginica"])


def irises() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def write_table(path: Path, X: Any, labels: Any, names: Any = NAMES) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*names, "kind"])
        writer.writerows([*row, label] for row, label in zip(X, labels, strict=True))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    X, y = irises()
    return write_table(tmp_path / "iris.csv", X.tolist(), FLOWERS[y])


@pytest.fixture
def model(run: Run, table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "iris.model"
    fitted = run("fit", str(table), "--target", "kind", "--save", str(path))
    assert fitted.code == 0, fitted.err
    return path


def in_memory(scale: bool = True, **weights: float) -> Any:
    X, y = irises()
    samples = MaxAbsScaler().fit_transform(X) if scale else X
    return samples, LinearDRMClassifier(**weights).fit(samples, y)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("chunksize", ["1", "64", "1000"])
def test_the_model_is_the_one_in_memory(
    run: Run, table: Path, tmp_path: Path, scale: bool, chunksize: str
) -> None:
    path = tmp_path / "new" / "iris.model"
    options = ["--alpha", "0.1", "--beta", "0.01", "--chunksize", chunksize]
    options += [] if scale else ["--no-scale"]
    result = run("fit", str(table), "-t", "kind", "--save", str(path), *options)
    assert result.code == 0
    assert "iris.csv: 150 rows, 4 features, 3 classes (setosa 50, " in result.out
    assert "alpha 0.1, beta 0.01" in result.out
    assert f"model written to {path}" in result.out
    stored = load_model(path)
    samples, expected = in_memory(scale, alpha=0.1, beta=0.01)
    assert np.allclose(stored.classifier.sums_, expected.sums_, rtol=1e-10, atol=0)
    assert stored.class_names == tuple(FLOWERS)
    assert stored.feature_names == NAMES
    assert np.array_equal(
        stored.predict(irises()[0]), FLOWERS[expected.predict(samples)]
    )


@pytest.mark.parametrize("kind", ["csv", "libsvm", "npy"])
def test_every_format_gives_the_same_predictions(
    run: Run, table: Path, tmp_path: Path, kind: str
) -> None:
    X, y = irises()
    data, target = table, ["--target", "kind"]
    if kind == "libsvm":
        data, target = tmp_path / "iris.libsvm", ["--target", "first"]
        dump_svmlight_file(X, y, str(data), zero_based=False)
    if kind == "npy":
        data, target = tmp_path / "iris.npy", ["--target", "last"]
        np.save(data, np.column_stack([X, y]))
    saved, out = tmp_path / "m", tmp_path / "out.csv"
    fitted = run("fit", str(data), *target, "--save", str(saved), "--score")
    assert fitted.code == 0, fitted.err
    result = run("predict", str(saved), str(data), *target, "--out", str(out))
    assert result.code == 0, result.err
    with out.open(newline="") as stream:
        (heading,), *rows = csv.reader(stream)
    samples, expected = in_memory()
    predicted = expected.predict(samples)
    names = FLOWERS if kind == "csv" else np.array(["0", "1", "2"])
    assert heading == "prediction"
    assert [row[0] for row in rows] == names[predicted].tolist()
    scores = (
        f"accuracy {np.mean(y == predicted):.4f},"
        f" balanced accuracy {balanced_accuracy_score(y, predicted):.4f},"
        f" G-mean {gmean_score(y, predicted):.4f}"
    )
    assert result.out.strip() == scores
    assert f"on the training rows: {scores}" in fitted.out


def test_predictions_go_to_the_screen_and_scores_beside_them(
    run: Run, model: Path, table: Path
) -> None:
    result = run("predict", str(model), str(table), "-t", "kind", "--chunksize", "7")
    lines = result.out.splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 151
    assert set(lines[1:]) == {"setosa", '"versi, color"', "virginica"}
    assert result.err.startswith("accuracy 0.")
    assert run("predict", str(model), str(table)).out == result.out


def test_columns_may_stand_in_any_order(
    run: Run, model: Path, table: Path, tmp_path: Path
) -> None:
    X, _ = irises()
    other = tmp_path / "other.csv"
    rows = np.column_stack([X[:, [2, 0, 3, 1]]]).tolist()
    with other.open("w", newline="") as stream:
        csv.writer(stream).writerows([["c", "a", "d", "b"], *rows])
    straight = run("predict", str(model), str(table)).out
    assert run("predict", str(model), str(other)).out == straight


def test_classes_the_model_never_saw_count_as_wrong(
    run: Run, model: Path, tmp_path: Path
) -> None:
    X, y = irises()
    labels = np.where(y == 0, "rose", FLOWERS[y])
    data = write_table(tmp_path / "roses.csv", X.tolist(), labels)
    out = str(tmp_path / "out.csv")
    result = run("predict", str(model), str(data), "-t", "kind", "--out", out)
    assert result.code == 0
    assert "does not know, counted as wrong: 'rose'" in result.err
    assert "G-mean 0.0000" in result.out


def test_selection_on_all_rows_is_exact_leave_one_out(run: Run, table: Path) -> None:
    result = run("fit", str(table), "-t", "kind", "--select")
    X, y = irises()
    search = DRMClassifierCV(kernels="linear").fit(MaxAbsScaler().fit_transform(X), y)
    assert "leave-one-out on all rows" in result.out
    assert f"accuracy {search.best_score_:.4f}" in result.out
    assert f"alpha {search.alpha_:g}, beta {search.beta_:g}" in result.out


def test_selection_on_some_rows_says_so(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drmbench.protocol.file_fit.SELECTION_ROWS", 60)
    outputs = {
        re.sub(r"in [\d.]+ s", "", result.out)
        for size in ("1", "50", "999")
        for result in [
            run("fit", str(table), "-t", "kind", "--select", "--chunksize", size)
        ]
    }
    assert len(outputs) == 1  # the rows drawn do not depend on the chunks
    assert "on 60 rows drawn at random out of 150" in outputs.pop()


def facts_of(path: Path, rows: int, draw: int = 0) -> FileFacts:
    return scan(open_labelled(path, target="kind"), rows, draw=draw)


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(1, 160), st.integers(1, 160))
def test_the_chunksize_changes_nothing(table: Path, first: int, second: int) -> None:
    one, two = (facts_of(table, rows, draw=20) for rows in (first, second))
    assert one.class_counts == two.class_counts
    assert np.array_equal(one.scale, two.scale)
    assert np.array_equal(one.sample.X, two.sample.X)
    file = open_labelled(table, target="kind")
    models = [
        fit_file(file, r, list(FLOWERS), alpha=1.0, beta=0.1, scale=one.scale)
        for r in (first, second)
    ]
    sums = [model.classifier.sums_ for model in models]
    assert np.allclose(*sums, rtol=1e-10, atol=0)


def test_rows_are_drawn_evenly(table: Path) -> None:
    drawn = facts_of(table, 10, draw=75).sample.X
    X, _ = irises()
    places = np.flatnonzero((X[:, None] == drawn[None]).all(axis=2).any(axis=1))
    assert len(drawn) == 75
    assert 50 < places.mean() < 100
    assert places.min() < 10
    assert places.max() > 140


@contextmanager
def peak_below(limit: float) -> Iterator[list[int]]:
    """Measure the most memory held during the block, and refuse more than a limit."""
    peak: list[int] = []
    tracemalloc.start()
    yield peak
    peak.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peak[0] < limit


def test_memory_of_fitting_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def fitted_peak(rows: int, limit: float) -> int:
        path = tmp_path / f"{rows}.csv"
        with path.open("w") as stream:
            stream.write("a,kind\n")
            stream.writelines(f"{i % 9},{i % 2}\n" for i in range(rows))
        file = open_labelled(path, target="kind")
        with peak_below(limit) as peak:
            model = fit_file(
                file, 1000, ["0", "1"], alpha=1.0, beta=1.0, scale=np.array([8.0])
            )
        assert model.classifier.class_count_.sum() == rows
        return peak[0]

    fitted_peak(2000, np.inf)  # what is loaded and cached once does not count
    # Fifty times the rows; twice leaves room for what waits for the collector.
    fitted_peak(200_000, 2 * fitted_peak(4000, np.inf))


def test_memory_of_scanning_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def scanned_peak(rows: int, limit: float) -> int:
        path = tmp_path / f"{rows}.csv"
        path.write_text("a,kind\n" + "".join(f"{i},{i % 2}\n" for i in range(rows)))
        with peak_below(limit) as peak:
            facts = facts_of(path, 1000, draw=100)
        assert facts.n_samples == rows
        return peak[0]

    scanned_peak(2000, np.inf)
    scanned_peak(24_000, 2 * scanned_peak(4000, np.inf))


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("a,kind\n1,u\n2,v\n", [], "say which column holds the class"),
        ("a,kind\n1,u\n2,v\n", ["-t", "knd"], "Did you mean 'kind'?"),
        ("a,kind\nred,u\nblue,v\n", ["-t", "kind"], "takes numbers only"),
        ("a,kind\n1,u\n,v\n", ["-t", "kind"], "line 3, column 'a': the value is miss"),
        ("a,kind\n1,u\n2,u\n", ["-t", "kind"], "all 2 rows have the class 'u'"),
        (
            "a,kind\n" + "".join(f"1,{i}.5\n" for i in range(9)),
            ["-t", "kind"],
            "looks like regression",
        ),
        (
            "a,kind\n" + "".join(f"1,{i}\n" for i in range(30)),
            ["-t", "kind"],
            "every one of the 30 rows has a class of its own",
        ),
        (
            "a,kind\n1e200,u\n2,v\n",
            ["-t", "kind", "--no-scale"],
            "numbers as large as 1.0e+200; scale the features",
        ),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--alpha", "-1"], "alpha must be a fin"),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--beta", "0"], "beta must be a finite"),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--alpha", "nan"], "alpha must be a"),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--chunksize", "0"], "chunksize"),
        (
            "a,kind\n1,u\n2,v\n",
            ["-t", "kind", "--select", "--beta", "1"],
            "--select chooses alpha and beta",
        ),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--save", "DATA"], "this file is read"),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--save", "."], "a directory"),
        ("a,kind\n1,u\n2,v\n", ["-t", "kind", "--save", "DATA/m"], "cannot be writt"),
    ],
)
def test_what_is_wrong_with_a_fit_is_named(
    run: Run, tmp_path: Path, content: str, options: list[str], expected: str
) -> None:
    data = tmp_path / "mine.csv"
    data.write_text(content)
    result = run("fit", str(data), *(o.replace("DATA", str(data)) for o in options))
    assert result.code == 2
    assert expected in result.err
    assert "Traceback" not in result.err
    assert data.read_text() == content


def test_a_model_too_large_for_memory_is_refused(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "wide.libsvm"
    data.write_text("1 1:1\n2 50000:1\n")
    result = run("fit", str(data))
    assert result.code == 2
    assert "2 classes and 50000 features holds" in result.err


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("a,b,c,x\n1,2,3,4\n", [], "needs the column 'd'"),
        ("a,b,c,d,e\n1,2,3,4,5\n", [], "does not know the column 'e'"),
        ("a,b,c,d\n1,2,3,4\n", ["-t", "kind"], "no column is named 'kind'"),
        ("a,b,c,d\n1,2,3,red\n", [], "line 2, column 4 (d): expected a number"),
        ("a,b,c,d\n", [], "no rows below the header"),
        ("a,b,c,d\n1,2,3,4\n", ["--out", "DATA"], "this file is read"),
        ("a,b,c,d\n1,2,3,4\n", ["--out", "MODEL"], "this file is read"),
        ("a,b,c,d\n1,2,3,4\n", ["--out", "DATA/out"], "cannot be written"),
    ],
)
def test_what_is_wrong_with_a_prediction_is_named(
    run: Run, model: Path, tmp_path: Path, content: str, options: Any, expected: str
) -> None:
    data = tmp_path / "mine.csv"
    data.write_text(content)
    places = {"DATA": str(data), "MODEL": str(model)}
    for word, place in places.items():
        options = [option.replace(word, place) for option in options]
    result = run("predict", str(model), str(data), *options)
    assert result.code == 2
    assert expected in result.err
    assert result.out == ""
    assert data.read_text() == content
    load_model(model)


def test_other_files_are_no_models(run: Run, table: Path, tmp_path: Path) -> None:
    result = run("predict", str(table), str(table))
    assert result.code == 2
    assert "not a readable model file" in result.err
    assert "pickle" not in result.err
    result = run("predict", str(tmp_path / "none"), str(table))
    assert result.code == 2
    assert "no such file" in result.err


def test_a_failed_prediction_leaves_an_older_file_alone(
    run: Run, model: Path, tmp_path: Path
) -> None:
    data, out = tmp_path / "mine.csv", tmp_path / "out.csv"
    data.write_text("a,b,c,d\n1,2,3,4\n1,2,3,\n")
    out.write_text("older")
    options = ("--out", str(out), "--chunksize", "1")
    assert run("predict", str(model), str(data), *options).code == 2
    assert out.read_text() == "older"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_help_has_examples(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert f"drmbench {command} flights" in result.out
