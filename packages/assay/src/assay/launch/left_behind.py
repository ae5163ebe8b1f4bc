"""What drivers have left that were killed: processes below their workers, groups of workers, and folders. Looked for once, when the first
worker starts."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress

from assay.launch import process_tree
from assay.launch.temp_folder import remove_left_folders
from assay.launch.worker_group import remove_left_groups

_looked: list[threading.Thread] = []


def look_once(patience_s: float = 0.0) -> None:
    """Meanwhile: at most so long is waited for it."""
    if not _looked:
        _looked.append(threading.Thread(target=remove_left, name="removes what was left", daemon=True))
        _looked[0].start()
    _looked[0].join(patience_s)


def remove_left() -> None:
    """Of this user. A worker ends with its driver; what it has started does not."""
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and int(name) != os.getpid() and _is_left(int(name)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(int(name), signal.SIGKILL)
    remove_left_groups()
    remove_left_folders()


def _is_left(pid: int) -> bool:
    """Whether one of the drivers that it was started below is gone."""
    return any(map(process_tree.is_gone, process_tree.drivers_of(pid)))
