"""The sample report and the figures, made once for all tests that read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from figure_results import draw, make_everything
from sample_results import make_sample_results
from support import REPOSITORY

from drmbench.report.figures import Drawing
from drmbench.report.page import write_report
from drmbench.report.table import Table
from drmbench.report.tables import all_tables
from drmbench.running.results import Results, load_results


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of :mod:`sample_results`."""
    return make_sample_results(tmp_path_factory.mktemp("sample") / "results")


@pytest.fixture(scope="session")
def sample_report(sample_folder: Path) -> Path:
    """The report on them."""
    return write_report(sample_folder, (), sample_folder.parent / "report.html")


@pytest.fixture(scope="session")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small experiment of each kind that has figures."""
    folder = tmp_path_factory.mktemp("results")
    make_everything(folder)
    return folder


@pytest.fixture(scope="session")
def drawings(results_folder: Path) -> dict[str, Drawing]:
    """Its figures by their ids."""
    return draw(results_folder)


@pytest.fixture(scope="session")
def committed_results() -> dict[str, Results]:
    """The committed results."""
    return load_results(REPOSITORY / "results" / "reference")


@pytest.fixture(scope="session")
def committed_tables(committed_results: dict[str, Results]) -> list[Table]:
    """Every table of the committed results."""
    return all_tables(committed_results)
