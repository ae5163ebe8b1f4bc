"""A model that a backend does not take. One that contradicts itself is given again with its declarations corrected: what a file declares of
its outputs is no fault of a flow. And what a library calls invalid is compared with the checker of the standard."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.core.job_base import EngineJob
from assay.core.note import NoteCode, NoteWarning, noted
from assay.errors import InvalidModel, Lowering, NotRunnable, Unavailable
from assay.models.corrected_declarations import corrected
from assay.ports import Backend, Engine
from assay.worker.describe_exception import reason_of

_FILES = "xternal"
"""Data beside the model that is missing or cut: the checker does not read it."""


def lower_as_given(backend: Backend, model: Path, job: EngineJob) -> Engine:
    """Raises what the backend raises of the model as it is."""
    try:
        return backend.lower(model, job.flow)
    except (Unavailable, NotRunnable):
        raise
    except Lowering as refused:
        if not job.case.model.contradictions or model.suffix != ".onnx":
            raise
        copy = Path(tempfile.mkdtemp(prefix="declared-", dir=job.scratch or None)) / model.name
        if not corrected(model, copy):
            raise
        try:
            engine = backend.lower(copy, job.flow)
        except Lowering:
            raise refused from None
        invalid = isinstance(refused, InvalidModel)
        note = noted(
            NoteCode.CORRECTED_AS_INVALID if invalid else NoteCode.CORRECTED_AS_REFUSED,
            backend=job.flow.backend,
            error=refused.reason,
        )
        warnings.warn(NoteWarning(note), stacklevel=2)
        return engine


@contextmanager
def refused_valid_models(model: Path) -> Iterator[None]:
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
