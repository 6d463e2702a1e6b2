"""Tables as text: for the terminal, in Markdown, CSV and LaTeX.

Markdown and LaTeX are for people; CSV is tidy, has full precision and one record per
cell.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drmbench.report.table import Cell, Table, anchor

if TYPE_CHECKING:
    import rich.table

#: A LaTeX table with more rows than this breaks over pages.
_ROWS_OF_A_PAGE = 45

#: Small Greek letters that have a command of their own name; omicron is a Latin o.
_GREEK = "αβγδεζηθικλμνξπρστυφχψω"
_SIGNS = "±≠−×≤≥√≈→·²³⁻¹†‡λ"  # Unicode's name of λ is not LaTeX's
_COMMANDS = (
    *(r"\pm", r"\neq", "-", r"\times", r"\leq", r"\geq", r"\surd", r"\approx"),
    *(r"\rightarrow", r"\cdot", "^2", "^3", "^-", "^1", r"\dagger", r"\ddagger"),
    r"\lambda",
)
_MATHS = {
    **{x: rf"\{unicodedata.name(x).split()[-1].lower()}" for x in _GREEK},
    **dict(zip(_SIGNS, _COMMANDS, strict=True)),
}
_LATEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a line it would be an option of the last \\
    "]": "{]}",
    "–": "--",
    "…": r"\ldots{}",
    **{sign: rf"\ensuremath{{{command}}}" for sign, command in _MATHS.items()},
}


#: What formulas of spreadsheets begin with; an apostrophe marks a text there.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)

#: What is markup in Markdown: also underscores beside a word, links, and entities.
_MARKUP = re.compile(
    r"([\\*]|<(?=\S)|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])|&(?=#?\w+;))", re.ASCII
)

#: Letters and accents that LaTeX knows without further packages.
_KNOWN = frozenset("ßæÆøØœŒłŁıȷ‘’“”—•")
_ACCENTS = frozenset(
    "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
)
_COMMAND = r"\drmletter"
_LETTER = rf"\providecommand{_COMMAND}[2]{{\ifdefined\Umathcode #1\else [U+#2]\fi}}"


def to_text(table: Table) -> str:
    """Return headings and cells as plain aligned columns, without a last newline.

    Examples
    --------
    >>> from drmbench.report.table import Column
    >>> columns = (Column("name"), Column("n", "right"))
    >>> rows = ((Cell("iris"), Cell("150")), (Cell("pix"), Cell("9")))
    >>> table = Table(experiment="", kind="", title="", columns=columns, rows=rows)
    >>> print(to_text(table))
    name    n
    iris  150
    pix     9
    """
    lines = [[column.text for column in table.columns], *map(_texts, table.rows)]
    forms = [
        f"{'<' if column.align == 'left' else '>'}{max(map(len, cells))}"
        for column, *cells in zip(table.columns, *lines, strict=True)
    ]
    padded = (map(format, line, forms) for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def to_rich(table: Table) -> rich.table.Table:
    """Return headings and cells as rich draws them on a terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        drawn.add_column(escape(column.text), justify=column.align)
    for row in table.rows:
        drawn.add_row(*map(escape, _texts(row)))
    return drawn


def _texts(row: Sequence[Cell]) -> list[str]:
    return [f"{cell.text} {cell.mark}".strip() for cell in row]


def to_markdown(table: Table) -> str:
    """Return the table as Markdown, ending with a newline.

    Examples
    --------
    >>> from drmbench.report.table import Cell, Column
    >>> columns = (Column("set"), Column("n", "right"))
    >>> row = (Cell("iris"), Cell("150", 150, bold=True, mark="†"))
    >>> sizes = Table(experiment="t", kind="", title="Sizes", columns=columns,
    ...               rows=(row,), footnotes=("† all",))
    >>> print(to_markdown(sizes))
    ### Sizes
    <BLANKLINE>
    | set | n |
    |:---|---:|
    | iris | **150** † |
    <BLANKLINE>
    † all
    <BLANKLINE>
    """
    rules = [":---" if c.align == "left" else "---:" for c in table.columns]
    lines = [[markdown_name(column.text) for column in table.columns]]
    lines += [list(map(_markdown_cell, row)) for row in table.rows]
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    below = [f"\n{markdown_text(note)}" for note in (*table.footnotes, *table.notes)]
    title = f"### {markdown_text(table.title)}\n"
    return "\n".join([title, head, f"|{'|'.join(rules)}|", *body, *below]) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = markdown_name(cell.text)
    emphasised = f"**{text}**" if cell.bold and text else text
    return f"{emphasised} {cell.mark}".strip()


def markdown_name(text: str) -> str:
    """Return a text as :func:`markdown_text` does, without code in it."""
    return markdown_text(text).replace("`", r"\`")


