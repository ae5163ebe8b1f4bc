"""A group of the kernel's for one process and all that descends from it (https://docs.kernel.org/admin-guide/cgroup-v2.html)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def make(folder: Path, pid: int, settings: Mapping[str, int] | None = None, *, needs: str = "cgroup.procs") -> bool:
    """Whether it was made, with these settings and the process in it; without the file `needs` there is none. The process enters last:
    it may start others."""
    with suppress(OSError):
        folder.mkdir()
        try:
            if (folder / needs).exists():
                for name, value in {**(settings or {}), "cgroup.procs": pid}.items():
                    # Never created: in a folder without the controller, and in one that is no cgroup, there is no such file.
                    with (folder / name).open("r+") as file:
                        file.write(str(value))
                return True
        except OSError:
            pass
        folder.rmdir()
    return False


def members(folder: Path) -> list[int]:
    """Also of groups that somebody below has made in it."""
    pids: list[int] = []
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            pids += map(int, Path(place, "cgroup.procs").read_text().split())
    return pids


def remove(folder: Path) -> bool:
    """Whether it is gone, with those in it. The kernel keeps what is not empty."""
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(place)
    return not folder.exists()
