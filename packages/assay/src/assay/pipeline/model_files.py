"""Whether a model's files are still what the run looked at: a backend may write over what it is given, and the jobs after it would pay."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome
from assay.core.result import InspectResult, Result
from assay.judge.words.note_text import note_text
from assay.models.files import file_digest
from assay.models.sources import is_factory

_Key = tuple[str, str]
_State = tuple[int, int, int] | None
_NEVER_SEEN = (0, 0, 0)
"""No file is so: it is read when the first result comes, and one that is gone by then is missed."""


class ModelFiles:
    """Files of models, as they were when a model was looked at, or when the first job of it was asked for."""

    def __init__(self) -> None:
        self._digests: dict[_Key, dict[str, str]] = {}
        self._states: dict[_Key, dict[str, _State]] = {}
        self._refused: dict[str, _State] = {}

    def watch(self, job: Job) -> None:
        """From here on. What is no file (a factory) and what was not looked at yet is not watched."""
        for model in models_of(job.case):
            self._begin(model)

    def _begin(self, model: Model, *, inspected: bool = False) -> None:
        """What was inspected just now is as it was recorded; anything else may have been changed or removed since."""
        key = model.source, model.digest
        if model.digest and key not in self._states:
            self._digests[key] = known_digests(model)
            self._states[key] = {path: _state(path) if inspected else _first_state(path) for path in self._digests[key]}

    def checked(self, result: Result, job: Job) -> Result:
        """The result; where a file was changed before it came, one that blames nobody: which job did it is not known, and the
        answers may be those of another model."""
        if isinstance(result, InspectResult) and result.model is not None:
            self._begin(result.model, inspected=True)
        keys = [(model.source, model.digest) for model in models_of(job.case)]
        changed = next(
            (path for key in keys for path in self._states.get(key, {}) if self._is_changed(key, path)), None
        )
        if changed is None:
            return result
        blank = empty_result(job, Outcome.INFRASTRUCTURE)
        ended = noted(NoteCode.MODEL_FILE_CHANGED if self._refused[changed] else NoteCode.MODEL_FILE_GONE, path=changed)
        return replace(
            blank,
            ended=ended,
            detail=note_text(ended),
            stage=result.stage,
            seconds=result.seconds,
            started_at=result.started_at,
        )

    def _is_changed(self, key: _Key, path: str) -> bool:
        """The file is read where its state is one that was not seen before: written again with the same bytes it is no change."""
        before = self._states[key][path]
        if before is None or (now := _state(path)) == before:
            return False
        if now is not None and now != self._refused.get(path) and _has(path, self._digests[key][path]):
            self._states[key][path] = now
            return False
        self._refused[path] = now
        return True


def models_of(case: Case) -> list[Model]:
    """That of the case, and what it is compared with."""
    others = [] if case.original is None else [case.original.model]
    return [case.model, *(model for model in others if model.source)]


def known_digests(model: Model) -> dict[str, str]:
    """By file, of all that the model is read from; of a program whose files were not listed nothing is known, for its digest is not
    that of a file."""
    return {**model.files} or ({model.source: model.digest} if model.format == "onnx" else {})


def is_another(path: str, digest: str) -> bool:
    """Whether that file is there, with other bytes."""
    return _state(path) is not None and not _has(path, digest)


def is_gone(path: str) -> bool:
    """Whether nothing is there, where a file or a folder was; a factory is none."""
    return bool(path) and not is_factory(path) and not os.path.exists(path)


def _state(source: str) -> _State:
    """None: no file is there. What happens in a folder is not watched: libraries keep caches beside a checkpoint."""
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _first_state(source: str) -> _State:
    return _NEVER_SEEN if is_gone(source) or _state(source) is not None else None


def _has(path: str, digest: str) -> bool:
    try:
        return file_digest(Path(path)) == digest
    except OSError:
        return False
