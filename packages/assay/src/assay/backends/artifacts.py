"""Saved artifacts known by their digest: native loaders die of a truncated file instead of refusing it."""

from __future__ import annotations

from pathlib import Path

from assay.errors import InvalidModel
from assay.models.files import file_digest


def check_artifact(file: Path, digest: str) -> None:
    """Raises InvalidModel where the file is not the one with that sha256.

    Seen: SIGBUS on loading a truncated shared library (tvm 0.27.0).
    """
    if not file.is_file():
        raise InvalidModel(f"{file.name} is missing from the saved engine; lower the model again.")
    if file_digest(file) != digest:
        raise InvalidModel(f"{file.name} is not what was saved (truncated or replaced); lower the model again.")
