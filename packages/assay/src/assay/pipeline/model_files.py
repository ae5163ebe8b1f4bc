"""Whether a model's file is still what the run looked at: a backend may write over what it is given, and the jobs after it would pay."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.job_base import Job
from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.note_text import note_text
from assay.models.files import file_digest

_State = tuple[int, int, int] | None


class ModelFiles:
    """Files of models, as they were when the first job of each was asked for."""

    def __init__(self) -> None:
        self._state_of: dict[tuple[str, str], _State] = {}

    def watch(self, job: Job) -> None:
        """From here on. What is no file (a factory) and what was not looked at yet is not watched."""
        model = job.case.model
        if model.digest and (model.source, model.digest) not in self._state_of:
            self._state_of[model.source, model.digest] = _state(model.source)

    def checked(self, result: Result, job: Job) -> Result:
        """The result; where the file was changed before it came, one that blames nobody: which job did it is not known, and the
        answers may be those of another model."""
        source, digest = job.case.model.source, job.case.model.digest
        before = self._state_of.get((source, digest))
        if before is None or (now := _state(source)) == before:
            return result
        if now is not None and _has(source, digest):
            self._state_of[source, digest] = now
            return result
        blank = empty_result(job, Outcome.INFRASTRUCTURE)
        ended = noted(NoteCode.MODEL_FILE_CHANGED if now else NoteCode.MODEL_FILE_GONE, path=source)
        return replace(
            blank,
            ended=ended,
            detail=note_text(ended),
            stage=result.stage,
            seconds=result.seconds,
            started_at=result.started_at,
        )


def _state(source: str) -> _State:
    """None: no file is there. What happens in a folder is not watched: libraries keep caches beside a checkpoint."""
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _has(source: str, digest: str) -> bool:
    """Written again with the same bytes."""
    try:
        return file_digest(Path(source)) == digest
    except OSError:
        return False
