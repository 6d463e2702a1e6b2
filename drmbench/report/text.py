"""Documents from templates, whose every number is computed from stored rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError

from drmbench.errors import CheckFailedError
from drmbench.report.analyses.comparison import score_table
from drmbench.report.findings import Findings, OutdatedTextError
from drmbench.report.findings_cost import CostFindings
from drmbench.report.findings_printed import PrintedFindings
from drmbench.report.findings_regimes import ranking_of
from drmbench.report.findings_when import WhenFindings
from drmbench.report.paired import Compared
from drmbench.report.render import to_markdown
from drmbench.report.scores import table_sources
from drmbench.report.table import Table, signed
from drmbench.running.results import Results
from drmbench.words import metric_words

#: A part of a document that is filled in: ``<!-- text NAME -->`` by a template, and
#: ``<!-- table ID -->`` by a table; up to ``<!-- end -->``.
_BLOCK = re.compile(r"(<!-- (text|table) (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


#: How lines begin that are no part of a paragraph.
_AS_IT_IS = ("|", "#", "    ", "<!--")
_STARTS = re.compile(r"1[.)]|[-+*>]|#+")


class TextRenderer:
    """Documents that are filled in from the templates of a folder and stored results.

    Both methods raise an `OutdatedTextError` if the rows no longer say what a sentence
    of a template says. ``origins`` is as for :class:`Findings`.
    """

    def __init__(
        self,
        templates: Path,
        results: Mapping[str, Results],
        origins: Mapping[str, str] | None = None,
    ) -> None:
        findings = Findings(results, origins)
        self.results = results
        self._environment = Environment(
            loader=FileSystemLoader(templates),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.globals.update(
            f=findings,
            printed=PrintedFindings(findings),
            cost=CostFindings(findings),
            ranking=cache(partial(ranking_of, findings)),
            when=WhenFindings(findings),
            holds=findings.holds,
        )
        self._environment.filters.update(
            signed=signed,
            p=p_words,
            tally=tally_words,
            wtl=short_tally,
            by=difference_words,
            metric_words=metric_words,
        )

    def render(self, template: str) -> str:
        """Return the document of a template."""
        try:
            return reflow(self._environment.get_template(template).render())
        except (KeyError, UndefinedError) as error:
            raise OutdatedTextError(
                f"{template} speaks of what the rows do not have: {error}"
            ) from error

    def fill(self, document: str) -> str:
        """Fill in the marked parts of a document, and leave the rest as it is."""
        return _BLOCK.sub(self._filled, document)

    def _filled(self, found: re.Match[str]) -> str:
        start, kind, name, _, end = found.groups()
        if kind == "text":
            return f"{start}{self.render(f'{name}.md.j2')}{end}"
        lines = to_markdown(self._table(name)).splitlines(keepends=True)
        # Its title and footnotes are where the document refers to.
        shown = "".join(line for line in lines if line.startswith("|"))
        return f"{start}{shown}{end}"

    def _table(self, name: str) -> Table:
        """Return a table of scores by its id."""
        for source in table_sources(self.results):
            for mode in source.modes:
                for metric in source.metrics:
                    about = Table(
                        experiment=source.id, kind="scores", metric=metric, mode=mode,
                        title="", columns=(), rows=(),
                    )  # fmt: skip
                    if about.id == name:
                        return score_table(source, mode, metric, "ours")
        raise CheckFailedError(f"there is no table {name} to fill a document with")


def reflow(text: str, width: int = 120) -> str:
    r"""Break the lines of paragraphs and of items of lists at a width.

    Headings, tables, code and comments stay as they are.

    Examples
    --------
    >>> print(reflow("a b c\nd e\n\n| x y z |\n- f g\n  h\n", 5), end="")
    a b c
    d e
    <BLANKLINE>
    | x y z |
    - f g
      h
    """
    done: list[str] = []
    words: list[str] = []
    for line in [*text.split("\n"), ""]:
        item = line.startswith("- ")
        plain = bool(line.strip()) and not line.startswith(_AS_IT_IS)
        if words and (item or not plain):
            done += _broken(words, width)
            words = []
        if plain:
            words += line.split()
        else:
            done.append(line)
    return "\n".join(done[:-1])


def _broken(words: list[str], width: int) -> list[str]:
    """Return the lines of a paragraph or of an item, which begins with a dash."""
    indent = "  " if words[0] == "-" else ""
    lines = [words[0]]
    for word in words[1:]:
        # At the start of a line these would begin a list, a heading or a quotation.
        starts = _STARTS.fullmatch(word)
        if starts or len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return lines


def tally_words(comparison: Compared) -> str:
    """Say wins, ties and losses.

    Examples
    --------
    >>> found = Compared("a", "b", 15, "data sets", (12, 0, 3), 0.1, None, 0.01, 0.01)
    >>> tally_words(found), short_tally(found)
    ('12 wins, 3 losses', '12–0–3')
    """
    words = zip(comparison.tally or (), ("win", "tie", "loss"), strict=False)
    plural = {"loss": "losses"}
    return ", ".join(
        f"{n} {word if n == 1 else plural.get(word, f'{word}s')}"
        for n, word in words
        if n or word != "tie"
    )


def short_tally(comparison: Compared) -> str:
    """Return wins, ties and losses as three numbers."""
    return "–".join(map(str, comparison.tally or ()))


def difference_words(comparison: Compared) -> str:
    """Say the typical difference and its interval.

    Examples
    --------
    >>> counts, ends = (6, 0, 0), (0.01, 0.05)
    >>> found = Compared("a", "b", 6, "data sets", counts, 0.03, ends, 0.03, 0.03)
    >>> difference_words(found)
    '+0.030 [+0.010, +0.050]'
    """
    text = signed(comparison.difference, 3)
    ends = ", ".join(signed(end, 3) for end in comparison.interval or ())
    return f"{text} [{ends}]" if ends else text


def p_words(p: float) -> str:
    """Say a p value with two digits.

    Examples
    --------
    >>> p_words(0.01171), p_words(0.3516), p_words(2e-8), p_words(1.0)
    ('p = 0.012', 'p = 0.35', 'p < 0.0001', 'p = 1')
    """
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"
