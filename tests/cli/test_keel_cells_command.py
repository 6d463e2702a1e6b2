"""``drmbench keel-cells``: output, choices and wrong names."""

from __future__ import annotations

import pytest


@pytest.mark.wheels
def test_a_column_of_the_table(run):
    answer = run("keel-cells", "--dataset", "glass6", "--method", "nb")
    assert answer.code == 0
    assert "0.8837 ± 0.0919" in answer.out
    assert "exact" in answer.out
    assert "optimistic" in answer.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dataset", "glas6"), "Did you mean 'glass6'"),
        (("--dataset", "iris"), "not one of the paper's KEEL sets"),
        (("--method", "nbb"), "nbb"),
    ],
)
def test_wrong_names(run, arguments, message):
    answer = run("keel-cells", *arguments)
    assert answer.code == 2
    assert message in answer.err
