"""Experiment files become experiments: checked, and names turned into what they mean.

A file with problems is still resolved as far as it goes, so that all of them are told
at once.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import TypeAdapter, ValidationError

from drmbench.config.messages import (
    FileProblem,
    Loc,
    Problems,
    explain,
    number_hint,
    place_of,
    raise_all,
    real_errors,
)
from drmbench.config.model import (
    ITEMS,
    AnyMethod,
    DatasetItem,
    DatasetRef,
    Experiment,
    ExperimentFile,
    FileItem,
    GroupItem,
    MethodItem,
    MethodRef,
    NamedItem,
    PlanSection,
    SplitSpec,
)
from drmbench.config.values import SCALAR_METRICS, SOLVERS, Number, Only
from drmbench.config.yaml_lines import YamlNode, read_yaml
from drmbench.data.catalogue import DatasetEntry, PaperUse, load_catalogue
from drmbench.errors import InputError, did_you_mean
from drmbench.protocol.selection import SelectionPlan

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: Experiment files have a few thousand bytes; reading much more YAML takes minutes.
MAX_BYTES = 200_000
#: The largest grid of the paper has 343; this many take hours on small data.
MAX_CANDIDATES = 10_000
#: Splits of sets that the paper does not all split in one way.
FALLBACK = SplitSpec(kind="kfold", k=5, repeats=1)

_NOT_THERE = "not in the paper"
_OWN = "use a random or kfold split for it"
_SHOWN = 3


# ------------------------------------------------------------------------ reading


def load_experiments(paths: Sequence[Path]) -> list[Experiment]:
    """Load experiment files.

    Parameters
    ----------
    paths : sequence of Path
        YAML files.

    Returns
    -------
    list of Experiment
        One per file, in order.

    Raises
    ------
    InputError
        If anything is wrong in any of the files. The text lists all of it, one
        ``file:line: message`` per line.
    """
    experiments: list[Experiment] = []
    found: list[FileProblem] = []
    names: dict[str, str] = {}
    for path in paths:
        problems = Problems(path)
        text = _read_text(path, problems)
        draft = None if text is None else _Draft(text, path, problems)
        name = draft.file.name if draft else ""
        if draft and name in names:
            problems.add(
                draft.root.line_of("name"),
                f"the experiment {name!r} is also in {names[name]}; their results"
                " would share a folder",
            )
        elif name:
            names[name] = str(path)
        experiment = draft.resolve() if draft else None
        found += problems.in_order()
        if experiment:
            experiments.append(experiment)
    raise_all(found)
    return experiments


def parse_experiment(
    text: str, *, source: Path, datasets: Sequence[DatasetRef] | None = None
) -> Experiment:
    """Build an experiment from the text of a file.

    Parameters
    ----------
    text : str
        YAML text.
    source : Path
        The file, for messages; paths in the text are relative to its folder.
    datasets : sequence of DatasetRef, optional
        Data sets to take instead of those in the text, which are not looked at: no
        file is opened, and it does not matter whether they can still be found.

    Raises
    ------
    InputError
        If anything is wrong; the text lists all of it.

    Examples
    --------
    >>> experiment = parse_experiment(
    ...     "{name: tiny, datasets: [iris], methods: [nb]}", source=Path("tiny.yaml"))
    >>> experiment.split.train, experiment.timeout
    ('paper', None)
    """
    problems = Problems(source)
    experiment = _Draft(text, source, problems, datasets).resolve()
    raise_all(problems.in_order())
    assert experiment is not None
    return experiment


def _read_text(path: Path, problems: Problems) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        near = did_you_mean(path.name, [file.name for file in _files_of(path.parent)])
        problems.add(None, f"no such file.{near}")
        return None
    except IsADirectoryError:
        names = sorted(file.name for file in _files_of(path) if file.suffix == ".yaml")
        listed = f" It has: {', '.join(names[:20])}" if names else ""
        problems.add(None, f"a directory, not a file.{listed}")
        return None
    except (OSError, ValueError) as error:
        problems.add(None, f"cannot be read ({getattr(error, 'strerror', error)})")
        return None
    if len(data) > MAX_BYTES:
        problems.add(None, f"larger than {MAX_BYTES:,} bytes; is it an experiment?")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(line, f"not UTF-8 text (byte 0x{data[error.start]:02x})")
        return None


def _files_of(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


# ------------------------------------------------------------------------ checking


class _WithoutData(ExperimentFile):
    """A file whose data sets are not looked at."""

    datasets: tuple[DatasetItem, ...] = ()


class _ValidPart(_WithoutData):
    """What is valid in a file, be it without the keys that it needs."""

    name: str = ""
    methods: tuple[AnyMethod, ...] = ()


class _Draft:
    """What can be made of a file.

    Attributes
    ----------
    file : ExperimentFile
        Its valid part.
    root : YamlNode
        The tree of that part; items have the same places in both.
    lost : set of tuple
        Paths of what was not valid.
    """

    def __init__(
        self,
        text: str,
        source: Path,
        problems: Problems,
        datasets: Sequence[DatasetRef] | None = None,
    ) -> None:
        self.source, self.problems, self._datasets = source, problems, datasets
        self.lost: set[Loc] = set()
        root = read_yaml(text, problems)
        self.root = root or YamlNode({}, 1)
        model: type[ExperimentFile] = ExperimentFile if root else _ValidPart
        if root and datasets is not None and isinstance(root.value, dict):
            root.value.pop("datasets", None)
            model = _WithoutData
        self.file = self._valid_part(model)

    def _valid_part(self, model: type[ExperimentFile]) -> ExperimentFile:
        """Take out what is not valid, again and again, and note it as problems."""
        while True:
            try:
                return model.model_validate(self.root.plain(), context={"file": True})
            except ValidationError as error:
                found = real_errors(error, self.root)
            for one in found:
                kind = (*place_of(one["loc"], self.root).path[:-1], "kind")
                if one["type"] == "other_kind" and kind in self.lost:
                    continue  # what it should have been is not known
                for line, message in explain(one, self.root):
                    self.problems.add(line, message)
            # Later items first, so that the earlier ones keep their places.
            for path in sorted({p for one in found for p in self._bad(one)})[::-1]:
                self._remove(path)
            model = _ValidPart

    def _bad(self, error: ErrorDetails) -> Iterator[Loc]:
        """Give the paths of what an error makes unusable."""
        place = place_of(error["loc"], self.root)
        if error["type"] == "twice":
            yield from ((*place.path, number) for number in error["ctx"]["items"])
        elif place.section in ITEMS.values() and place.path[2:] == (
            place.section.keys()[0],
        ):
            yield place.path[:2]  # an item is nothing without the key that tells what
        elif place.path or error["type"] != "missing":
            yield place.path

    def _remove(self, path: Loc) -> None:
        self.lost.add(path)
        if not path:
            self.root = YamlNode({}, self.root.line)
            return
        container = self.root.at(*path[:-1]).value
        if isinstance(container, dict):
            container.pop(str(path[-1]), None)
        elif isinstance(container, list):
            del container[int(path[-1])]
            if not container:
                self._remove(path[:-1])

    def resolve(self) -> Experiment | None:
        """Return the experiment; None if anything is wrong, which is noted."""
        file, protocol = self.file, self.file.protocol
        chosen = [] if self._datasets is not None else _Chooser(self).choose()
        fields: dict[str, Any] = {
            **{key: file.said()[key] for key in file.said() if key in _SHARED},
            "datasets": self._datasets or [one.ref for one in chosen],
            "methods": _choose_methods(self),
            "split": _choose_split(self, chosen),
            "scaling": protocol.scaling,
            "source": self.source,
        }
        if file.kind == "classification":
            fields |= _choose_selection(self, [ref.label for ref in fields["methods"]])
        else:
            _check_measured(self, chosen)
            fields["scaling"] = ("maxabs",)
        return None if len(self.problems) else Experiment(**fields)


#: Keys of a file that an experiment has as they are.
_SHARED = Experiment.model_fields.keys() - {"datasets", "methods"}


# ------------------------------------------------------------------------ data sets


@dataclass(frozen=True)
class _ChosenSet:
    """A data set, where the file names it, and what must be known to split it."""

    ref: DatasetRef
    line: int
    n: int
    classes: int
    paper: PaperUse | None = None
    given: bool = False
    folds: bool = False

    @property
    def name(self) -> str:
        return self.ref.name


class _Chooser:
    """Collects the data sets of one file."""

    def __init__(self, draft: _Draft) -> None:
        self.chosen: dict[str, _ChosenSet] = {}
        self._folder = draft.source.parent
        self._problems = draft.problems
        self._named: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        nodes = draft.root.at("datasets").value or ()
        self._items = zip(draft.file.datasets, nodes, strict=True)

    def choose(self) -> list[_ChosenSet]:
        """Return the data sets, each once, in the order of first mention.

        A group may bring in sets that are named beside it; what is said of a set by
        name counts.
        """
        for item, node in self._items:
            match item:
                case GroupItem():
                    self.add_group(item, node)
                case FileItem():
                    self.add_file(item, node)
                case NamedItem():
                    self.add_named(item, node)
                case str():
                    self.add_named(NamedItem(name=item), node)
        return list(self.chosen.values())

    def add_group(self, item: GroupItem, node: YamlNode) -> None:
        what = f"the group {item.group!r}"
        if self._repeated(what, item.group, node.line, self._groups):
            return
        entries = {entry.name: entry for entry in load_catalogue().group(item.group)}
        left_out = node.at("except")
        for number, name in enumerate(item.except_):
            if entries.pop(name, None) is None:
                listed = isinstance(left_out.value, list)
                self._problems.add(
                    (left_out.at(number) if listed else left_out).line,
                    f"{what} has no data set {name!r} to leave out."
                    f"{did_you_mean(name, entries)} See `drmbench data list --group"
                    f" {item.group}`",
                )
        if not entries:
            self._problems.add(node.line, f"nothing is left of {what}")
        for name, entry in entries.items():
            ref = DatasetRef(name=name)
            self.chosen.setdefault(name, _from_catalogue(entry, ref, node.line))

    def add_named(self, item: NamedItem, node: YamlNode) -> None:
        entry = load_catalogue().entry(item.name)
        label = item.as_ or item.name
        if label != item.name and self._taken(label, node.line_of("as")):
            return
        ref = DatasetRef(
            name=label,
            parameters=self._parameters(entry, node.at("parameters")),
            source=item.name if label != item.name else "",
        )
        self._choose(_from_catalogue(entry, ref, node.line))

    def add_file(self, item: FileItem, node: YamlNode) -> None:
        from drmbench.data.user import load_user_file

        written = os.path.expanduser(item.path)  # noqa: PTH111  # never raises
        line = node.line_of("path")
        try:
            path = (self._folder / written).resolve()
            data = load_user_file(path, target=item.target, name=item.name)
        except InputError as error:
            self._problems.add(line, str(error))
            return
        except (OSError, RuntimeError) as error:  # a name too long, a link to itself
            self._problems.add(line, f"{written!r}: {error}")
            return
        if not self._taken(data.name, node.line):
            ref = DatasetRef(name=data.name, path=path, target=item.target)
            self._choose(_ChosenSet(ref, node.line, data.n_samples, data.n_classes))

    def _parameters(self, entry: DatasetEntry, node: YamlNode) -> dict[str, Any]:
        """Return the valid parameters of generated data, without generating it."""
        from drmbench.data.synthetic import iter_synthetic

        found: dict[str, Any] = {}
        for name, given in (node.value or {}).items():
            if not entry.parameters:
                reason = f"{entry.name} takes no parameters; only generated data does"
                self._problems.add(given.key_line, reason)
            elif name not in entry.parameters:
                self._problems.add(
                    given.key_line,
                    f"{entry.name} has no parameter {name!r}."
                    f"{did_you_mean(name, entry.parameters)} Valid:"
                    f" {', '.join(entry.parameters)}",
                )
            else:
                number = Number(whole=isinstance(entry.parameters[name], int))
                checker = TypeAdapter[Any](Annotated[Any, number])
                try:
                    found[name] = checker.validate_python(given.value)
                except ValidationError:
                    self._problems.add(
                        given.line,
                        f"{name} must be {number.describe()}, not {given.shown()}"
                        f"{number_hint(given)}",
                    )
        try:
            if found:  # checks at once, generates when iterated
                iter_synthetic(**{**entry.parameters, **found})
        except InputError as error:
            self._problems.add(node.line, str(error))
            return {}
        return found

    def _choose(self, chosen: _ChosenSet) -> None:
        what = f"the data set {chosen.name!r}"
        if not self._repeated(what, chosen.name, chosen.line, self._named):
            self.chosen[chosen.name] = chosen

    def _repeated(self, what: str, key: str, line: int, seen: dict[str, int]) -> bool:
        if seen.setdefault(key, line) is line:
            return False
        self._problems.add(line, f"{what} is there twice, first in line {seen[key]}")
        return True

    def _taken(self, label: str, line: int) -> bool:
        """Refuse a label that would make results look like another data set's."""
        if label not in load_catalogue().names:
            return False
        self._problems.add(
            line,
            f"{label!r} is the name of a data set of the catalogue; give this one"
            " another",
        )
        return True


