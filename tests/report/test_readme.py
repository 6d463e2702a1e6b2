"""The README and its pages count what there is.

The README's marked parts are held to the rows in test_text.py.
"""

import re

from support import REPOSITORY

from drmbench.data.catalogue import load_catalogue
from drmbench.methods.registry import get_method

README, ESTIMATORS, METHODS, SPEED = (
    (REPOSITORY / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/estimators.md", "docs/methods.md", "docs/speed.md")
)


def test_the_readmes_figures_are_committed_ones():
    figures = re.findall(r"!\[[^]]+\]\((results/figures/[^)]+)\)", README)
    assert figures
    assert all((REPOSITORY / figure).is_file() for figure in figures)


def test_the_pages_count_data_sets_as_the_catalogue_does():
    catalogue = list(load_catalogue())
    papers = [entry for entry in catalogue if entry.paper]
    assert f"# {len(catalogue)} data sets, and what is ready" in METHODS
    assert f"All {len(papers)} data sets of the paper are in the catalogue" in METHODS


def test_the_pages_count_candidates_as_the_grids_do():
    kernels = (get_method(name).grid for name in ("drm-rbf", "drm-poly"))
    sizes = []
    for grid in kernels:
        size = 1
        for values in grid.values():
            size *= len(values)
        sizes.append(size)
    assert f"exact leave-one-out, {sum(sizes)} candidates" in ESTIMATORS
    assert f"`DRMClassifierCV`, {sizes[0]} rbf candidates" in SPEED
