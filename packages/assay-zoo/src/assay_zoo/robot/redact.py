"""What the public reads of the robot: everything that it knows but where on this machine it lies."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

import assay
import assay_zoo
from assay_zoo.robot.config import RobotConfig

Told = TypeVar("Told")
Hides = Callable[[str], str]
"""A text without the names of this machine's folders."""


def hides_folders(folders: Iterable[str | Path]) -> Hides:
    """A file below one of `folders` is named from there on, a folder itself by its own name. Those that are no absolute paths
    (addresses) and the root are left as they are."""
    named = {Path(path) for path in map(str, folders) if path.startswith("/")} - {Path("/")}
    longest = sorted((str(path) for path in named), key=len, reverse=True)
    if not longest:
        return lambda text: text
    pattern = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, longest))})(/+(?=[\w.])|(?![\w-]))")
    return lambda text: pattern.sub(lambda match: "" if match[2] else Path(match[1]).name, text)


def hides_places(config: RobotConfig) -> Hides:
    """The robot's own folders, those of its programs, and what lies above them."""
    own: list[str | Path] = [config.data, config.zoo.repository.removeprefix("file://"), config.path.parent]
    own += [*(Path(text).parent for text in (config.database, config.history) if text.startswith("/"))]
    programs = [
        *(Path(str(package.__file__)).parent.parent for package in (assay, assay_zoo)),
        Path(sys.prefix),
        Path(sys.base_prefix),
    ]
    return hides_folders([*own, *programs, tempfile.gettempdir(), Path.home(), Path.cwd()])


def redact(record: Told, hides: Hides) -> Told:
    """The same rows, with every text in them without such names."""
    return msgspec.convert(_each(msgspec.to_builtins(record), hides), type(record))


def _each(value: object, hides: Hides) -> object:
    if isinstance(value, str):
        return hides(value)
    if isinstance(value, Mapping):
        return {name: _each(item, hides) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each(item, hides) for item in value]
    return value