def _from_catalogue(entry: DatasetEntry, ref: DatasetRef, line: int) -> _ChosenSet:
    generated = {**entry.parameters, **ref.parameters}
    return _ChosenSet(
        ref,
        line,
        n=generated.get("n", entry.n),
        classes=generated.get("classes", entry.classes),
        paper=entry.paper,
        given=entry.given_split is not None,
        folds=entry.folds,
    )


# ------------------------------------------------------------------------ methods


def _choose_methods(draft: _Draft) -> list[MethodRef]:
    """Return the methods of a file, each label once."""
    chosen: dict[str, MethodRef] = {}
    lines: dict[str, int] = {}
    for item, node in zip(
        draft.file.methods, draft.root.at("methods").value or (), strict=True
    ):
        said = item if isinstance(item, MethodItem) else MethodItem(name=item)
        label = said.as_ or said.name
        if label in chosen:
            draft.problems.add(
                node.line,
                f"the label {label!r} is there twice, first in line {lines[label]};"
                " give one another with `as`",
            )
            continue
        ref = MethodRef(name=said.name, label=label, grid=said.grid, params=said.params)
        chosen[label], lines[label] = ref, node.line
        if draft.file.kind == "classification":
            _check_changes(ref, node, draft.problems)
        else:
            _check_solver(ref, node, draft.file.kind, draft.problems)
    return list(chosen.values())


