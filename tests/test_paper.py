"""Published G-mean cells that the paper's protocol gives back, digit by digit."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from drmbench.cli import app
from drmbench.data import load
from drmbench.data.catalogue import load_catalogue
from drmbench.methods import get_method
from drmbench.metrics import mean_and_spread
from drmbench.paper import Agreement, find_cell, published_cells
from drmbench.protocol.evaluate import evaluate
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.selection import SelectionPlan
from drmbench.protocol.splits import given_folds

pytestmark = pytest.mark.wheels

DATASETS = ("haberman", "glass4", "new-thyroid2", "cleveland-0_vs_4", "glass6")
METHODS = ("nb", "knn-euclidean", "knn-cosine")


def published(dataset, method):
    names = load_catalogue().entry(dataset).paper.names
    cell = find_cell(published_cells("table8_gmean"), names, get_method(method).column)
    assert cell is not None
    return cell


@pytest.fixture(scope="module")
def computed():
    """The lines that ``drmbench keel-cells`` prints, by data set and method."""
    datasets = [*DATASETS, "ecoli1"]
    arguments = [part for name in datasets for part in ("--dataset", name)]
    arguments += [part for name in METHODS for part in ("--method", name)]
    printed = CliRunner().invoke(app, ["keel-cells", *arguments])
    assert printed.exit_code == 0, printed.output
    lines = [line for line in printed.stdout.splitlines() if "±" in line]
    return {tuple(line.split()[:2]): line for line in lines}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_cells_that_come_out_exactly(computed, dataset, method):
    cell = published(dataset, method)
    shown = f"{cell.mean:.4f} ± {cell.spread:.4f}"
    line = computed[dataset, method]
    assert line.index(shown) < line.index(f" {Agreement.EXACT} ")


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


def test_dashes_where_naive_bayes_has_no_variance(computed):
    """The paper prints dashes for ecoli1, where a feature is constant in a class."""
    assert published("ecoli1", "nb").mean is None
    assert f" {Agreement.UNPUBLISHED} " in computed["ecoli1", "nb"]


def test_exact_with_the_scaling_that_is_not_the_better():
    cell = published("haberman", "drm-poly")  # 0.6129 ± 0.0618
    figures = {"none": (0.61292, 0.06181), "separate": (0.6169, 0.1108)}
    assert cell.agreement(*figures["separate"]) is Agreement.NEAR
    assert cell.exact_scaling(figures) == "none"
