"""How many cores this process may use: its affinity, and the quota of its control group."""

from __future__ import annotations

import os
from pathlib import Path

_GROUP = Path("/sys/fs/cgroup")


def usable_cores(group: Path = _GROUP) -> float:
    """A container's quota of CPU time counts as cores, in fractions (cgroup v2: cpu.max; v1: cpu.cfs_quota_us)."""
    cores = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    quota = _v2(group) or _v1(group)
    return min(cores, quota) if quota else cores


def _v2(group: Path) -> float | None:
    words = _fields(group / "cpu.max")
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0].isdigit() else None


def _v1(group: Path) -> float | None:
    quota, period = (_fields(group / "cpu" / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return int(quota[0]) / int(period[0]) if quota and period and int(quota[0]) > 0 else None


def _fields(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
