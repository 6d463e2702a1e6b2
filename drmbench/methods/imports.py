"""Classes by name: importing them, what is wrong if that fails, and who provides them.

A module that is not installed may lie in a folder of the user's. That folder is put at
the end of the search path, so that a file in it never hides an installed package; no
more than one such folder is there at a time.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from drmbench.errors import InputError, did_you_mean, quoted

#: The source of users' own modules and packages, and its checksum when imported.
_own: dict[str, tuple[Path, str]] = {}
#: The folder of a user's that is on the search path now.
_reached: list[str] = []


def class_path(text: str) -> str:
    """Return ``module:Class`` for a class that is written so or with dots alone.

    Examples
    --------
    >>> class_path("sklearn.svm.SVC"), class_path("sklearn.svm:SVC")
    ('sklearn.svm:SVC', 'sklearn.svm:SVC')
    """
    return text if ":" in text else ":".join(text.rsplit(".", 1))


def load_class(path: str, folder: Path | None = None) -> type[Any]:
    """Return the class ``module:Class``; `InputError` tells why there is none.

    A module that is not installed is looked for in `folder`, if there is one. One that
    has changed there since it was imported is imported again.
    """
    name, _, attribute = path.partition(":")
    module = _import(name, folder)
    try:
        found = getattr(module, attribute, None)
    except Exception as error:  # of a module that imports what it has when asked
        raise InputError(f"{path} cannot be imported ({first_line(error)})") from error
    if found is None:
        public = [one for one in dir(module) if not one.startswith("_")]
        near = did_you_mean(attribute, public)
        raise InputError(f"the module {quoted(name)} has no {quoted(attribute)}.{near}")
    if not isinstance(found, type):
        raise InputError(f"{path} is not a class but a {type(found).__name__}")
    return found


def source_folder(path: str) -> Path | None:
    """Return the folder that a loaded class comes from; None if it is installed."""
    top = _top(path)
    source = _loaded_source(top)
    return None if source is None or _installed(top) else source.parent


def provider_versions(paths: Iterable[str]) -> dict[str, str]:
    """Return which packages provide loaded classes, and their versions.

    A module or package that no installed distribution has, such as a user's own or one
    that is installed for editing, counts with a checksum of its source.
    """
    found: dict[str, str] = {}
    for top in dict.fromkeys(map(_top, paths)):
        if installed := _installed(top):
            found |= {one.name: one.version for one in installed}
        elif source := _loaded_source(top):
            known = _own.get(top)  # it may have changed since
            found[source.name] = known[1] if known else checksum(source)
    return dict(sorted(found.items()))


def first_line(error: BaseException) -> str:
    """Say in one line what another package raised."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def checksum(source: Path) -> str:
    """Return a checksum of a module's source, or of all source files of a package."""
    digest = hashlib.sha256()
    for file in sorted(source.rglob("*.py")) if source.is_dir() else [source]:
        name = file.relative_to(source.parent).as_posix()
        digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return f"sha256:{digest.hexdigest()[:16]}"


def _top(path: str) -> str:
    """Return the module or package that a class, or a module, is found through."""
    return path.partition(":")[0].partition(".")[0]


@lru_cache(maxsize=4)
def _distributions(search_path: tuple[str, ...]) -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _installed(top: str) -> list[metadata.Distribution]:
    """Return the distributions that a loaded module or package was installed from."""
    source = _loaded_source(top)
    names = _distributions(tuple(sys.path)).get(top, ())
    there = (metadata.distribution(name) for name in sorted(set(names)))
    # What is installed for editing lies elsewhere, and changes with one version.
    return [
        one
        for one in there
        if source is None
        or source.is_relative_to(Path(str(one.locate_file(""))).resolve())
    ]


def _loaded_source(top: str) -> Path | None:
    """Return the file of a loaded module, or the folder of a package."""
    file = getattr(sys.modules[top], "__file__", None)
    if not file:
        return None
    path = Path(file).resolve()
    return path.parent if path.stem == "__init__" else path


def _import(name: str, folder: Path | None) -> ModuleType:
    """Import a module, and remember its source if it is a user's own."""
    top = _top(name)
    source = _source_in(folder, top) if folder is not None else None
    before = checksum(source) if source is not None else ""
    if top in _own and _own[top] != (source, before):
        _forget(top)
    ours = top in _own or top not in sys.modules
    if source is not None:
        _reach(str(source.parent))
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(_not_found(name, error.name or name, folder)) from error
    except (Exception, SystemExit) as error:  # a module may do anything
        text = f"the module {quoted(name)} cannot be imported ({first_line(error)})"
        raise InputError(text) from error
    if ours and source is not None and _loaded_source(top) == source:
        _own[top] = (source, before)
    return module


def _source_in(folder: Path, top: str) -> Path | None:
    """Return the package or module of a name in a folder, or None."""
    if (folder / top / "__init__.py").is_file():
        return (folder / top).resolve()
    file = folder / f"{top}.py"
    return file.resolve() if file.is_file() else None


def _forget(top: str) -> None:
    """Let a user's own module be imported again, perhaps from elsewhere."""
    for name in [one for one in sys.modules if one == top or _top(one) == top]:
        del sys.modules[name]
    del _own[top]


def _reach(folder: str) -> None:
    """Put a user's folder at the end of the search path, in place of the last one."""
    if folder not in sys.path:
        sys.path[:] = [place for place in sys.path if place not in _reached]
        _reached[:] = [folder]
        sys.path.append(folder)
    importlib.invalidate_caches()


def _not_found(module: str, missing: str, folder: Path | None) -> str:
    """Say which module there is none of, and what may have been meant."""
    if missing != module and not module.startswith(f"{missing}."):
        return (
            f"the module {quoted(module)} cannot be imported: it needs"
            f" {quoted(missing)}, which is"
            " not installed"
        )
    package, _, name = missing.rpartition(".")
    if not package:
        beside = f", or put {missing}.py into {folder}" if folder is not None else ""
        return f"there is no module {quoted(missing)}; install its package{beside}"
    places = getattr(sys.modules.get(package), "__path__", ())
    names = [one.name for one in pkgutil.iter_modules(places)]
    near = did_you_mean(name, [one for one in names if not one.startswith("_")])
    return f"the package {quoted(package)} has no module {quoted(name)}.{near}"
