"""Folders in each other, deeper than a path can say and than Python's recursion goes."""

from __future__ import annotations

import os
from pathlib import Path

DEPTH = 1200


def make_deep_folder(folder: Path) -> None:
    """Below this folder, each called `a`."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("a", dir_fd=at)
        inner = os.open("a", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
