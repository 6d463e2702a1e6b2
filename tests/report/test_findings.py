"""The numbers of the text, each against the rows read in another way."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from support import REPOSITORY

from drmbench.data import catalogue
from drmbench.report.findings import Findings, OutdatedTextError
from drmbench.report.findings_cost import CostFindings
from drmbench.report.findings_printed import PrintedFindings
from drmbench.report.findings_regimes import ranking_of
from drmbench.report.leaderboard import leaderboard
from drmbench.report.statistics import wilcoxon_exact
from drmbench.running.results import load_results

REFERENCE = REPOSITORY / "results" / "reference"


@pytest.fixture(scope="module")
def findings() -> Findings:
    return Findings(load_results(REFERENCE))


def rows_of(experiment: str, mode: str = "honest") -> pd.DataFrame:
    rows = pd.read_csv(REFERENCE / experiment / "results.csv")
    return rows[rows["mode"] == mode]


def means_of(experiment: str, metric: str) -> pd.DataFrame:
    """Return data sets x methods; a failed split counts as 0 unless all failed."""
    rows = rows_of(experiment)
    figures = rows[metric].where(rows["status"] == "ok", 0.0)
    failed = rows.assign(bad=rows["status"] != "ok").groupby(["dataset", "method"])
    means = rows.assign(value=figures).groupby(["dataset", "method"])["value"].mean()
    return means.where(failed["bad"].mean() < 1).unstack()


@pytest.mark.parametrize(
    ("table", "metric", "ours", "theirs"),
    [
        ("keel100", "gmean", "drm-rbf", "svm-balanced"),
        ("keel100", "gmean", "drm-rbf", "smote-knn"),
        ("compcancer", "accuracy", "drm-rbf", "svm-linear"),
    ],
)
def test_a_comparison_is_that_of_the_rows(
    findings: Findings, table: str, metric: str, ours: str, theirs: str
) -> None:
    found = findings.versus(table, ours, theirs)
    means = means_of(table, metric)
    gains = (means[ours] - means[theirs]).dropna().round(10)
    expected = tuple(int((np.sign(gains) == sign).sum()) for sign in (1, 0, -1))
    assert found.tally == expected
    assert found.n == len(gains)
    assert found.p == wilcoxon_exact(gains.to_numpy())[1]


def test_ranks_are_those_of_the_complete_data_sets(findings: Findings) -> None:
    whole = means_of("keel100", "gmean").dropna().round(10)
    ranks = rankdata(-whole.to_numpy(), axis=1).mean(axis=0)
    expected = dict(zip(whole.columns, ranks, strict=True))
    found = findings.ranks("keel100")
    assert found == pytest.approx(expected)
    assert list(found.values()) == sorted(found.values())
    assert findings.place(found, findings.best_of(found, ["rf", "nb"])) > 5
    assert findings.complete_sets("keel100") == len(whole)


def test_sets_without_any_failure(findings: Findings) -> None:
    rows = rows_of("keel100")
    bad = set(rows["dataset"][rows["status"] != "ok"])
    assert bad
    assert findings.unfailed_sets("keel100") == rows["dataset"].nunique() - len(bad)


def test_which_sets_are_the_papers(findings: Findings) -> None:
    """KEEL's 15, and four gene sets of which the paper used other versions."""
    assert findings.shared_sets("keel100") == 15
    assert findings.shared_sets("compcancer") == 4
    assert findings.in_paper("golub-1999-v1")
    assert findings.beyond_paper("alizadeh-2000-v1")
    total = findings.sets("keel100")
    assert findings.sets("keel100", only=findings.beyond_paper) == total - 15


