"""Memory that has a name outlives every process: what a worker's tree has made of it goes with it.

POSIX files in /dev/shm are known by who holds them when the tree is ended; System V segments by the number of who has made them. What
nobody holds any more cannot be told from what other programs keep there, and stays.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress

FOLDER = "/dev/shm/"
_IPC_RMID = 0


def held_files(processes: Iterable[int], since_s: float) -> set[str]:
    """Those of this user that one of these processes holds, and that are no older than that time."""
    return {path for pid in processes for path in _held_by(pid) if _is_new(path, since_s)}


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


def remove_segments(makers: set[int]) -> None:
    """System V segments that one of those processes has made and nobody has attached."""
    for number, maker, attached in segments():
        if maker in makers and not attached:
            ctypes.CDLL(None).shmctl(number, _IPC_RMID, None)


def segments() -> list[tuple[int, int, int]]:
    """Number, maker and count of attachments of each (proc_sysvipc(5))."""
    with suppress(OSError), open("/proc/sysvipc/shm", "rb") as file:
        rows = [line.split() for line in file.read().splitlines()[1:]]
        return [(int(row[1]), int(row[4]), int(row[6])) for row in rows]
    return []


def _held_by(pid: int) -> set[str]:
    found = set[str]()
    with suppress(OSError), open(f"/proc/{pid}/maps", "rb") as file:
        text = file.read()
        if FOLDER.encode() in text:
            lines = [line.partition(FOLDER.encode())[2] for line in text.splitlines()]
            found |= {FOLDER + os.fsdecode(line) for line in lines if line and not line.endswith(b" (deleted)")}
    with suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                path = os.readlink(f"/proc/{pid}/fd/{number}")
                if path.startswith(FOLDER) and not path.endswith(" (deleted)"):
                    found.add(path)
    return found


def _is_new(path: str, since_s: float) -> bool:
    with suppress(OSError):
        found = os.stat(path, follow_symlinks=False)
        return found.st_uid == os.getuid() and found.st_ctime >= since_s
    return False
