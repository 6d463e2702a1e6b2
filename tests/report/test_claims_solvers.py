"""Claims on over-sampling, the ablation, time and convergence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claim_results import SOLVERS, Value, judged, make_timing, names_of
from result_files import BETAS, SIZES, make_results
from scipy.stats import permutation_test, rankdata, wilcoxon

from drmbench.report.statistics import wilcoxon_exact


def signed_rank_p(gains: np.ndarray) -> float:
    """As claims use the test: one-sided, over the gains that are not zero."""
    return wilcoxon_exact(gains[gains != 0], alternative="greater")[1]


def test_the_signed_rank_test_against_scipy() -> None:
    gains = np.random.default_rng(0).normal(0.3, 1.0, 12)
    exact = wilcoxon(gains, alternative="greater", method="exact").pvalue
    assert signed_rank_p(gains) == pytest.approx(exact, rel=1e-12)


def test_the_signed_rank_test_with_ties_against_all_signs() -> None:
    gains = np.array([0.1, 0.1, -0.1, 0.2, 0.2, -0.3, 0.0])

    def statistic(x: np.ndarray) -> float:
        return float(rankdata(np.abs(x[x != 0]))[x[x != 0] > 0].sum())

    every = permutation_test(
        (gains,), statistic, permutation_type="samples", alternative="greater"
    )
    assert signed_rank_p(gains) == pytest.approx(every.pvalue, rel=1e-12)
    assert signed_rank_p(np.zeros(3)) == 1.0


@pytest.mark.parametrize(
    ("change", "status"), [(0.05, "reproduced"), (-0.05, "not reproduced")]
)
def test_smote_before_the_drm(tmp_path: Path, change: float, status: str) -> None:
    both = {
        "imbalanced": ["drm-rbf", "drm-poly"],
        "sampling": ["smote-drm", "smote-drm-poly"],
    }
    for name, methods in both.items():
        make_results(
            tmp_path,
            name,
            datasets=names_of("keel"),
            methods=methods,
            values=lambda _, m, *rest: 0.8 + (change if m.startswith("smote") else 0),
        )
    assert judged(tmp_path)["smote-improves-drm"].status == status


@pytest.mark.parametrize(
    ("lost", "overall", "any_beta"),
    [(1, "partly", "reproduced"), (4, "partly", "partly"),
     (10, "not reproduced", "not reproduced")],
)  # fmt: skip
def test_the_drm_against_krr(
    tmp_path: Path, lost: int, overall: str, any_beta: str
) -> None:
    sets = names_of("keel")[:10]
    betas = ("0.001", "0.01", "0.1", "1", "10", "100", "1000")
    labels = [f"{m}-{k}" for m in ("drm", "krr") for k in ("rbf", "poly")]
    methods = [
        {"label": label + end, "name": label}
        for label in labels
        for end in ("", *(f" beta={beta}" for beta in betas))
    ]
    losing = sets[:lost]

    def value(dataset: str, method: str, *rest: Any) -> Value:
        return 0.5 if method.startswith("drm") and dataset in losing else (
            0.8 if method.startswith("drm") else 0.7
        )  # fmt: skip

    make_results(
        tmp_path,
        "ablation",
        datasets=sets,
        methods=methods,
        values=value,
        splits=1,
    )
    verdicts = judged(tmp_path)
    assert verdicts["better-than-krr"].status == overall
    assert verdicts["above-krr-any-beta"].status == any_beta
    points = 2 * 7 * len(sets)
    assert f"of {points} points" in verdicts["above-krr-any-beta"].numbers


def test_timing_as_claimed(tmp_path: Path) -> None:
    make_timing(tmp_path, {"drm-ppa": 1.0, "drm-gd": 2.0, "drm-apg": 3.0})
    verdicts = judged(tmp_path)
    for claim in ("apg-slowest-ppa-fastest", "linear-in-n", "gd-iteration-dearer"):
        assert verdicts[claim].status == "reproduced", claim
    assert "lowest 1.0000" in verdicts["linear-in-n"].numbers


def test_timing_the_other_way_round(tmp_path: Path) -> None:
    make_timing(tmp_path, {"drm-ppa": 3.0, "drm-gd": 2.0, "drm-apg": 1.0})
    verdicts = judged(tmp_path)
    for claim in ("apg-slowest-ppa-fastest", "gd-iteration-dearer"):
        assert verdicts[claim].status == "not reproduced", claim


def test_time_that_is_not_linear(tmp_path: Path) -> None:
    """The factory multiplies by n, so 1/n makes time constant and n² makes it cubic."""
    make_results(
        tmp_path,
        "timing",
        kind="timing",
        datasets=["shuttle"],
        methods=SOLVERS,
        values=lambda _, method, mode, scaling, split: 1.0 / SIZES[split],
    )
    assert judged(tmp_path)["linear-in-n"].status == "not reproduced"


def make_convergence(folder: Path, scale: Mapping[str, float], power: int = 1) -> None:
    """Iterations are 100·scale / number of the β, for power 1; else they grow."""
    make_results(
        folder,
        "convergence",
        kind="convergence",
        datasets=["shuttle", "ijcnn1"],
        methods=SOLVERS,
        values=lambda _, method, mode, scaling, split: (
            scale[method] * (split + 1) ** (1 - power)
        ),
    )


def test_convergence_as_claimed(tmp_path: Path) -> None:
    make_convergence(tmp_path, {"drm-gd": 0.1, "drm-apg": 0.2, "drm-ppa": 0.3})
    verdicts = judged(tmp_path)
    for claim in (
        "few-tens-of-iterations",
        "fifty-iterations",
        "gd-fewest-ppa-most",
        "beta-faster-ppa",
        "beta-faster-gd-apg",
        "few-iterations-large-beta",
        "few-seconds",
    ):
        assert verdicts[claim].status == "reproduced", claim
    assert len(BETAS) * 2 * 3 == 18
    assert "18 of 18 cases" in verdicts["few-tens-of-iterations"].numbers


def test_convergence_against_the_claims(tmp_path: Path) -> None:
    scale = {"drm-gd": 1.5, "drm-apg": 1.4, "drm-ppa": 1.3}
    make_convergence(tmp_path, scale, power=-1)
    verdicts = judged(tmp_path)
    for claim in (
        "few-tens-of-iterations",
        "fifty-iterations",
        "gd-fewest-ppa-most",
        "beta-faster-ppa",
        "beta-faster-gd-apg",
        "few-iterations-large-beta",
    ):
        assert verdicts[claim].status == "not reproduced", claim
