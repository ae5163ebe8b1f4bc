"""Where goldens and data lie, as people read it and as a repro line repeats it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from assay.core.data import Data
from assay.models.own_data.functions import is_function


def near_data(data: Data | None) -> Data | None:
    """The same with its source as `source_of` has it."""
    return msgspec.structs.replace(data, source=source_of(data.source)) if data is not None else None


def source_of(source: str) -> str:
    """A path as `near` has it; a function as it is written."""
    path, _, name = source.rpartition(":")
    if is_function(source):
        return f"{near(Path(path))}:{name}" if path.endswith(".py") else source
    return near(Path(source)) if source else ""


def near(path: Path) -> str:
    """Relative to the working folder where it lies below it: what people read, and what a repro line repeats."""
    absolute = Path(os.path.abspath(path))
    return os.path.relpath(absolute) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def near_place(place: str) -> str:
    """A folder as `near` has it; an address as it is written."""
    return place if "://" in place else near(Path(place))
