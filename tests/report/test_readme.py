"""The README shows what the commands make of the committed results.

Its marked parts are held to the rows in test_text.py.
"""

import re

from support import REPOSITORY

from drmbench.data.catalogue import load_catalogue
from drmbench.methods.registry import get_method
from drmbench.report.render import to_markdown
from drmbench.report.tables import experiment_tables
from drmbench.running.results import load_results

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def table_lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_readmes_table_is_the_one_that_drmbench_tables_writes():
    name, shown = re.search(
        r"<!-- table (\S+) -->\n(.*?)<!-- end -->", README, re.DOTALL
    ).groups()
    results = load_results(
        REPOSITORY / "results" / "reference", ["face", "gene", "uci"]
    )
    (table,) = (t for t in experiment_tables(results, view="ours") if t.id == name)
    assert table_lines(shown) == table_lines(to_markdown(table))


def test_the_readmes_figures_are_committed_ones():
    figures = re.findall(r"!\[[^]]+\]\((results/figures/[^)]+)\)", README)
    assert len(figures) >= 2
    assert all((REPOSITORY / figure).is_file() for figure in figures)


def test_the_readme_counts_data_sets_as_the_catalogue_does():
    catalogue = list(load_catalogue())
    papers = [entry for entry in catalogue if entry.paper]
    assert f"# {len(catalogue)} data sets, and what is ready" in README
    assert f"All {len(papers)} data sets of the paper are in the catalogue" in README


def test_the_readme_counts_candidates_as_the_grids_do():
    kernels = (get_method(name).grid for name in ("drm-rbf", "drm-poly"))
    sizes = []
    for grid in kernels:
        size = 1
        for values in grid.values():
            size *= len(values)
        sizes.append(size)
    assert f"exact leave-one-out, {sum(sizes)} candidates" in README
    assert f"`DRMClassifierCV`, {sizes[0]} rbf candidates" in README
