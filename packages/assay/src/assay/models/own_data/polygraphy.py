"""Inputs and outputs that Polygraphy saves as JSON (`--save-inputs`, `--save-outputs`): arrays as numpy files in base64."""

from __future__ import annotations

import base64
import binascii
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden
from assay.models.own_data.raw import Group, Raw


def read_json(path: Path) -> Group:
    """One call for each dict of the list. Of several runners' outputs the first counts. Raises BadGolden."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadGolden(noted(DataCode.POLYGRAPHY_NO_JSON, file=str(path), error=str(error))) from None
    if isinstance(document, dict) and isinstance(document.get("lst"), list):
        return [Raw(str(path), {}, outputs, splits=False) for outputs in _outputs(path, document["lst"])]
    rows = document if isinstance(document, list) else [document]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BadGolden(noted(DataCode.POLYGRAPHY_FORM, file=str(path)))
    return [
        Raw(noted(DataCode.ITEM, source=str(path), item=number), _tensors(path, row), splits=False)
        for number, row in enumerate(rows)
    ]


def _outputs(path: Path, runners: list[Any]) -> list[dict[str, Any]]:
    """`[[runner, [iteration, ...]], ...]`."""
    try:
        iterations = runners[0][1]
        return [_tensors(path, iteration["outputs"]) for iteration in iterations]
    except (IndexError, KeyError, TypeError):
        raise BadGolden(noted(DataCode.POLYGRAPHY_FORM, file=str(path))) from None


def _tensors(path: Path, row: dict[str, Any]) -> dict[str, Any]:
    inner = row.get("values") if isinstance(row.get("values"), dict) and "array" not in row else None
    rows = inner if inner is not None and set(row) <= {"values", "polygraphy_class"} else row
    return {name: _array(path, name, value) for name, value in rows.items() if not name.startswith("polygraphy_")}


def _array(path: Path, name: str, value: Any) -> Any:
    """The numpy file, in whatever it was wrapped; plain numbers and lists as they are."""
    while isinstance(value, dict) and isinstance(inner := value.get("values", value.get("arr")), dict):
        value = inner
    if not isinstance(value, dict):
        return value
    text = value.get("array")
    if not isinstance(text, str):
        raise BadGolden(noted(DataCode.POLYGRAPHY_NO_ARRAY, file=str(path), name=name))
    try:
        return np.load(io.BytesIO(base64.b64decode(text.encode(), validate=True)), allow_pickle=False)
    except (binascii.Error, ValueError, EOFError, OSError) as error:
        raise BadGolden(noted(DataCode.POLYGRAPHY_ARRAY_DAMAGED, file=str(path), name=name, error=str(error))) from None
