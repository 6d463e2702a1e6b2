"""Published G-mean cells that the paper's protocol gives back, digit by digit."""

from __future__ import annotations

import pytest

from drmbench.data import load
from drmbench.data.catalogue import load_catalogue
from drmbench.methods import get_method
from drmbench.metrics import mean_and_spread
from drmbench.paper import Agreement, find_cell, published_cells
from drmbench.protocol.evaluate import evaluate
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.reproduction import ReproducedCell, reproduce_cell
from drmbench.protocol.selection import SelectionPlan
from drmbench.protocol.splits import given_folds

pytestmark = pytest.mark.wheels


def published(dataset, method):
    names = load_catalogue().entry(dataset).paper.names
    cell = find_cell(published_cells("table8_gmean"), names, get_method(method).column)
    assert cell is not None
    return cell


@pytest.mark.parametrize("method", ["nb", "knn-euclidean", "knn-cosine"])
@pytest.mark.parametrize(
    "dataset", ["haberman", "glass4", "new-thyroid2", "cleveland-0_vs_4", "glass6"]
)
def test_cells_that_come_out_exactly(dataset, method):
    ours = reproduce_cell(load(dataset), get_method(method))
    assert ours.agreement(published(dataset, method)) is Agreement.EXACT


@pytest.mark.parametrize(
    ("dataset", "method"), [("glass6", "drm-poly"), ("ecoli3", "drm-rbf")]
)
def test_drm_cells_come_out_exactly_on_unscaled_data(dataset, method):
    data, cell = load(dataset), published(dataset, method)
    plan = SelectionPlan("loo", "gmean", tie="first")
    rules = Protocol(selection=plan, scaling="none", metrics=("gmean",))
    values = []
    for split in given_folds(data):
        (outcome,) = evaluate(data, get_method(method), split, rules)
        values.append(outcome.metrics["gmean"])
    assert cell.agreement(*mean_and_spread(values)) is Agreement.EXACT


def test_dashes_where_naive_bayes_has_no_variance():
    """The paper prints dashes for ecoli1, where a feature is constant in a class."""
    assert published("ecoli1", "nb").mean is None
    ours = reproduce_cell(load("ecoli1"), get_method("nb"))
    assert ours.agreement(published("ecoli1", "nb")) is Agreement.UNPUBLISHED


def test_exact_with_the_scaling_that_is_not_the_better():
    cell = published("haberman", "drm-poly")  # 0.6129 ± 0.0618
    figures = {"none": (0.61292, 0.06181), "separate": (0.6169, 0.1108)}
    ours = ReproducedCell(
        "haberman", "drm-poly", 0.6169, 0.1108, "separate", 0, "", 1.0, figures
    )
    assert ours.agreement(cell) is Agreement.NEAR
    assert ours.exact_with(cell) == "none"
