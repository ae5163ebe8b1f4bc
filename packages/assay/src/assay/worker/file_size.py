"""How large a file of a job may grow: a part of what the disk has free, so that no job fills it for all others."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from assay.core.note import NoteCode, noted
from assay.errors import HarnessError

SHARE, LEAST_BYTES = 0.75, 1 << 30


class FileTooLarge(HarnessError):
    """A file of the job reached the limit."""


def limit_file_size() -> None:
    """Of this process and what it starts. A signal would end it (SIGXFSZ), but Python ignores that one: writing fails instead."""
    most = max(int(SHARE * shutil.disk_usage(tempfile.gettempdir()).free), LEAST_BYTES)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    lowest = min((limit for limit in (soft, hard, most) if limit != resource.RLIM_INFINITY), default=most)
    resource.setrlimit(resource.RLIMIT_FSIZE, (lowest, hard))


@contextmanager
def large_file_reported(folder: str) -> Iterator[None]:
    """Raises FileTooLarge where a job fails and has come to the limit that it began with, by the words of the system, or by a file in
    this folder: libraries have words of their own for it."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    try:
        yield
    except Exception as error:
        now = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if most != now or not (_said(error) or _holds(folder, most)):
            raise
        raise FileTooLarge(noted(NoteCode.FILE_TOO_LARGE, most=most)) from error


def _said(error: BaseException | None) -> bool:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        if issubclass(type(error), OSError) and getattr(error, "errno", 0) == errno.EFBIG:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _holds(folder: str, most: int) -> bool:
    if most == resource.RLIM_INFINITY:
        return False
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                if os.lstat(os.path.join(place, name)).st_size >= most:
                    return True
            except OSError:
                continue
    return False
