"""The backend's own profile of a few calls, kept as files that a person opens."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path

from assay.core.job import MeasureJob
from assay.core.note import NoteCode, NoteWarning, noted
from assay.errors import NotRunnable, Unsupported
from assay.ports import Engine, Tensor, Traced

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
        _check(files, job.flow.backend)
    except (NotRunnable, Unsupported) as error:
        warnings.warn(NoteWarning(noted(NoteCode.NO_TRACE, error=str(error))), stacklevel=2)
        shutil.rmtree(folder, ignore_errors=True)
        return ()
    except Exception as error:  # noqa: BLE001  a profile explains a verdict; it must not change it
        failed = noted(NoteCode.TRACE_FAILED, exception=type(error).__name__, error=str(error))
        warnings.warn(NoteWarning(failed), stacklevel=2)
        shutil.rmtree(folder, ignore_errors=True)
        return ()
    return tuple(str(path) for path in files)


def _check(files: list[Path], backend: str) -> None:
    """Raises ValueError for files that no viewer opens."""
    if not files:
        raise ValueError(f"{backend} wrote no file")
    size = sum(path.stat().st_size for path in files)
    if size > MOST_BYTES:
        raise ValueError(f"it is {size:,} bytes; at most {MOST_BYTES:,} are kept")
    for path in files:
        if path.suffix == ".json" and (wrong := what_is_wrong(path.read_bytes())):
            raise ValueError(f"{path.name} is no Chrome trace: {wrong}")


def what_is_wrong(text: bytes) -> str:
    """Why Perfetto would not show a file in Chrome's trace format; "" where it would."""
    try:
        read = json.loads(text)
    except ValueError as error:
        return f"it is no JSON ({error})"
    events = read.get("traceEvents") if isinstance(read, dict) else read
    if not isinstance(events, list):
        return "it has no list of events"
    for at, event in enumerate(events):
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            return f"event {at} has no phase"
        timed = event["ph"] in "XBEiI"
        if timed and not isinstance(event.get("ts"), int | float):
            return f"event {at} has no time"
        if event["ph"] == "X" and not (isinstance(event.get("dur"), int | float) and event["dur"] >= 0):
            return f"event {at} has no duration"
    if not any(event["ph"] == "X" for event in events):
        return "no event in it has a duration"
    return ""