def _check_solver(
    ref: MethodRef, node: YamlNode, kind: str, problems: Problems
) -> None:
    if ref.name not in SOLVERS:
        problems.add(
            node.line,
            f"the kind {kind} measures {', '.join(SOLVERS)} only, not {ref.name!r}",
        )
    for key in ("grid", "params"):
        if isinstance(node.value, dict) and key in node.value:
            problems.add(
                node.line_of(key),
                f"the kind {kind} takes its parameters from `measure`; remove {key!r}",
            )


def _check_changes(ref: MethodRef, node: YamlNode, problems: Problems) -> None:
    """Check every parameter by itself, at its line, then all of them together."""
    from drmbench.methods.registry import get_method

    before = len(problems)
    for key, changes in (("grid", ref.grid), ("params", ref.params)):
        for name, value in changes.items():
            alone = MethodRef(name=ref.name, label=ref.label, **{key: {name: value}})
            if reason := _change_problem(alone, alone=True):
                problems.add(node.line_of(key, name), reason)
    if len(problems) > before or not (ref.grid or ref.params):
        return
    grid = {**get_method(ref.name).grid, **ref.grid}
    size = math.prod(len(grid[name]) for name in grid if name not in ref.params)
    reason = (
        _change_problem(ref)
        if size <= MAX_CANDIDATES
        else (
            f"{ref.label}: the grid has {size:,} candidates; at most {MAX_CANDIDATES:,}"
            " are allowed"
        )
    )
    if reason:
        problems.add(node.line, reason)


