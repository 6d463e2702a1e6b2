"""What the page shows only when it is opened: tables, figures, details of experiments.

All of it is plain data, packed; a browser unpacks it and builds what is looked at.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drmbench.report import facts, figures
from drmbench.report.claims import GROUND_WORDS, Verdict, comparison_tables
from drmbench.report.html import inline_svg
from drmbench.report.protocol_words import run_command, target_words
from drmbench.report.scores import table_sources
from drmbench.report.table import Cell, Table, anchor
from drmbench.report.tables import experiment_tables
from drmbench.running.results import Results

#: Kinds of tables that say for each cell what the page has for it anyway, or what the
#: files of `drmbench tables` have.
_ONLY_IN_FILES = ("seconds", "agreement-cells", "rules-cells")


def packed(data: Any) -> str:
    """Return data as JSON that is deflated and written in the 64 letters of base64."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> Any:
    """Return the data that :func:`packed` was given."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def kept_tables(results: Mapping[str, Results], *, own: bool) -> list[Table]:
    """Return the tables of experiments that the page has.

    Scores are those of the first metric, of own experiments or beside the paper's: all
    others are figures that stand in the page cell by cell.
    """
    sources = {source.id: source for source in table_sources(results)}
    kept = []
    for table in experiment_tables(results):
        source = sources.get(table.experiment)
        if table.kind in _ONLY_IN_FILES:
            continue
        if table.kind == "scores" and source is not None:
            printed = own or any(r.experiment.reproduces for r in source.results)
            if not printed or table.metric != source.metrics[0]:
                continue
        kept.append(table)
    return kept


def fact_tables(results: Mapping[str, Results], *, own: bool) -> list[Table]:
    """Return what was run, on what and where, as tables of all experiments."""
    return [
        facts.run_table(results, own=own),
        facts.datasets_table(results, own=own),
        facts.files_table(results),
        facts.machines_table(results),
        facts.packages_table(results),
        *(() if own else facts.dataset_tables()),
    ]


def claims_data(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Return the comparisons behind every finding as tables, with their claims."""
    return [
        {
            **table_data(table),
            "claim": verdict.id,
            "title": f"{GROUND_WORDS[ground]}: {table.title}",
        }
        for verdict in verdicts
        for ground in verdict.grounds
        for table in comparison_tables(verdict, ground)
    ]


def table_data(table: Table) -> dict[str, Any]:
    """Return a table as a browser needs it; a plain cell is its text alone."""
    return {
        "id": anchor(table.id),
        "title": table.title,
        "columns": [
            [column.text, column.align == "right", column.mark]
            for column in table.columns
        ],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "summaries": table.summaries,
        "notes": [*map(str, table.footnotes), *table.notes],
    }


def _cell(cell: Cell) -> str | list[Any]:
    if not cell.bold and not cell.mark:
        return cell.text
    return [cell.text, cell.bold, cell.mark]


def experiments_data(
    results: Mapping[str, Results], *, own: bool
) -> list[dict[str, Any]]:
    """Return what is told of each experiment besides its figures."""
    return [_experiment(found, own) for found in results.values()]


def _experiment(found: Results, own: bool) -> dict[str, Any]:
    count, spec = facts.count_cells(found), found.experiment
    tables = [
        facts.missing_table(found, own=own),
        facts.failures_table(found),
        facts.methods_table(found, own=own),
    ]
    return {
        "name": found.name,
        "anchor": anchor(found.name),
        "title": spec.title,
        "about": "" if own else target_words(spec.reproduces),
        "done": f"{count.done:,} of {count.expected:,} cells done",
        "deviations": list(spec.deviations),
        "substitutes": [
            f"{name}: {entry['substitute']} stood in. {entry['note']}".rstrip()
            for name, entry in found.datasets.items()
            if entry.get("substitute")
        ],
        "makers": found.makers,
        "command": run_command(found),
        "config": str(found.manifest.get("config") or "").rstrip(),
        "tables": [table_data(table) for table in tables if table.rows],
    }


def figures_data(results: Mapping[str, Results]) -> dict[str, Sequence[Any]]:
    """Return all figures as SVG for the page, and why others are not there."""
    remarks: list[str] = []
    drawn = [
        {
            "id": anchor(f"figure-{one.id}"),
            "title": one.title,
            "caption": one.caption,
            "svg": str(
                inline_svg(
                    figures.to_svg(one), anchor(f"figure-{one.id}-svg"), one.title
                )
            ),
        }
        for one in figures.draw_all(results, say=remarks.append)
    ]
    return {"figures": drawn, "remarks": remarks}
