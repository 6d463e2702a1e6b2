"""Good configs, and what goes wrong when somebody changes a place in them."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "tests" / "config" / "good"
FILES = sorted([*FOLDER.glob("*.yaml"), *(REPOSITORY / "configs").glob("*.yaml")])
TEXTS = [path.read_text(encoding="utf-8") for path in FILES]
#: Values that are wrong almost everywhere, and right somewhere.
VALUES = (
    *("~", "true", "no", "''", "text", "'5'", "name", "2020-01-01", "1:30", "1_000"),
    *("0", "1", "-1", "5", "1.5", "1e999", ".nan", "-.inf", "0x1F", "9" * 30, "1e-3"),
    *(
        "iris",
        "paper",
        "kfold",
        "drm-rbf",
        "gmean",
        "10m",
        "-5s",
        "${}",
        "%d",
        "\u00e9",
    ),
    *(
        "[]",
        "{}",
        "[[]]",
        "[~]",
        "[1, 1]",
        "{a: b}",
        "{<<: 5}",
        "{? [a] : b}",
        "{1: 2}",
    ),
    *("&a", "*a", "&a [*a]", "!!int 5", "!x", "|", ">", "-", "'<<'", "\u2028", "%"),
    *('"\\0"', '"\\ud800"', '"\\n"', "{group: keel}", "{path: .}", "{path: a.csv}"),
    *(
        "{name: synthetic}",
        "{name: synthetic, parameters: {n: 3}}",
        "{name: rf, as: a}",
        "{estimator: sklearn.svm.SVC, steps: standard, grid: {C: [1]}}",
        "{estimator: 'no_such_module:A', params: {a: 1}}",
    ),
)
MARKS = (*":,[]{}#&*!|>'\"%@`\n\t -?~0a", "\u2028", "\x85", "\ufeff", "\U0001f600")
