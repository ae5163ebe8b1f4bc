"""Saved artifacts known by their digest: native loaders die of a truncated file instead of refusing it."""

from __future__ import annotations

from pathlib import Path

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel
from assay.models.files import file_digest


def check_artifact(file: Path, digest: str) -> None:
    """Raises InvalidModel where the file is not the one with that sha256.

    Seen: SIGBUS on loading a truncated shared library (tvm 0.27.0).
    """
    if not file.is_file():
        raise InvalidModel(noted(BackendCode.ENGINE_FILE_MISSING, file=file.name))
    if file_digest(file) != digest:
        raise InvalidModel(noted(BackendCode.ENGINE_FILE_CHANGED, file=file.name))
