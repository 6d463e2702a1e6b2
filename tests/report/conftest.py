"""The sample report, built once for all tests that read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_results import make_sample_results

from drmbench.report.report import write_report


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of :mod:`sample_results`."""
    return make_sample_results(tmp_path_factory.mktemp("sample") / "results")


@pytest.fixture(scope="session")
def sample_report(sample_folder: Path) -> Path:
    """The report on them."""
    return write_report(sample_folder, (), sample_folder.parent / "report.html")
