"""Methods that installed packages bring, by the entry point group `drmbench.methods`.

An entry point names a `Method`, a sequence of them, or a function without arguments
that returns either. One that is broken is a problem of its own, never of a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import metadata

from drmbench.errors import quoted
from drmbench.methods.base import Method
from drmbench.methods.foreign import guarded
from drmbench.methods.imports import first_line, provider_versions


@dataclass(frozen=True)
class Plugin:
    """An entry point: what it brings, or why it brings nothing."""

    name: str  #: The entry point's name
    value: str  #: What it names, as ``package.module:OBJECT``
    package: str  #: The distribution, and its version
    version: str
    methods: tuple[Method, ...] = ()  #: The methods, if all is well
    problem: str = ""  #: What is wrong, or empty

    def __str__(self) -> str:
        """Say where it comes from, and what is wrong with it if anything is."""
        package = f"{self.package} {self.version}"
        text = f"the entry point {self.name} = {self.value} of {package}"
        return f"{text} cannot be used: {self.problem}" if self.problem else text


@lru_cache(maxsize=4)
def load_plugins(
    points: tuple[metadata.EntryPoint, ...], builtin: tuple[str, ...]
) -> tuple[Plugin, ...]:
    """Import entry points; names that are built in or taken by another are refused."""
    taken = dict.fromkeys(builtin, "a method of drmbench's own")
    plugins = []
    for point in sorted(points, key=lambda one: (one.name, one.value)):
        plugin = _load_one(point, taken)
        taken |= {method.name: str(plugin) for method in plugin.methods}
        plugins.append(plugin)
    return tuple(plugins)


def _load_one(point: metadata.EntryPoint, taken: Mapping[str, str]) -> Plugin:
    """Import an entry point, unless a name it brings is taken."""
    assert point.dist is not None
    plugin = Plugin(point.name, point.value, point.dist.name, point.dist.version)
    try:
        found = point.load()
        if not isinstance(found, Method | Sequence) and callable(found):
            found = found()
    except (Exception, SystemExit) as error:  # it may do anything
        return replace(plugin, problem=first_line(error))
    methods = [found] if isinstance(found, Method) else found
    if not (isinstance(methods, Sequence) and methods) or not all(
        isinstance(method, Method) for method in methods
    ):
        valid = "a Method, a sequence of them, or a function that returns either"
        return replace(plugin, problem=f"it must be {valid}, not {found!r:.60}")
    names = [method.name for method in methods]
    for number, name in enumerate(names):
        if owner := "itself" if name in names[:number] else taken.get(name):
            problem = f"the name {quoted(name)} is taken by {owner}; choose another"
            return replace(plugin, problem=problem)
    versions = {plugin.package: plugin.version, **provider_versions([point.module])}
    return replace(plugin, methods=tuple(_adopted(one, versions) for one in methods))


def _adopted(method: Method, versions: Mapping[str, str]) -> Method:
    """Return a method as one that is not drmbench's own, nor the paper's."""
    known = {**method.origin.get("versions", {}), **versions}
    return replace(
        method,
        build=guarded(method.build),
        column=None,
        origin={**method.origin, "versions": dict(sorted(known.items()))},
    )
