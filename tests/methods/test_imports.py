"""Classes by name: found, refused in words, and known by version or source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sklearn
from own_packages import clean_imports, write_distribution

from drmbench.errors import InputError
from drmbench.methods.imports import (
    checksum,
    load_class,
    provider_versions,
    source_folder,
)


@pytest.fixture(autouse=True)
def as_before(tmp_path: Path) -> Iterator[None]:
    with clean_imports(tmp_path):
        yield


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no_such_package:A", "there is no module 'no_such_package'; install its pack"),
        ("no_such_package.part:A", "there is no module 'no_such_package'; install its"),
        ("sklearn.svmm:SVC", "'sklearn' has no module 'svmm'. Did you mean 'svm'?"),
        ("sklearn.svm:SVX", "'sklearn.svm' has no 'SVX'. Did you mean 'SVR' or 'SVC'?"),
        ("sklearn.svm:l1_min_c", "is not a class but a function"),
        ("broken:A", "'broken' cannot be imported (ValueError: not today)"),
        ("unfinished:A", "'unfinished' cannot be imported (SyntaxError: "),
        ("leaves:A", "'leaves' cannot be imported (SystemExit: 3)"),
        ("lazy:A", "lazy:A cannot be imported (ImportError: later)"),
        ("needy:A", "'needy' cannot be imported: it needs 'no_such_package', which is"),
    ],
)
def test_what_cannot_be_imported_is_said(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "broken.py").write_text("raise ValueError('not today\\nnor tomorrow')")
    (tmp_path / "unfinished.py").write_text("class A(:")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)")
    (tmp_path / "lazy.py").write_text(
        "def __getattr__(name):\n    raise ImportError('later')"
    )
    (tmp_path / "needy.py").write_text("import no_such_package")
    with pytest.raises(InputError) as caught:
        load_class(path, tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_installed_classes_are_known_by_their_version() -> None:
    assert load_class("sklearn.svm:SVC").__name__ == "SVC"
    load_class("imblearn.over_sampling:SMOTE")
    found = provider_versions(["sklearn.svm:SVC", "imblearn.over_sampling:SMOTE"])
    assert list(found) == ["imbalanced-learn", "scikit-learn"]
    assert found["scikit-learn"] == sklearn.__version__
    assert source_folder("sklearn.svm:SVC") is None


def test_a_module_in_the_folder_is_known_by_its_source(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class A:\n    x = 1\n")
    assert load_class("mine:A", tmp_path).x == 1
    assert source_folder("mine:A") == tmp_path
    before = provider_versions(["mine:A"])
    assert before == {"mine.py": checksum(file)}
    file.write_text("class A:\n    x = 22\n")
    # What is loaded counts, until it is loaded again.
    assert provider_versions(["mine:A"]) == before
    assert load_class("mine:A", tmp_path).x == 22
    assert provider_versions(["mine:A"]) == {"mine.py": checksum(file)} != before


def test_every_file_of_a_package_counts(tmp_path: Path) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("class A: pass")
    (package / "b.py").write_text("")
    load_class("mine.a:A", tmp_path)
    before = provider_versions(["mine.a:A"])
    (package / "b.py").write_text("x = 1")
    load_class("mine.a:A", tmp_path)
    assert list(before) == ["mine"]
    assert provider_versions(["mine.a:A"]) != before


def test_modules_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(f"class A:\n    x = {name!r}\n")
    for name in ("one", "two", "one"):
        assert load_class("mine:A", tmp_path / name).x == name
        assert source_folder("mine:A") == tmp_path / name
    added = [place for place in sys.path if place.startswith(str(tmp_path))]
    assert added == [str(tmp_path / "one")]


def test_a_file_in_the_folder_hides_nothing_that_is_installed(tmp_path: Path) -> None:
    installed = write_distribution(
        tmp_path / "site", "gadget", modules={"gadget": "class A:\n    x = 'dist'\n"}
    )
    (tmp_path / "gadget.py").write_text("class A:\n    x = 'file'\n")
    (tmp_path / "sklearn.py").write_text("raise ValueError")
    sys.path.append(str(installed))
    assert load_class("gadget:A", tmp_path).x == "dist"
    assert provider_versions(["gadget:A"]) == {"gadget": "1.0"}
    assert load_class("sklearn.svm:SVC", tmp_path).__module__.startswith("sklearn.")


def test_what_is_installed_for_editing_counts_with_its_source(tmp_path: Path) -> None:
    text = "class A: pass"
    site = write_distribution(tmp_path / "site", "gadget", modules={"gadget": text})
    (tmp_path / "gadget.py").write_text(text)
    (site / "gadget.py").unlink()
    sys.path += [str(site), str(tmp_path)]
    load_class("gadget:A")
    file = tmp_path / "gadget.py"
    assert provider_versions(["gadget:A"]) == {"gadget.py": checksum(file)}
    assert source_folder("gadget:A") == tmp_path
