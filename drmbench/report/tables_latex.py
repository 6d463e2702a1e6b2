"""Text for LaTeX."""

from __future__ import annotations

import unicodedata

#: Small Greek letters that have a command of their own name; omicron is a Latin o.
_GREEK = "αβγδεζηθικλμνξπρστυφχψω"


def _greek_name(letter: str) -> str:
    return (
        unicodedata.name(letter).rpartition(" ")[2].lower().replace("lamda", "lambda")
    )


_LATEX = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # at the start of a line it would be an option of the last \\
    "]": "{]}",
    "–": "--",
    "…": r"\ldots{}",
    **{
        sign: rf"\ensuremath{{{command}}}"
        for sign, command in {
            "±": r"\pm",
            "≠": r"\neq",
            "−": "-",
            "×": r"\times",
            "≤": r"\leq",
            "≥": r"\geq",
            "√": r"\surd",
            "≈": r"\approx",
            "→": r"\rightarrow",
            "·": r"\cdot",
            "²": "^2",
            "³": "^3",
            "⁻": "^-",
            "¹": "^1",
            **{letter: rf"\{_greek_name(letter)}" for letter in _GREEK},
            "†": r"\dagger",
            "‡": r"\ddagger",
        }.items()
    },
}


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX shows it: specials escaped, signs as commands.

    Examples
    --------
    >>> print(latex_text("50 % of a_b ± 1"))
    50 \% of a\_b \ensuremath{\pm} 1
    """
    one_line = " ".join(text.split())
    return "".join(_LATEX.get(character, character) for character in one_line)
