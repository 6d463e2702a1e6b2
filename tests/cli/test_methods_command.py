"""``drmbench methods``: everything about every method, for people and programs."""

from __future__ import annotations

import json

import pytest
from support import Run

from drmbench.methods.registry import list_methods


def test_all_methods_are_listed_a_line_each(run: Run) -> None:
    result = run("methods")
    assert result.code == 0
    count, _, headings, *lines = result.out.splitlines()
    assert count.startswith(f"{len(list_methods())} methods of ")
    assert " ".join(headings.split()) == (
        "name in the paper what it is candidates family"
    )
    for method, line in zip(list_methods(), lines, strict=True):
        assert line.startswith(f"{method.name} ")
        assert f"  {method.title}  " in line
        assert line.endswith(f" {len(method.candidates())}  {method.family}")


def test_all_methods_in_full_have_column_grid_and_citation(run: Run) -> None:
    result = run("methods", "--full")
    assert result.code == 0
    for method in list_methods():
        assert f"{method.name}: {method.title}" in result.out
    assert "paper      SVM(R)" in result.out
    assert "n_neighbors: 2, 3, 4, 5, 6, 7, 8" in result.out
    assert "Clemmensen" in result.out


def test_one_method_is_shown_in_full(run: Run) -> None:
    result = run("methods", "nb")
    assert result.code == 0
    assert "paper mode zero_variance=exclude" in result.out
    assert "leave-one-out by exact shortcut" in result.out
    assert "svm-rbf" not in result.out


def test_json_has_one_record_a_method(run: Run) -> None:
    records = json.loads(run("methods", "--json").out)
    assert [record["name"] for record in records] == [m.name for m in list_methods()]
    assert records[0]["grid"]["C"] == [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    assert json.loads(run("methods", "rf", "--json").out)["candidates"] == 4


def test_methods_can_be_narrowed(run: Run) -> None:
    svm = json.loads(run("methods", "--family", "svm", "--json").out)
    assert {record["family"] for record in svm} == {"svm"}
    linear = json.loads(run("methods", "*-linear", "--json").out)
    assert [record["name"] for record in linear] == ["svm-linear", "drm-linear"]
    both = json.loads(run("methods", "*-linear", "--family", "drm", "--json").out)
    assert [record["name"] for record in both] == ["drm-linear"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--family", "svn"), "no method of the family 'svn'. Did you mean 'svm'?"),
        (("xyz*",), "no method is called 'xyz*'"),
        (("drm-rbf", "--family", "svm"), "no method of the family 'svm'"),
    ],
)
def test_wrong_filters_are_named(
    run: Run, arguments: tuple[str, ...], says: str
) -> None:
    result = run("methods", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_a_typo_gets_a_suggestion(run: Run) -> None:
    result = run("methods", "drm-rfb")
    assert result.code == 2
    assert "Did you mean 'drm-rbf'" in result.err


def test_help_has_examples(run: Run) -> None:
    result = run("methods", "--help")
    assert result.code == 0
    assert "drmbench methods drm-rbf" in result.out
