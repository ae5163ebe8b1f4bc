"""A cgroup (version 2) for one worker and all that descends from it: nobody leaves it by a session, a parent or a variable of his own, and
one write ends all of them at once (https://docs.kernel.org/admin-guide/cgroup-v2.html).

Beside the walk of `launch/process_tree.py`, which must do alone where no group may be made: for most ordinary users, and before Linux 5.14.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from assay.launch.cgroup import make, members, remove
from assay.launch.process_tree import is_gone, own_name

_PREFIX = "assay-worker-"


class WorkerGroup:
    """`folder` is None where none may be made."""

    def __init__(self, pid: int) -> None:
        place = _place()
        folder = place / f"{_PREFIX}{own_name()}-{pid}" if place else None
        # Before Linux 5.14 nothing can end all of a group at once.
        self.folder = folder if folder and make(folder, pid, needs="cgroup.kill") else None

    def members(self) -> list[int]:
        """All of them that have not ended, the worker too."""
        return members(self.folder) if self.folder else []

    def kill(self) -> None:
        """All of them, and what they start meanwhile. Waits for nothing."""
        if self.folder:
            _kill(self.folder)

    def close(self) -> bool:
        """Whether all have ended, after `kill`. Then it is removed."""
        if self.folder and not remove(self.folder):
            return False
        self.folder = None
        return True


def remove_left_groups() -> None:
    """Of drivers that were killed, with all that lives in them."""
    place = _place()
    for folder in place.glob(f"{_PREFIX}*") if place else ():
        if is_gone(folder.name.removeprefix(_PREFIX).rpartition("-")[0]):
            _kill(folder)
            remove(folder)


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


def _kill(folder: Path) -> None:
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
