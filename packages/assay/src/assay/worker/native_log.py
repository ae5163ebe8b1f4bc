"""What native libraries print while a job is in a stage, read from the file that this process writes its output to."""

from __future__ import annotations

import logging
import os
import stat
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from assay.core.note import NoteWarning
from assay.core.outcome import Stage
from assay.ports import NativeText

HEARD = (Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD, Stage.RUN, Stage.MEASURE)
"""Stages in which a library speaks of the model: what it prints when it is imported speaks of the machine."""
MOST_BYTES = 256 * 1024
"""Read of one stage: a library that repeats itself for each call says nothing new."""
_STREAM = 2
MOST_RECORDS = 1000
_IMPORTS = "<frozen importlib._bootstrap"
_PYTHON = f"{sysconfig.get_path('stdlib')}/"
_INSTALLED = ("/site-packages/", "/dist-packages/")
_LEVELS = ("WARNING", "ERROR", "CRITICAL")


@contextmanager
def logged_by(heard: list[str]) -> Iterator[None]:
    """What Python's loggers warn of goes to `heard`, wherever and in whatever form they write it, as `logging` writes it by itself:
    `WARNING:name:words`; a level of another name is a WARNING. What a library silences by itself, with a filter of its logger or the
    levels of all handlers, is not said."""
    before = logging.Logger.callHandlers

    def listened(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING and len(heard) < MOST_RECORDS and not _silenced(logger, record):
            with suppress(Exception):  # a record whose words do not fit its values: its own handlers say so
                level = record.levelname if record.levelname in _LEVELS else "WARNING"
                if words := record.getMessage().strip():
                    heard.append(f"{level}:{record.name}:{words}")
        before(logger, record)

    # The one place that each record passes after the filters of its logger.
    logging.Logger.callHandlers = listened  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        logging.Logger.callHandlers = before  # type: ignore[method-assign]


def _silenced(logger: logging.Logger, record: logging.LogRecord) -> bool:
    """Said while Python imports, or taken by no handler: without one `logging` writes it by itself."""
    levels: list[int] = []
    at: logging.Logger | None = logger
    while at is not None:
        levels += [handler.level for handler in at.handlers]
        at = at.parent if at.propagate else None
    return record.levelno < min(levels, default=0) or _importing()


@contextmanager
def warned_by() -> Iterator[list[warnings.WarningMessage]]:
    """All that is given to Python's `warnings`, each time. What a library says while Python imports it is left out, wherever that
    happens: an old way of writing, said where its bytecode is not stored yet, is none of the model. So is what Python's own modules
    call deprecated: it is how a library uses them (it forks beside threads)."""
    heard: list[warnings.WarningMessage] = []

    def listened(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        if issubclass(category, NoteWarning | NativeText) or not (_of_python(category, filename) or _importing()):
            heard.append(warnings.WarningMessage(message, category, filename, lineno))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = listened
        yield heard


def _of_python(category: type[Warning], file: str) -> bool:
    old = issubclass(category, DeprecationWarning | PendingDeprecationWarning)
    return old and file.startswith(_PYTHON) and not any(part in file for part in _INSTALLED)


def _importing() -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTS):
            return True
        frame = frame.f_back
    return False


def position() -> int:
    """Where the next byte will be written; -1 where output goes to something that cannot be read (a pipe, a terminal)."""
    with suppress(OSError):
        status = os.fstat(_STREAM)
        if stat.S_ISREG(status.st_mode):
            return status.st_size
    return -1


def printed_since(start: int) -> str:
    """What was written from there on; "" where nothing was, or where it cannot be read."""
    end = position()
    if start < 0 or end <= start:
        return ""
    try:
        descriptor = os.open(f"/proc/self/fd/{_STREAM}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.pread(descriptor, min(end - start, MOST_BYTES), start).decode(errors="replace")
    finally:
        os.close(descriptor)
