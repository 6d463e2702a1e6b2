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
from typing import Any

from drmbench.report.table import Cell, Column, Table, anchor

#: Columns and letters of a table that a screen has room for, and those between two.
_MOST_COLUMNS, _SCREEN, _MARGIN = 10, 112, 3

#: What LaTeX has room for: the line in points, half the space between columns, the
#: widest column of texts, lines of a page, letters of a line, lines around a part.
_LINE, _SEPARATION, _WIDEST = 469.0, 3, 120.0
_LINES_OF_A_PAGE, _LETTERS, _HEAD = 55, 115, 4
#: Widths of letters of 8 pt, those of the others, and of bold and raised ones.
_WIDTHS = (
    *(("0123456789 -", 4.3), ("ijlI.,:;'!|()[]ft", 3.4), ("mw", 7.1), ("MW%", 8.8)),
    ("ABCDEFGHJKLNOPQRSTUVXYZ&+=<>", 6.7),
)
_BOLD, _SMALL = 1.18, 0.85

#: Small Greek letters that have a command of their own name; omicron is a Latin o.
_GREEK = "αβγδεζηθικλμνξπρστυφχψω"
_SIGNS = "±≠−×≤≥≪≫√≈→·²³⁻¹†‡‖½λ"  # Unicode's name of λ is not LaTeX's
_COMMANDS = (
    *(r"\pm", r"\neq", "-", r"\times", r"\leq", r"\geq", r"\ll", r"\gg"),
    *(r"\surd", r"\approx", r"\rightarrow", r"\cdot", "^2", "^3", "^-", "^1"),
    *(r"\dagger", r"\ddagger", r"\|", r"\frac{1}{2}", r"\lambda"),
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
    "§": r"\S{}",
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


def _texts(row: Sequence[Cell]) -> list[str]:
    return [f"{cell.text} {cell.mark}".strip() for cell in row]


def to_markdown(table: Table) -> str:
    """Return the table as Markdown, ending with a newline.

    What is too wide for a screen stands in parts below each other.

    Examples
    --------
    >>> from drmbench.report.table import Cell, Column, Footnote
    >>> columns = (Column("set"), Column("n", "right"))
    >>> row = (Cell("iris"), Cell("150", 150, bold=True, mark="a"))
    >>> sizes = Table(experiment="t", kind="", title="Sizes", columns=columns,
    ...               rows=(row,), footnotes=(Footnote("a", "all"),))
    >>> print(to_markdown(sizes))
    ### Sizes
    <BLANKLINE>
    | set | n |
    |:---|---:|
    | iris | **150**<sup>a</sup> |
    <BLANKLINE>
    <sup>a</sup> all
    <BLANKLINE>
    """
    cells = zip(*([_shown(cell) for cell in row] for row in table.rows), strict=True)
    shown = [[_shown(column)] for column in table.columns]
    for column, texts in zip(shown, cells, strict=False):
        column += texts
    parts = table.blocks(list(map(_screen_width, shown)), _SCREEN, _MOST_COLUMNS)
    notes = [f"{_sup(x.mark)} {markdown_text(x.text)}" for x in table.footnotes]
    notes += map(markdown_text, table.notes)
    title = f"### {markdown_text(table.title)}"
    return "\n\n".join([title, *map(_markdown_part, parts), *notes]) + "\n"


def _shown(cell: Cell | Column) -> str:
    return f"{cell.text} {cell.mark}" if cell.mark else cell.text


def _screen_width(texts: Sequence[str]) -> float:
    """Return the letters that a column takes if no cell has more than two lines."""
    words = (len(word) for text in texts for word in text.split())
    halves = (len(text) / 2 + 1 for text in texts)
    return max(*words, *halves, 0, 0) + _MARGIN


def _markdown_part(table: Table) -> str:
    rules = [":---" if c.align == "left" else "---:" for c in table.columns]
    above: Sequence[Cell | Column] = table.columns
    lines = [[_markdown_cell(x) for x in row] for row in (above, *table.rows)]
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, f"|{'|'.join(rules)}|", *body])


def _markdown_cell(cell: Cell | Column) -> str:
    text = markdown_name(cell.text)
    if isinstance(cell, Cell) and cell.bold and text:
        text = f"**{text}**"
    return text + _sup(cell.mark)


