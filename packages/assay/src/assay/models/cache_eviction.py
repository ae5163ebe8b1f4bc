"""The bound on what runs leave in the user's cache for later ones: what was not used for longest goes first."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from assay.models.files import user_cache

MOST_BYTES = 20 * 10**9
"""Unless assay.toml says otherwise."""
BUSY_S = 3600.0
"""What was used so recently may be in use by a run that goes on: it stays."""
_LOCK = "lock"


class Entry(NamedTuple):
    """Files and folders that go together: their bytes, and when they were used last, in seconds since 1970."""

    paths: tuple[str, ...]
    size_bytes: int
    used_s: float


def entry_of(*paths: str | Path, used: str | Path) -> Entry | None:
    """The time is that of the file or folder `used`. None where another process has just removed it."""
    try:
        return Entry(tuple(map(str, paths)), sum(map(size_bytes, paths)), os.stat(used).st_mtime)
    except OSError:
        return None


def size_bytes(path: str | Path) -> int:
    """Bytes of a file, or of all files below a folder. Raises OSError."""
    if not os.path.isdir(path):
        return os.stat(path).st_size
    with os.scandir(path) as entries:
        return sum(
            size_bytes(dir_entry.path)
            if dir_entry.is_dir(follow_symlinks=False)
            else dir_entry.stat(follow_symlinks=False).st_size
            for dir_entry in entries
        )


def used_now(path: str | Path) -> None:
    """The time of its last use; a cache that cannot be written has none."""
    with suppress(OSError):
        os.utime(path)


def compiled() -> Iterator[Entry]:
    """The folders of Inductor (`assay.backends.torch.cache`), which nobody dates but who compiles into them."""
    for folder in (user_cache() / "inductor").glob("worker-*"):
        if entry := entry_of(folder, used=folder / _LOCK):
            yield entry


def evict(entries: Sequence[Entry], most_bytes: int) -> tuple[int, int]:
    """Remove the least recently used until `most_bytes` hold the rest. How many went, and their bytes."""
    total, count, freed = sum(entry.size_bytes for entry in entries), 0, 0
    for entry in sorted(entries, key=lambda entry: entry.used_s):
        if total - freed <= most_bytes or entry.used_s > time.time() - BUSY_S:
            break
        with _unlocked(entry) as free:
            if free:
                for path in entry.paths:
                    _remove(path)
                count, freed = count + 1, freed + entry.size_bytes
    return count, freed


@contextmanager
def _unlocked(entry: Entry) -> Iterator[bool]:
    """Whether no living process holds the folder's lock, where it has one; then it is ours meanwhile."""
    lock = Path(entry.paths[0], _LOCK)
    try:
        file = lock.open("rb")
    except OSError:
        yield True
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def _remove(path: str) -> None:
    """Moved first: another process finds the whole or nothing."""
    gone = f"{path}.gone-{os.getpid()}"
    with suppress(OSError):
        os.rename(path, gone)
        if os.path.isdir(gone):
            shutil.rmtree(gone, ignore_errors=True)
        else:
            os.unlink(gone)
