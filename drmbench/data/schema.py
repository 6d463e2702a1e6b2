"""Turns the catalogue's YAML into entries, refusing unknown keys and wrong values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_args

from drmbench.data.checksums import ALGORITHMS
from drmbench.data.entries import (
    Artifact,
    DatasetEntry,
    PaperUse,
    Rows,
    Source,
    Substitute,
)
from drmbench.errors import did_you_mean

T = TypeVar("T")

_REQUIRED: Any = object()
_SPLITS = ("random", "given", "folds")


class SchemaError(Exception):
    """An entry of the catalogue is wrong; the text says which key and how."""


class _Fields:
    """A YAML mapping whose keys are taken one by one; what is left over is an error."""

    def __init__(self, raw: object, what: str) -> None:
        if not isinstance(raw, dict):
            raise SchemaError(f"{what} must be a mapping, not {raw!r}")
        self._raw = {str(key): value for key, value in raw.items()}
        self._what = what
        self._known: list[str] = []

    def take(self, key: str, kind: type[T], default: T = _REQUIRED) -> T:
        """Return a value of the given type, or `default` where the key is absent."""
        self._known.append(key)
        value = self._raw.pop(key, None)
        if value is None:
            if default is _REQUIRED:
                raise SchemaError(f"{self._what} lacks {key!r}")
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise SchemaError(f"{key!r} must be {kind.__name__}, not {value!r}")
        return value

    def take_texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings as a tuple, empty where the key is absent."""
        return tuple(map(str, self.take(key, list, [])))

    def finish(self) -> None:
        """Raise for the first key that nobody asked for."""
        for key in self._raw:
            hint = did_you_mean(key, self._known) or f" Valid: {sorted(self._known)}."
            raise SchemaError(f"{self._what} has an unknown key {key!r}.{hint}")


def build_entry(name: str, document: Mapping[str, Any]) -> DatasetEntry:
    """Build the entry of one data set.

    Parameters
    ----------
    name : str
        Its key under ``datasets``.
    document : mapping
        The whole YAML document, for its wheels and citations.

    Raises
    ------
    SchemaError
        If a key is unknown or missing, or a value is wrong.
    """
    fields = _Fields(document["datasets"][name], "the entry")
    wheels = document.get("wheels", {})
    raw_sources = fields.take("sources", list)
    entry = DatasetEntry(
        name=name,
        title=fields.take("title", str),
        groups=fields.take_texts("groups"),
        n=fields.take("n", int),
        p=fields.take("p", int),
        classes=fields.take("classes", int),
        class_counts=_class_counts(fields.take("class_counts", dict, {})),
        citation=_citation(fields.take_texts("citation"), document["citations"]),
        licence=fields.take("licence", str),
        sources=tuple(_source(raw, name, wheels) for raw in raw_sources),
        paper=_paper_use(fields.take("paper", dict, {})),
        matches_paper=cast("bool | None", fields.take("matches_paper", object, None)),
        difference=fields.take("difference", str, ""),
        note=fields.take("note", str, ""),
        given_split=fields.take("given_split", int, 0) or None,
        folds=fields.take("folds", bool, False),
        substitute=_substitute(fields.take("substitute", dict, {})),
        parameters=fields.take("parameters", dict, {}),
    )
    fields.finish()
    _check_sense(entry)
    return entry


def _class_counts(raw: dict[object, object]) -> dict[str, int] | None:
    for label, count in raw.items():
        if not isinstance(count, int) or count < 1:
            raise SchemaError(f"the count of class {label!r} is {count!r}")
    return {str(label): cast("int", count) for label, count in raw.items()} or None


def _citation(keys: tuple[str, ...], citations: Mapping[str, str]) -> str:
    for key in keys:
        if key not in citations:
            hint = did_you_mean(key, citations)
            raise SchemaError(f"there is no citation {key!r}.{hint}")
    return "\n".join(citations[key] for key in keys)


def _paper_use(raw: dict[str, Any]) -> PaperUse | None:
    if not raw:
        return None
    fields = _Fields(raw, "'paper'")
    split = fields.take("split", str)
    if split not in _SPLITS:
        raise SchemaError(f"'split' is {split!r}, not one of {', '.join(_SPLITS)}")
    use = PaperUse(
        names=fields.take_texts("names"),
        split=cast("Any", split),
        train=fields.take("train", int, 0) or None,
        test=fields.take("test", int, 0) or None,
    )
    fields.finish()
    return use


def _substitute(raw: dict[str, Any]) -> Substitute | None:
    if not raw:
        return None
    fields = _Fields(raw, "'substitute'")
    substitute = Substitute(fields.take("dataset", str), fields.take("note", str))
    fields.finish()
    return substitute


