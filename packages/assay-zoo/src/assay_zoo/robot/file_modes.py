"""What the robot writes is its own, whoever starts it; what it gives to a repository has the modes that others' pushes have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_OWN = 0o077
_INHERITED = -1
"""For subprocess: the umask is left as it is."""
_before = _INHERITED


@contextmanager
def private_files() -> Iterator[None]:
    """For this process and its children. Entered once, by the command."""
    global _before
    _before = os.umask(_OWN)
    try:
        yield
    finally:
        os.umask(_before)
        _before = _INHERITED


def umask_of_pushes() -> int:
    """As the robot was started; for `subprocess`."""
    return _before
