"""A folder for the temporary files of one process: whatever it leaves there goes with it."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress


def temp_folder() -> str:
    """A new one, where the driver keeps its own temporary files."""
    return tempfile.mkdtemp(prefix="assay-worker-")


def remove_folder(folder: str) -> None:
    """Folders that forbid it included."""
    with suppress(OSError):
        os.rmdir(folder)  # nearly always empty
        return
    for path, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
