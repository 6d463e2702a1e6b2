"""A package that drmbench knows nothing of: LightGBM, where it is installed."""

import subprocess
import sys

import pytest
from own_packages import clean_imports
from run_support import journal_lines, kill, rows_of, start, wait_until
from support import REPOSITORY

import drmbench as package

lightgbm = pytest.importorskip("lightgbm")

EXAMPLE = REPOSITORY / "examples" / "lightgbm.yaml"


def test_the_example_goes_on_after_kill_nine_and_is_reported(drmbench, tmp_path):
    out, whole = tmp_path / "killed", tmp_path / "whole"
    process = start("run", EXAMPLE, "--out", out, "--jobs", 1)
    wait_until(lambda: len(journal_lines(out / "lightgbm")) >= 4)
    kill(process)
    before = len(journal_lines(out / "lightgbm"))
    assert before < 30
    code, text, err = drmbench("run", EXAMPLE, "--out", out, "--jobs", 2)
    assert code == 0, err
    assert f"{before} cells are there already" in err
    assert "lgbm-trees" in text
    with clean_imports(tmp_path):
        assert package.run(EXAMPLE, out=whole).complete
    assert rows_of(out / "lightgbm") == rows_of(whole / "lightgbm")
    code, _, err = drmbench("tables", "--results", out, "--out", tmp_path)
    assert code == 0, err
    tables = (tmp_path / "tables").glob("*.md")
    assert any("lgbm-trees" in file.read_text() for file in tables)


def test_an_object_is_compared_from_a_script(tmp_path):
    text = (
        "import drmbench\n"
        "from lightgbm import LGBMClassifier\n"
        "data = drmbench.load('wine')\n"
        "own = LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1)\n"
        "methods = {'lgbm': (own, {'num_leaves': [4, 8]}), 'nb': 'nb'}\n"
        "found = drmbench.compare(data.X, data.y, methods=methods, folds=2)\n"
        "print(found.complete, '<table' in found._repr_html_())\n"
    )
    command = [sys.executable, "-c", text]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.stdout == "True True\n", ended.stderr