def _sup(mark: str) -> str:
    return f"<sup>{mark}</sup>" if mark else ""


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
    r"""Return the table as LaTeX to ``\input``; needs array, booktabs and longtable.

    It is set in 8 pt and fits a page of letter paper with margins of an inch, which is
    narrower than that of most journals. A wide table stands in parts below each other;
    a long one breaks over pages, which takes a document of one column.
    """
    widths = [_width(c, cells) for c, cells in _columns(table)]
    parts = table.blocks([x + 2 * _SEPARATION for x in widths], _LINE, len(widths) + 1)
    title = rf"\caption{{{_latex_prose(table.title)}}}\label{{tab:{anchor(table.id)}}}"
    notes = [
        rf"\textsuperscript{{{latex_text(note.mark)}}}\,{_latex_prose(note.text)}\par"
        for note in table.footnotes
    ]
    notes += [rf"{_latex_prose(note)}\par" for note in table.notes]
    if notes:
        notes = [r"{\raggedright\smallskip", *notes, "}"]
    font = rf"\fontsize{{8}}{{9.5}}\selectfont\tabcolsep={_SEPARATION}pt"
    height = sum(len(part.rows) + _HEAD for part in parts)
    height += sum(1 + len(note) // _LETTERS for note in notes)
    if height <= _LINES_OF_A_PAGE:
        lines = [r"\begin{table*}[htbp]", title, rf"\centering{font}"]
        for part in parts:
            head, *body = _latex_rows(part)
            lines += [
                *(rf"\begin{{tabular}}{{{_sides(part)}}}", r"\toprule", head),
                *(r"\midrule", *body, r"\bottomrule", r"\end{tabular}\par\smallskip"),
            ]
        lines += [*notes, r"\end{table*}"]
    else:
        lines = [rf"{{{font}\LTcapwidth=\linewidth"]
        for number, part in enumerate(parts):
            head, *body = _latex_rows(part)
            head = rf"\toprule {head} \midrule"
            lines += [
                *([r"\addtocounter{table}{-1}"] if number else []),
                rf"\begin{{longtable}}{{{_sides(part)}}}",
                *([] if number else [rf"{title}\\"]),
                *(head, r"\endfirsthead", head, r"\endhead"),
                *(r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"),
            ]
        lines += [*notes, r"\par}"]
    packages = r"% \usepackage{array,booktabs,longtable}"
    letters = [_LETTER] if any(_COMMAND in line for line in lines) else []
    return "\n".join([packages, *letters, *lines]) + "\n"


def _columns(table: Table) -> list[tuple[Column, list[Cell]]]:
    """Return each column with its cells."""
    return [(c, [row[i] for row in table.rows]) for i, c in enumerate(table.columns)]


def _width(column: Column, cells: Iterable[Cell]) -> float:
    """Return about how wide a column is in points, rather more than less."""
    found = [
        _letters_width(cell.text) * (_BOLD if cell.bold else 1)
        + _SMALL * _letters_width(cell.mark)
        for cell in cells
    ]
    words = [_letters_width(word) for word in column.text.split()]
    words[-1:] = [x + _SMALL * _letters_width(column.mark) for x in words[-1:]]
    if column.align == "left":
        found = [min(x, _WIDEST) for x in found]
    return max([*found, *words], default=0.0)


def _letters_width(text: str) -> float:
    """Return the width of a text in Computer Modern of 8 pt, at least."""
    return sum(
        next((width for letters, width in _WIDTHS if x in letters), 4.8)
        if x.isascii()
        else 7.0
        for x in text
    )


def _sides(table: Table) -> str:
    """Return how the columns stand; texts that are too long are broken."""
    sides = [
        rf">{{\raggedright\arraybackslash}}p{{{_WIDEST:g}pt}}"
        if column.align == "left"
        and any(_letters_width(cell.text) > _WIDEST for cell in cells)
        else column.align[0]
        for column, cells in _columns(table)
    ]
    return rf"@{{}}{''.join(sides)}@{{}}"


def _latex_rows(table: Table) -> list[str]:
    """Return the heading, whose words stand below each other, and the rows."""
    rows = [[_latex_heading(c, _width(c, cells)) for c, cells in _columns(table)]]
    rows += [list(map(_latex_cell, row)) for row in table.rows]
    return [rf"{' & '.join(row)} \\" for row in rows]


def _latex_heading(column: Column, width: float) -> str:
    lines: list[str] = []
    for word in column.text.split():
        if lines and _letters_width(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    text = r"\\".join(map(latex_text, lines)) + _latex_mark(column.mark)
    side = column.align[0]
    return text if len(lines) < 2 else rf"\shortstack[{side}]{{{text}}}"


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if cell.bold and text:
        text = rf"\textbf{{{text}}}"
    return text + _latex_mark(cell.mark)


def _latex_mark(mark: str) -> str:
    return rf"\textsuperscript{{{latex_text(mark)}}}" if mark else ""


def _latex_prose(text: str) -> str:
    """Return a text in which code stands between backticks."""
    parts = enumerate(text.split("`")) if text.count("`") % 2 == 0 else [(0, text)]
    return "".join(
        rf"\texttt{{{_escaped(part)}}}" if number % 2 else _escaped(part)
        for number, part in parts
    )


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
    return _escaped(text.strip())


def _escaped(text: str) -> str:
    return "".join(map(_latex_letter, re.sub(r"\s+", " ", text)))


def _latex_letter(letter: str) -> str:
    if letter in _LATEX or letter.isascii():
        return _LATEX.get(letter, letter)
    parts = unicodedata.normalize("NFD", letter)
    if letter in _KNOWN or (parts[0].isascii() and _ACCENTS.issuperset(parts[1:])):
        return letter
    return rf"{_COMMAND}{{{letter}}}{{{ord(letter):04X}}}"
