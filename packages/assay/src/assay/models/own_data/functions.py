"""Data from a Python function, `module:function` or `file.py:function`: the user's own code, called in a worker."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.core.nearest_name import nearest
from assay.core.note import Note, noted
from assay.core.refusals.data_codes import DataCode
from assay.core.refusals.model_codes import ModelCode
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
        # Whatever it imports when it is called lies where it lies itself.
        with importable(Path(source.rpartition(":")[0]).parent if ".py:" in source else Path.cwd()):
            returned: object = _find(source)()
            if isinstance(returned, Mapping) or not isinstance(returned, Iterable):
                returned = [returned]
            groups, alone = _collected(source, returned, most)
    except BadGolden:
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        raise BadGolden(
            noted(ModelCode.FUNCTION_RAISED, source=source, exception=type(error).__name__, error=text)
        ) from error
    if alone:
        groups.append(alone)
    if not groups:
        raise BadGolden(noted(DataCode.YIELDS_NOTHING, source=source))
    return groups


def _collected(source: str, returned: Iterable[object], most: int) -> tuple[list[Group], Group]:
    groups: list[Group] = []
    alone: Group = []
    for number, item in enumerate(returned):
        if most and number >= most:
            break
        if number >= MOST:
            raise BadGolden(noted(DataCode.YIELDS_WITHOUT_END, source=source, most=MOST))
        if isinstance(item, list | tuple) and item and all(isinstance(step, Mapping) for step in item):
            groups.append(
                [
                    _raw(noted(DataCode.STEP, source=source, item=number, step=step), row)
                    for step, row in enumerate(item)
                ]
            )
        elif isinstance(item, Mapping):
            alone.append(_raw(noted(DataCode.ITEM, source=source, item=number), item))
        else:
            raise BadGolden(noted(DataCode.YIELDS_OTHER, source=source, type=type(item).__name__, item=number))
    return groups, alone


def _raw(where: Note, row: Mapping[Any, Any]) -> Raw:
    values = {str(name): value for name, value in row.items()}
    expected = values.pop("expected") if isinstance(values.get("expected"), Mapping) else {}
    return Raw(where, values, dict(expected), splits=False)


def _find(source: str) -> Any:
    name, _, attribute = source.rpartition(":")
    module = _from_file(Path(name)) if name.endswith(".py") else _imported(name, source)
    if not hasattr(module, attribute):
        near = nearest(attribute, [attr for attr, var in vars(module).items() if callable(var)])
        if near:
            raise BadGolden(noted(ModelCode.FUNCTION_MISSPELT, source=source, module=name, name=attribute, near=near))
        raise BadGolden(noted(ModelCode.FUNCTION_NO_NAME, source=source, module=name, name=attribute))
    return getattr(module, attribute)


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise BadGolden(noted(DataCode.FUNCTION_NO_FILE, file=str(path)))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _imported(name: str, source: str) -> ModuleType:
    try:
        return import_user_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadGolden(noted(DataCode.FUNCTION_NO_MODULE, source=source, module=error.name)) from None
        raise
