"""The search for the rules behind published cells: its leave-one-out and its file."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from drmbench.drm.decision import dissimilarities, nearest_class
from drmbench.drm.partition import ClassPartition
from drmbench.drm.system import DenseSystem

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import keel_readings
import keel_rules
from keel_rules import Trial


def trial(dataset: str, mean: float, reading: str = "registered") -> Trial:
    return Trial(
        dataset, "SVM(R)", "svm-rbf", reading, "gmean", "none", "LOO", mean, 0.1
    )


def naive_labels_with_kept_sizes(system: DenseSystem, beta: float) -> list[int]:
    """Take each sample out of a matrix that was made with it."""
    Q, y = system.matrix(beta), system.partition.codes
    labels = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        w = np.linalg.solve(Q[np.ix_(rest, rest)], system.K[rest, i])
        others = DenseSystem(
            system.K[np.ix_(rest, rest)], ClassPartition.of(y[rest]), system.alpha
        )
        delta = dissimilarities(others, w[:, None], system.K[rest, i][:, None])
        labels.append(int(nearest_class(delta, others.partition.classes)[0]))
    return labels


@pytest.mark.parametrize("alpha", [0.0, 0.1, 10.0])
def test_leave_one_out_with_kept_sizes_deletes_from_one_matrix(alpha: float) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], [22, 8])
    X[y == 1] += 1.0
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    system = DenseSystem(K, ClassPartition.of(y), alpha)
    betas = [0.001, 0.1, 10.0]
    found = keel_readings.labels_with_kept_sizes(system, betas)
    for labels, beta in zip(found, betas, strict=True):
        assert labels.tolist() == naive_labels_with_kept_sizes(system, beta)


def test_every_reading_is_a_method_with_leave_one_out() -> None:
    for attempt in keel_rules.ATTEMPTS:
        method = attempt.method()
        assert method.predict_left_out is not None
        assert method.column or attempt.column


def test_the_whole_penalty_is_twice_the_stated_one() -> None:
    stated = keel_readings.read_method("drm-poly", "registered").candidates()
    whole = keel_readings.read_method("drm-poly", "penalty").candidates()
    assert whole == [{**params, "beta": 2 * params["beta"]} for params in stated]


def test_an_inverse_predicts_as_a_factorisation_does() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], [30, 10])
    X[y == 1] += 0.7
    new = rng.normal(size=(25, 3))
    method = keel_readings.read_method("drm-poly", "inverse")
    registered = keel_readings.read_method("drm-poly", "registered")
    candidates = registered.candidates()[::7]
    found, expected = (
        one.predict_grid(X, y, new, candidates, seed=0).labels
        for one in (method, registered)
    )
    assert len(np.unique(expected, axis=0)) > 3
    np.testing.assert_array_equal(found, expected)


@pytest.mark.mirror
def test_both_readings_together_give_a_published_cell() -> None:
    """DRM(R) on cleveland-0_vs_4 is printed as 0.8814 ± 0.1783."""
    method = keel_readings.read_method("drm-rbf", "penalty-kept-sizes")
    dataset = keel_rules.load("cleveland-0_vs_4")
    scores = keel_rules.score_candidates(dataset, method, "separate", "gmean")
    values = keel_rules.selection_rules(scores)["LOO G-mean, first"]
    found = [round(float(x), 4) for x in (np.mean(values), np.std(values, ddof=1))]
    assert found == [0.8814, 0.1783]


def test_shares_do_not_depend_on_the_true_classes() -> None:
    predicted = np.array([0, 0, 1, 1, 1])
    one, other = np.array([0, 1, 0, 1, 0]), np.array([1, 1, 1, 0, 0])
    found = keel_rules.predicted_shares(one, predicted)
    assert found == keel_rules.predicted_shares(other, predicted)
    assert found == pytest.approx(np.sqrt(0.4 * 0.6))


def test_saving_replaces_a_cell_s_trials_and_keeps_the_others(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    keel_rules.save(path, [trial("glass4", 0.1), trial("glass6", 0.2)])
    keel_rules.save(path, [trial("glass4", 0.3), trial("glass4", 0.4, "libsvm")])
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [(r["dataset"], r["reading"], r["mean"]) for r in csv.DictReader(stream)]
    assert rows == [
        ("glass6", "registered", "0.2"),
        ("glass4", "registered", "0.3"),
        ("glass4", "libsvm", "0.4"),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "nosuch"], "unknown method 'nosuch'"),
        (["--method", "drm-poly", "--reading", "nosuch"], "no reading 'nosuch'"),
        (["--method", "drm-poly", "--dataset", "nosuch"], "no data set 'nosuch'"),
        (["--method", "c45-dhs", "--column", "nosuch"], "is no column of Table 8"),
    ],
)
def test_what_cannot_be_computed_is_said_before_anything_is_printed(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["keel_rules.py", *arguments])
    assert keel_rules.main() == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
