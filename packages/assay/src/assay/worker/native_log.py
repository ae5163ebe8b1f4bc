"""What native libraries print while a job is in a stage, read from the file that this process writes its output to."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from assay.core.outcome import Stage

HEARD = (Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD, Stage.RUN, Stage.MEASURE)
"""Stages in which a library speaks of the model: what it prints when it is imported speaks of the machine."""
MOST_BYTES = 256 * 1024
"""Read of one stage: a library that repeats itself for each call says nothing new."""
_STREAM = 2


def position() -> int:
    """Where the next byte will be written; -1 where output goes to something that cannot be read (a pipe, a terminal)."""
    with suppress(OSError):
        found = os.fstat(_STREAM)
        if stat.S_ISREG(found.st_mode):
            return found.st_size
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
