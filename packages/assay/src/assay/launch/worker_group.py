"""A cgroup (version 2) for one worker and all that descends from it: nobody leaves it by a session, a parent or a variable of his own, and
one write ends all of them at once (https://docs.kernel.org/admin-guide/cgroup-v2.html).

Beside the walk of `launch/process_tree.py`, which must do alone where no group may be made: for most ordinary users, and before Linux 5.14.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from assay.launch.process_tree import is_gone, own_name

_PREFIX = "assay-worker-"


class WorkerGroup:
    """`folder` is None where none may be made."""

    def __init__(self, pid: int) -> None:
        place = _place()
        self.folder = _made(place / f"{_PREFIX}{own_name()}-{pid}", pid) if place else None

    def members(self) -> list[int]:
        """All of them that have not ended, the worker too."""
        return _members(self.folder) if self.folder else []

    def kill(self) -> None:
        """All of them, and what they start meanwhile. Waits for nothing."""
        if self.folder:
            _kill(self.folder)

    def close(self) -> bool:
        """Whether all have ended, after `kill`. Then it is removed."""
        if self.folder and not _remove(self.folder):
            return False
        self.folder = None
        return True


def remove_left_groups() -> None:
    """Of drivers that were killed, with all that lives in them."""
    place = _place()
    for folder in place.glob(f"{_PREFIX}*") if place else ():
        if is_gone(folder.name.removeprefix(_PREFIX).rpartition("-")[0]):
            _kill(folder)
            _remove(folder)


@cache
def _place() -> Path | None:
    """The group of this process, where it was when it was first asked for."""
    with suppress(OSError, StopIteration):
        path = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        # proc_pid_mountinfo(5): number, parent, device, root, place, options ... - type, source, options
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            mount, _, kind = line.partition(" - ")
            root, place = mount.split()[3:5]
            if kind.startswith("cgroup2 ") and (path == root or path.startswith(root.rstrip("/") + "/")):
                return Path(place, path.removeprefix(root).lstrip("/"))
    return None


os.register_at_fork(after_in_child=_place.cache_clear)


def _made(folder: Path, pid: int) -> Path | None:
    with suppress(OSError):
        folder.mkdir()
        # Never created: before Linux 5.14, and in a folder that is no cgroup, there is no such file.
        if (folder / "cgroup.kill").exists():
            with suppress(OSError), (folder / "cgroup.procs").open("r+") as file:
                file.write(str(pid))
                file.flush()
                return folder
        folder.rmdir()
    return None


def _members(folder: Path) -> list[int]:
    """Also of groups that a driver below has made in it."""
    found: list[int] = []
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            found += map(int, Path(place, "cgroup.procs").read_text().split())
    return found


def _kill(folder: Path) -> None:
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")


def _remove(folder: Path) -> bool:
    """Whether it is gone. The kernel keeps what is not empty."""
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(place)
    return not folder.exists()
