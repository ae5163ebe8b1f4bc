"""Memory that has a name outlives every process: what a worker's tree has made of it goes with it.

POSIX objects are files of /dev/shm itself (shm_open(3) knows no folders), known by who may write to them when the tree is ended. System V
segments are known by the number of who has made them, and when. What was there before, what nobody holds any more, what lies in a folder
and what is only read (a model, a library) cannot be told from what others keep there, and stays.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

FOLDER = "/dev/shm/"
_IPC_RMID = 0


def file_numbers() -> frozenset[int]:
    """Of all files that are there now (inodes): no process that starts later has made them."""
    with suppress(OSError), os.scandir(FOLDER) as entries:
        return frozenset(entry.inode() for entry in entries)
    return frozenset()


def held_files(processes: Iterable[int], before: frozenset[int]) -> set[str]:
    """Objects of this user that one of these processes may write to, and that were not there before."""
    held = {path for pid in processes for path in _held_by(pid, written=True)}
    return {path for path in held if "/" not in path.removeprefix(FOLDER) and _is_new(path, before)}


def remove_files(paths: set[str]) -> None:
    """But for those that another process holds."""
    if not paths:
        return
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            paths = paths - _held_by(int(name))
    for path in paths:
        with suppress(OSError):
            os.unlink(path)


def remove_segments(makers: Iterable[int], since_s: float) -> None:
    """System V segments that one of those processes has made from that time on and nobody has attached."""
    ours = {pid for pid in makers if pid > 0}  # 0 is told of a maker that this namespace does not know
    for segment in segments():
        if segment.maker in ours and not segment.attached and segment.changed_s >= int(since_s):
            ctypes.CDLL(None).shmctl(segment.number, _IPC_RMID, None)


class Segment(NamedTuple):
    """`attached`: how often; `changed_s`: when it was made, or given another owner."""

    number: int
    maker: int
    attached: int
    changed_s: int


def segments() -> list[Segment]:
    """All of them (proc_sysvipc(5))."""
    with suppress(OSError), open("/proc/sysvipc/shm", "rb") as file:
        rows = [list(map(int, line.split())) for line in file.read().splitlines()[1:]]
        return [Segment(row[1], row[4], row[6], row[13]) for row in rows]
    return []


def _held_by(pid: int, *, written: bool = False) -> set[str]:
    """`written`: what it may write to, and no copy of its own."""
    names = set[str]()
    with suppress(OSError), open(f"/proc/{pid}/maps", "rb") as file:
        text = file.read()
        if FOLDER.encode() in text:
            lines = [line.partition(FOLDER.encode()) for line in text.splitlines()]
            names |= {
                FOLDER + os.fsdecode(path)
                for place, _, path in lines
                if path and not path.endswith(b" (deleted)") and (not written or place.split()[1][1::2] == b"ws")
            }
    with suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                path = os.readlink(f"/proc/{pid}/fd/{number}")
                named = path.startswith(FOLDER) and not path.endswith(" (deleted)")
                if named and (not written or _may_write(pid, number)):
                    names.add(path)
    return names


def _may_write(pid: int, number: str) -> bool:
    with open(f"/proc/{pid}/fdinfo/{number}", "rb") as file:
        fields = file.read().split()
    return bool(int(fields[fields.index(b"flags:") + 1], 8) & os.O_ACCMODE)


def _is_new(path: str, before: frozenset[int]) -> bool:
    with suppress(OSError):
        status = os.stat(path, follow_symlinks=False)
        return status.st_uid == os.getuid() and status.st_ino not in before
    return False