def test_the_papers_methods_without_their_variants(findings: Findings) -> None:
    results = dict(findings.results)
    found = results["imbalanced"]
    variant = {**found.methods["drm-rbf"], "label": "drm-rbf, wide"}
    methods = [*found.manifest["methods"], variant]
    changed = replace(found, manifest=found.manifest | {"methods": methods})
    more = Findings({**results, "imbalanced": changed})
    for table, number in (("table3", 9), ("table8", 10)):
        assert more.paper_columns(table) == findings.paper_columns(table)
        assert len(more.paper_columns(table)) == number
    assert len(findings.paper_columns("table9", "paper")) == 10
    assert len(findings.paper_columns("table9")) == 17


def test_a_part_of_a_table(findings: Findings) -> None:
    sizes = [findings.sets("table3", of=[name]) for name in ("gene", "face", "uci")]
    assert sum(sizes) == findings.sets("table3")
    assert findings.sets("table3", of=["gene", "face"]) == sizes[0] + sizes[1]


def test_what_is_compared_together_is_corrected_together(findings: Findings) -> None:
    together = findings.against("table8", "svm-balanced", ["DRM(P)", "DRM(R)"])
    alone = [findings.versus("table8", "svm-balanced", one.theirs) for one in together]
    assert [one.p for one in together] == [one.p for one in alone]
    assert together[0].p_holm == pytest.approx(2 * min(one.p for one in alone))
    relations = ("ahead", "behind", "equivalent", "undecided")
    assert sum(findings.count(together, name) for name in relations) == 2
    left = findings.not_ahead(together)
    assert len(left) == 2 - findings.count(together, "ahead")


def test_origins_are_averaged_before_they_are_compared() -> None:
    results = load_results(REFERENCE, ["keel100"])
    names = list(results["keel100"].datasets)
    origins = {name: name.rstrip("0123456789").partition("-")[0] for name in names}
    found = Findings(results, origins).by_origin("keel100", "drm-rbf", "svm-balanced")
    means = means_of("keel100", "gmean")
    gains = (means["drm-rbf"] - means["svm-balanced"]).dropna()
    each = gains.groupby([origins[str(name)] for name in gains.index]).mean()
    assert found.n == len(each) < len(gains)
    assert found.p == pytest.approx(wilcoxon_exact(each.round(10).to_numpy())[1])
    each_its_own = Findings(results).by_origin("keel100", "drm-rbf", "svm-balanced")
    assert each_its_own.n == len(gains)


def test_claims_by_kind_and_ground(findings: Findings) -> None:
    empirical = findings.claim_counts("empirical", "paper")
    assert sum(empirical) == sum(findings.claim_counts("empirical", "honest"))
    assert sum(findings.claim_counts("arithmetic", "paper")) == 0
    printed = findings.claim("imbalanced-twelve-of-fifteen").printed
    assert printed
    assert printed.numbers.startswith(
        f"best on {findings.counted('imbalanced-twelve-of-fifteen', 'printed')}"
    )
    large = findings.claim("large-all").findings["maxabs"].comparisons
    relations = ("ahead", "behind", "equivalent", "undecided")
    counted = [findings.relations("large-all", name) for name in relations]
    assert sum(counted) == len(large)


@pytest.mark.parametrize("label", ["drm-rbf", "svm-poly", "rf"])
def test_minutes_are_of_all_rows(findings: Findings, label: str) -> None:
    """Also of sets on which selection saw a part of the rows only, such as yeast3."""
    rows = rows_of("imbalanced")
    spent = rows["seconds_select"][rows["method"] == label]
    found = CostFindings(findings).selection("imbalanced", label)
    assert found.minutes == pytest.approx(spent.sum() / 60)
    assert found.seconds == pytest.approx(spent.mean())


