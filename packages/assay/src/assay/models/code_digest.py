"""Which code of ours makes what is kept: its digest is part of the key, so that what another code would make is made again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from assay.core.digest import sha256_bytes

_IMPORT = re.compile(rb"^[ \t]*(?:from (assay[\w.]*) import (?:\(([^)]*)\)|(.*))|import (assay[\w.]*))", re.MULTILINE)
_NAME = re.compile(rb"\w+")


@cache
def code_digest(*modules: str) -> str:
    """Of the source of these modules and of every module of ours that they import, inside functions too, and so on. Nothing is
    imported for it."""
    root = Path(__file__).parents[1]
    waiting, sources = list(modules), dict[str, bytes]()
    while waiting:
        name = waiting.pop()
        path = _file(root, name)
        if name not in sources and path is not None:
            sources[name] = path.read_bytes()
            waiting += _imported(sources[name])
    return sha256_bytes(b"\0".join(part for name in sorted(sources) for part in (name.encode(), sources[name])))


def _file(root: Path, module: str) -> Path | None:
    """None for what is no module: a name of one."""
    path = root.joinpath(*module.split(".")[1:])
    return next(
        (candidate for candidate in (path.with_suffix(".py"), path / "__init__.py") if candidate.is_file()), None
    )


def _imported(source: bytes) -> Iterator[str]:
    """Modules, and names in them that may be modules."""
    for module, several, single, plain in _IMPORT.findall(source):
        name = (module or plain).decode()
        yield name
        for word in _NAME.findall(several or single):
            yield f"{name}.{word.decode()}"


@cache
def rooms_digest(*rooms: str) -> str:
    """Of every module in these folders of the package, and of these files. Raises FileNotFoundError for one that is not there: a room
    that moved would no longer count."""
    root = Path(__file__).parents[1]
    files = sorted(path for room in rooms for path in _modules(root / room))
    parts = (part for path in files for part in (str(path.relative_to(root)).encode(), path.read_bytes()))
    return sha256_bytes(b"\0".join(parts))


def _modules(place: Path) -> list[Path]:
    paths = [place] if place.is_file() else list(place.rglob("*.py"))
    if not paths:
        raise FileNotFoundError(place)
    return paths
