"""Reading back what an engine saved: a folder that was cut short or mixed up is told as such."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel

Record = TypeVar("Record")


def read_record(path: Path, kind: type[Record]) -> Record:
    """The JSON record that lies beside an artifact. Raises InvalidModel."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise InvalidModel(noted(BackendCode.ENGINE_NOT_READ, file=path.name, error=str(error))) from error


def read_artifact(path: Path) -> bytes:
    """The bytes of the artifact. Raises InvalidModel."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidModel(noted(BackendCode.ENGINE_NOT_READ, file=path.name, error=str(error))) from error
