"""Whether the functions that the harness relies on are still those that it began with: a job may replace them in their modules."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterable
from operator import itemgetter
from types import ModuleType
from typing import Any

_VERSION_AT = 24
"""Bytes into a dict: its version (PEP 509), which each change makes another. CPython 3.14 has none."""


class PatchedNames:
    """Functions, classes and modules below these names, and the methods of classes of the harness. What is added to a module is no
    patch: numpy imports some of its parts when they are asked for."""

    def __init__(self, modules: Iterable[str]) -> None:
        known = {name: sys.modules[name] for name in modules if name in sys.modules}
        self._watched = [_Watched(sys.modules, known), *map(_of_module, known.values())]
        self._watched += [
            _of_class(own_class)
            for name, module in known.items()
            if name.startswith("assay.")
            for own_class in _own_classes(module)
        ]
        self._versions = [version_of(watched.names) for watched in self._watched] if has_versions() else []
        self._known = [version.value for version in self._versions]

    def changed(self) -> bool:
        """Whether any of them is another one now."""
        if self._versions:
            now = [version.value for version in self._versions]
            if now == self._known:
                return False
            self._known = now
        return any(watched.changed() for watched in self._watched)


class _Watched:
    def __init__(self, names: dict[str, Any], values: dict[str, Any]) -> None:
        self.names = names
        self._values = values
        self._read: Callable[[dict[str, Any]], Any] = itemgetter(*values) if len(values) > 1 else dict
        self._tuple = self._read(names) if len(values) > 1 else None

    def changed(self) -> bool:
        if self._tuple is None:
            return any(self.names.get(name) is not value for name, value in self._values.items())
        try:
            return bool(self._read(self.names) != self._tuple)
        except Exception:  # noqa: BLE001  a name is gone, or what replaces it cannot be compared
            return True


def _of_module(module: ModuleType) -> _Watched:
    names = vars(module)
    return _Watched(
        names, {name: value for name, value in names.items() if callable(value) or type(value) is ModuleType}
    )


def _own_classes(module: ModuleType) -> list[type]:
    """Those that are written there, by their methods: a struct or an enumeration has none of its own that matters."""
    classes = (value for value in vars(module).values() if type(value) is type)
    return [own_class for own_class in classes if own_class.__module__ == module.__name__]


def _of_class(owner: type) -> _Watched:
    """`vars` gives a view, which Python lets nobody write through; what is behind it changes with the class."""
    (names,) = gc.get_referents(vars(owner))
    return _Watched(names, {name: value for name, value in names.items() if callable(value) or type(value) is property})


def version_of(names: dict[Any, Any]) -> ctypes.c_uint64:
    """A view of it: where the interpreter keeps none it is another part of the dict (see `has_versions`)."""
    return ctypes.c_uint64.from_address(id(names) + _VERSION_AT)


def has_versions() -> bool:
    """Seen on a dict of our own."""
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 14):
        return False
    names: dict[str, int] = {"first": 1}
    version, seen = version_of(names), set()
    seen.add(version.value)
    names["first"] = 2
    seen.add(version.value)
    names["second"] = 1
    seen.add(version.value)
    del names["second"]
    seen.add(version.value)
    return len(seen) == 4 and version.value == version.value
