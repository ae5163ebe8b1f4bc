"""Who fills the disk, where it is nearly full: the job that has written most of what its worker may throw away."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from assay.core.result import Result
from assay.launch.failed_result import filled_disk
from assay.launch.lane import Lane
from assay.launch.temp_folder import remove_folder

LEFT_BYTES = 128 << 20
"""Less than this is nearly full. A history, a journal and the answers of other jobs still have room then."""
LEAST_BYTES = 256 << 20
"""Who has written less has not filled it. An engine that keeps a cache of gigabytes has not, either, as long as there is room for it."""
LOOK_S = 1.0
"""Between two looks at what was written, on a disk that stays nearly full."""


class DiskWatch:
    """Asked again and again; a disk with room costs one call of the system for each folder that jobs write to."""

    def __init__(self) -> None:
        self._next_s = 0.0

    def filling(self, lanes: Sequence[Lane]) -> Iterator[tuple[Lane, Result]]:
        """At most one, and how its job ends; what it wrote goes when that is taken. None where there is room, or where nobody at work has
        filled the disk."""
        folders = {id(lane): _folders_of(lane) for lane in lanes if lane.pending is not None}
        left = {folder: _left(folder) for own in folders.values() for folder in own}
        if time.monotonic() < self._next_s or all(each >= LEFT_BYTES for each in left.values()):
            return
        self._next_s = time.monotonic() + LOOK_S
        full = {number: [folder for folder in own if left[folder] < LEFT_BYTES] for number, own in folders.items()}
        written = {number: sum(map(_written, own)) for number, own in full.items()}
        lane = max((lane for lane in lanes if id(lane) in written), key=lambda lane: written[id(lane)])
        if lane.pending is not None and written[id(lane)] >= LEAST_BYTES:
            own = full[id(lane)]
            yield lane, filled_disk(lane.pending.job, lane.stage, own[0], written[id(lane)], left[own[0]])
            for folder in own:
                remove_folder(folder)


def _folders_of(lane: Lane) -> tuple[str, ...]:
    """What is thrown away with the worker, and with its job."""
    scratch = lane.pending.job.scratch if lane.pending is not None else ""
    own = [f"{scratch}/worker-{lane.process.pid}"] if scratch else []
    return tuple(folder for folder in (*own, lane.process.folder) if folder and os.path.isdir(folder))


def _left(folder: str) -> int:
    with suppress(OSError):  # it may have been removed meanwhile
        return shutil.disk_usage(folder).free
    return LEFT_BYTES


def _written(folder: str) -> int:
    return sum(_blocks(folder)) * 512


def _blocks(folder: str) -> Iterator[int]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    yield from _blocks(entry.path)
                else:
                    yield entry.stat(follow_symlinks=False).st_blocks
