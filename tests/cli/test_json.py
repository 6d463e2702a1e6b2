"""``--json``: every command that lists something prints JSON, and nothing else."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY, Run
from test_boundary import COMMANDS

CONFIG = """\
name: trial
datasets: [iris]
methods: [nb, knn-euclidean]
protocol:
  split: {kind: random, repeats: 2, train: 0.6}
  selection: {kind: kfold, k: 2}
  scaling: honest
metrics: [accuracy]
"""
#: What lists nothing: it writes one file, prints predictions, runs or fetches.
OTHERS = {
    *(("init",), ("compare",), ("report",), ("fit",), ("predict",)),
    *(("config", "schema"), ("data", "fetch"), ("data", "verify")),
}


@pytest.fixture
def trial(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the results of a small run, also as a reference."""
    monkeypatch.chdir(tmp_path)
    Path("trial.yaml").write_text(CONFIG)
    assert run("run", "trial.yaml", "--jobs", "1").code == 0
    shutil.copytree("results/runs", "results/reference")
    return tmp_path


def parsed(run: Run, *arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.code == 0, result.err

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(result.out, parse_constant=refuse)


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_every_listing_has_it_with_an_example(name: tuple[str, ...]) -> None:
    has = "as_json" in inspect.signature(COMMANDS[name].callback).parameters
    assert has == (name not in OTHERS)
    assert has == ("--json" in COMMANDS[name].epilog)


def test_json_of_all_listings(trial: Path, run: Run) -> None:
    plan = parsed(run, "run", "trial.yaml", "--dry-run", "--out", "elsewhere")
    assert (plan["cached"], plan["new"]) == (0, 4)
    (planned,) = plan["datasets"]
    assert (planned["dataset"], planned["new"], planned["state"]) == ("iris", 4, "")
    (checked,) = parsed(run, "config", "check", "trial.yaml")
    assert checked["methods"] == ["nb", "knn-euclidean"]
    (result,) = parsed(run, "results")
    assert (result["rows"], result["expected"]) == (4, 4)
    assert {one["method"] for one in result["summaries"]} == {"nb", "knn-euclidean"}
    check = parsed(run, "check")
    assert check["ok"] is True
    assert [(one["name"], one["faults"]) for one in check["experiments"]] == [
        ("trial", [])
    ]
    (compared,) = check["compared"]
    assert (compared["covered"], compared["exact"]) == (4, 4)
    for command in ("tables", "figures"):
        written = parsed(run, command, "--out", "out")
        assert f"out/{command}/README.md" in written
        assert all(Path(path).is_file() for path in written)


def test_json_of_a_check_that_fails(trial: Path, run: Run) -> None:
    Path("trial.yaml").write_text(f"{CONFIG}seed: 1\n")
    assert run("run", "trial.yaml", "--jobs", "1", "--out", "other").code == 0
    result = run("check", "--results", "other", "--json")
    assert result.code == 1
    found = json.loads(result.out)
    assert found["ok"] is False
    assert "seed 0 -> 1" in found["compared"][0]["obstacles"]
    assert "drmbench: the results moved" in result.err


def test_json_of_the_committed_results_is_json(run: Run) -> None:
    reference = str(REPOSITORY / "results/reference")
    assert parsed(run, "results", "--out", reference, "--experiment", "gene")
    assert len(parsed(run, "claims", "--results", reference)) == 50


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "quick", "--json"), "say --dry-run too"),
        (("check", "--update", "--json"), "leave it or --update out"),
        (("claims", "--section", "none"), "no section 'none'; there are: Introduction"),
        (("claims", "--verdict", "maybe"), "'reproduced', 'partly'"),
        (("claims", "--protocol", "x"), "'paper', 'honest', 'printed'"),
    ],
)
def test_wrong_choices_are_named(
    run: Run, arguments: tuple[str, ...], says: str
) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says in " ".join(result.err.replace("│", " ").split())


def test_claims_by_section_and_protocol(run: Run, tmp_path: Path) -> None:
    options = ("claims", "--results", str(tmp_path))
    everything = parsed(run, *options)
    faces = parsed(run, *options, "--section", "face")
    assert {one["section"] for one in faces} == {"Face recognition"}
    partly = parsed(run, *options, "--protocol", "printed", "--status", "partly")
    assert [one["id"] for one in partly] == [
        one["id"] for one in everything if one["printed_status"] == "partly"
    ]
    assert parsed(run, *options, "--protocol", "honest", "--verdict", "partly") == []
