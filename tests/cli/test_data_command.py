from __future__ import annotations

import copy
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support import CommandResult, LoopbackServer, Run

CONTENT = b"1,2,a\n3,4,b\n5,6,b\n"
REGISTRY = """\
groups: {{small: test sets}}
citations: {{ours: "Ours (2024). A small set."}}
datasets:
  first:
    title: The first set
    groups: [small]
    n: 3
    p: 2
    classes: 2
    class_counts: {{a: 1, b: 2}}
    citation: [ours]
    licence: free
    sources:
      - files:
          - name: first.csv
            url: {address}/first.csv
            sha256: {digest}
            bytes: {size}
        reader: delimited
        options: {{delimiter: ","}}
  second:
    title: The second set
    groups: [small]
    n: 3
    p: 2
    classes: 2
    citation: [ours]
    licence: free
    note: It is nowhere.
    sources:
      - base_url: {address}/
        files:
          - name: second.csv
        reader: delimited
        options: {{delimiter: ","}}
"""


@pytest.fixture
def small(
    checkout: Path, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A catalogue of two sets, of which the server has only the first."""
    server.files["first.csv"] = CONTENT
    text = REGISTRY.format(
        address=server.address,
        digest=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )
    (checkout / "datasets/registry.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("DRMBENCH_OFFLINE", "0")
    return checkout


def listed(result: CommandResult) -> list[str]:
    """Return the lines of a listing, without what is counted and the headings."""
    _, _, rest = result.out.partition("\n\n")
    headings, *lines = rest.splitlines()
    assert " ".join(headings.split()) == (
        "name n × p classes IR regime group ready from why not"
    )
    return lines


def test_list_shows_every_set(checkout: Path, run: Run) -> None:
    result = run("data", "list")
    assert result.code == 0
    lines = listed(result)
    assert len(lines) == 192
    haberman = next(line for line in lines if line.startswith("haberman "))
    assert "keel, keel-imbalanced" in haberman
    assert "306 × 3" in haberman
    assert "2.78  rare " in haberman
    assert "  no     nowhere" in haberman
    assert haberman.endswith("offline (DRMBENCH_OFFLINE is set)")
    iris = next(line for line in lines if line.startswith("iris "))
    assert "  yes    package scikit-learn" in iris


def test_list_counts_first(checkout: Path, run: Run) -> None:
    count, groups, *lines = run("data", "list").out.splitlines()
    (regimes,) = (line for line in lines if line.startswith("regimes "))
    records = json.loads(run("data", "list", "--json").out)
    ready = sum(record["ready"] for record in records)
    assert count == f"192 data sets: {ready} ready here, {192 - ready} not."
    assert groups.startswith("groups   gene 8, face 5, uci 6, large 5, keel 15, ")
    counted = {
        name: int(number) for name, number in re.findall(r"(\w+) (\d+)", regimes)
    }
    assert sum(counted.values()) == 192
    assert set(counted) == {"images", "large", "wide", "rare", "low"}


def names_listed(run: Run, *filters: str) -> set[str]:
    result = run("data", "list", *filters, "--json")
    assert result.code == 0, result.err
    return {record["name"] for record in json.loads(result.out)}


def test_list_can_be_filtered(checkout: Path, run: Run) -> None:
    records = {r["name"]: r for r in json.loads(run("data", "list", "--json").out)}
    wanted = {name for name in records if name.startswith("yeast")}
    assert names_listed(run, "yeast*") == wanted
    assert names_listed(run, "iris", "wine") == {"iris", "wine"}
    ready = {name for name, record in records.items() if record["ready"]}
    assert "iris" in ready
    assert names_listed(run, "--ready") == ready
    assert names_listed(run, "--missing") == set(records) - ready
    small = {name for name, record in records.items() if 60 <= record["n"] <= 72}
    assert names_listed(run, "--min-n", "60", "--max-n", "72") == small
    assert {"nci", "leukemia"} <= small
    # More features than samples, but for faces and digits: the rule of the regime.
    wide = {
        name
        for name, record in records.items()
        if record["p"] > record["n"] and "face" not in record["groups"]
    }
    assert names_listed(run, "--regime", "wide") == wide - {"orl"}
    both = names_listed(run, "--regime", "wide", "--group", "gene", "--max-n", "72")
    assert both == {"nci", "leukemia"}


def test_filters_that_leave_nothing_are_no_fault(checkout: Path, run: Run) -> None:
    result = run("data", "list", "iris", "--min-n", "1000")
    assert (result.code, result.err) == (0, "")
    assert result.out == "0 data sets: 0 ready here, 0 not.\n"
    assert run("data", "list", "iris", "--min-n", "1000", "--json").out == "[]\n"


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        (("yeats*",), "no data set is called 'yeats*'"),
        (("irs",), "no data set is called 'irs'. Did you mean 'iris'"),
        (("--regime", "wid"), "no regime 'wid'. Did you mean 'wide'?"),
        (("--regime", "x"), "Regimes: images, large, wide, rare, low."),
        (("--group", "x"), "Groups: gene, face, uci, "),
        (("--max-n", "few"), "Invalid value for '--max-n'"),
    ],
)
def test_wrong_filters_are_named(
    checkout: Path, run: Run, filters: tuple[str, ...], says: str
) -> None:
    result = run("data", "list", *filters)
    assert (result.code, result.out) == (2, "")
    assert says in " ".join(result.err.split())


def test_list_can_be_narrowed_to_groups(checkout: Path, run: Run) -> None:
    result = run("data", "list", "--group", "uci", "-g", "face")
    names = [line.split()[0] for line in listed(result)]
    assert len(names) == 11
    assert {"iris", "yale"} <= set(names)


def test_list_speaks_json(checkout: Path, run: Run) -> None:
    records = json.loads(run("data", "list", "--json", "--group", "gene").out)
    (lung,) = [record for record in records if record["name"] == "lung"]
    assert lung["n"] == 181
    assert lung["class_counts"] == {"adenocarcinoma": 150, "mesothelioma": 31}
    assert lung["ready"] is False
    assert lung["why"]
    (sun,) = [record for record in records if record["name"] == "sun"]
    assert sun["imbalance_ratio"] is None


def test_list_marks_what_is_not_pinned_by_sha256(checkout: Path, run: Run) -> None:
    lines = run("data", "list").out.splitlines()
    first_use = {line.split()[0] for line in lines if "trusted on first use" in line}
    assert first_use == {"gcm", "sensit-acoustic", "sensit-seismic"}
    assert {line.split()[0] for line in lines if "git's SHA-1" in line} == {
        "sun",
        "ramaswamy",
    }


def test_list_gives_origins_and_pins_to_programs(checkout: Path, run: Run) -> None:
    records = json.loads(run("data", "list", "--json").out)
    by_name = {record["name"]: record for record in records}
    fields = ("origin", "in_paper", "pinned")
    assert {
        name: tuple(by_name[name][field] for field in fields)
        for name in ("golub-1999-v1", "golub-1999-v2", "gcm", "sun", "iris")
    } == {
        "golub-1999-v1": ("golub1999", True, "sha256"),
        "golub-1999-v2": ("golub1999", False, "sha256"),
        "gcm": ("ramaswamy2001", True, "first use"),
        "sun": ("sun2006", True, "git-sha1"),
        "iris": ("iris", True, None),
    }


def test_info_tells_origin_and_relatives(checkout: Path, run: Run) -> None:
    out = " ".join(run("data", "info", "golub-1999-v1").out.split())
    assert "in the paper in another form: leukemia" in out
    assert "origin golub1999: Golub et al. (1999) The citations of the sets." in out
    assert "shared with leukemia, golub-1999-v2" in out
    assert "pinned every file by its SHA-256" in out
    out = " ".join(run("data", "info", "gcm", "--files").out.split())
    assert "gcm/GCM_Test.cls trusted on first use: no published checksum" in out
    assert "pinned trusted on first use where no checksum is published" in out


def test_list_fetches_nothing(small: Path, server: LoopbackServer, run: Run) -> None:
    assert "not fetched yet" in run("data", "list").out
    assert server.requests == []
    assert not (small / "datasets/raw").exists()


def test_list_into_head_is_quiet() -> None:
    script = f"{sys.executable} -m drmbench data list | head -1"
    done = subprocess.run(
        script, shell=True, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("192 data sets")
    assert done.stderr == ""


def test_fetch_gets_what_it_can_and_ends_with_3(
    small: Path, server: LoopbackServer, run: Run
) -> None:
    result = run("data", "fetch", "--all")
    assert result.code == 3
    assert "[1/2] first: url" in result.out
    assert "[2/2] second: MISSING" in result.out
    assert "1 of 2 data sets are ready" in result.out
    assert "second cannot be obtained here. Tried:" in result.err
    assert "HTTP 404" in result.err
    assert (small / "datasets/raw/first.csv").read_bytes() == CONTENT
    assert "first: datasets/raw" in run("data", "fetch", "first").out
    assert server.requests.count("first.csv") == 1


def test_fetch_from_the_preferred_source_where_another_is_there(
    small: Path, server: LoopbackServer, run: Run
) -> None:
    path = small / "datasets/registry.yaml"
    catalogue = yaml.safe_load(path.read_text(encoding="utf-8"))
    (other,) = catalogue["datasets"]["first"]["sources"]
    better = copy.deepcopy(other)
    better["files"][0].update(name="better.csv", url=f"{server.address}/better.csv")
    catalogue["datasets"]["first"]["sources"] = [better, other]
    path.write_text(yaml.safe_dump(catalogue), encoding="utf-8")
    raw = small / "datasets/raw"
    raw.mkdir(parents=True)
    (raw / "first.csv").write_bytes(CONTENT)
    server.files["better.csv"] = CONTENT
    assert run("data", "fetch", "first").code == 0
    assert not (raw / "better.csv").exists()
    assert run("data", "fetch", "--preferred", "first").code == 0
    assert (raw / "better.csv").is_file()


def test_fetch_writes_to_the_data_directory(
    small: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("data", "fetch", "first", "--data-dir", str(tmp_path / "a")).code == 0
    assert (tmp_path / "a/first.csv").is_file()
    monkeypatch.setenv("DRMBENCH_DATA", str(tmp_path / "b"))
    assert run("data", "fetch", "--group", "small").code == 3
    assert (tmp_path / "b/first.csv").is_file()


def test_fetch_needs_to_be_told_what(run: Run) -> None:
    result = run("data", "fetch")
    assert result.code == 2
    assert "say what to fetch: names, --group GROUP or --all" in result.err


def test_long_lists_of_missing_sets_are_shortened(checkout: Path, run: Run) -> None:
    result = run("data", "fetch", "--group", "keel")
    assert result.code == 3
    assert "15 could not be obtained: haberman, yeast-2_vs_4" in result.err
    assert result.err.count("cannot be obtained here") == 5
    assert "drmbench data fetch NAME" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("fetch", "firts"),
        ("verify", "firts"),
        ("info", "firts"),
        ("list", "--group", "smal"),
        ("fetch", "--group", "smal"),
    ],
)
def test_typos_get_a_hint(small: Path, run: Run, arguments: tuple[str, ...]) -> None:
    result = run("data", *arguments)
    assert result.code == 2
    assert "Did you mean '" in result.err
    assert "Traceback" not in result.err


def test_verify_tells_damage_and_how_to_mend_it(small: Path, run: Run) -> None:
    assert "0 files checked, 0 damaged" in run("data", "verify").out
    run("data", "fetch", "first")
    fine = run("data", "verify")
    assert (fine.code, fine.err) == (0, "")
    assert "1 files checked, 0 damaged" in fine.out
    path = small / "datasets/raw/first.csv"
    path.write_bytes(CONTENT.replace(b"5", b"7"))
    broken = run("data", "verify", "first")
    assert broken.code == 1
    assert f"DAMAGED {path}" in broken.out
    assert f"{path} is damaged: its checksum is sha256:" in broken.err
    assert "`drmbench data fetch first` fetches it again" in broken.err
    assert run("data", "fetch", "first").code == 0
    assert run("data", "verify").code == 0


def test_info_tells_all_there_is(small: Path, run: Run) -> None:
    result = run("data", "info", "first", "--files")
    assert result.code == 0
    assert result.out.startswith("first: The first set")
    short = run("data", "info", "first").out
    assert "files (reader delimited, 1 file, 0 kB)" in short
    assert "sha256:" not in short
    assert "--files adds every file" in short
    for fact in (
        *("3 samples × 2 features", "imbalance ratio 2.00", "not used", "free"),
        *("Ours (2024). A small set.", "reader delimited", "/first.csv", "sha256:"),
        *("not ready: not fetched yet", f"first.csv, {len(CONTENT)} bytes"),
    ):
        assert fact in result.out
    a, b = result.out.splitlines()[-2:]
    assert 2 * a.count("█") == b.count("█") == 40


def test_info_speaks_json(small: Path, run: Run) -> None:
    record = json.loads(run("data", "info", "first", "--json").out)
    assert record["class_counts"] == {"a": 1, "b": 2}
    assert record["ready"] is False
    assert record["citation"] == ["Ours (2024). A small set."]
    (source,) = record["sources"]
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert source["files"][0]["checksum"] == f"sha256:{digest}"
    assert source["files"][0]["size"] == len(CONTENT)


def test_info_of_the_papers_sets(checkout: Path, run: Run) -> None:
    nakayama = run("data", "info", "nakayama").out
    assert "as Nakayama: stratified random splits, 84 + 21" in nakayama
    assert "no. The paper's Table 2 says 112 samples" in nakayama
    assert "substitute     ramaswamy-2001" in run("data", "info", "gcm").out
    assert "KEEL's five folds" in run("data", "info", "glass2").out
    assert "the first 49990 rows train, 91701 test" in run("data", "info", "ijcnn1").out
    assert "counts not known yet" in run("data", "info", "sun").out
    synthetic = run("data", "info", "synthetic").out
    assert "n=1000, p=20, classes=2" in synthetic
    assert "generated on demand" in synthetic


@pytest.mark.parametrize("command", ["list", "fetch", "verify", "info"])
def test_every_command_has_examples(run: Run, command: str) -> None:
    result = run("data", command, "--help")
    assert result.code == 0
    assert f"drmbench data {command}" in result.out.partition("Examples:")[2]
