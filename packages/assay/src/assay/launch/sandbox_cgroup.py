"""The processes of a sandbox in a group that the kernel counts and that can be ended one by one.

Under root, RLIMIT_NPROC stops nobody, not even in a user namespace (copy_process in kernel/fork.c): a fork bomb meets the
polling of `sandbox_watch` alone, and has thousands of processes before that looks. A pids cgroup holds for everybody
(https://docs.kernel.org/admin-guide/cgroup-v2.html#pid). And to kill the init of the namespace is not enough: as seen on
Linux 6.18, to exit it waits for locks of libc's pages, which 500 processes that fork keep taking (30 s and more).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from assay.launch.cgroup import make, members, remove

_PREFIX = "assay-sandbox-"
_LEAVING_S = 30.0
"""Killed processes leave their group a moment after they are gone from the namespace."""


class PidsGroup:
    """A cgroup for one process and its descendants, at most `most` tasks at once; nothing where none can be made."""

    def __init__(self, pid: int, most: int) -> None:
        self.folder: Path | None = next(
            (made for place in _places() if (made := _make(place, pid, most)) is not None), None
        )

    def refused(self) -> bool:
        """Whether any of them asked for one more than `most`."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                return any(
                    int(line.split()[1]) > 0
                    for line in (self.folder / "pids.events").read_text().splitlines()
                    if line.startswith("max ")
                )
        return False

    def kill(self) -> None:
        """Every process in it, until there is none: those that die are counted meanwhile, so that no more can come."""
        end = time.monotonic() + _LEAVING_S
        while self.folder is not None and (pids := members(self.folder)) and time.monotonic() < end:
            for pid in pids:
                _kill(pid, self.folder.name)
            time.sleep(0.01)

    def close(self) -> None:
        """Remove it; its processes must have been killed."""
        end = time.monotonic() + _LEAVING_S
        while self.folder is not None and not remove(self.folder) and time.monotonic() < end:
            time.sleep(0.01)
        self.folder = None


def _make(place: Path, pid: int, most: int) -> Path | None:
    """Those of a harness that was killed are swept first."""
    for old in place.glob(f"{_PREFIX}*"):
        if not Path("/proc", old.name.split("-")[2]).exists():
            remove(old)
    folder = place / f"{_PREFIX}{os.getpid()}-{pid}"
    return folder if make(folder, pid, {"pids.max": most}) else None


def _kill(pid: int, group: str) -> None:
    """Held by a descriptor, and looked at after that: a number may have gone to somebody else."""
    with contextlib.suppress(OSError):
        held = os.pidfd_open(pid)
        try:
            if group in Path("/proc", str(pid), "cgroup").read_text():
                signal.pidfd_send_signal(held, signal.SIGKILL)
        finally:
            os.close(held)


def _places() -> Iterator[Path]:
    """Where groups of this process may be made: below its own or, in the second version of cgroups, beside it, where its
    own, which holds processes, can hand no controller down."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "pids" in controllers.split(","):
            yield Path("/sys/fs/cgroup/pids", path.lstrip("/"))
        elif not controllers:
            own = Path("/sys/fs/cgroup", path.lstrip("/"))
            yield own
            if path != "/":
                yield own.parent
