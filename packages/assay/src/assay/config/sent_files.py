"""Which files of the working folder `[launch] send` names. None of them lies outside: they go to other machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import escape, glob
from pathlib import Path

from assay.errors import BadPolicy


def matched_files(path: Path, pattern: str) -> list[str]:
    """Their paths from the working folder. `path` is the file that says so. Raises BadPolicy where there are none, and where a link leads
    out of the folder."""
    here, where = Path.cwd(), f'{path}: launch.send: "{pattern}"'
    advice = 'name files below it, as by "data/**"'
    name = os.path.relpath(pattern) if Path(pattern).is_relative_to(here) else pattern
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise BadPolicy(f"{where} lies outside of the working folder: {advice}")
    names = sorted(_matched(name))
    if not names:
        raise BadPolicy(f"{where} matches no file of the working folder: {advice}")
    for link in _links_out(names, here.resolve()):
        raise BadPolicy(f"{where}: the link {link} leads out of the working folder: leave it out, or put a copy there")
    return names


def _matched(name: str) -> Iterator[str]:
    """The file or folder that has that very name, with all that is below it; else what it matches."""
    if os.path.isfile(name):
        return iter([os.path.normpath(name)])
    pattern = f"{escape(os.path.normpath(name))}/**" if os.path.isdir(name) else name
    return (os.path.normpath(match) for match in glob(pattern, recursive=True) if os.path.isfile(match))


def _links_out(names: list[str], here: Path) -> Iterator[Path]:
    for name in names:
        if not Path(name).resolve().is_relative_to(here):
            parts = (*reversed(Path(name).parents), Path(name))
            yield next(part for part in parts if not part.resolve().is_relative_to(here))
