"""Modules that a user names, found in the working folder first. Nothing else is: a file there that is named as a library
(`numpy.py`, `grp.py`) is not imported in its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """What lies in a folder can be imported for so long, after all that is installed."""
    here = str(folder.absolute())
    sys.path.append(here)
    try:
        yield
    finally:
        with suppress(ValueError):  # whoever was imported may have changed it
            sys.path.remove(here)


def import_user_module(name: str) -> ModuleType:
    """By its dotted name, of the working folder where that has it. Raises what the import raises."""
    top = name.partition(".")[0]
    spec = PathFinder.find_spec(top, [str(Path.cwd())]) if top not in sys.modules else None
    if spec is not None and spec.loader is not None:
        sys.modules[top] = module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[top])
        except BaseException:
            del sys.modules[top]
            raise
    return import_module(name)
