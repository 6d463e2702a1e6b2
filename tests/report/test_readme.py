"""The README shows what the commands make of the committed results."""

import re
from pathlib import Path

from drmbench.report.render import to_markdown
from drmbench.report.tables import experiment_tables
from drmbench.running.results import experiments_in, load_results

ROOT = Path(__file__).resolve().parents[2]


def table_lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_readmes_table_is_the_one_that_drmbench_tables_writes():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    name, shown = re.search(
        r"<!-- table (\S+) -->\n(.*?)<!-- end -->", readme, re.DOTALL
    ).groups()
    folder = ROOT / "results" / "reference"
    names = [name for name in ("gene", "face", "uci") if name in experiments_in(folder)]
    results = load_results(folder, names)
    (table,) = (t for t in experiment_tables(results, view="ours") if t.id == name)
    assert table_lines(shown) == table_lines(to_markdown(table))


def test_the_readmes_figures_are_committed_ones():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = re.findall(r"!\[[^]]+\]\((results/figures/[^)]+)\)", readme)
    assert len(figures) >= 2
    assert all((ROOT / figure).is_file() for figure in figures)
