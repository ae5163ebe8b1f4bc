"""The harness's own Python as a sandbox sees it: read-only, and nothing of it but the interpreter and its packages."""

from __future__ import annotations

import functools
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay import plugins

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""What every sandbox sees of the machine."""
_ENVIRONMENT, _SOURCE = "/opt/assay/python", "/opt/assay/source"


@dataclass(frozen=True)
class Interpreter:
    """`folders` maps where a folder is seen to where it lies; `path` is PYTHONPATH, "" for none."""

    program: str
    folders: dict[str, Path]
    path: str


@functools.cache
def interpreter() -> Interpreter:
    """The base interpreter at its own place, a virtual environment and an editable install of Assay under /opt/assay: a
    checkout may lie in /tmp or /work, which are the sandbox's own. Nothing else of sys.path: the folder that one stands in
    may hold a history, or the secrets of a service."""
    program, prefix = Path(sys.executable), Path(sys.prefix)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve().parent.parent
    paths = [Path(sys.base_prefix), base, Path(sysconfig.get_path("stdlib"))]
    folders: dict[str, Path] = {}
    for path in dict.fromkeys([*paths, *(folder.resolve() for folder in paths)]):
        shown = any(path.is_relative_to(other) for other in [*folders, *SYSTEM])
        if path.is_dir() and path != Path("/") and not shown:
            folders[str(path)] = path
    if sys.prefix != sys.base_prefix:
        folders[_ENVIRONMENT] = prefix
        program = Path(_ENVIRONMENT) / program.relative_to(prefix)
    prefixes = [path.resolve() for path in [prefix, *folders.values()]]
    sources = {
        f"{_SOURCE}/{name}": home
        for name, home in _packages()
        if not any(home.is_relative_to(path) for path in prefixes)
    }
    return Interpreter(str(program), folders | sources, _SOURCE if sources else "")


def _packages() -> Iterator[tuple[str, Path]]:
    """Assay, and the packages whose commands run programs of their own in a sandbox."""
    for name in ("assay", *plugins.packages(plugins.COMMANDS)):
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            yield name, Path(spec.origin).resolve().parent


@functools.cache
def names_in_work() -> frozenset[str]:
    """Folders of /work that are the interpreter's, where that lies there: never copied out."""
    inside = [Path(folder).relative_to("/work") for folder in interpreter().folders if folder.startswith("/work/")]
    return frozenset(path.parts[0] for path in inside)
