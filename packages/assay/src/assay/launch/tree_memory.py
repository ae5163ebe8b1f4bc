"""What a process and all that descends from it hold in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_GROUP = Path("/sys/fs/cgroup")


def usable_bytes(group: Path = _GROUP) -> int:
    """The memory of the machine, or of the container where its control group has less (cgroup v2: memory.max; v1:
    memory.limit_in_bytes)."""
    least = os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            least = min(least, int((group / name).read_text()))
    return least


MACHINE_BYTES = usable_bytes()
"""Read once: beyond it the kernel ends a process."""


def resident_bytes(pid: int) -> int:
    """Of that process alone; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:
            return int(file.read().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def tree_bytes(pid: int, below: Sequence[int], limit: int) -> int:
    """Of that process and those below it. What a copy shares with its parent is counted once where that decides about `limit`."""
    own = resident_bytes(pid)
    total = own + sum(map(resident_bytes, below))
    files = memory_files([pid, *below])
    if files and total + files > limit:
        files = max(files - sum(_mapped_bytes(process) for process in [pid, *below]), 0)
    if not below or own > limit or total + files <= limit:
        return total + files
    return sum(_share_bytes(process) for process in [pid, *below]) + files


def memory_files(processes: list[int]) -> int:
    """Bytes of files that lie in memory and that these processes hold open: they are no process's own memory."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in processes:
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{number}"
                with suppress(OSError):
                    if os.readlink(path).startswith(("/memfd:", "/dev/shm/", "/dev/zero")):
                        file = os.stat(path)
                        sizes[file.st_dev, file.st_ino] = file.st_blocks * 512
    return sum(sizes.values())


def _mapped_bytes(pid: int) -> int:
    """Of such files, as far as they count as that process's own memory."""
    return _status_bytes(pid, b"RssShmem:")


class Parts(NamedTuple):
    """What processes hold: `anonymous` memory, which allocators have (what is shared since a fork is counted in each), and the sum of the
    most that each has ever held."""

    anonymous: int
    high_water: int


def parts_of(processes: Sequence[int]) -> Parts:
    """Of those that are there."""
    return Parts(*(sum(_status_bytes(pid, name) for pid in processes) for name in (b"RssAnon:", b"VmHWM:")))


def _status_bytes(pid: int, name: bytes) -> int:
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def _share_bytes(pid: int) -> int:
    """Shared pages in equal parts (Pss); resident memory where the kernel does not tell."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resident_bytes(pid)