def _change_problem(ref: MethodRef, *, alone: bool = False) -> str:
    """Say what is wrong with changed parameters; `alone`: whatever the others are."""
    from drmbench.methods.registry import get_method, with_overrides

    method = get_method(ref.name)
    if alone:
        first = {name: values[:1] for name, values in method.grid.items()}
        method = dataclasses.replace(method, grid=first)
    try:
        with_overrides(method, grid=ref.grid, params=ref.params)
    except InputError as error:
        return str(error)
    return ""


# ------------------------------------------------------------------------ splits


def _choose_split(draft: _Draft, chosen: Sequence[_ChosenSet]) -> SplitSpec:
    """Return how data sets are split; sets that cannot be split so become problems."""
    place = ("protocol", "split")
    said = draft.file.protocol.split
    in_paper = {one.paper.split if one.paper else None for one in chosen}
    kind = in_paper.pop() if len(in_paper) == 1 else None
    spec = said or (SplitSpec(kind=kind) if kind else FALLBACK)
    if said and spec.kind == "kfold" and "repeats" not in said.model_fields_set:
        spec = spec.model_copy(update={"repeats": FALLBACK.repeats})
    lost = (path for path in draft.lost if path[:2] in (place, place[:1]))
    if any(path[2:] not in (("test",), ("repeats",)) for path in lost):
        return spec  # what it should have been is not known
    line, problems = draft.root.line_of, draft.problems
    if spec.test and spec.train == "paper":
        problems.add(
            line(*place, "test"),
            "protocol.split.test: the paper's sizes have a test size of their own;"
            " give `train` a number of rows or a share, or remove `test`",
        )
        return spec
    if spec.max_train and (spec.train == "paper" or spec.train >= 1):
        problems.add(
            line(*place, "max_train"),
            "protocol.split.max_train is for a `train` that is a share, such as 0.6;"
            " give `train` a share, or remove `max_train`",
        )
        return spec
    reasons: dict[int, list[str]] = {}
    for one in chosen:
        if found := _split_problem(spec, one):
            where = line(*place, found[0]) if said else one.line
            reasons.setdefault(where, []).append(found[1])
    for where, texts in reasons.items():
        more = len(texts) - _SHOWN
        rest = f"; and {more} more data sets" if more > 0 else ""
        problems.add(where, "; ".join(texts[:_SHOWN]) + rest)
    return spec


