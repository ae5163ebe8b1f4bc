"""The harness's own Python as a sandbox sees it: read-only, and nothing of it but the interpreter and its packages."""

from __future__ import annotations

import functools
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

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
    import assay

    program, prefix = Path(sys.executable), Path(sys.prefix)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve().parent.parent
    wanted = [Path(sys.base_prefix), base, Path(sysconfig.get_path("stdlib"))]
    folders: dict[str, Path] = {}
    for path in dict.fromkeys([*wanted, *(one.resolve() for one in wanted)]):
        shown = any(path.is_relative_to(other) for other in [*folders, *SYSTEM])
        if path.is_dir() and path != Path("/") and not shown:
            folders[str(path)] = path
    if sys.prefix != sys.base_prefix:
        folders[_ENVIRONMENT] = prefix
        program = Path(_ENVIRONMENT) / program.relative_to(prefix)
    home = Path(assay.__file__).resolve().parent
    if any(home.is_relative_to(one.resolve()) for one in [prefix, *folders.values()]):
        return Interpreter(str(program), folders, "")
    folders[f"{_SOURCE}/assay"] = home
    return Interpreter(str(program), folders, _SOURCE)


@functools.cache
def names_in_work() -> frozenset[str]:
    """Folders of /work that are the interpreter's, where that lies there: never copied out."""
    inside = [Path(one).relative_to("/work") for one in interpreter().folders if one.startswith("/work/")]
    return frozenset(one.parts[0] for one in inside)
