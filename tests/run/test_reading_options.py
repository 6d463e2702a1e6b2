"""How a table is read: options of ``compare``, keys of a config, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from drmbench.config import json_schema, load_experiments
from drmbench.config.model import Experiment
from drmbench.data.reading import Reading
from drmbench.errors import DrmbenchError


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """A German table with an id, a code of categories, a date and gaps."""
    rng = np.random.default_rng(0)
    lines = ["nr;größe;art;tag;bemerkung;kind"]
    for i in range(60):
        size = f"{rng.normal() + 4 * (i % 2):.3f}".replace(".", ",")
        note = "" if i == 7 else "gut"
        lines.append(
            f"{i};{size};{i % 3};2024-01-{i % 28 + 1:02d};{note};{'uv'[i % 2]}"
        )
    path = tmp_path / "mine.csv"
    path.write_bytes(("\n".join(lines) + "\n").encode("latin-1"))
    return path


def test_compare_tells_how_it_read_and_its_config_reads_the_same(
    drmbench: Any, messy: Path, tmp_path: Path
) -> None:
    out, config = tmp_path / "out", tmp_path / "next.yaml"
    options = ["--nominal", "art", "--drop", "bemerkung,tag", "--numeric", "nr"]
    arguments = ["--target", "kind", "--methods", "nb", "--out", out, *options]
    code, text, err = drmbench("compare", messy, *arguments, "--config", config)
    assert code == 0, err
    assert "read as: latin-1 (Windows-1252), separated by ';', decimal comma" in err
    told = {line.split()[0]: line.split()[1] for line in err.splitlines() if line}
    assert told | {"nr": "numeric", "größe": "numeric", "art": "nominal"} == told
    assert told | {"tag": "dropped", "bemerkung": "dropped", "kind": "target"} == told
    assert "read as" not in text, "what can be piped on is the ranking"
    (item,) = yaml.safe_load(config.read_text())["datasets"]
    assert item["nominal"] == ["art"]
    assert item["drop"] == ["bemerkung", "tag"]
    assert item["numeric"] == ["nr"]
    again, _, err = drmbench("run", config, "--out", out)
    assert again == 0
    assert "5 cells are there already; 0 to run" in err


def test_options_for_the_text_of_a_table(drmbench: Any, tmp_path: Path) -> None:
    rows = [f"{i % 7},5 {i % 5} {'uv'[i % 2]}\n" for i in range(40)]
    path = tmp_path / "mine.csv"
    path.write_bytes("".join(rows).encode("utf-16-le"))
    options = ["--sep", " ", "--decimal", ",", "--no-header", "--encoding", "utf-16-le"]
    arguments = ["--target", "column3", "--methods", "nb", "--folds", 2, *options]
    config = tmp_path / "c.yaml"
    where = ["--out", tmp_path / "out", "--config", config]
    code, _, err = drmbench("compare", path, *arguments, *where)
    assert code == 0, err
    assert "read as" not in err, "nothing was assumed"
    (experiment,) = load_experiments([config])
    assert experiment.datasets[0].reading == Reading(
        sep="space", decimal=",", header=False, encoding="utf-16-le"
    )
    stored = experiment.model_dump_json()
    assert Experiment.model_validate_json(stored) == experiment
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(yaml.safe_load(config.read_text()))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--drop", "art,bemerkun"], "no column is named 'bemerkun'. Did you mean"),
        (["--decimal", "x"], "--decimal must be . or ,"),
        (["--sep", "||"], "the separator must be one character"),
        (["--sheet", "one"], "'sheet' cannot be said of this format"),
    ],
)
def test_what_cannot_be_read_as_said_gets_one_message(
    drmbench: Any, messy: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    config = tmp_path / "c.yaml"
    target = ["--target", "kind", "--methods", "nb", "--config", config]
    code, _, err = drmbench("compare", messy, *target, "--out", tmp_path, *options)
    assert code == 2
    assert words in err
    assert "Traceback" not in err


def config_with(table: Path, **keys: Any) -> dict[str, Any]:
    return {
        "name": "mine",
        "datasets": [{"path": str(table), "target": "kind", "name": "mine", **keys}],
        "methods": ["nb"],
        "protocol": {"split": {"kind": "kfold", "k": 2}, "scaling": "none"},
        "metrics": ["gmean"],
    }


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "the first in line 9; fill them in or remove those rows or columns, or"),
        ({}, "`protocol.preparation: table`"),
        ({"drop": "bemerkung", "decimal": "x"}, "decimal"),
        ({"drop": "bemerkung", "header": "perhaps"}, "true or false"),
        ({"drop": "bemerkung", "sep": "abc"}, "the separator must be one character"),
        ({"nominal": ["bemerkun"]}, "Did you mean 'bemerkung'?"),
    ],
)
def test_a_config_that_reads_a_table_wrongly_is_refused(
    messy: Path, tmp_path: Path, keys: dict[str, Any], words: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(config_with(messy, **keys)))
    with pytest.raises(DrmbenchError) as caught:
        load_experiments([path])
    assert words in str(caught.value)
    assert "c.yaml" in str(caught.value)


def test_manifests_without_reading_stay_as_they_are(
    messy: Path, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(config_with(messy, drop="bemerkung")))
    (experiment,) = load_experiments([path])
    stored = experiment.model_dump(mode="json")["datasets"][0]
    assert stored["reading"] == {"drop": ["bemerkung"]}
    plain = experiment.datasets[0].model_copy(update={"reading": Reading()})
    assert "reading" not in plain.model_dump(mode="json")
