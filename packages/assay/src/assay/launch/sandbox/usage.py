"""What the processes of a sandbox use, and how full its folders are: read through descriptors of its own /proc and tmpfs."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_OURS = frozenset({"1", "2"})
"""The namespace's init, which is bubblewrap, and the shell that waits for the command."""


@dataclass(frozen=True)
class Usage:
    """Of all processes that the command started, together."""

    processes: int = 0
    threads: int = 0
    memory_bytes: int = 0
    names: tuple[str, ...] = ()

    def most(self, other: Usage) -> Usage:
        """The larger of each metric."""
        return Usage(
            max(self.processes, other.processes),
            max(self.threads, other.threads),
            max(self.memory_bytes, other.memory_bytes),
        )


@dataclass(frozen=True)
class DiskUsage:
    """Of one tmpfs."""

    used_bytes: int
    free_bytes: int
    files: int


def usage(proc: int, memory_limit_bytes: int, processes_limit: int, *, names: bool = False) -> Usage:
    """Where there are too many processes nothing else is read: they multiply meanwhile. Resident memory counts pages that
    processes share once for each; where that sum passes the limit the proportional size, which is slower to read, is
    taken instead."""
    pids = [entry for entry in os.listdir(proc) if entry.isdecimal() and entry not in _OURS]
    if len(pids) > processes_limit:
        return Usage(len(pids), len(pids))
    threads = resident = 0
    living: list[str] = []
    called: list[str] = []
    for pid in pids:
        name, _, rest = _read(proc, f"{pid}/stat").rpartition(")")
        fields = rest.split()
        if len(fields) > 21 and fields[0] not in "ZX":
            living.append(pid)
            called += [name.partition("(")[2]] if names else []
            threads += int(fields[17])
            resident += int(fields[21]) * _PAGE_BYTES
    if resident > memory_limit_bytes and not names:
        resident = sum(_proportional(proc, pid) for pid in living)
    return Usage(len(pids), threads, resident, tuple(called))


def folder_of(descriptor: int) -> DiskUsage:
    """How full a tmpfs is."""
    status = os.fstatvfs(descriptor)
    used = (status.f_blocks - status.f_bfree) * status.f_frsize
    return DiskUsage(used, status.f_bavail * status.f_frsize, status.f_files - status.f_ffree)


def _proportional(proc: int, pid: str) -> int:
    """0 for a process that is gone."""
    for line in _read(proc, f"{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(folder: int, name: str) -> str:
    with contextlib.suppress(OSError):
        descriptor = os.open(name, os.O_RDONLY, dir_fd=folder)
        try:
            return os.read(descriptor, 1 << 14).decode(errors="replace")
        finally:
            os.close(descriptor)
    return ""
