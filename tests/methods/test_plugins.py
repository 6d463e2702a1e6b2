"""Methods that installed packages bring: listed, used, and broken ones told."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_packages import TOY, clean_imports, write_distribution
from support import Run

from drmbench.errors import InputError
from drmbench.methods.registry import (
    builtin_names,
    get_method,
    is_method,
    list_methods,
    method_names,
    plugins,
    with_overrides,
)

GADGET = """
from drmbench.methods.base import Method
from drmbench.methods.foreign import method_from_estimator
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

def method(name):
    return Method(name, name.title(), "gadgets", "A. Uthor (2026)",
                  build=lambda params, seed: GaussianNB(**params),
                  grid={"var_smoothing": (1e-9, 1e-3)}, column="SVM(R)")

ONE = method("gadget")
BUILTIN = method("rf")
def several():
    return [method("first"), method_from_estimator("second", SVC(), {"C": [1, 2]})]
def fails():
    raise OSError("no licence\\nfound")
TWICE = [method("same"), method("same")]
NOTHING = []
OTHER = "gadget"
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    with clean_imports(tmp_path):
        sys.path.append(str(tmp_path))

        def one(entry_points: str, version: str = "1.0") -> None:
            modules = {"gadget": GADGET}
            write_distribution(
                *(tmp_path, "gadget"),
                version=version,
                modules=modules,
                entry_points=entry_points,
            )

        yield one


def test_a_method_a_list_and_a_function_are_taken(install: Install) -> None:
    install("gadget = gadget:ONE\nmany = gadget:several\n")
    assert method_names()[len(builtin_names()) :] == ("gadget", "first", "second")
    assert [method.name for method in list_methods()][-1] == "second"
    found = get_method("gadget")
    assert found.title == "Gadget"
    assert found.column is None, "the paper's columns are the paper's methods"
    assert found.origin == {"versions": {"gadget": "1.0"}}
    second = get_method("second").origin
    assert second["estimator"] == "sklearn.svm:SVC"
    assert list(second["versions"]) == ["gadget", "scikit-learn"]
    assert is_method("first")
    assert not is_method("third")


def test_changes_are_checked_as_for_other_methods(install: Install) -> None:
    install("gadget = gadget:ONE")
    changed = with_overrides(get_method("gadget"), params={"var_smoothing": 0.1})
    assert changed.candidates() == [{"var_smoothing": 0.1}]
    with pytest.raises(InputError, match="'var_smoothing' parameter of GaussianNB"):
        with_overrides(get_method("gadget"), params={"var_smoothing": -1})
    with pytest.raises(InputError, match="gadget has no parameter 'vars'"):
        with_overrides(get_method("gadget"), params={"vars": 1})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("gadget:MISSING", "AttributeError: module 'gadget' has no attribute"),
        ("no_such_package:ONE", "ModuleNotFoundError: No module named 'no_such_pack"),
        ("gadget:fails", "OSError: no licence"),
        ("gadget:BUILTIN", "the name 'rf' is taken by a method of drmbench's own"),
        ("gadget:TWICE", "the name 'same' is taken by itself"),
        ("gadget:NOTHING", "it must be a Method, a sequence of them, or a function"),
        ("gadget:OTHER", "not 'gadget'"),
    ],
)
def test_a_broken_one_is_told_when_asked_for_and_breaks_nothing(
    install: Install, run: Run, value: str, reason: str
) -> None:
    install(f"wrong = {value}\ngadget = gadget:ONE\n")
    with pytest.raises(InputError) as caught:
        get_method("wrong")
    told = str(caught.value)
    start = f"wrong: the entry point wrong = {value} of gadget 1.0 cannot be used: "
    assert told.startswith(start)
    assert reason in told
    assert "\n" not in told
    assert get_method("gadget").name == "gadget"
    assert get_method("rf").column == "RF"
    listed = run("methods")
    assert listed.code == 0
    assert re.search(r"^gadget +Gadget +2 +gadgets$", listed.out, re.MULTILINE)
    assert listed.err.startswith(f"warning: {start.removeprefix('wrong: ')}")
    assert listed.err.count("\n") == 1
    one = run("methods", "gadget")
    assert one.out.startswith("gadget: Gadget\n")
    assert "from       gadget 1.0\n" in one.out
    assert run("methods", "nb").err == ""


def test_a_name_that_two_bring_is_the_firsts(install: Install) -> None:
    install("a = gadget:ONE\nb = gadget:ONE\n")
    first, second = plugins()
    assert [method.name for method in first.methods] == ["gadget"]
    assert "'gadget' is taken by the entry point a = gadget:ONE" in second.problem


def test_built_in_names_import_no_package(install: Install) -> None:
    install("gadget = gadget:ONE")
    sys.modules.pop("gadget", None)
    assert is_method("rf")
    assert get_method("rf").name == "rf"
    assert is_method("gadget")
    assert "gadget" not in sys.modules


def test_a_config_may_name_one(install: Install, run: Run, tmp_path: Path) -> None:
    install("gadget = gadget:ONE\nwrong = gadget:fails\n")
    config = tmp_path / "mine.yaml"
    text = "name: mine\ndatasets: [iris]\nmethods:\n  - gadget\n"
    text += "  - {name: gadget, as: other, params: {var_smoothing: 0.5}}\n"
    config.write_text(text)
    assert run("config", "check", str(config)).code == 0
    config.write_text(f"{text}  - wrong\n  - gadgets\n")
    refused = run("config", "check", str(config))
    assert refused.code == 2
    _, wrong, unknown = refused.err.splitlines()
    assert wrong.startswith(f"{config}:6: wrong: the entry point wrong = gadget:fails")
    assert "not 'gadgets'. Did you mean 'gadget'?" in unknown


def test_a_module_that_is_no_distributions_counts_by_its_source(
    install: Install, tmp_path: Path
) -> None:
    install("toy = toy:METHOD")
    own = tmp_path / "elsewhere"
    own.mkdir()
    make = "METHOD = method_from_estimator('toy', Toy())"
    head = "from drmbench.methods.foreign import method_from_estimator\n"
    (own / "toy.py").write_text(f"{head}{TOY}\n{make}\n")
    sys.path.append(str(own))
    versions = get_method("toy").origin["versions"]
    assert list(versions) == ["gadget", "toy.py"]
    assert versions["toy.py"].startswith("sha256:")
