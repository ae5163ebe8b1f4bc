"""A job that fails where the disk is full proves nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from assay.core.note import NoteCode, noted
from assay.errors import HarnessError

FULL_BYTES = 1 << 20
"""Less than this is left where a job writes: what fails there fails for want of room, whatever the backend calls it."""


class DiskFull(HarnessError):
    """Where, and how much is left."""


@contextmanager
def full_disk_reported(folder: str) -> Iterator[None]:
    """Raises DiskFull in place of any error, where the disk of this folder is full then."""
    try:
        yield
    except Exception as error:
        left = FULL_BYTES
        with suppress(OSError):  # a backend may have removed it
            left = shutil.disk_usage(folder).free
        if left < FULL_BYTES:
            raise DiskFull(noted(NoteCode.DISK_FULL, folder=folder, left=left)) from error
        raise
