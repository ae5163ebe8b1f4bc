"""The processes of a sandbox in a group that the kernel counts and that can be ended one by one.

Under root, RLIMIT_NPROC stops nobody, not even in a user namespace (copy_process in kernel/fork.c): a fork bomb meets the
polling of `sandbox_watch` alone, and has thousands of processes before that looks. A pids cgroup holds for everybody
(https://docs.kernel.org/admin-guide/cgroup-v2.html#pid). And to kill the init of the namespace is not enough: as seen on
Linux 6.18, to exit it waits for locks of libc's pages, which 500 processes that fork keep taking (30 s and more).

Such a group also knows the processor time of those that have ended, which /proc forgets where nobody waits for them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.launch.cgroup import make, members, remove

_PREFIX = "assay-sandbox-"
_LEAVING_S = 30.0
"""Killed processes leave their group a moment after they are gone from the namespace."""
_TIME, _TIME_OF_FIRST = "cpu.stat", "cpuacct.usage"
"""In the second version of cgroups (microseconds, `usage_usec` first), and in the first (nanoseconds)."""


class PidsGroup:
    """A cgroup for one process and its descendants, at most `most` tasks at once, and one that counts their time: in the second version
    of cgroups the same. Nothing where none can be made."""

    def __init__(self, pid: int, most: int) -> None:
        self.folder = _made(pid, "pids", "cgroup.procs", {"pids.max": most})
        in_second = self.folder is not None and (self.folder / _TIME).exists()
        self._time = self.folder if in_second else _made(pid, "cpuacct", _TIME_OF_FIRST) or _made(pid, "", _TIME)

    def used_s(self) -> float | None:
        """Processor time of all that were ever in it."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            if self._time is not None and (self._time / _TIME_OF_FIRST).exists():
                return 1e-9 * int((self._time / _TIME_OF_FIRST).read_text())
            if self._time is not None:
                name, microseconds = (self._time / _TIME).read_text().split()[:2]
                return 1e-6 * int(microseconds) if name == "usage_usec" else None
        return None

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
        for folder in {self.folder, self._time} - {None}:
            while folder is not None and not remove(folder) and time.monotonic() < end:
                time.sleep(0.01)
        self.folder = self._time = None


def _made(pid: int, controller: str, needs: str, settings: Mapping[str, int] | None = None) -> Path | None:
    """In the first place where it can be."""
    made = (_make(place, pid, needs, settings or {}) for place in _places(controller))
    return next((path for path in made if path is not None), None)


def _make(place: Path, pid: int, needs: str, settings: Mapping[str, int]) -> Path | None:
    """Those of a harness that was killed are swept first."""
    for old in place.glob(f"{_PREFIX}*"):
        if not Path("/proc", old.name.split("-")[2]).exists():
            remove(old)
    folder = place / f"{_PREFIX}{os.getpid()}-{pid}"
    return folder if make(folder, pid, settings, needs=needs) else None


def _kill(pid: int, group: str) -> None:
    """Held by a descriptor, and looked at after that: a number may have gone to somebody else."""
    with contextlib.suppress(OSError):
        held = os.pidfd_open(pid)
        try:
            if group in Path("/proc", str(pid), "cgroup").read_text():
                signal.pidfd_send_signal(held, signal.SIGKILL)
        finally:
            os.close(held)


def _places(controller: str) -> Iterator[Path]:
    """Where groups of this process may be made: below its own or, in the second version of cgroups, beside it, where its
    own, which holds processes, can hand no controller down."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller and controller in controllers.split(","):
            yield Path("/sys/fs/cgroup", controller, path.lstrip("/"))
        elif not controllers:
            own = Path("/sys/fs/cgroup", path.lstrip("/"))
            yield own
            if path != "/":
                yield own.parent
