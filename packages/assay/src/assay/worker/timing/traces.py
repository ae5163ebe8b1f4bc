"""The backend's own profile of a few calls, kept as files that a person opens."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path

from assay.core.job import MeasureJob
from assay.core.note import Note, NoteCode, NoteWarning, noted
from assay.errors import NotRunnable, Unsupported
from assay.ports import Engine, Tensor, Traced
from assay.worker.describe_exception import reason_of

MOST_BYTES = 512 * 1024 * 1024
"""Of the files of one job: a viewer opens no more, and a disk is not filled by a profile."""


def keep_trace(engine: Engine, feed: Mapping[str, Tensor], job: MeasureJob) -> tuple[str, ...]:
    """The files written to the folder that the job names, () where it names none. What a profile fails in is no failure of the
    engine: it is a warning, and its files go."""
    if not job.trace_dir:
        return ()
    folder = Path(job.trace_dir)
    shutil.rmtree(folder, ignore_errors=True)  # what a process left that died in this job
    if not isinstance(engine, Traced):
        warnings.warn(NoteWarning(noted(NoteCode.NO_PROFILE, backend=job.flow.backend)), stacklevel=2)
        return ()
    try:
        folder.mkdir(parents=True)
        engine.trace(feed, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        unusable = _unusable(files, job.flow.backend)
    except (NotRunnable, Unsupported) as error:
        unusable = reason_of(error)
    except Exception as error:  # noqa: BLE001  a profile explains a verdict; it must not change it
        failed = noted(NoteCode.TRACE_FAILED, exception=type(error).__name__, error=reason_of(error))
        warnings.warn(NoteWarning(failed), stacklevel=2)
        shutil.rmtree(folder, ignore_errors=True)
        return ()
    if unusable is not None:
        warnings.warn(NoteWarning(noted(NoteCode.NO_TRACE, error=unusable)), stacklevel=2)
        shutil.rmtree(folder, ignore_errors=True)
        return ()
    return tuple(str(path) for path in files)


def _unusable(files: list[Path], backend: str) -> Note | None:
    """Why no viewer opens these files; None where it does."""
    if not files:
        return noted(NoteCode.TRACE_EMPTY, backend=backend)
    size = sum(path.stat().st_size for path in files)
    if size > MOST_BYTES:
        return noted(NoteCode.TRACE_TOO_LARGE, size_bytes=size, most_bytes=MOST_BYTES)
    for path in files:
        wrong = what_is_wrong(path.read_bytes()) if path.suffix == ".json" else None
        if wrong is not None:
            return noted(NoteCode.TRACE_INVALID, file=path.name, error=wrong)
    return None


def what_is_wrong(text: bytes) -> Note | None:
    """Why Perfetto would not show a file in Chrome's trace format; None where it would."""
    try:
        read = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        return noted(NoteCode.NOT_JSON, error=str(error))
    events = read.get("traceEvents") if isinstance(read, dict) else read
    if not isinstance(events, list):
        return noted(NoteCode.NO_EVENTS)
    for at, event in enumerate(events):
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            return noted(NoteCode.EVENT_LACKS, event=at, field="phase")
        timed = event["ph"] in "XBEiI"
        if timed and not isinstance(event.get("ts"), int | float):
            return noted(NoteCode.EVENT_LACKS, event=at, field="time")
        if event["ph"] == "X" and not (isinstance(event.get("dur"), int | float) and event["dur"] >= 0):
            return noted(NoteCode.EVENT_LACKS, event=at, field="duration")
    if not any(event["ph"] == "X" for event in events):
        return noted(NoteCode.NO_DURATIONS)
    return None


def _no_number(word: str) -> float:
    """Python reads NaN and Infinity, which are not JSON; Perfetto then shows nothing of the file."""
    raise ValueError(word)
