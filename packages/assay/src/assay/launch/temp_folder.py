"""A folder for the temporary files of one process: whatever it leaves there goes with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import suppress

from assay.launch.process_tree import is_gone, own_name

WORKER, NODE = "assay-worker-", "assay-node-"
"""Of a worker, and of an agent on a machine that shares no disk. Then the name of its driver, and random letters."""
_removals: list[threading.Thread] = []
REMOVAL_S = 60.0
"""At the end of a launch, for folders with very many files."""


def temp_folder(prefix: str = WORKER) -> str:
    """A new one, where the driver keeps its own temporary files."""
    return tempfile.mkdtemp(prefix=f"{prefix}{own_name()}-")


def remove_folder(folder: str) -> None:
    """Folders that forbid it included. What takes time is done meanwhile (see `wait_for_removals`)."""
    with suppress(OSError):
        os.rmdir(folder)  # nearly always empty
        return
    if os.path.isdir(folder):
        removal = threading.Thread(target=_remove, args=(folder,), name=f"removes {folder}", daemon=True)
        _removals.append(removal)
        removal.start()


def wait_for_removals() -> None:
    """Until what was begun has ended."""
    deadline = time.monotonic() + REMOVAL_S
    while _removals:
        _removals.pop().join(max(deadline - time.monotonic(), 0.0))


def remove_left_folders() -> None:
    """Those of drivers of this user that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            prefix = next(filter(entry.name.startswith, (WORKER, NODE)), "")
            if prefix and is_gone(entry.name.removeprefix(prefix).rpartition("-")[0]) and _is_own(entry):
                _remove(entry.path)


def _remove(folder: str) -> None:
    """Each folder is opened before it is looked into: its owner, too, may be forbidden to. Thousands in each other are left to `rm`."""
    _open(folder)
    try:
        for path, below, _ in os.walk(folder):
            for name in below:
                _open(os.path.join(path, name))
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", "--", folder], check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _open(folder: str) -> None:
    with suppress(OSError):
        if not os.path.islink(folder):
            os.chmod(folder, 0o700)


def _is_own(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
    return False
