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
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from drmbench.config.estimators import (
    EstimatorCheck,
    refuse_large_count,
    refuse_large_grid,
    unchecked_ref,
)
from drmbench.config.file_model import (
    AnyMethod,
    DatasetItem,
    EstimatorItem,
    ExperimentFile,
    FileItem,
    GroupItem,
    MethodItem,
    NamedItem,
    PlanSection,
)
from drmbench.config.messages import (
    Loc,
    Problems,
    explain,
    number_hint,
    place_of,
    unusable,
)
from drmbench.config.model import DatasetRef, Experiment, MethodRef, SplitSpec
from drmbench.config.values import SCALAR_METRICS, SOLVERS, Number, Only
from drmbench.config.yaml_lines import YamlNode, read_yaml
from drmbench.data.catalogue import DatasetEntry, PaperUse, load_catalogue
from drmbench.errors import InputError, did_you_mean, quoted
from drmbench.methods.registry import builtin_names, get_method, with_overrides
from drmbench.protocol.protocol import Preparation, SelectionPlan

#: Data sets × methods × splits × modes; a plan of as many takes a minute and 2 GB.
MAX_CELLS = 100_000
#: Test examples, and iterations of each, that are measured.
MAX_MEASURED = 1_000_000
#: Splits of sets that the paper does not all split in one way.
FALLBACK = SplitSpec(kind="kfold", k=5, repeats=1)

Refs = Sequence[DatasetRef]
_SHOWN = 3
_SPLIT = ("protocol", "split")
_SELECTION = ("protocol", "selection")
#: Keys of the selection that are not part of its own plan.
_OTHER_PLANS = ("methods", "modes")


class _WithoutData(ExperimentFile):
    """A file whose data sets are not looked at."""

    datasets: tuple[DatasetItem, ...] = ()


class _ValidPart(_WithoutData):
    """What is valid in a file, be it without the keys that it needs."""

    name: str = ""
    methods: tuple[AnyMethod, ...] = ()


#: Keys of a file that an experiment has as they are.
_SHARED = Experiment.model_fields.keys() - {"datasets", "methods"}


