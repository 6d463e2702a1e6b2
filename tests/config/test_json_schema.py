"""The JSON schema agrees with the validator, as far as a schema can know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support import REPOSITORY, Run

from drmbench.config import json_schema, load_experiments
from drmbench.config.messages import Problems
from drmbench.config.yaml_lines import read_yaml

GOOD = sorted((REPOSITORY / "tests" / "config" / "good").glob("*.yaml"))
OURS = sorted(
    path
    for folder in ("configs", "examples")
    for path in (REPOSITORY / folder).glob("*.yaml")
    if path.stem != "lightgbm"  # which needs a package that is not ours
)
BAD = sorted((REPOSITORY / "tests" / "bad_configs").glob("*.yaml"))

#: What a schema cannot know: what is in the catalogue and the registry beyond names,
#: what a file holds, and what one part of an experiment means for another.
ONLY_THE_VALIDATOR_KNOWS = {
    "as-a-catalogue-name",
    "cells-too-many",
    "duplicate-label",
    "estimator-grid-and-fixed",
    "estimator-grid-too-large",
    "estimator-named-as-a-method",
    "estimator-of-no-class",
    "estimator-of-no-module",
    "estimator-of-no-submodule",
    "estimator-step-of-no-module",
    "estimator-step-that-classifies",
    "estimator-step-twice",
    "estimator-that-is-a-function",
    "estimator-that-regresses",
    "estimator-trees-too-many",
    "estimator-unknown-grid-parameter",
    "estimator-unknown-parameter",
    "estimator-unknown-step",
    "estimator-unknown-step-parameter",
    "estimator-value-refused",
    "estimator-without-what-it-needs",
    "examples-too-many",
    "except-everything",
    "except-not-in-group",
    "file-named-as-catalogue-set",
    "file-not-there",
    "file-of-unknown-format",
    "file-with-wrong-target",
    "file-without-target",
    "first-metric-not-one-number",
    "folds-without-folds",
    "given-without-split",
    "grid-and-fixed",
    "grid-too-large",
    "grid-value-nan",
    "grid-value-negative",
    "iterations-too-many",
    "max-train-of-a-number",
    "more-folds-than-rows",
    "override-inherits-other-kind",
    "override-of-unknown-label",
    "parameter-not-whole",
    "parameter-out-of-range",
    "parameters-of-real-data",
    "preparation-in-paper-mode",
    "preparation-of-timing",
    "selection-of-another-mode",
    "sizes-below-classes",
    "sizes-of-convergence",
    "synthetic-classes-too-many",
    "synthetic-columns-too-many",
    "synthetic-product-too-large",
    "synthetic-rows-too-many",
    "test-with-paper-sizes",
    "text-with-control-character",
    "timeout-infinite",
    "timeout-nan",
    "timing-at-two-betas",
    "timing-of-a-tree",
    "timing-of-an-estimator",
    "timing-scaled-honestly",
    "timing-with-a-grid",
    "timing-with-selection",
    "train-all-rows",
    "train-and-test-too-many",
    "train-fewer-than-classes",
    "train-paper-beyond-the-paper",
    "train-paper-for-a-file",
    "train-paper-for-folds",
    "train-share-too-small",
    "train-too-many-rows",
    "trees-too-many",
    "unknown-fixed-parameter",
    "unknown-grid-parameter",
    "unknown-parameter",
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def data_of(path: Path) -> Any:
    tree = read_yaml(path.read_text(encoding="utf-8"), Problems(path))
    return None if tree is None else tree.plain()


@pytest.mark.parametrize("path", [*GOOD, *OURS], ids=lambda path: path.stem)
def test_good_files_pass_both(
    path: Path, validator: jsonschema.Draft202012Validator
) -> None:
    assert len(load_experiments([path])) == 1
    validator.validate(data_of(path))


@pytest.mark.parametrize(
    "path",
    [path for path in BAD if not path.stem.startswith("yaml-")],
    ids=lambda p: p.stem,
)
def test_bad_files_fail_where_a_schema_can_know(
    path: Path, validator: jsonschema.Draft202012Validator
) -> None:
    expected = path.stem in ONLY_THE_VALIDATOR_KNOWS
    assert validator.is_valid(data_of(path)) == expected


def test_every_key_has_a_description() -> None:
    def undescribed(schema: Any, where: str) -> list[str]:
        if not isinstance(schema, dict):
            return []
        found = [
            f"{where}.{key}"
            for key, value in schema.get("properties", {}).items()
            if isinstance(value, dict) and "type" in schema
            if "description" not in value
        ]
        for key, value in schema.items():
            parts = value if isinstance(value, list) else [value]
            for part in parts:
                found += undescribed(part, f"{where}.{key}")
        return found

    assert undescribed(json_schema(), "") == []


def test_the_command_prints_and_writes_the_schema(run: Run, tmp_path: Path) -> None:
    printed = run("config", "schema")
    assert printed.code == 0
    assert json.loads(printed.out) == json_schema()
    out = tmp_path / "schema.json"
    assert run("config", "schema", "--out", str(out)).out == f"{out}\n"
    assert out.read_text(encoding="utf-8") == printed.out
    refused = run("config", "schema", "--out", str(tmp_path))
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "cannot be written" in refused.err


def test_the_command_says_what_would_run(run: Run) -> None:
    files = [str(path) for path in GOOD]
    result = run("config", "check", *files)
    assert (result.code, result.err) == (0, "")
    rows = [line.split(maxsplit=3) for line in result.out.splitlines()[1:]]
    assert rows == [
        ["convergence-of-one", "1", "1", "1 random splits (train: 0.5)"],
        ["everything", "6", "3", "2 random splits (train: 0.75, test: 1)"],
        ["least", "1", "1", "5 random splits (train: paper)"],
        ["table", "1", "1", "1 random splits (train: 0.75)"],
        ["timing-of-two", "1", "2", "their own split"],
    ]