def markdown_text(text: str) -> str:
    r"""Return a text on one line, with what Markdown would take for markup escaped.

    Examples
    --------
    >>> print(markdown_text("a|b ![x](http://x) <b> [1]"))
    a\|b ![x\](http://x) \<b> [1]
    """
    return re.sub(r"(\||<(?!\S))", r"\\\1", markdown_prose(text))


def markdown_prose(text: str) -> str:
    """Return a text as :func:`markdown_text` does, to stand outside of a table.

    What has no effect where it stands is left: brackets without a link, underscores
    within a word, a sign between spaces. Code in backticks, as in our own sentences,
    stays code.
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def link_text(text: str) -> str:
    """Return text of Markdown with brackets escaped, to stand inside a link."""
    return re.sub(r"(?<!\\)([\[\]])", r"\\\1", text)


def to_csv(table: Table) -> str:
    """Return the table's tidy data as CSV, or the cells of a table that has none.

    Numbers have full precision; what is not there is an empty field. A text that a
    spreadsheet would take for a formula has an apostrophe in front (:func:`csv_text`).
    """
    headings = [column.text for column in table.columns]
    records: Iterable[Mapping[Any, Any]] = (
        {
            heading: cell.text if cell.value is None else cell.value
            for heading, cell in zip(headings, row, strict=True)
        }
        for row in table.rows
    )
    if table.frame is not None and len(table.frame):
        headings = list(table.frame.columns)
        records = table.frame.to_dict("records")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(csv_text, headings))
    writer.writerows([_field(record[k]) for k in headings] for record in records)
    return stream.getvalue()


def _field(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return csv_text(value)
    return int(value) if isinstance(value, bool) else value


def csv_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    One that begins like a formula, or with an apostrophe, gets an apostrophe in front,
    and dropping that gives it back. Numbers stay as they are.

    Examples
    --------
    >>> csv_text("=1+1"), csv_text("-0.5"), csv_text("-x"), csv_text("nb")
    ("'=1+1", '-0.5', "'-x", 'nb')
    """
    if not text.startswith(_FORMULA) or _NUMBER.fullmatch(text):
        return text
    return f"'{text}"


def to_latex(table: Table) -> str:
    r"""Return the table as LaTeX to ``\input``; needs booktabs, graphicx, longtable.

    A wide table is shrunk to the line, a long one breaks over pages.
    """
    sides = "".join(column.align[0] for column in table.columns)
    title = rf"\caption{{{latex_text(table.title)}}}\label{{tab:{anchor(table.id)}}}"
    cells = [[latex_text(column.text) for column in table.columns]]
    cells += [list(map(_latex_cell, row)) for row in table.rows]
    head, *body = (rf"{' & '.join(line)} \\" for line in cells)
    notes = [rf"\par {latex_text(note)}" for note in (*table.footnotes, *table.notes)]
    if len(table.rows) > _ROWS_OF_A_PAGE:
        lines = [
            *(r"{\footnotesize", rf"\begin{{longtable}}{{{sides}}}", rf"{title}\\"),
            *(r"\toprule", head, r"\midrule", r"\endhead", *body, r"\bottomrule"),
            *(r"\end{longtable}", *notes, r"\par}"),
        ]
    else:
        lines = [
            *(r"\begin{table}[htbp]", r"\centering\footnotesize", title),
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{sides}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            *(r"\end{tabular}}", *notes, r"\end{table}"),
        ]
    packages = r"% \usepackage{booktabs,graphicx,longtable}"
    letters = [_LETTER] if any(_COMMAND in line for line in lines) else []
    return "\n".join([packages, *letters, *lines]) + "\n"


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if cell.bold and text:
        text = rf"\textbf{{{text}}}"
    return text + (rf"\textsuperscript{{{latex_text(cell.mark)}}}" if cell.mark else "")


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX shows it: specials escaped, signs as commands.

    Examples
    --------
    >>> print(latex_text("50 % of a_b ± 1"))
    50 \% of a\_b \ensuremath{\pm} 1

    Letters that pdfLaTeX has no font for are shown by XeLaTeX and LuaLaTeX, and by
    their numbers by pdfLaTeX, which would fail otherwise; :func:`to_latex` defines the
    command.

    >>> print(latex_text("Mikroβ 字"))
    Mikro\ensuremath{\beta} \drmletter{字}{5B57}
    """
    return "".join(map(_latex_letter, " ".join(text.split())))


def _latex_letter(letter: str) -> str:
    if letter in _LATEX or letter.isascii():
        return _LATEX.get(letter, letter)
    parts = unicodedata.normalize("NFD", letter)
    if letter in _KNOWN or (parts[0].isascii() and _ACCENTS.issuperset(parts[1:])):
        return letter
    return rf"{_COMMAND}{{{letter}}}{{{ord(letter):04X}}}"