def _split_problem(spec: SplitSpec, one: _ChosenSet) -> tuple[str, str] | None:
    """Say which key is to blame that a set cannot be split so, and why."""
    has = f"{one.name} has {one.n} rows"
    match spec.kind:
        case "given" | "folds":
            own = {"given": "a split", "folds": "folds"}[spec.kind]
            reason = f"{one.name} comes without {own} of its own; {_OWN}"
            return None if getattr(one, spec.kind) else ("kind", reason)
        case "kfold":
            train = one.n - -(-one.n // spec.k)
            if spec.k > one.n:
                return "k", f"{has}, too few for {spec.k} folds"
            return ("k", _too_few(one, train)) if train < one.classes else None
        case "random" if spec.train == "paper":
            if one.paper and one.paper.train and one.paper.test:
                return None
            why = f"{one.name} is {'a file of yours' if one.ref.path else _NOT_THERE}"
            if one.paper:
                why = f"the paper splits {one.name} by its folds"
            return "train", f"{why}, so `train` must be a number of rows or a share"
    train = spec.train_rows(one.n)
    if train < one.classes:
        return "train", _too_few(one, train)
    if train >= one.n:
        return "train", f"{has}: training on {train} leaves none to test"
    if spec.test and train + spec.test > one.n:
        return "test", f"{has}: {train} to train and {spec.test} to test are too many"
    return None


def _too_few(one: _ChosenSet, train: int) -> str:
    return (
        f"{one.name} has {one.classes} classes: {train} training rows cannot have"
        " each of them"
    )


# --------------------------------------------------------- selection and measurement


def _choose_selection(draft: _Draft, labels: Sequence[str]) -> dict[str, Any]:
    """Return the plans of a classification, for all methods and for some."""
    file, line, problems = draft.file, draft.root.line_of, draft.problems
    selection, scaling = file.protocol.selection, file.protocol.scaling
    metrics = file.metrics
    if metrics[0] not in SCALAR_METRICS:
        problems.add(
            line("metrics"),
            f"metrics: the first is shown in tables and must be one number"
            f" ({', '.join(SCALAR_METRICS)}), not {metrics[0]!r}",
        )
    said = selection.said()
    modes, methods = said.pop("modes", None), said.pop("methods", {})
    plan = SelectionPlan(**{"metric": metrics[0], **said})
    if not labels or any(path[:1] == ("methods",) for path in draft.lost):
        labels = list(methods)  # what is missing may have any label
    for label in methods:
        if label not in labels:
            problems.add(
                line("protocol", "selection", "methods", label),
                f"protocol.selection.methods: no method here has the label {label!r}."
                f"{did_you_mean(label, labels)} Labels: {', '.join(labels)}",
            )
    by_mode = modes.said() if modes else {}
    for mode in by_mode:
        if mode not in scaling:
            problems.add(
                line("protocol", "selection", "modes", mode),
                f"protocol.selection.modes: the mode {mode} is not run here; the modes"
                f" are: {', '.join(scaling)}",
            )
    known = {label: own for label, own in methods.items() if label in labels}
    return {
        "selection": plan,
        "selection_overrides": _own_plans(draft, "methods", known, plan),
        "selection_modes": _own_plans(draft, "modes", by_mode, plan),
        "tie": selection.tie,
    }


def _own_plans(
    draft: _Draft, part: str, sections: Mapping[str, PlanSection], plan: SelectionPlan
) -> dict[str, SelectionPlan]:
    """Return the plans of some methods or modes, each starting from the experiment's.

    Keys that the kind they inherit does not have become problems.
    """
    place = ("protocol", "selection")
    plans: dict[str, SelectionPlan] = {}
    for name, section in sections.items():
        said = section.said()
        own = (*place, part, name)
        known = not draft.lost & {(*place, "kind"), (*own, "kind")}
        for key in said if known and "kind" not in said else ():
            for only in PlanSection.model_fields[key].metadata:
                reason = only.problem(plan.kind) if isinstance(only, Only) else ""
                if reason:
                    where = f"{'.'.join(own)}.{key}"
                    draft.problems.add(
                        draft.root.line_of(*own, key), f"{where}: {reason}"
                    )
        # A footnote on the experiment's plan says nothing about this one.
        plans[name] = dataclasses.replace(plan, **{"note": "", **said})
    return plans


def _check_measured(draft: _Draft, chosen: Sequence[_ChosenSet]) -> None:
    """Refuse what has no effect, or is impossible, where solves are measured."""
    kind, line, problems = draft.file.kind, draft.root.line_of, draft.problems
    protocol, measure = draft.file.protocol, draft.file.measure
    if "selection" in protocol.model_fields_set:
        problems.add(
            line("protocol", "selection"),
            f"protocol.selection: the kind {kind} selects nothing; it takes its"
            " parameters from `measure`",
        )
    if "scaling" in protocol.model_fields_set and protocol.scaling != ("maxabs",):
        problems.add(
            line("protocol", "scaling"),
            f"protocol.scaling: the kind {kind} scales by maxabs only",
        )
    for key, owner in (("sizes", "timing"), ("tol", "convergence")):
        if key in measure.model_fields_set and kind != owner:
            problems.add(
                line("measure", key),
                f"measure.{key}: only kind {owner} has it; the kind here is {kind}",
            )
    if kind == "timing" and len(measure.betas) > 1:
        problems.add(
            line("measure", "betas"), "measure.betas: timing is measured at one beta"
        )
    smallest = min(measure.sizes, default=math.inf)
    for one in chosen:
        if smallest < one.classes:
            problems.add(
                line("measure", "sizes"),
                f"measure.sizes: {smallest} rows cannot have each of the"
                f" {one.classes} classes of {one.name}",
            )
            break
