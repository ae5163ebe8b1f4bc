"""What a reader of data hands on: named values as they were found, before they are fitted to a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.core.note import Note

SINGLE = ""
"""The name of a value that has none: it belongs to the only input."""


@dataclass(frozen=True)
class Raw:
    """One call of the model, or several stacked on axis 0. `where` says in messages where it was found; `expected` are
    outputs that were told apart from the inputs; `splits`: arrays may hold several samples."""

    where: str | Note
    values: Mapping[str, Any]
    expected: Mapping[str, Any] = field(default_factory=dict)
    splits: bool = True


Group = list[Raw]
"""Calls that belong together, in order: a sequence, where state goes from one to the next."""


def numbered(path: Path) -> tuple[object, ...]:
    """For sorting: x2 before x10."""
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", path.name))
