"""What a file says becomes an experiment; what it does not say has a default."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from support import REPOSITORY

from drmbench.config import (
    DatasetRef,
    Experiment,
    Measurement,
    MethodRef,
    SplitSpec,
    load_experiments,
    parse_duration,
    parse_experiment,
)
from drmbench.config.messages import Problems
from drmbench.config.values import SOLVERS
from drmbench.config.yaml_lines import read_yaml
from drmbench.data.catalogue import load_catalogue
from drmbench.errors import InputError
from drmbench.methods.registry import method_names
from drmbench.protocol.selection import SelectionPlan

GOOD = Path(__file__).parent / "good"
CONFIGS = sorted(
    path
    for folder in (GOOD, REPOSITORY / "configs", REPOSITORY / "examples")
    for path in folder.glob("*.yaml")
    if path.stem != "lightgbm"  # tests/run/test_lightgbm.py has it, where lightgbm is
)
PETS = (REPOSITORY / "tests" / "bad_configs" / "pets.csv").resolve()


def parse(text: str) -> Experiment:
    return parse_experiment(text, source=GOOD / "test.yaml")


def with_datasets(datasets: str, rest: str = "") -> Experiment:
    return parse(f"name: some\ndatasets: {datasets}\nmethods: [nb]\n{rest}")


def problems_of(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse(text)
    lines = str(caught.value).splitlines()
    return lines[1:] if len(lines) > 1 else lines


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_with_data_sets_given_all_else_is_the_same(path: Path) -> None:
    (whole,) = load_experiments([path])
    text = path.read_text("utf-8")
    again = parse_experiment(text, source=path, datasets=whole.datasets)
    # Without a look at the data sets it is not known how the paper splits them.
    assert again == whole.model_copy(update={"split": again.split})


def test_with_data_sets_given_no_file_is_opened_and_the_rest_is_checked() -> None:
    text = "{name: mine, datasets: [{path: gone.csv}, left-long-ago], methods: [nb]}"
    refs = [DatasetRef(name="gone"), DatasetRef(name="left-long-ago")]
    source = Path("mine.yaml")
    found = parse_experiment(text, source=source, datasets=refs)
    assert (found.name, found.datasets) == ("mine", tuple(refs))
    for wrong in ("", "[]", "name: mine", text.replace("nb", "no-such-method")):
        with pytest.raises(InputError):
            parse_experiment(wrong, source=source, datasets=refs)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_what_is_stored_is_read_back_equal(path: Path) -> None:
    (experiment,) = load_experiments([path])
    text = experiment.model_dump_json()
    assert Experiment.model_validate_json(text) == experiment
    assert Experiment.model_validate_json(text).model_dump_json() == text


def test_every_key_arrives() -> None:
    (experiment,) = load_experiments([GOOD / "everything.yaml"])
    plan = SelectionPlan(
        "kfold", "gmean", 5, 2, 100, tie="first", note="The experiment's plan"
    )
    assert experiment == Experiment(
        name="everything",
        title="Every key of a classification experiment",
        reproduces="table3",
        kind="classification",
        datasets=(
            DatasetRef(name="iris"),
            DatasetRef(name="pix"),
            DatasetRef(name="jaffe"),
            DatasetRef(name="yale"),
            DatasetRef(name="my-pets", path=PETS, target="kind"),
            DatasetRef(
                name="gaussians",
                parameters={"n": 300, "p": 5, "imbalance": 4},
                source="synthetic",
            ),
        ),
        methods=(
            MethodRef(name="nb", label="nb"),
            MethodRef(
                name="svm-rbf",
                label="svm-rbf",
                grid={"C": [0.001, 1, 100.0]},
                params={"sigma": 1},
            ),
            MethodRef(
                name="svm-rbf",
                label="svm with another grid",
                grid={"C": [1]},
                params={"sigma": 1},
            ),
        ),
        split=SplitSpec(kind="random", train=0.75, test=1, repeats=2),
        selection=plan,
        selection_overrides={
            "nb": SelectionPlan(
                "loo", "accuracy", 5, 2, 100, tie="first", note="cheap"
            ),
            "svm-rbf": SelectionPlan("kfold", "gmean", 3, 2, 100, tie="first"),
            "svm with another grid": SelectionPlan(
                "random", "gmean", 5, 3, 50, 0.5, tie="first"
            ),
        },
        tie="first",
        scaling=("paper", "honest"),
        metrics=("gmean", "accuracy", "recall"),
        seed=7,
        timeout=5400.0,
        substitutes=True,
        deviations=("One thing", "Another"),
        source=GOOD / "everything.yaml",
    )


def test_three_keys_are_enough() -> None:
    (experiment,) = load_experiments([GOOD / "least.yaml"])
    assert experiment == Experiment(
        name="least",
        datasets=(DatasetRef(name="iris"),),
        methods=(MethodRef(name="nb", label="nb"),),
        source=GOOD / "least.yaml",
    )


def test_measurements_arrive() -> None:
    timing, convergence = load_experiments(
        [GOOD / "timing.yaml", GOOD / "convergence.yaml"]
    )
    assert timing.measure == Measurement(
        alpha=0, betas=(1e4,), sizes=(1000, 2000), examples=10, iterations=20
    )
    assert convergence.measure == Measurement(betas=(1, 1e4), tol=1e-6)
    assert timing.split == SplitSpec(kind="given")
    assert timing.scaling == convergence.scaling == ("maxabs",)
    assert (timing.timeout, convergence.timeout) == (None, 300.0)
    assert convergence.deviations == ("One text",)


@pytest.mark.parametrize(
    ("datasets", "expected"),
    [
        ("[iris, gcm]", SplitSpec(kind="random", train="paper")),
        ("[haberman, {group: keel}]", SplitSpec(kind="folds")),
        ("[shuttle, poker]", SplitSpec(kind="given")),
        ("[iris, haberman]", SplitSpec(kind="kfold", k=5, repeats=1)),
        ("[iris, synthetic]", SplitSpec(kind="kfold", k=5, repeats=1)),
    ],
)
def test_splits_are_the_papers_where_it_has_one_way(
    datasets: str, expected: SplitSpec
) -> None:
    assert with_datasets(datasets).split == expected


def test_kfold_is_dealt_once_unless_told_otherwise() -> None:
    experiment = with_datasets("[iris]", "protocol: {split: {kind: kfold}}")
    assert (experiment.split.k, experiment.split.repeats) == (5, 1)


def test_the_first_metric_selects_unless_told_otherwise() -> None:
    assert with_datasets("[iris]", "metrics: f1").selection.metric == "f1"
    told = "metrics: f1\nprotocol: {selection: {metric: gmean}}"
    assert with_datasets("[iris]", told).selection.metric == "gmean"


def test_a_group_brings_its_sets_once_in_order_of_mention() -> None:
    experiment = with_datasets("[yeast3, {group: keel}, iris, {group: uci}]")
    names = [ref.name for ref in experiment.datasets]
    keel = [entry.name for entry in load_catalogue().group("keel")]
    uci = [entry.name for entry in load_catalogue().group("uci")]
    assert names[0] == "yeast3"
    assert names[1:15] == [name for name in keel if name != "yeast3"]
    assert names[15:] == ["iris", *(name for name in uci if name != "iris")]


def test_what_is_said_by_name_counts_more_than_a_group() -> None:
    own = "{name: synthetic, parameters: {n: 50}}"
    for datasets in (
        f"[{own}, {{group: synthetic}}]",
        f"[{{group: synthetic}}, {own}]",
    ):
        (ref,) = with_datasets(datasets).datasets
        assert ref.parameters == {"n": 50}


def test_the_rows_of_generated_data_are_those_of_its_parameters() -> None:
    split = "protocol: {split: {train: 2000}}"
    assert with_datasets("[{name: synthetic, parameters: {n: 2001}}]", split)
    with pytest.raises(InputError, match="synthetic has 1000 rows"):
        with_datasets("[synthetic]", split)


def test_scalars_are_those_of_yaml_1_2() -> None:
    grid = "{C: [1e-3, 010, 0x10, 1.]}"
    experiment = parse(
        "name: 'no'\ntitle: off\ndatasets: [iris]\n"
        f"methods: [{{name: svm-linear, grid: {grid}}}]"
    )
    assert (experiment.name, experiment.title) == ("no", "off")
    assert experiment.methods[0].grid == {"C": [0.001, 10, 16, 1.0]}


def test_merged_mappings_are_found_in_order_and_overridden() -> None:
    text = (
        "name: some\ndatasets: [iris]\nmethods:\n"
        "- &a {name: svm-rbf, params: {C: 1}}\n"
        "- &b {name: rf, as: b, params: {n_estimators: 9}}\n"
        "- {<<: [*a, *b], as: c}\n"
    )
    assert parse(text).methods[2] == MethodRef(
        name="svm-rbf", label="c", params={"C": 1}
    )


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(
        "name: One\n"
        "datasets: [irs, wine]\n"
        "methods: [{name: rf, grid: {depth: [1]}}]\n"
        "protocol:\n"
        "  split: {train: 500}\n"
        "timeout: soon\n"
    )
    second.write_text("name: two\ndatasets: [iris]\nmethods: [nb]\nseed: -1\n")
    with pytest.raises(InputError) as caught:
        load_experiments([first, second, tmp_path / "third.yaml"])
    heading, *lines = str(caught.value).splitlines()
    assert heading == "7 problems in experiment files:"
    assert [line.partition(": ")[0] for line in lines] == [
        *(f"{first}:{number}" for number in (1, 2, 3, 5, 6)),
        f"{second}:4",
        str(tmp_path / "third.yaml"),
    ]


def test_an_unusable_value_gives_no_problems_that_follow_from_it() -> None:
    text = (
        "name: some\ndatasets: [zoo-3]\nmethods: [rff]\nprotocol:\n"
        "  split: {knd: kfold}\n"
        "  selection: {kind: k-fold, methods: {rf: {k: 5}}}\n"
    )
    lines = [line.split(":")[1] for line in problems_of(text)]
    assert lines == ["3", "5", "6"]


def test_many_sets_with_one_fault_give_one_problem() -> None:
    text = (
        "name: some\ndatasets: [{group: uci}]\nmethods: [nb]\n"
        "protocol: {split: {kind: folds}}"
    )
    (problem,) = problems_of(text)
    assert problem.endswith("; and 3 more data sets")


def test_one_name_in_two_files_is_refused(tmp_path: Path) -> None:
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in paths:
        path.write_text("datasets: [iris]\nmethods: [nb]\nname: same\n")
    with pytest.raises(InputError) as caught:
        load_experiments(paths)
    assert str(caught.value).startswith(
        f"{paths[1]}:3: the experiment 'same' is also in {paths[0]}"
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", ":1: the file is empty"),
        (b"# only words\n", ":1: the file is empty"),
        (b"name: a\ntitle: \xff\n", ":2: not UTF-8 text (byte 0xff)"),
        (b"name: a\r\ntitle: \x07\r\n", ":2: the character '\\x07' is not allowed"),
        (b"#" * 300_000, ": larger than 200,000 bytes"),
        (b"name: [a\n", ":2: not valid YAML"),
        (b"seed: " + b"9" * 5000, ":1: the experiment needs the key 'name'"),
    ],
)
def test_files_that_are_no_experiments(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_experiments([path])
    assert f"{path}{expected}" in str(caught.value)


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    (tmp_path / "gene.yaml").write_text("")
    with pytest.raises(InputError, match=r"no such file\. Did you mean 'gene.yaml'"):
        load_experiments([tmp_path / "gen.yaml"])
    with pytest.raises(InputError, match=r"a directory, not a file\. It has: gene"):
        load_experiments([tmp_path])
    with pytest.raises(InputError, match="cannot be read"):
        load_experiments([tmp_path / ("long" * 100)])


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: w\r\ndatasets: [iris]\r\nmethods: [nb]\r\n")
    assert load_experiments([path])[0].name == "w"


def test_aliases_of_aliases_take_no_time() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 200)
    )
    started = time.process_time()
    assert "more than 20,000 values" in problems_of(bomb)[0]
    assert time.process_time() - started < 5


def test_the_methods_whose_solves_are_measured_are_in_the_registry() -> None:
    assert set(SOLVERS) <= set(method_names())


def test_numbers_beyond_those_of_a_computer_are_refused() -> None:
    grid = f"{{C: [{'9' * 400}, 1]}}"
    text = f"name: a\ndatasets: [iris]\nmethods: [{{name: svm-linear, grid: {grid}}}]"
    assert [line.split(":")[1] for line in problems_of(text)] == ["3"]


@pytest.mark.parametrize("datasets", ["[iris, iris]", "[{group: uci}, {group: uci}]"])
def test_what_is_twice_in_one_line_is_refused(datasets: str) -> None:
    text = f"name: a\ndatasets: {datasets}\nmethods: [nb]"
    assert problems_of(text)[0].endswith("is there twice, first in line 2")


def test_plain_names_are_checked_without_scikit_learn() -> None:
    check = [sys.executable, "-X", "importtime", "-m", "drmbench", "config", "check"]
    done = subprocess.run(
        [*check, str(GOOD / "least.yaml")], capture_output=True, text=True, check=True
    )
    assert "drmbench.config.resolve" in done.stderr
    assert "sklearn" not in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("0.5h", 1800), ("45", 45)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "0m", "1m1h", "-5s", "1d", "5 m", "5m ", "9" * 400 + "h"]
)
def test_texts_that_are_no_durations(text: str) -> None:
    with pytest.raises(InputError, match="time"):
        parse_duration(text)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_trees_are_what_pyyaml_reads_but_for_its_numbers(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    problems = Problems(path)
    tree = read_yaml(text, problems)
    assert tree is not None
    assert len(problems) == 0
    assert tree.plain() == as_yaml_1_2(yaml.safe_load(text))


def as_yaml_1_2(value: Any) -> Any:
    """Turn the texts into numbers that PyYAML, of YAML 1.1, takes for texts."""
    if isinstance(value, dict):
        return {key: as_yaml_1_2(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_yaml_1_2(part) for part in value]
    scientific = isinstance(value, str) and re.fullmatch(r"\d+[eE][+-]?\d+", value)
    return float(value) if scientific else value