class Draft:
    """What can be made of a file.

    `file` is its valid part and `root` the tree of that part, in which items have the
    same places. `lost` has the paths of what was not valid.
    """

    def __init__(
        self, text: str, problems: Problems, datasets: Refs | None = None
    ) -> None:
        self.problems, self._datasets = problems, datasets
        self.lost: set[Loc] = set()
        self._lines: dict[str, int] = {}
        root = read_yaml(text, problems)
        self.root = root or YamlNode({}, 1)
        model: type[ExperimentFile] = ExperimentFile if root else _ValidPart
        if root and datasets is not None and isinstance(root.value, dict):
            root.value.pop("datasets", None)
            model = _WithoutData
        self.file = self._valid_part(model)

    def refuse(self, path: Loc, why: str, *key: str) -> None:
        """Note what is wrong with a value, at its line or that of a key in it."""
        where = ".".join(map(str, path))
        self.problems.add(self.root.line_of(*path, *key), f"{where}: {why}")

    def is_first(self, what: str, line: int, advice: str = "") -> bool:
        """Refuse what is there twice."""
        if what not in self._lines:
            self._lines[what] = line
            return True
        first = f", first in line {self._lines[what]}" if self.problems.lines else ""
        self.problems.add(line, f"{what} is there twice{first}{advice}")
        return False

    def _valid_part(self, model: type[ExperimentFile]) -> ExperimentFile:
        """Take out what is not valid, again and again, and note it as problems."""
        rank = {"extra_forbidden": 0, "missing": 2}
        while True:
            try:
                return model.model_validate(self.root.plain(), context={"file": True})
            except ValidationError as error:
                errors = error.errors(include_url=False, include_input=False)
            errors.sort(key=lambda one: rank.get(one["type"], 1))
            bad: set[Loc] = set()
            for one in errors:
                place = place_of(one["loc"], self.root)
                if one["type"] == "too_short" and place.node.value != []:
                    continue  # it is empty only without its invalid items
                bad.update(unusable(one, place))
                kind = (*place.path[:-1], "kind")
                if one["type"] == "other_kind" and kind in self.lost:
                    continue  # what it should have been is not known
                for line, message in explain(one, place):
                    self.problems.add(line, message)
            # Later items first, so that the earlier ones keep their places.
            for path in sorted(bad)[::-1]:
                self._remove(path)
            model = _ValidPart

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
        said = self.file.said()
        chosen = [] if self._datasets is not None else self.choose_datasets()
        fields: dict[str, Any] = {
            **{key: said[key] for key in said if key in _SHARED},
            "datasets": self._datasets or [one.ref for one in chosen],
            "methods": self.choose_methods(),
            "split": (split := self.choose_split(chosen)),
            "scaling": self.file.protocol.scaling,
            "preparation": self.choose_preparation(),
            "source": self.problems.source,
        }
        if self.file.kind == "classification":
            self.check_cells(chosen, len(fields["methods"]), split)
            fields |= self.choose_selection([ref.label for ref in fields["methods"]])
        else:
            self.check_measured(chosen)
            fields["scaling"] = ("maxabs",)
        return None if len(self.problems) else Experiment(**fields)

    def choose_datasets(self) -> list[_ChosenSet]:
        """Return the data sets, each once, in the order of first mention.

        A group may bring in sets that are named beside it; what is said of a set by
        name counts.
        """
        chosen: dict[str, _ChosenSet] = {}
        nodes = self.root.at("datasets").value or ()
        for item, node in zip(self.file.datasets, nodes, strict=True):
            match item:
                case GroupItem():
                    if self.is_first(f"the group {quoted(item.group)}", node.line):
                        for one in self.members(item, node):
                            chosen.setdefault(one.name, one)
                    continue
                case FileItem():
                    named = self.own_file(item, node)
                case _:
                    said = NamedItem(name=item) if isinstance(item, str) else item
                    named = self.from_catalogue(said, node)
            if named and self.is_first(f"the data set {quoted(named.name)}", node.line):
                chosen[named.name] = named
        return list(chosen.values())

    def members(self, item: GroupItem, node: YamlNode) -> Iterator[_ChosenSet]:
        """Give the data sets of a group."""
        what = f"the group {quoted(item.group)}"
        entries = {entry.name: entry for entry in load_catalogue().group(item.group)}
        left_out = node.at("except")
        for number, name in enumerate(item.except_):
            if entries.pop(name, None) is None:
                listed = isinstance(left_out.value, list)
                self.problems.add(
                    (left_out.at(number) if listed else left_out).line,
                    f"{what} has no data set {quoted(name)} to leave out."
                    f"{did_you_mean(name, entries)} See `drmbench data list --group"
                    f" {item.group}`",
                )
        if not entries:
            self.problems.add(node.line, f"nothing is left of {what}")
        for name, entry in entries.items():
            ref = DatasetRef(name=name)
            yield _ChosenSet(ref, node.line, entry.n, entry.classes, entry)

    def own_file(self, item: FileItem, node: YamlNode) -> _ChosenSet | None:
        """Read a user's file, if it can be used."""
        from drmbench.data.user import load_user_file

        written = os.path.expanduser(item.path)  # noqa: PTH111  # never raises
        with self.problems.noted(node.line_of("path")):
            try:
                path = (self.problems.source.parent / written).resolve()
                data = load_user_file(
                    path,
                    target=item.target,
                    name=item.name,
                    complete=not self.is_prepared(),
                    **vars(item.reading()),
                )
            except (OSError, RuntimeError) as error:  # too long a name, a circular link
                raise InputError(f"{quoted(written)}: {error}") from error
            if not self.is_taken(data.name, node.line):
                ref = DatasetRef(
                    name=data.name,
                    path=path,
                    target=item.target,
                    reading=item.reading(),
                )
                return _ChosenSet(ref, node.line, data.n_samples, data.n_classes)
        return None

    def is_prepared(self) -> bool:
        """Tell whether missing values are filled in before methods get the data."""
        return self.file.protocol.preparation != "codes"

    def from_catalogue(self, item: NamedItem, node: YamlNode) -> _ChosenSet | None:
        """Look up a data set of the catalogue, if its label can be used."""
        entry, label = load_catalogue().entry(item.name), item.as_ or item.name
        if label != item.name and self.is_taken(label, node.line_of("as")):
            return None
        own = self.parameters(entry, node.at("parameters"))
        source = item.name if label != item.name else ""
        ref = DatasetRef(name=label, parameters=own, source=source)
        facts = {"n": entry.n, "classes": entry.classes, **entry.parameters, **own}
        return _ChosenSet(ref, node.line, facts["n"], facts["classes"], entry)

    def is_taken(self, label: str, line: int) -> bool:
        """Refuse a label that would make results look like another data set's."""
        if label not in load_catalogue().names:
            return False
        self.problems.add(
            line,
            f"{quoted(label)} is the name of a data set of the catalogue; give this one"
            " another",
        )
        return True

    def parameters(self, entry: DatasetEntry, node: YamlNode) -> dict[str, Any]:
        """Return the valid parameters of generated data, without generating it."""
        from drmbench.data.synthetic import check_whole, iter_synthetic

        found: dict[str, Any] = {}
        valid = entry.parameters
        for name, given in (node.value or {}).items():
            if name not in valid:
                reason = f"{entry.name} takes no parameters; only generated data does"
                if valid:
                    near = did_you_mean(name, valid)
                    reason = (
                        f"{entry.name} has no parameter {quoted(name)}.{near} Valid:"
                    )
                    reason += f" {', '.join(valid)}"
                self.problems.add(given.key_line, reason)
                continue
            number = Number(whole=isinstance(valid[name], int))
            checker = TypeAdapter[Any](Annotated[Any, number])
            try:
                found[name] = checker.validate_python(given.value)
            except ValidationError:
                reason = f"{name} must be {number.what}, not {given.shown()}"
                self.problems.add(given.line, reason + number_hint(given))
        made = {**valid, **found}
        sizes = [name for name in ("n", "p") if name in found]
        if sizes:
            with self.problems.noted(node.line_of(max(sizes, key=found.__getitem__))):
                check_whole(made["n"], made["p"])
                sizes.clear()
        with self.problems.noted(node.line):
            if found and not sizes:  # checks at once, generates when iterated
                iter_synthetic(**made)
            return found
        return {}

    def choose_methods(self) -> list[MethodRef]:
        """Return the methods of a file, each label once."""
        chosen: list[MethodRef] = []
        kind, add = f"the kind {self.file.kind}", self.problems.add
        nodes = self.root.at("methods").value or ()
        for item, node in zip(self.file.methods, nodes, strict=True):
            said = MethodItem(name=item) if isinstance(item, str) else item
            ref = unchecked_ref(said)
            another = "; give one another with `as`"
            if not self.is_first(f"the label {quoted(ref.label)}", node.line, another):
                continue
            if self.file.kind == "classification":
                chosen.append(self.checked(ref, said, node))
                continue
            chosen.append(ref)
            if ref.name not in SOLVERS:
                only = f"{', '.join(SOLVERS)} only, not {quoted(ref.name)}"
                add(node.line, f"{kind} measures {only}")
            for key in ("grid", "params"):
                if key in said.model_fields_set:
                    why = f"takes its parameters from `measure`; remove {quoted(key)}"
                    add(node.line_of(key), f"{kind} {why}")
        return chosen

    def checked(
        self, ref: MethodRef, item: MethodItem | EstimatorItem, node: YamlNode
    ) -> MethodRef:
        """Return a method with the versions of the packages that provide it."""
        if isinstance(item, EstimatorItem):
            return EstimatorCheck(item, node, self.problems).checked(ref)
        if ref.name in builtin_names():
            self.check_changes(ref, node)
            return ref
        with self.problems.noted(node.line):
            versions = get_method(ref.name).origin["versions"]
            self.check_changes(ref, node)
            return ref.model_copy(update={"versions": versions})
        return ref

    def check_changes(self, ref: MethodRef, node: YamlNode) -> None:
        """Check every parameter by itself, at its line, then all of them together."""
        if not (ref.grid or ref.params):
            return
        method, problems = get_method(ref.name), self.problems
        before = len(problems)
        first = {name: values[:1] for name, values in method.grid.items()}
        alone = dataclasses.replace(method, grid=first)
        for name, values in ref.grid.items():
            with problems.noted(node.line_of("grid", name)):
                refuse_large_count(name, values)
                with_overrides(alone, grid={name: values})
        for name, value in ref.params.items():
            with problems.noted(node.line_of("params", name)):
                refuse_large_count(name, [value])
                with_overrides(alone, params={name: value})
        if len(problems) > before:
            return
        grid = {**method.grid, **ref.grid}
        with problems.noted(node.line):
            searched = {name: grid[name] for name in grid if name not in ref.params}
            refuse_large_grid(ref.label, searched)
            with_overrides(method, grid=ref.grid, params=ref.params)

    def choose_split(self, chosen: Sequence[_ChosenSet]) -> SplitSpec:
        """Return how sets are split; those that cannot be split so become problems."""
        said = self.file.protocol.split
        in_paper = {one.paper.split if one.paper else None for one in chosen}
        kind = in_paper.pop() if len(in_paper) == 1 else None
        spec = said or (SplitSpec(kind=kind) if kind else FALLBACK)
        if said and spec.kind == "kfold" and "repeats" not in said.model_fields_set:
            spec = spec.model_copy(update={"repeats": FALLBACK.repeats})
        lost = (path for path in self.lost if path[:2] in (_SPLIT, _SPLIT[:1]))
        if any(path[2:] not in (("test",), ("repeats",)) for path in lost):
            return spec  # what it should have been is not known
        if spec.test and spec.train == "paper":
            self.refuse(
                (*_SPLIT, "test"),
                "the paper's sizes have a test size of their own; give `train` a number"
                " of rows or a share, or remove `test`",
            )
            return spec
        if spec.max_train and (spec.train == "paper" or spec.train >= 1):
            self.problems.add(
                self.root.line_of(*_SPLIT, "max_train"),
                "protocol.split.max_train is for a `train` that is a share, such as"
                " 0.6; give `train` a share, or remove `max_train`",
            )
            return spec
        reasons: dict[int, list[str]] = {}
        for one in chosen:
            if found := one.split_problem(spec):
                line = self.root.line_of(*_SPLIT, found[0]) if said else one.line
                reasons.setdefault(line, []).append(found[1])
        for line, texts in reasons.items():
            more = len(texts) - _SHOWN
            rest = f"; and {more} more data sets" if more > 0 else ""
            self.problems.add(line, "; ".join(texts[:_SHOWN]) + rest)
        return spec

    def check_cells(
        self, chosen: Sequence[_ChosenSet], methods: int, split: SplitSpec
    ) -> None:
        """Refuse more cells than a plan could hold."""
        by_kind = {"random": split.repeats, "kfold": split.k * split.repeats}
        splits, modes = by_kind.get(split.kind, 1), len(self.file.protocol.scaling)
        cells = len(chosen) * methods * splits * modes
        if cells > MAX_CELLS and not len(self.problems):
            said = self.file.protocol.split
            self.problems.add(
                self.root.line_of(*_SPLIT) if said else self.root.line_of("methods"),
                f"{cells:,} cells: {len(chosen):,} data sets × {methods:,} methods ×"
                f" {splits:,} splits × {modes} scaling modes; at most {MAX_CELLS:,} are"
                " allowed",
            )

    def choose_selection(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return the plans of a classification, for all methods and for some."""
        metric, scaling = self.file.metrics[0], self.file.protocol.scaling
        if metric not in SCALAR_METRICS:
            self.refuse(
                ("metrics",),
                "the first is shown in tables and must be one number"
                f" ({', '.join(SCALAR_METRICS)}), not {quoted(metric)}",
            )
        selection = self.file.protocol.selection
        by_label, by_mode = selection.methods, selection.modes.said()
        said = {k: v for k, v in selection.said().items() if k not in _OTHER_PLANS}
        plan = SelectionPlan(**{"metric": metric, **said})
        if not labels or any(path[:1] == ("methods",) for path in self.lost):
            labels = list(by_label)  # what is missing may have any label
        known = {label: own for label, own in by_label.items() if label in labels}
        for label in [label for label in by_label if label not in known]:
            near = did_you_mean(label, labels)
            reason = f"no method here has the label {quoted(label)}.{near} Labels:"
            reason += f" {', '.join(labels)}"
            self.refuse((*_SELECTION, "methods"), reason, label)
        for mode in [mode for mode in by_mode if mode not in scaling]:
            reason = f"the mode {mode} is not run here; the modes are:"
            reason += f" {', '.join(scaling)}"
            self.refuse((*_SELECTION, "modes"), reason, mode)
        return {
            "selection": plan,
            "selection_overrides": self.own_plans("methods", known, plan),
            "selection_modes": self.own_plans("modes", by_mode, plan),
            "tie": selection.tie,
        }

    def choose_preparation(self) -> Preparation:
        """Return how columns are prepared; refuse it where nothing is prepared."""
        protocol, kind = self.file.protocol, self.file.kind
        if protocol.preparation == "table":
            reason = ""
            if kind != "classification":
                reason = f"the kind {kind} measures solves of the data as it is"
            elif "paper" in protocol.scaling:
                reason = "the scaling mode paper takes the data as it is"
            if reason:
                self.refuse(("protocol", "preparation"), f"{reason}; use codes")
        return protocol.preparation

    def own_plans(
        self, part: str, sections: Mapping[str, PlanSection], plan: SelectionPlan
    ) -> dict[str, SelectionPlan]:
        """Return plans of methods or modes, each starting from the experiment's.

        Keys that the kind they inherit does not have become problems.
        """
        plans: dict[str, SelectionPlan] = {}
        for name, section in sections.items():
            said, own = section.said(), (*_SELECTION, part, name)
            known = not self.lost & {(*_SELECTION, "kind"), (*own, "kind")}
            for key in said if known and "kind" not in said else ():
                for only in PlanSection.model_fields[key].metadata:
                    reason = only.problem(plan.kind) if isinstance(only, Only) else ""
                    if reason:
                        self.refuse((*own, key), reason)
            # A footnote on the experiment's plan says nothing about this one.
            plans[name] = dataclasses.replace(plan, **{"note": "", **said})
        return plans

    def check_measured(self, chosen: Sequence[_ChosenSet]) -> None:
        """Refuse what has no effect, or is impossible, where solves are measured."""
        kind, measure, protocol = self.file.kind, self.file.measure, self.file.protocol
        if "selection" in protocol.model_fields_set:
            reason = f"the kind {kind} selects nothing; it takes its parameters from"
            self.refuse(_SELECTION, f"{reason} `measure`")
        if "scaling" in protocol.model_fields_set and protocol.scaling != ("maxabs",):
            reason = f"the kind {kind} scales by maxabs only"
            self.refuse(("protocol", "scaling"), reason)
        for key, only in (("sizes", Only("timing")), ("tol", Only("convergence"))):
            if key in measure.model_fields_set and only.problem(kind):
                self.refuse(("measure", key), only.problem(kind))
        for key in ("examples", "iterations"):
            if getattr(measure, key) > MAX_MEASURED:
                reason = f"at most {MAX_MEASURED:,}, or it would take days"
                self.refuse(("measure", key), reason)
        if kind == "timing" and len(measure.betas) > 1:
            self.refuse(("measure", "betas"), "timing is measured at one beta")
        smallest = min(measure.sizes, default=math.inf)
        few = next((one for one in chosen if smallest < one.classes), None)
        if few:
            reason = f"each of the {few.classes} classes of {few.name}"
            self.refuse(("measure", "sizes"), f"{smallest} rows cannot have {reason}")


@dataclass(frozen=True)
class _ChosenSet:
    """A data set, where the file names it, and what must be known to split it."""

    ref: DatasetRef
    line: int
    n: int
    classes: int
    entry: DatasetEntry | None = None  #: None for a file

    @property
    def name(self) -> str:
        return self.ref.name

    @property
    def paper(self) -> PaperUse | None:
        return self.entry.paper if self.entry else None

    def split_problem(self, spec: SplitSpec) -> tuple[str, str] | None:
        """Say which key is to blame that it cannot be split so, and why."""
        entry, paper, has = self.entry, self.paper, f"{self.name} has {self.n} rows"
        own = "of its own; use a random or kfold split for it"
        key, train, test = "train", 0, 1
        match spec.kind:
            case "given":
                if entry and entry.given_split is not None:
                    return None
                return "kind", f"{self.name} comes without a split {own}"
            case "folds":
                if entry and entry.folds:
                    return None
                return "kind", f"{self.name} comes without folds {own}"
            case "kfold" if spec.k > self.n:
                return "k", f"{has}, too few for {spec.k} folds"
            case "kfold":
                key, train = "k", self.n - -(-self.n // spec.k)
            case "random" if spec.train == "paper":
                if paper and paper.train and paper.test:
                    return None
                why = f"{self.name} is a file of yours"
                if entry:
                    why = f"{self.name} is not in the paper"
                if paper:
                    why = f"the paper splits {self.name} by its folds"
                return "train", f"{why}, so `train` must be a number of rows or a share"
            case "random":
                train, test = spec.train_rows(self.n), spec.test or 1
        if train < self.classes:
            classes = f"{self.name} has {self.classes} classes"
            return key, f"{classes}: {train} training rows cannot have each of them"
        if train >= self.n:
            return key, f"{has}: training on {train} leaves none to test"
        if train + test > self.n:
            return "test", f"{has}: {train} to train and {test} to test are too many"
        return None
