"""What ties a worker to the process above it and to those below it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
OUT_OF_MEMORY_SCORE = "500"
"""Of -1000 to 1000; what a process has by default is 0."""


def die_with_parent(parent: int) -> None:
    """A worker that hangs in native code must not outlive a driver that was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)


def adopt_orphans() -> None:
    """Whatever descends from this process stays below it, also where its parent has ended: a daemon is found and ended with it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_before_others() -> None:
    """Where a job takes all memory of the machine, the kernel ends it, and neither the driver nor a program of the user."""
    with suppress(OSError):  # no Linux, or more already
        Path("/proc/self/oom_score_adj").write_text(OUT_OF_MEMORY_SCORE)
