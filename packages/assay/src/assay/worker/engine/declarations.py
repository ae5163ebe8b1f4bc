"""A model that contradicts itself, given to a backend: as it is, and where the backend does not take it so, with its declarations
corrected. What a file declares of its outputs is no fault of a flow."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

from assay.core.job_base import EngineJob
from assay.core.note import NoteCode, NoteWarning, noted
from assay.errors import InvalidModel, Lowering, NotRunnable, Unavailable
from assay.models.corrected_declarations import corrected
from assay.ports import Backend, Engine


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