def test_sizes_of_searches(findings: Findings) -> None:
    cost = CostFindings(findings)
    manifest = json.loads((REFERENCE / "imbalanced" / "manifest.json").read_text())
    grids = {entry["label"]: entry["grid"] for entry in manifest["methods"]}
    for label in ("drm-rbf", "rf", "nb"):
        sizes = [len(values) for values in grids[label].values()]
        assert cost.candidates("imbalanced", label) == int(np.prod(sizes))
    share = cost.selection_share("drm-linear", "drm-rbf", ["gene", "face"])
    times = [
        sum(
            rows["seconds_select"][rows["method"] == label].sum()
            for rows in (rows_of("gene"), rows_of("face"))
        )
        for label in ("drm-linear", "drm-rbf")
    ]
    assert share == pytest.approx(times[0] / times[1])


def test_rows_of_the_rare_class_that_selection_saw(findings: Findings) -> None:
    cost = CostFindings(findings)
    seen = cost.minority_in_selection("keel100")
    entry = findings.results["keel100"].datasets["abalone19"]
    rare = min(entry["class_counts"].values()) / entry["n"]
    assert seen["abalone19"] == pytest.approx(200 * rare)
    small = findings.results["keel100"].datasets["glass2"]
    rare = min(small["class_counts"].values()) / small["n"]
    assert seen["glass2"] == pytest.approx(small["n_train"] * rare)  # fewer than 200
    means = means_of("keel100", "gmean")
    few = seen.index[seen < 3]
    behind = (means["svm-balanced"] - means["drm-rbf"])[few]
    found = cost.deficit("keel100", "drm-rbf", "svm-balanced", least=0, below=3)
    assert found == pytest.approx(behind.mean())


def test_printed_cells_are_counted_once(findings: Findings) -> None:
    printed = PrintedFindings(findings)
    kinds = ("exact", "within 0.005", "within 1 sd", "not", "no figure")
    for column in ("DRM(R)", "SVM(P)"):
        assert sum(printed.cells(column, kind) for kind in kinds) == 15
        assert printed.printed_cells(column) == 15 - printed.cells(column, "no figure")
    assert printed.cells("DRM(P)", "either") >= printed.cells("DRM(P)", "exact")
    assert printed.drm_cells_given() >= printed.cells("DRM(P)", "either")
    rule = printed.rule("SVM(R)", "libsvm")
    assert rule["reported"] <= rule["either"] <= rule["cells"]
    assert printed.rule_figure("SVM(R)", "libsvm", "ecoli1") == pytest.approx(
        0.8330, abs=5e-5
    )


def test_a_sentence_is_kept_or_refused(findings: Findings) -> None:
    assert findings.holds(1 < 2, lambda: "a\nb") == "a\nb"
    with pytest.raises(OutdatedTextError, match="rewrite it in the template: 'a b'"):
        findings.holds([], lambda: "a\nb")


def test_rankings_are_those_of_the_leaderboards() -> None:
    findings = Findings(load_results(REFERENCE), catalogue.origins())
    found = ranking_of(findings, "wide")
    every = load_results(REFERENCE).values()
    expected = leaderboard(every, "wide", origins=catalogue.origins())
    ranked = expected.dropna(subset="mean_rank")
    assert list(found.first(3)) == ranked["method"][:3].tolist()
    assert found.methods == len(ranked)
    assert ranked["method"][found.place() - 1] == found.entry == "drm"
    assert found.rank() == ranked["mean_rank"][found.place() - 1]
    words = ("ahead", "behind", "practically equivalent", "undecided")
    listed = [name for word in words for name in found.standing(word)]
    assert sorted([*listed, found.entry]) == sorted(ranked["method"])


def test_a_ranking_without_a_drm_is_refused() -> None:
    no_drm = load_results(REFERENCE)["keel100"]
    kept = no_drm.rows[~no_drm.rows["method"].str.startswith("drm")]
    methods = [m for m in no_drm.manifest["methods"] if "drm" not in m["label"]]
    without = replace(
        no_drm, rows=kept, manifest={**no_drm.manifest, "methods": methods}
    )
    with pytest.raises(OutdatedTextError, match="no DRM is complete in rare"):
        _ = ranking_of(Findings({"keel100": without}), "rare").entry