def _source(raw: object, name: str, wheels: Mapping[str, Any]) -> Source:
    fields = _Fields(raw, "a source")
    wheel = fields.take("wheel", str, "")
    package = fields.take("package", str, "")
    base_url = fields.take("base_url", str, "").format(name=name)
    files = fields.take("files", list, [])
    if sum(map(bool, (wheel, package, files))) != 1:
        raise SchemaError("a source has exactly one of 'files', 'wheel' and 'package'")
    rows = fields.take("rows", str, "file")
    if rows not in get_args(Rows):
        raise SchemaError(f"'rows' is {rows!r}, not one of {', '.join(get_args(Rows))}")
    artifacts = [_file(file, base_url) for file in files]
    if wheel:
        artifacts.append(_wheel(wheel, wheels))
    members = tuple(path.format(name=name) for path in fields.take_texts("members"))
    labels = fields.take("labels", dict, {})
    source = Source(
        label=_label(wheel, package, wheels),
        artifacts=tuple(artifacts),
        members=members,
        package=package,
        loader=fields.take("loader", str, ""),
        reader=fields.take("reader", str, ""),
        options=fields.take("options", dict, {}),
        rows=cast("Rows", rows),
        labels={str(label): str(text) for label, text in labels.items()},
        drop_labels=fields.take_texts("drop_labels"),
        drop_missing=fields.take("drop_missing", bool, False),
    )
    fields.finish()
    _check_source(source, wheel)
    return source


def _label(wheel: str, package: str, wheels: Mapping[str, Any]) -> str:
    if wheel:
        return f"wheel {wheel} {wheels[wheel]['version']}"
    return f"package {package}" if package else "files"


def _check_source(source: Source, wheel: str) -> None:
    if wheel and not source.members:
        raise SchemaError("a wheel source must name the 'members' to read")
    if source.package and not source.loader:
        raise SchemaError("a package source must name its 'loader'")
    if not source.package and not source.reader:
        raise SchemaError("a source of files or a wheel must name its 'reader'")


def _wheel(wheel: str, wheels: Mapping[str, Any]) -> Artifact:
    if wheel not in wheels:
        raise SchemaError(f"there is no wheel {wheel!r}.{did_you_mean(wheel, wheels)}")
    fields = _Fields(wheels[wheel], f"the wheel {wheel}")
    version = fields.take("version", str)
    artifact = Artifact(
        name=fields.take("file", str),
        checksum=f"sha256:{fields.take('sha256', str)}",
        size=fields.take("bytes", int),
        requirement=f"{wheel}=={version}",
    )
    fields.finish()
    _check_digits(artifact)
    return artifact


def _file(raw: object, base_url: str) -> Artifact:
    fields = _Fields(raw, "a file")
    name = fields.take("name", str)
    url = fields.take("url", str, "")
    sums = {"sha256": fields.take("sha256", str, "")}
    sums["git-sha1"] = fields.take("git_blob_sha1", str, "")
    artifact = Artifact(
        name=name,
        checksum=next((f"{kind}:{sums[kind]}" for kind in sums if sums[kind]), None),
        size=fields.take("bytes", int, 0) or None,
        url=url or (base_url + name.rpartition("/")[2] if base_url else None),
    )
    fields.finish()
    _check_digits(artifact)
    return artifact


def _check_digits(artifact: Artifact) -> None:
    if artifact.checksum is None:
        return
    algorithm, _, digits = artifact.checksum.partition(":")
    if len(digits) != ALGORITHMS[algorithm] or set(digits) - set("0123456789abcdef"):
        raise SchemaError(f"{artifact.name}: {digits!r} is not a {algorithm} checksum")


def _check_sense(entry: DatasetEntry) -> None:
    """Refuse what contradicts itself in an entry."""
    if bool(entry.sources) == bool(entry.parameters):
        raise SchemaError("there must be either 'sources' or 'parameters'")
    counts = entry.class_counts
    if counts and (sum(counts.values()), len(counts)) != (entry.n, entry.classes):
        raise SchemaError(
            f"class_counts has {len(counts)} classes and {sum(counts.values())} samples"
            f"; 'classes' says {entry.classes} and 'n' {entry.n}"
        )
    if entry.matches_paper not in (True, False, None):
        raise SchemaError(f"'matches_paper' is {entry.matches_paper!r}, not true/false")
    if entry.matches_paper is False and not entry.difference:
        raise SchemaError("'matches_paper' is false, but 'difference' does not say why")
    if (entry.paper is None) != (entry.matches_paper is None):
        raise SchemaError("'paper' and 'matches_paper' belong together")
    if entry.paper and entry.paper.train and entry.paper.test and entry.matches_paper:
        total = entry.paper.train + entry.paper.test
        if total != entry.n:
            raise SchemaError(f"the paper's sizes give {total}, but 'n' is {entry.n}")
    if entry.given_split and not 0 < entry.given_split < entry.n:
        raise SchemaError(f"'given_split' is {entry.given_split} of {entry.n} rows")
