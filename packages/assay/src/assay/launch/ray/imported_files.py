"""The files of the working folder that a function of the user needs. Nothing is imported for it: only code is read."""

from __future__ import annotations

from contextlib import suppress
from importlib.machinery import PathFinder
from modulefinder import Module, ModuleFinder
from typing import Any

NAMESPACE = "namespace"
"""What is found is a plain folder: a package without a file of its own."""
UNREADABLE = (SyntaxError, ValueError, TypeError, AttributeError, LookupError, EOFError, RecursionError, MemoryError)
"""What a file that is no code, or too deep, makes of whoever reads it."""


def modules_of(function: str, folder: str) -> tuple[str, ...]:
    """Of `package.module:function` the files below the folder from which it is imported, with what these import from there. A file
    that cannot be read as code goes along: where it is imported, Python says why."""
    name, _, attribute = function.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        return ()
    finder = _Finder([folder])
    with suppress(ImportError):  # who calls it says so
        finder.import_hook(name)
    return tuple(finder.files)


class _Finder(ModuleFinder):
    """Knows plain folders, and goes on behind a file that it cannot read."""

    def __init__(self, path: list[str]) -> None:
        super().__init__(path)
        self.files: dict[str, None] = {}

    def find_module(self, name: str, path: Any, parent: Module | None = None) -> tuple[Any, Any, tuple[str, str, Any]]:
        try:
            return super().find_module(name, path, parent)
        except AttributeError:  # it has no loader
            spec = PathFinder.find_spec(name, self.path if path is None else path)
            if spec is None or spec.loader is not None or not spec.submodule_search_locations:
                raise ImportError(name) from None
            return None, list(spec.submodule_search_locations), ("", "", NAMESPACE)

    def load_module(self, fqname: str, fp: Any, pathname: Any, file_info: tuple[str, str, Any]) -> Module:
        if file_info[2] == NAMESPACE:
            package = self.add_module(fqname)
            vars(package)["__path__"] = pathname
            return package
        if fp is not None:
            self.files[pathname] = None
        try:
            return super().load_module(fqname, fp, pathname, file_info)
        except UNREADABLE as error:
            raise ImportError(f"{pathname} cannot be read: {type(error).__name__}") from error
