"""Data from a Python function, `module:function` or `file.py:function`: the user's own code, called in a worker."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.core.nearest_name import nearest
from assay.errors import BadGolden
from assay.models.import_user_module import import_user_module, importable
from assay.models.own_data.raw import Group, Raw
from assay.models.sources import is_factory

MOST = 4096
"""A function that does not end is stopped here."""


def is_function(source: str) -> bool:
    """Whether it is written like one and no file has that name."""
    path, colon, name = source.rpartition(":")
    named_file = bool(colon) and path.endswith(".py") and name.isidentifier()
    return (named_file or is_factory(source)) and not Path(source).exists()


def read_function(source: str, most: int) -> list[Group]:
    """What it yields: a dict is one call; a list of dicts a sequence of calls. Dicts by themselves are one sequence.

    A dict maps names of inputs to arrays, numbers, text, lists (sequences) or dicts (maps), and may have what the model
    should answer under the names of its outputs, or all of them in a dict called `expected`. Raises BadGolden.
    """
    try:
        given: object = _find(source)()
        if isinstance(given, Mapping):
            given = [given]
        if not isinstance(given, Iterable):
            raise BadGolden(
                f"{source} gave {type(given).__name__}; yield a dict from input names to arrays for each call"
            )
        groups, alone = _collected(source, given, most)
    except BadGolden:
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        raise BadGolden(f"{source} raised {type(error).__name__}: {text}; call it yourself to see where") from error
    if alone:
        groups.append(alone)
    if not groups:
        raise BadGolden(f"{source} yields nothing; yield a dict from input names to arrays for each call")
    return groups


def _collected(source: str, given: Iterable[object], most: int) -> tuple[list[Group], Group]:
    groups: list[Group] = []
    alone: Group = []
    for number, one in enumerate(given):
        if most and number >= most:
            break
        if number >= MOST:
            raise BadGolden(f"{source} yields more than {MOST} times; say how many are wanted with --samples")
        if isinstance(one, list | tuple) and one and all(isinstance(step, Mapping) for step in one):
            groups.append([_raw(f"{source}, item {number}, step {step}", row) for step, row in enumerate(one)])
        elif isinstance(one, Mapping):
            alone.append(_raw(f"{source}, item {number}", one))
        else:
            raise BadGolden(
                f"{source} yields {type(one).__name__} as item {number}; yield a dict from input names to arrays, or a list of them"
            )
    return groups, alone


def _raw(where: str, row: Mapping[Any, Any]) -> Raw:
    values = {str(name): value for name, value in row.items()}
    expected = values.pop("expected") if isinstance(values.get("expected"), Mapping) else {}
    return Raw(where, values, dict(expected), splits=False)


def _find(source: str) -> Any:
    name, _, attribute = source.rpartition(":")
    module = _from_file(Path(name)) if name.endswith(".py") else _imported(name, source)
    if not hasattr(module, attribute):
        near = nearest(attribute, [name for name, one in vars(module).items() if callable(one)])
        hint = f"; perhaps you mean {near!r}" if near else "; correct the name after the colon"
        raise BadGolden(f"{source}: {name} has no {attribute!r}{hint}")
    return getattr(module, attribute)


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise BadGolden(f"{path} is no file; give FILE.py:FUNCTION, or MODULE:FUNCTION of an importable module")
    module = importlib.util.module_from_spec(spec)
    with importable(path.parent):
        spec.loader.exec_module(module)
    return module


def _imported(name: str, source: str) -> ModuleType:
    try:
        with importable(Path.cwd()):
            return import_user_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadGolden(
                f"{source}: there is no module {error.name!r} in the current folder or among the installed packages; "
                "correct the name, or give FILE.py:FUNCTION"
            ) from None
        raise
