"""The published tables are read whole, and agreement is classed as it says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from drmbench.errors import InputError
from drmbench.paper import (
    TABLES,
    Agreement,
    PublishedCell,
    find_cell,
    published_cells,
)
from drmbench.protocol.protocol import smallest_class_first

CELL = PublishedCell("haberman", "DRM(P)", 0.6129, 0.0618, bold=False)


@pytest.mark.parametrize(
    ("mean", "spread", "expected"),
    [
        (0.61294, 0.06184, Agreement.EXACT),
        (0.61286, 0.0617, Agreement.EXACT),  # one unit of the deviation's last digit
        (0.6129, 0.0616, Agreement.NEAR),
        (0.6130, 0.0618, Agreement.NEAR),
        (0.6169, 0.1108, Agreement.NEAR),
        (0.5600, 0.0618, Agreement.WITHIN_SPREAD),
        (0.7000, 0.5000, Agreement.DIFFERENT),
    ],
)
def test_agreement_is_classed_by_distance(mean, spread, expected):
    assert CELL.agreement(mean, spread) is expected


def test_dashes_agree_with_nothing():
    dashes = PublishedCell("haberman", "C4.5", None, None, bold=False)
    assert dashes.agreement(0.0, 0.0) is Agreement.UNPUBLISHED


def test_every_table_is_there_and_has_no_cell_twice():
    for table in TABLES:
        cells = Counter((cell.dataset, cell.method) for cell in published_cells(table))
        assert max(cells.values()) == 1
    counts = Counter(
        cell.method for cell in published_cells("table8_gmean") if cell.mean is not None
    )
    assert counts["NB"] == 7
    assert counts["KNN(E)"] == counts["KNN(C)"] == 15


def test_an_unknown_table_is_refused():
    with pytest.raises(InputError, match="no published table 'table1'"):
        published_cells("table1")


def test_a_cell_is_found_by_any_name_of_its_data_set():
    other = PublishedCell("iris", "NB", 0.9, 0.1, bold=True)
    assert find_cell([other, CELL], ("Haberman", "haberman"), "DRM(P)") is CELL
    assert find_cell([other, CELL], ("haberman",), "NB") is None
    assert find_cell([other, CELL], ("haberman",), None) is None


def test_rows_of_a_class_stay_in_their_order():
    y = np.array([2, 0, 1, 0, 2, 1, 0])
    assert smallest_class_first(y).tolist() == [0, 4, 2, 5, 1, 3, 6]
