"""What a library says of a model that it cannot take, compared with the checker of the standard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.core.note import NoteCode, noted
from assay.errors import InvalidModel, Lowering
from assay.worker.describe_exception import reason_of

_FILES = "xternal"
"""Data beside the model that is missing or cut: the checker does not read it."""


@contextmanager
def rejected_valid_models(model: Path) -> Iterator[None]:
    """Raises Lowering, a refusal, for the InvalidModel that a backend raises inside of a model that is valid ONNX: the fault is no
    broken file then. The text and the node stay."""
    try:
        yield
    except InvalidModel as error:
        if _FILES in str(error.reason) or not _is_valid(model):
            raise
        raise Lowering(noted(NoteCode.VALID_BUT_REFUSED, error=reason_of(error)), node=error.node) from error


def _is_valid(model: Path) -> bool:
    """By onnx.checker and strict shape inference. Anything but a readable ONNX file is not known to be."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx.checker import ValidationError
    from onnx.shape_inference import InferenceError

    try:
        onnx.checker.check_model(str(model), full_check=True)
    except (DecodeError, OSError, RuntimeError, ValidationError, InferenceError, ValueError):
        return False
    return True
