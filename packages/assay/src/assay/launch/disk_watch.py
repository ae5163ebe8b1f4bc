"""Who fills the disk, where it is nearly full: the job at work whose worker has just written most of what may be thrown away."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from assay.core.result import Result
from assay.launch.failed_result import filled_disk
from assay.launch.lane import Lane
from assay.launch.temp_folder import remove_folder

LEFT_BYTES = 128 << 20
LEFT_SHARE = 0.05
"""Less than the lesser of the two is nearly full. A history, a journal and the answers of other jobs still have room then."""
LEAST = 2
"""Who has written less than so many times that has not filled it. An engine that keeps a cache of gigabytes has not, either, as long as
there is room for it."""
SOON = 4
"""What is written is looked at from so many times that on: how it grows is known when it counts."""
GROWN_BYTES = 1 << 20
"""Between two looks: who has written less is steady, however much lies there."""
LOOK_S = 1.0
"""Between two looks at what was written, on a disk that stays so."""


class _Disk(NamedTuple):
    free: int
    limit: float


class DiskWatch:
    """Asked again and again; a disk with room costs one call of the system for each folder that jobs write to."""

    def __init__(self) -> None:
        self._next_s = 0.0
        self._was_full = False
        self._before: dict[str, int] | None = None

    def filling(self, lanes: Sequence[Lane]) -> Iterator[tuple[Lane, Result]]:
        """At most one, and how its job ends; what its worker wrote goes when that is taken. None where there is room, or where nobody at
        work has filled the disk since the last look."""
        owned = [(lane, _folders_of(lane)) for lane in lanes]
        disks = {folder: _disk(folder) for _, own in owned for folder in own}
        nearing = [folder for folder, disk in disks.items() if disk.free < SOON * disk.limit]
        full = {folder: disk for folder, disk in disks.items() if disk.free < disk.limit}
        if not nearing:
            self._before = None
        elif time.monotonic() >= self._next_s or (full and not self._was_full):
            self._next_s, self._was_full = time.monotonic() + LOOK_S, bool(full)
            now = {folder: _written(folder) for folder in nearing}
            before, self._before = self._before, {**(self._before or {}), **now}
            if before is not None:
                yield from _filling(owned, full, now, before)


def _filling(
    owned: Sequence[tuple[Lane, tuple[str, ...]]], full: dict[str, _Disk], now: dict[str, int], before: dict[str, int]
) -> Iterator[tuple[Lane, Result]]:
    """A folder that was not there before was empty."""
    most, filler = GROWN_BYTES, None
    for lane, folders in owned:
        own = [folder for folder in folders if folder in full]
        written, grown = sum(now[folder] for folder in own), sum(now[folder] - before.get(folder, 0) for folder in own)
        if lane.pending is not None and own and grown >= most and written >= LEAST * full[own[0]].limit:
            ended = filled_disk(lane.pending.job, lane.stage, own[0], written, full[own[0]].free)
            most, filler = grown, (lane, ended, own)
    if filler is not None:
        yield filler[:2]
        for folder in filler[2]:
            remove_folder(folder)


def _folders_of(lane: Lane) -> tuple[str, ...]:
    """What is thrown away with the worker, and with its job."""
    scratch = lane.pending.job.scratch if lane.pending is not None else ""
    own = [f"{scratch}/worker-{lane.process.pid}"] if scratch else []
    return tuple(folder for folder in (*own, lane.process.folder) if folder and os.path.isdir(folder))


def _disk(folder: str) -> _Disk:
    with suppress(OSError):  # it may have been removed meanwhile
        usage = shutil.disk_usage(folder)
        return _Disk(usage.free, min(LEFT_BYTES, LEFT_SHARE * usage.total))
    return _Disk(0, 0)


def _written(folder: str) -> int:
    """In bytes. Of what is removed meanwhile, and below a path that is too long for the system, nothing is known."""
    blocks, waiting = 0, [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        blocks += entry.stat(follow_symlinks=False).st_blocks
    return blocks * 512
