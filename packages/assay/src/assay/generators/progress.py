"""How far a job is: which case is under way, and what was used."""

from __future__ import annotations

import os
import time


class Progress:
    """The index under way, as text in a file that outlives the process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1

    def __enter__(self) -> Progress:
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        return self

    def write(self, index: int) -> None:
        os.pwrite(self._descriptor, f"{index:20d}".encode(), 0)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def used_s() -> float:
    """Processor time of this process and of its children that ended: compilers that are programs of their own take most of what a case
    costs."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system
