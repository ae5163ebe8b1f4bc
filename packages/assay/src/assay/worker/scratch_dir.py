"""The folder that a worker lends to one job after another: emptied between them, never removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import getpid
from pathlib import Path

KEPT = "kept-"
"""Folders of such names below the lent one are emptied, but stay."""
ARTIFACT = f"{KEPT}artifact"
REMEMBERED = "torchinductor"
"""Inductor (2.13) remembers for the life of the process which headers it has compiled into a folder of such a name."""


@contextmanager
def scratch_dir(parent: str) -> Iterator[str]:
    """A folder of this process below `parent` (the run's scratch, which the driver removes at the end), also for what
    libraries put into temporary files. It is empty but for empty folders.

    Making and removing folders for each job costs more than running a small case: on overlay file systems 1 ms each.
    """
    if not parent:
        with tempfile.TemporaryDirectory(prefix="job-", ignore_cleanup_errors=True) as own, _temporary_files_in(own):
            yield own
        return
    owner = getpid()
    own = f"{parent}/worker-{owner}"
    os.makedirs(own, exist_ok=True)
    try:
        with _temporary_files_in(own):
            yield own
    finally:
        if getpid() == owner:
            _empty(own)


@contextmanager
def _temporary_files_in(folder: str) -> Iterator[None]:
    owner, before = getpid(), tempfile.tempdir
    tempfile.tempdir = folder
    try:
        yield
    finally:
        if getpid() == owner:  # not a copy that a backend has forked
            tempfile.tempdir = before


def artifact_folder(own: str) -> Path:
    """An empty folder for what an engine saves: the kept one where it is free."""
    kept = Path(own or tempfile.gettempdir(), ARTIFACT)
    if own and not (kept.exists() and any(kept.iterdir())):
        kept.mkdir(parents=True, exist_ok=True)  # a backend may have removed the folder
        return kept

    return Path(tempfile.mkdtemp(prefix="artifact-", dir=own or None))


def _empty(folder: str) -> None:
    """Whatever cannot be removed now goes when the run ends."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                elif entry.name.startswith(KEPT):
                    _empty(entry.path)
                elif entry.name.startswith(REMEMBERED):
                    continue
                else:
                    shutil.rmtree(entry.path, ignore_errors=True)
