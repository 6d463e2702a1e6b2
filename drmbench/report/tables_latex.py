"""Text for LaTeX."""

from __future__ import annotations

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
            "α": r"\alpha",
            "β": r"\beta",
            "χ": r"\chi",
            "²": "^2",
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
